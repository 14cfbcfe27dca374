// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml.hpp"

#include "base/utf8.hpp"
#include "harness/config/yaml_slip.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <streambuf>
#include <unordered_map>
#include <utility>

namespace bench::yaml {
namespace {

// Thrown to leave the library's parser from within an event; caught in parse().
struct Abandoned {
  Problem problem;
};

[[noreturn]] void abandon(Mark mark, std::string what, std::string next = {}) {
  throw Abandoned{{mark, std::move(what), std::move(next)}};
}

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Tags that add nothing to the text. The library passes "?" for plain scalars, "!" for quoted ones
// and "" for untagged collections.
constexpr std::array<std::string_view, 10> kCoreTags = {
    "",
    "?",
    "!",
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:seq",
    "tag:yaml.org,2002:map",
};

Style style_of(std::string_view tag) {
  return tag == "!" || tag == "tag:yaml.org,2002:str" ? Style::quoted : Style::plain;
}

// Reads the caller's bytes without copying them.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // nothing writes to the get area
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

// Builds a Document from the library's events.
class Builder final : public YAML::EventHandler {
 public:
  Document take() && {
    if (document_.root_ == nullptr) document_.root_ = &document_.nodes_.emplace_back();
    return std::move(document_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      abandon(mark_of(mark), "a second document starts here",
              "one file holds one document: remove `---` or use two files");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(Kind::null, mark, "?", anchor, {});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add_leaf(Kind::scalar, mark, tag, anchor, value);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end() || !found->second.complete) {
      abandon(mark_of(mark), "this alias is inside the node that it names",
              "a node cannot contain itself");
    }
    count(found->second.node->expanded, mark_of(mark));
    attach(found->second.node, mark_of(mark));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Kind::mapping, mark, tag, anchor);
  }
  void OnMapEnd() override {
    merge(frames_.back());
    close();
  }

 private:
  struct Key {
    std::string text;
    Mark mark;
    bool usable;
    Style style;
  };
  struct Anchor {
    const Node* node;
    bool complete;
  };
  // A list or mapping that is still open.
  struct Frame {
    Node* node;
    YAML::anchor_t anchor;
    std::optional<Key> key = std::nullopt;  // key of the next value
    std::unordered_map<std::string, Mark> keys = {};
    std::vector<const Node*> merged = {};  // mappings named by `<<`
  };

  void complain(Mark mark, std::string what, std::string next) {
    document_.problems_.push_back({mark, std::move(what), std::move(next)});
  }

  // Counts every visited node, so that the limit applies before memory or time is spent.
  void count(std::int64_t nodes, Mark mark) {
    visited_ += nodes;
    if (visited_ > kMaxNodes) {
      abandon(mark, fmt::format("more than {} values, aliases expanded", kMaxNodes),
              "split the file, or use `sweep`");
    }
  }

  Node* make(Kind kind, const YAML::Mark& mark, std::string_view tag) {
    count(1, mark_of(mark));
    Node& node = document_.nodes_.emplace_back();
    node.kind = kind;
    node.mark = mark_of(mark);
    node.style = style_of(tag);
    if (std::find(kCoreTags.begin(), kCoreTags.end(), tag) == kCoreTags.end()) {
      complain(node.mark, fmt::format("unknown tag `{}`", tag), "remove it");
    }
    return &node;
  }

  void add_leaf(Kind kind, const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor,
                const std::string& text) {
    Node* node = make(kind, mark, tag);
    node->text = text;
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {node, true};
    attach(node, node->mark);
  }

  void open(Kind kind, const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) {
    if (frames_.size() >= kMaxLevels) {
      abandon(mark_of(mark), fmt::format("more than {} levels of nesting", kMaxLevels),
              "a configuration needs fewer than ten");
    }
    Node* node = make(kind, mark, tag);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {node, false};
    frames_.push_back({node, anchor});
  }

  void close() {
    const Node* node = frames_.back().node;
    if (frames_.back().anchor != YAML::NullAnchor) anchors_[frames_.back().anchor].complete = true;
    frames_.pop_back();
    attach(node, node->mark);
  }

  void attach(const Node* node, Mark mark) {
    if (frames_.empty()) {
      document_.root_ = node;
      return;
    }
    Frame& frame = frames_.back();
    frame.node->expanded += node->expanded;
    if (frame.node->kind == Kind::sequence) {
      frame.node->items.push_back(node);
    } else if (!frame.key) {
      frame.key = read_key(frame, *node, mark);
    } else {
      add_entry(frame, node);
    }
  }

  Key read_key(Frame& frame, const Node& node, Mark mark) {
    Key key{node.text, mark, node.kind == Kind::scalar, node.style};
    if (!key.usable) {
      complain(mark, "a key must be a word, found a list, a mapping or nothing", "");
    } else if (const auto [first, inserted] = frame.keys.emplace(key.text, mark); !inserted) {
      complain(mark,
               fmt::format("duplicate key `{}`, first at line {}, column {}", key.text,
                           first->second.line, first->second.column),
               "remove one of them");
      key.usable = false;
    }
    return key;
  }

  void add_entry(Frame& frame, const Node* value) {
    Key& key = *frame.key;
    if (key.usable && key.text == "<<" && key.style == Style::plain) {
      add_merge(frame, key, *value);
    } else if (key.usable) {
      frame.node->entries.push_back({std::move(key.text), key.mark, value});
    }
    frame.key.reset();
  }

  void add_merge(Frame& frame, const Key& key, const Node& value) {
    const bool list = value.kind == Kind::sequence;
    const auto is_mapping = [](const Node* node) { return node->kind == Kind::mapping; };
    if (list && std::all_of(value.items.begin(), value.items.end(), is_mapping)) {
      frame.merged.insert(frame.merged.end(), value.items.begin(), value.items.end());
    } else if (is_mapping(&value)) {
      frame.merged.push_back(&value);
    } else {
      complain(key.mark, "`<<` merges mappings, found something else",
               "write `<<: *anchor` or `<<: [*one, *other]`");
    }
  }

  // Merged keys follow the mapping's own; the first mapping that has a key counts.
  void merge(Frame& frame) {
    for (const Node* source : frame.merged) {
      for (const Entry& entry : source->entries) {
        count(entry.value->expanded + 1, frame.node->mark);
        frame.node->expanded += entry.value->expanded + 1;
        if (frame.keys.emplace(entry.key, entry.mark).second) frame.node->entries.push_back(entry);
      }
    }
  }

  Document document_;
  std::vector<Frame> frames_;
  std::unordered_map<YAML::anchor_t, Anchor> anchors_;
  std::int64_t visited_ = 0;
  int documents_ = 0;
};

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Result<Document, Problem> parse(std::string_view text) {
  if (std::ssize(text) > kMaxBytes) {
    return Problem{{},
                   fmt::format("the file is larger than {} MB", kMaxBytes / 1'000'000),
                   "split it, or use `sweep`"};
  }
  if (const auto bad = find_bad_character(text)) {
    return Problem{{bad->line, bad->column}, bad->what, "a configuration is UTF-8 text"};
  }
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder).take();
  } catch (Abandoned& abandoned) {
    return std::move(abandoned.problem);
  } catch (const YAML::Exception& exception) {
    const Mark failed = mark_of(exception.mark);
    if (auto slip = find_slip(text, failed)) return *std::move(slip);
    return Problem{failed, "syntax error: " + exception.msg, ""};
  }
}

}  // namespace bench::yaml
