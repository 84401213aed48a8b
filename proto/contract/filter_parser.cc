#include "proto/contract/filter_parser.h"

#include <utility>

#include "proto/base/error.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using Node = Filter::Node;
using Operator = Comparison::Operator;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsPathChar(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '.' || c == '/' || c == '-';
}

// Longer ones first.
constexpr std::pair<std::string_view, Operator> kOperators[] = {
    {"<=", Operator::kLessEqual}, {">=", Operator::kGreaterEqual}, {"!=", Operator::kNotEqual},
    {"=", Operator::kEqual},      {"<", Operator::kLess},          {">", Operator::kGreater},
    {":", Operator::kHas},
};

class Parser {
 public:
  Parser(std::string_view text, const CheckComparison& check) : text_(text), check_(check) {}

  absl::StatusOr<Node> Parse() {
    SkipSpace();
    if (AtEnd()) {
      return Node();
    }
    auto root = ParseExpression(0);
    if (root.ok() && !AtEnd()) {
      return Unexpected("AND, OR or the end");
    }
    return root;
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(Peek())) {
      ++at_;
    }
  }

  absl::Status Unexpected(std::string_view expected) const {
    const std::string found =
        AtEnd() ? "the end" : fmt::format("\"{}\"", Shorten(text_.substr(at_), 20));
    return Error(absl::StatusCode::kInvalidArgument, "at character {}: expected {}, not {}",
                 at_ + 1, expected, found);
  }

  // Takes the word where it stands by itself.
  bool TakeWord(std::string_view word) {
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word ||
        (end < text_.size() && !IsSpace(text_[end]) && text_[end] != '(')) {
      return false;
    }
    at_ = end;
    SkipSpace();
    return true;
  }

  // sequence {AND sequence}; comparisons side by side are a sequence.
  absl::StatusOr<Node> ParseExpression(int depth) {
    Node all{.kind = Node::Kind::kAnd, .children = {}, .comparison = {}};
    for (bool more = true; more;) {
      auto part = ParseFactor(depth);
      if (!part.ok()) {
        return part;
      }
      all.children.push_back(*std::move(part));
      more = TakeWord("AND") || (!AtEnd() && Peek() != ')');
    }
    return all;
  }

  absl::StatusOr<Node> ParseFactor(int depth) {
    auto first = ParseTerm(depth);
    if (!first.ok() || !TakeWord("OR")) {
      return first;
    }
    Node any{.kind = Node::Kind::kOr, .children = {}, .comparison = {}};
    any.children.push_back(*std::move(first));
    do {
      auto next = ParseTerm(depth);
      if (!next.ok()) {
        return next;
      }
      any.children.push_back(*std::move(next));
    } while (TakeWord("OR"));
    return any;
  }

  absl::StatusOr<Node> ParseTerm(int depth) {
    if (depth > kFilterDepthMax) {
      return Error(absl::StatusCode::kInvalidArgument, "it is nested more than {} deep",
                   kFilterDepthMax);
    }
    if (TakeWord("NOT") || TakeMinus()) {
      auto inner = ParseTerm(depth + 1);
      if (!inner.ok()) {
        return inner;
      }
      Node negation{.kind = Node::Kind::kNot, .children = {}, .comparison = {}};
      negation.children.push_back(*std::move(inner));
      return negation;
    }
    if (Peek() != '(') {
      return ParseComparison();
    }
    ++at_;
    SkipSpace();
    auto inner = ParseExpression(depth + 1);
    if (!inner.ok()) {
      return inner;
    }
    if (Peek() != ')') {
      return Unexpected("\")\"");
    }
    ++at_;
    SkipSpace();
    return inner;
  }

  bool TakeMinus() {
    if (Peek() != '-') {
      return false;
    }
    ++at_;
    return true;
  }

  absl::StatusOr<Node> ParseComparison() {
    RawComparison raw;
    const std::size_t begin = at_;
    while (!AtEnd() && IsPathChar(Peek())) {
      ++at_;
    }
    raw.path = text_.substr(begin, at_ - begin);
    if (raw.path.empty()) {
      return Unexpected("a field, such as name = \"shop\"");
    }
    SkipSpace();
    if (!TakeOperator(raw.op)) {
      return Unexpected(fmt::format("=, !=, <, <=, >, >= or : after {}", Shorten(raw.path, 60)));
    }
    SkipSpace();
    if (absl::Status status = ParseValue(raw); !status.ok()) {
      return status;
    }
    SkipSpace();
    if (++comparisons_ > kFilterComparisonsMax) {
      return Error(absl::StatusCode::kInvalidArgument, "it has more than {} comparisons",
                   kFilterComparisonsMax);
    }
    auto checked = check_(raw);
    if (!checked.ok()) {
      return checked.status();
    }
    return Node{.kind = Node::Kind::kComparison, .children = {}, .comparison = *std::move(checked)};
  }

  bool TakeOperator(Operator& op) {
    for (const auto& [text, meant] : kOperators) {
      if (text_.substr(at_, text.size()) == text) {
        at_ += text.size();
        op = meant;
        return true;
      }
    }
    return false;
  }

  // "quoted", 'quoted', or up to a space or a bracket.
  absl::Status ParseValue(RawComparison& raw) {
    const char quote = Peek() == '"' || Peek() == '\'' ? Peek() : '\0';
    at_ += quote == '\0' ? 0 : 1;
    const std::size_t begin = at_;
    const auto ends = [&](char c) {
      return quote == '\0' ? IsSpace(c) || c == '(' || c == ')' : c == quote;
    };
    std::size_t stars_end = std::string::npos;  // where in raw.text a trailing "*" would stand
    while (!AtEnd() && !ends(Peek())) {
      const bool escaped = Peek() == '\\' && at_ + 1 < text_.size();
      at_ += escaped ? 1 : 0;
      const char c = text_[at_];
      if (c == '*' && !escaped) {
        if (absl::Status status = TakeStar(begin, stars_end, raw); !status.ok()) {
          return status;
        }
      } else {
        raw.text += c;
      }
      ++at_;
    }
    if (quote != '\0' && Peek() != quote) {
      return Unexpected(fmt::format("the closing {}", quote));
    }
    if (quote == '\0' && at_ == begin) {
      return Unexpected("a value");
    }
    at_ += quote == '\0' ? 0 : 1;
    raw.ends_open = stars_end != std::string::npos;
    return stars_end == std::string::npos || stars_end == raw.text.size()
               ? absl::OkStatus()
               : Error(absl::StatusCode::kInvalidArgument,
                       "\"*\" stands for any text at the beginning or the end of a value; write "
                       "\\* for the character");
  }

  absl::Status TakeStar(std::size_t begin, std::size_t& stars_end, RawComparison& raw) const {
    if (at_ == begin) {
      raw.starts_open = true;
      return absl::OkStatus();
    }
    if (stars_end != std::string::npos && stars_end != raw.text.size()) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "\"*\" stands for any text at the beginning or the end of a value");
    }
    stars_end = raw.text.size();
    return absl::OkStatus();
  }

  // Constant after construction.
  const std::string_view text_;
  const CheckComparison& check_;

  std::size_t at_ = 0;
  int comparisons_ = 0;
};

}  // namespace

absl::StatusOr<Node> ParseFilterText(std::string_view text, const CheckComparison& check) {
  if (text.size() > kFilterBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "it is longer than {} bytes", kFilterBytesMax);
  }
  if (!IsUtf8(text)) {
    return Error(absl::StatusCode::kInvalidArgument, "it is not UTF-8");
  }
  return Parser(text, check).Parse();
}

}  // namespace croft::contract
