#include "node/worker/http/http_date.h"

#include <algorithm>
#include <array>

namespace croft::node::worker::http {
namespace {

constexpr std::int64_t kSecondsPerDay = 86400;
constexpr std::int64_t kYearZero = -62167219200;             // 0000-01-01
constexpr std::int64_t kYear9999End = 253402300799;          // 9999-12-31 23:59:59
constexpr std::string_view kDays = "ThuFriSatSunMonTueWed";  // 1970-01-01 was a Thursday
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

struct Civil {
  std::int64_t year = 0;
  int month = 0;  // 1..12
  int day = 0;
};

// Howard Hinnant's "chrono-compatible low-level date algorithms".
std::int64_t DaysFromCivil(const Civil& date) {
  const std::int64_t y = date.year - (date.month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year =
      (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

Civil CivilFromDays(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  Civil date;
  date.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  date.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  date.year = year_of_era + era * 400 + (date.month <= 2 ? 1 : 0);
  return date;
}

void PutDigits(char* at, std::int64_t value, int width) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// A cursor over the text: every Take returns false, or -1, at the first mismatch.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Take(std::string_view literal) {
    if (!rest_.starts_with(literal)) {
      return false;
    }
    rest_.remove_prefix(literal.size());
    return true;
  }

  int TakeNumber(std::size_t digits) {
    if (rest_.size() < digits) {
      return -1;
    }
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') {
        return -1;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // 1..12
  int TakeMonth() {
    for (int month = 1; month <= 12; ++month) {
      if (Take(kMonths.substr(static_cast<std::size_t>(month - 1) * 3, 3))) {
        return month;
      }
    }
    return -1;
  }

  // Seconds of the day from "08:49:37"; a leap second counts as :59.
  int TakeTime() {
    const int hour = TakeNumber(2);
    if (hour < 0 || hour > 23 || !Take(":")) {
      return -1;
    }
    const int minute = TakeNumber(2);
    if (minute < 0 || minute > 59 || !Take(":")) {
      return -1;
    }
    const int second = TakeNumber(2);
    if (second < 0 || second > 60) {
      return -1;
    }
    return hour * 3600 + minute * 60 + std::min(second, 59);
  }

  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<std::int64_t> Combine(const Civil& date, int time) {
  static constexpr std::array<int, 12> kLengths = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (date.year < 0 || date.month < 1 || date.day < 1 || time < 0 ||
      date.day > kLengths[static_cast<std::size_t>(date.month - 1)]) {
    return std::nullopt;
  }
  return DaysFromCivil(date) * kSecondsPerDay + time;
}

// "06 Nov 1994 08:49:37 GMT"
std::optional<std::int64_t> ParseFixdate(Scanner scan) {
  Civil date;
  date.day = scan.TakeNumber(2);
  if (!scan.Take(" ")) {
    return std::nullopt;
  }
  date.month = scan.TakeMonth();
  if (!scan.Take(" ")) {
    return std::nullopt;
  }
  date.year = scan.TakeNumber(4);
  if (!scan.Take(" ")) {
    return std::nullopt;
  }
  const int time = scan.TakeTime();
  return scan.Take(" GMT") && scan.AtEnd() ? Combine(date, time) : std::nullopt;
}

// "06-Nov-94 08:49:37 GMT"; two digits of a year are 1970..2069.
std::optional<std::int64_t> ParseRfc850(Scanner scan) {
  Civil date;
  date.day = scan.TakeNumber(2);
  if (!scan.Take("-")) {
    return std::nullopt;
  }
  date.month = scan.TakeMonth();
  if (!scan.Take("-")) {
    return std::nullopt;
  }
  const int year = scan.TakeNumber(2);
  if (year < 0 || !scan.Take(" ")) {
    return std::nullopt;
  }
  date.year = year < 70 ? 2000 + year : 1900 + year;
  const int time = scan.TakeTime();
  return scan.Take(" GMT") && scan.AtEnd() ? Combine(date, time) : std::nullopt;
}

// "Nov  6 08:49:37 1994"
std::optional<std::int64_t> ParseAsctime(Scanner scan) {
  Civil date;
  date.month = scan.TakeMonth();
  if (!scan.Take(" ")) {
    return std::nullopt;
  }
  date.day = scan.Take(" ") ? scan.TakeNumber(1) : scan.TakeNumber(2);
  if (!scan.Take(" ")) {
    return std::nullopt;
  }
  const int time = scan.TakeTime();
  if (!scan.Take(" ")) {
    return std::nullopt;
  }
  date.year = scan.TakeNumber(4);
  return scan.AtEnd() ? Combine(date, time) : std::nullopt;
}

}  // namespace

std::string FormatHttpDate(std::int64_t seconds) {
  seconds = std::clamp(seconds, kYearZero, kYear9999End);
  std::int64_t days = seconds / kSecondsPerDay;
  std::int64_t time = seconds % kSecondsPerDay;
  if (time < 0) {
    time += kSecondsPerDay;
    --days;
  }
  const Civil date = CivilFromDays(days);
  const auto weekday = static_cast<std::size_t>((days % 7 + 7) % 7);
  std::string text = "Xxx, 00 Xxx 0000 00:00:00 GMT";
  text.replace(0, 3, kDays.substr(weekday * 3, 3));
  PutDigits(&text[5], date.day, 2);
  text.replace(8, 3, kMonths.substr(static_cast<std::size_t>(date.month - 1) * 3, 3));
  PutDigits(&text[12], date.year, 4);
  PutDigits(&text[17], time / 3600, 2);
  PutDigits(&text[20], time / 60 % 60, 2);
  PutDigits(&text[23], time % 60, 2);
  return text;
}

std::optional<std::int64_t> ParseHttpDate(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kLongDays = {
      "Monday, ", "Tuesday, ", "Wednesday, ", "Thursday, ", "Friday, ", "Saturday, ", "Sunday, "};
  Scanner scan(text);
  for (const std::string_view day : kLongDays) {
    if (scan.Take(day)) {
      return ParseRfc850(scan);
    }
  }
  for (std::size_t day = 0; day < kDays.size(); day += 3) {
    if (scan.Take(kDays.substr(day, 3))) {
      return scan.Take(", ") ? ParseFixdate(scan)
                             : (scan.Take(" ") ? ParseAsctime(scan) : std::nullopt);
    }
  }
  return std::nullopt;
}

}  // namespace croft::node::worker::http
