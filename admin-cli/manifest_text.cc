#include "admin-cli/manifest_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace croft::admin_cli {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// "---" or "..." alone or before a blank, which in YAML ends whatever came before it.
bool IsMarker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) &&
         (line.size() == marker.size() || kBlank.find(line[marker.size()]) != kBlank.npos);
}

// A line that says nothing by itself: blank, a comment, a directive.
bool SaysNothing(std::string_view line) {
  const std::size_t first = line.find_first_not_of(kBlank);
  return first == line.npos || line[first] == '#' || line[0] == '%';
}

bool HasTabIndentation(std::string_view line) {
  const std::size_t first = line.find_first_not_of(kBlank);
  return first != line.npos && line[first] != '#' && line.find('\t') < first;
}

class YamlSplitter {
 public:
  explicit YamlSplitter(std::string_view text) : text_(text) {}

  ManifestText Split() {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      Take(text_.substr(at_, end - at_));
      at_ = std::min(end + 1, text_.size());
      ++line_;
    }
    End(text_.size(), text_.size());
    return std::move(result_);
  }

 private:
  // One line, which begins at at_.
  void Take(std::string_view line) {
    if (IsMarker(line, "---")) {
      End(at_, at_);
      says_something_ = !SaysNothing(line.substr(3));
    } else if (IsMarker(line, "...")) {
      End(at_, std::min(at_ + line.size() + 1, text_.size()));
      begin_line_ = line_ + 1;
    } else if (HasTabIndentation(line)) {
      result_.problems.push_back(
          fmt::format("{}: a tab in the indentation; YAML is indented with spaces", line_));
      says_something_ = true;
    } else {
      says_something_ = says_something_ || !SaysNothing(line);
    }
  }

  // A document ended at `end`, the next one begins at `next`.
  void End(std::size_t end, std::size_t next) {
    if (says_something_) {
      result_.documents.push_back({text_.substr(begin_, end - begin_), begin_line_, false});
    }
    says_something_ = false;
    begin_ = next;
    begin_line_ = line_;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t begin_ = 0;
  int begin_line_ = 1;
  bool says_something_ = false;
  ManifestText result_;
};

class JsonSplitter {
 public:
  explicit JsonSplitter(std::string_view text) : text_(text) {}

  ManifestText Split() {
    for (SkipBlank(); at_ < text_.size(); SkipBlank()) {
      const char c = text_[at_];
      if (!in_array_ && c == '[') {
        in_array_ = true;
        comma_ = true;
        ++at_;
      } else if (in_array_ && (c == ']' || c == ',')) {
        Punctuate(c);
      } else if (in_array_ && !comma_) {
        Refuse("expected a comma, or ] at the array's end");
        break;
      } else {
        TakeValue();
      }
    }
    if (in_array_ && result_.problems.empty()) {
      Refuse("the array is not closed; expected ]");
    }
    return std::move(result_);
  }

 private:
  void Refuse(std::string_view what) {
    result_.problems.push_back(fmt::format("{}: {}", line_, what));
  }

  void Skip(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void SkipBlank() { Skip(std::min(text_.find_first_not_of(kBlank, at_), text_.size())); }

  void Punctuate(char c) {
    if (c == ']') {
      in_array_ = false;
    } else if (comma_) {
      Refuse("expected a value before the comma");
    }
    comma_ = true;
    ++at_;
  }

  void TakeValue() {
    const std::size_t end = text_[at_] == '{' ? EndOfObject() : EndOfWord();
    result_.documents.push_back({text_.substr(at_, end - at_), line_, true});
    Skip(end);
    comma_ = false;
  }

  // One that is never closed goes to the text's end: the parser says so.
  std::size_t EndOfObject() const {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quoted) {
        i += c == '\\' ? 1 : 0;
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        return i + 1;
      }
    }
    return text_.size();
  }

  std::size_t EndOfWord() const {
    return std::min(text_.find_first_of(in_array_ ? ",]\n" : "\n", at_), text_.size());
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool in_array_ = false;
  bool comma_ = true;  // a value may stand here
  ManifestText result_;
};

std::string_view WithoutMark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

}  // namespace

ManifestText SplitManifest(std::string_view text, bool json) {
  text = WithoutMark(text);
  return json ? JsonSplitter(text).Split() : YamlSplitter(text).Split();
}

bool LooksLikeJson(std::string_view text) {
  text = WithoutMark(text);
  const std::size_t first = text.find_first_not_of(kBlank);
  return first != text.npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace croft::admin_cli
