#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "proto/base/error.h"
#include "proto/contract/document.h"

namespace croft::contract {
namespace {

using Kind = DocumentNode::Kind;

std::string AtLine(int line, std::string_view what) {
  return fmt::format("line {}: {}", line, what);
}

// Builds the tree from the parser's events. Maps come as alternating keys and values.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(ViolationList& violations) : violations_(violations) {}

  DocumentNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Refuse(mark, anchor, "");
    Place({Kind::kNull, "", false, mark.line + 1, {}, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    violations_.Add("", "", AtLine(mark.line + 1, "aliases (*name) are not taken; write it out"));
    Place({Kind::kNull, "", false, mark.line + 1, {}, {}});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Refuse(mark, anchor, tag);
    Place({Kind::kScalar, value, tag == "!", mark.line + 1, {}, {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Refuse(mark, anchor, tag);
    Open(Kind::kList, mark);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Refuse(mark, anchor, tag);
    Open(Kind::kMap, mark);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    DocumentNode node;
    bool has_key = false;
    DocumentMember member;
  };

  // Tags "?" and "!" are the parser's own, for plain and quoted.
  void Refuse(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag) {
    if (anchor != 0) {
      violations_.Add("", "", AtLine(mark.line + 1, "anchors (&name) are not taken"));
    }
    if (!tag.empty() && tag != "?" && tag != "!") {
      violations_.Add("", tag, AtLine(mark.line + 1, "tags (!name) are not taken"));
    }
  }

  void Open(Kind kind, const YAML::Mark& mark) {
    if (skipped_ > 0 || levels_.size() >= kDocumentDepthMax) {
      if (skipped_++ == 0) {
        violations_.Add("", "",
                        AtLine(mark.line + 1,
                               fmt::format("is nested deeper than {} levels", kDocumentDepthMax)));
      }
      return;
    }
    Level& level = levels_.emplace_back();
    level.node.kind = kind;
    level.node.line = mark.line + 1;
  }

  void Close() {
    if (skipped_ > 0) {
      if (--skipped_ == 0) {
        Place({});
      }
      return;
    }
    DocumentNode node = std::move(levels_.back().node);
    levels_.pop_back();
    Place(std::move(node));
  }

  void Place(DocumentNode node) {
    if (skipped_ > 0 || !CountNode(node.line)) {
      return;
    }
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == Kind::kList) {
      level.node.items.push_back(std::move(node));
    } else if (!level.has_key) {
      if (node.kind != Kind::kScalar) {
        violations_.Add("", "", AtLine(node.line, "a key has to be a field's name"));
      }
      level.member = {std::move(node.text), node.line, {}};
      level.has_key = true;
    } else {
      // The parser says where the next token stands; a missing value belongs to its key's line.
      node.line = node.kind == Kind::kNull ? level.member.line : node.line;
      level.member.value = std::move(node);
      level.node.members.push_back(std::move(level.member));
      level.has_key = false;
    }
  }

  // False from the first node past the limit on.
  bool CountNode(int line) {
    if (++nodes_ == kDocumentNodesMax + 1) {
      violations_.Add("", "",
                      AtLine(line, fmt::format("has more than {} values", kDocumentNodesMax)));
    }
    return nodes_ <= kDocumentNodesMax;
  }

  ViolationList& violations_;
  std::size_t nodes_ = 0;
  std::vector<Level> levels_;
  std::size_t skipped_ = 0;  // open levels below the deepest one taken
  DocumentNode root_;
};

// Takes every event and keeps nothing.
class Ignore final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { line_ = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int line() const { return line_; }

 private:
  int line_ = 0;
};

}  // namespace

DocumentNode ParseDocument(std::string_view text, ViolationList& violations) {
  if (text.size() > kDocumentBytesMax) {
    violations.Add("", "",
                   AtLine(1, fmt::format("the text has {} bytes; at most {} are taken", text.size(),
                                         kDocumentBytesMax)));
    return {};
  }
  if (!IsUtf8(text)) {
    violations.Add("", "", AtLine(1, "the text is not UTF-8"));
    return {};
  }
  TreeBuilder builder(violations);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      violations.Add("", "", AtLine(1, "the text is empty"));
      return {};
    }
    Ignore rest;
    if (parser.HandleNextDocument(rest)) {
      violations.Add("", "", AtLine(rest.line(), "a second document begins; give one at a time"));
    }
  } catch (const YAML::Exception& error) {
    violations.Add("", "", AtLine(error.mark.line + 1, error.msg));
    return {};
  }
  return builder.TakeRoot();
}

}  // namespace croft::contract
