#include "proto/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

namespace croft::log {
namespace {

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::level::level_enum LevelFromEnvironment() {
  const char* text = std::getenv("CROFT_LOG");
  return text == nullptr ? spdlog::level::info : spdlog::level::from_str(text);
}

// Never destroyed: a thread that outlives main may still log while the process exits.
spdlog::logger& Sink() {
  static spdlog::logger& logger = *[] {
    auto made = std::make_unique<spdlog::logger>(
        "croft", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l pid=%P %v", spdlog::pattern_time_type::utc);
    made->set_level(LevelFromEnvironment());
    made->flush_on(spdlog::level::debug);
    return made.release();
  }();
  return logger;
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"=\n\r\t\\") != std::string_view::npos;
}

void AppendValue(std::string& line, std::string_view value) {
  if (!NeedsQuotes(value)) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      line += '\\';
    }
    line += (static_cast<unsigned char>(c) < 0x20) ? ' ' : c;
  }
  line += '"';
}

}  // namespace

void Write(Level level, std::string_view component, std::string_view message,
           std::initializer_list<Field> fields, const char* file, int line) {
  spdlog::logger& sink = Sink();
  const auto spdlog_level = ToSpdlog(level);
  if (!sink.should_log(spdlog_level)) {
    return;
  }
  std::string text = "in=";
  text += component;
  text += " msg=";
  AppendValue(text, message);
  for (const Field& field : fields) {
    text += ' ';
    text += field.key;
    text += '=';
    AppendValue(text, field.value);
  }
  if (level == Level::kDebug || level == Level::kError) {
    text += fmt::format(" at={}:{}", file, line);
  }
  sink.log(spdlog_level, "{}", text);
}

void SetLevel(Level level) { Sink().set_level(ToSpdlog(level)); }

}  // namespace croft::log
