#include <cstdint>

#include "proto/base/error.h"
#include "proto/contract/document.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using Kind = DocumentNode::Kind;

// RFC 8259, nothing beside it. Stops at the first error: what follows one would be guesses.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  // False when the text is no JSON; error() says why.
  bool ParseAll(DocumentNode& root) {
    SkipSpace();
    if (at_ == text_.size()) {
      return Refuse("the text is empty");
    }
    if (!ParseValue(0, root)) {
      return false;
    }
    SkipSpace();
    return at_ == text_.size() || Refuse("something follows the value");
  }

  const std::string& error() const { return error_; }

 private:
  bool Refuse(std::string_view what) {
    if (error_.empty()) {
      error_ = fmt::format("line {}: column {}: {}", line_, at_ - line_begin_ + 1, what);
    }
    return false;
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Take(char c) {
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
  }

  void SkipSpace() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool ParseValue(std::size_t depth, DocumentNode& node) {
    if (++nodes_ > kDocumentNodesMax) {
      return Refuse(fmt::format("has more than {} values", kDocumentNodesMax));
    }
    node.line = line_;
    switch (Peek()) {
      case '{':
        return ParseObject(depth + 1, node);
      case '[':
        return ParseArray(depth + 1, node);
      case '"':
        node.kind = Kind::kScalar;
        node.is_string = true;
        return ParseString(node.text);
      default:
        return ParseBareWord(node);
    }
  }

  bool EnterLevel(std::size_t depth) {
    ++at_;
    SkipSpace();
    return depth <= kDocumentDepthMax ||
           Refuse(fmt::format("is nested deeper than {} levels", kDocumentDepthMax));
  }

  bool ParseObject(std::size_t depth, DocumentNode& node) {
    node.kind = Kind::kMap;
    if (!EnterLevel(depth)) {
      return false;
    }
    if (Take('}')) {
      return true;
    }
    for (;;) {
      DocumentMember& member = node.members.emplace_back();
      member.line = line_;
      if (Peek() != '"') {
        return Refuse("expected a name in double quotes");
      }
      if (!ParseString(member.key)) {
        return false;
      }
      SkipSpace();
      if (!Take(':')) {
        return Refuse("expected ':' after a name");
      }
      SkipSpace();
      if (!ParseValue(depth, member.value)) {
        return false;
      }
      SkipSpace();
      if (Take('}')) {
        return true;
      }
      if (!Take(',')) {
        return Refuse("expected ',' or '}'");
      }
      SkipSpace();
    }
  }

  bool ParseArray(std::size_t depth, DocumentNode& node) {
    node.kind = Kind::kList;
    if (!EnterLevel(depth)) {
      return false;
    }
    if (Take(']')) {
      return true;
    }
    for (;;) {
      if (!ParseValue(depth, node.items.emplace_back())) {
        return false;
      }
      SkipSpace();
      if (Take(']')) {
        return true;
      }
      if (!Take(',')) {
        return Refuse("expected ',' or ']'");
      }
      SkipSpace();
    }
  }

  // true, false, null and numbers.
  bool ParseBareWord(DocumentNode& node) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsDigit(Peek()) || IsLetter(Peek()) || Peek() == '-' ||
                                  Peek() == '+' || Peek() == '.')) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "null") {
      return true;
    }
    if (word != "true" && word != "false" && !IsNumber(word)) {
      at_ = begin;
      return Refuse("expected a value");
    }
    node.kind = Kind::kScalar;
    node.text = word;
    return true;
  }

  static bool IsNumber(std::string_view word) {
    const auto digits = [&word] {
      std::size_t count = 0;
      while (count < word.size() && IsDigit(word[count])) {
        ++count;
      }
      word.remove_prefix(count);
      return count;
    };
    word.remove_prefix(!word.empty() && word.front() == '-' ? 1 : 0);
    const bool zero = !word.empty() && word.front() == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) {
      return false;
    }
    if (!word.empty() && word.front() == '.') {
      word.remove_prefix(1);
      if (digits() == 0) {
        return false;
      }
    }
    if (!word.empty() && (word.front() == 'e' || word.front() == 'E')) {
      word.remove_prefix(1);
      word.remove_prefix(!word.empty() && (word.front() == '+' || word.front() == '-') ? 1 : 0);
      if (digits() == 0) {
        return false;
      }
    }
    return word.empty();
  }

  bool ParseString(std::string& out) {
    ++at_;
    for (;;) {
      const std::size_t end = text_.find_first_of("\"\\", at_);
      const std::string_view plain = text_.substr(at_, end == text_.npos ? end : end - at_);
      for (const char c : plain) {
        if (c >= '\0' && c < ' ') {
          return Refuse("a string has a control character; write it as \\n, \\t or \\u00xx");
        }
      }
      if (end == text_.npos) {
        return Refuse("a string has no end");
      }
      out += plain;
      at_ = end + 1;
      if (text_[end] == '"') {
        return true;
      }
      if (!ParseEscape(out)) {
        return false;
      }
    }
  }

  bool ParseEscape(std::string& out) {
    const char c = Peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return true;
      case 'b':
        out += '\b';
        return true;
      case 'f':
        out += '\f';
        return true;
      case 'n':
        out += '\n';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'u':
        return ParseUnicode(out);
      default:
        return Refuse("unknown escape in a string");
    }
  }

  bool ParseHex(std::uint32_t& unit) {
    unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const int digit = HexValue(Peek());
      if (digit < 0) {
        return Refuse("\\u takes four hexadecimal digits");
      }
      unit = unit * 16 + static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  bool ParseUnicode(std::string& out) {
    std::uint32_t unit = 0;
    if (!ParseHex(unit)) {
      return false;
    }
    if (unit >= 0xD800 && unit < 0xDC00) {
      std::uint32_t low = 0;
      if (text_.substr(at_, 2) != "\\u") {
        return Refuse("half of a surrogate pair");
      }
      at_ += 2;
      if (!ParseHex(low)) {
        return false;
      }
      if (low < 0xDC00 || low > 0xDFFF) {
        return Refuse("half of a surrogate pair");
      }
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    } else if (unit >= 0xDC00 && unit <= 0xDFFF) {
      return Refuse("half of a surrogate pair");
    }
    AppendUtf8(unit, out);
    return true;
  }

  static void AppendUtf8(std::uint32_t unit, std::string& out) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (unit < 0x80) {
      put(unit);
    } else if (unit < 0x800) {
      put(0xC0 | unit >> 6);
      put(0x80 | (unit & 0x3F));
    } else if (unit < 0x10000) {
      put(0xE0 | unit >> 12);
      put(0x80 | (unit >> 6 & 0x3F));
      put(0x80 | (unit & 0x3F));
    } else {
      put(0xF0 | unit >> 18);
      put(0x80 | (unit >> 12 & 0x3F));
      put(0x80 | (unit >> 6 & 0x3F));
      put(0x80 | (unit & 0x3F));
    }
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_begin_ = 0;
  std::size_t nodes_ = 0;
  std::string error_;
};

}  // namespace

DocumentNode ParseJson(std::string_view text, ViolationList& violations) {
  if (text.size() > kDocumentBytesMax) {
    violations.Add("", "",
                   fmt::format("line 1: the text has {} bytes; at most {} are taken", text.size(),
                               kDocumentBytesMax));
    return {};
  }
  if (!IsUtf8(text)) {
    violations.Add("", "", "line 1: the text is not UTF-8");
    return {};
  }
  DocumentNode root;
  JsonParser parser(text);
  if (!parser.ParseAll(root)) {
    violations.Add("", "", parser.error());
    return {};
  }
  return root;
}

}  // namespace croft::contract
