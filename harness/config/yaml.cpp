// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml.hpp"

#include "base/characters.hpp"
#include "base/json_writer.hpp"
#include "base/quote.hpp"
#include "base/utf8.hpp"

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
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench::yaml {

namespace {

// Thrown by event handlers to leave the library's parser. parse() catches it.
struct ParseAborted {
  Problem problem;
};

[[noreturn]] void abort_parsing(SourceLocation location, std::string what, std::string next = {}) {
  throw ParseAborted{{location, std::move(what), std::move(next)}};
}

SourceLocation to_location(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// The known tags; all others are errors. The library passes "?" for plain scalars, "!" for quoted
// ones and "" for untagged collections.
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

Style to_style(std::string_view tag) {
  return tag == "!" || tag == "tag:yaml.org,2002:str" ? Style::quoted : Style::plain;
}

// Reads the caller's bytes without copying them.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a stream only reads this buffer
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
      abort_parsing(to_location(mark), "a second document starts here",
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
    const auto entry = anchors_.find(anchor);
    if (entry == anchors_.end() || !entry->second.is_complete) {
      abort_parsing(to_location(mark), "this alias is inside the node that it names",
                    "a node cannot contain itself");
    }
    count_nodes(entry->second.node->expanded_count, to_location(mark));
    attach(entry->second.node, to_location(mark));
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
    append_merged_entries(frames_.back());
    close();
  }

 private:
  struct Key {
    std::string text;
    SourceLocation location;
    bool is_usable;  // false after an error; the tree then omits the entry
    Style style;
  };
  struct Anchor {
    const Node* node;
    bool is_complete;  // false while the node is open
  };
  // A list or mapping that is still open.
  struct Frame {
    Node* node;
    YAML::anchor_t anchor;
    std::optional<Key> key = std::nullopt;                      // key of the next value
    std::unordered_map<std::string, SourceLocation> keys = {};  // all keys so far
    std::vector<const Node*> merge_sources = {};                // values of the key `<<`
  };

  void add_problem(SourceLocation location, std::string what, std::string next) {
    document_.problems_.push_back({location, std::move(what), std::move(next)});
  }

  // Adds to the number of nodes and throws ParseAborted above the limit. Callers call this before
  // they use memory or time for the nodes.
  void count_nodes(std::int64_t nodes, SourceLocation location) {
    node_count_ += nodes;
    if (node_count_ > kMaxNodes) {
      abort_parsing(location, fmt::format("more than {} values, aliases expanded", kMaxNodes),
                    "split the file, or use `sweep`");
    }
  }

  Node* make_node(Kind kind, const YAML::Mark& mark, std::string_view tag) {
    count_nodes(1, to_location(mark));
    Node& node = document_.nodes_.emplace_back();
    node.kind = kind;
    node.location = to_location(mark);
    node.style = to_style(tag);
    if (std::find(kCoreTags.begin(), kCoreTags.end(), tag) == kCoreTags.end()) {
      add_problem(node.location, fmt::format("unknown tag {}", quote(tag)), "remove it");
    }
    return &node;
  }

  void add_leaf(Kind kind, const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor,
                const std::string& text) {
    Node* node = make_node(kind, mark, tag);
    node->text = text;
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {node, true};
    attach(node, node->location);
  }

  void open(Kind kind, const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) {
    if (frames_.size() >= kMaxLevels) {
      abort_parsing(to_location(mark), fmt::format("more than {} levels of nesting", kMaxLevels),
                    "a configuration needs fewer than ten");
    }
    Node* node = make_node(kind, mark, tag);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {node, false};
    frames_.push_back({node, anchor});
  }

  void close() {
    const Node* node = frames_.back().node;
    if (frames_.back().anchor != YAML::NullAnchor)
      anchors_[frames_.back().anchor].is_complete = true;
    frames_.pop_back();
    attach(node, node->location);
  }

  // Adds a finished node to the innermost open list or mapping, or makes it the root.
  void attach(const Node* node, SourceLocation location) {
    if (frames_.empty()) {
      document_.root_ = node;
      return;
    }
    Frame& frame = frames_.back();
    frame.node->expanded_count += node->expanded_count;
    if (frame.node->kind == Kind::sequence) {
      frame.node->items.push_back(node);
    } else if (!frame.key) {
      frame.key = read_key(frame, *node, location);
    } else {
      add_entry(frame, node);
    }
  }

  Key read_key(Frame& frame, const Node& node, SourceLocation location) {
    Key key{node.text, location, node.kind == Kind::scalar, node.style};
    if (!key.is_usable) {
      add_problem(location, "a key must be a word, found a list, a mapping or nothing", "");
    } else if (const auto [first, inserted] = frame.keys.emplace(key.text, location); !inserted) {
      add_problem(location,
                  fmt::format("duplicate key {}, first at line {}, column {}", quote(key.text),
                              first->second.line, first->second.column),
                  "remove one of them");
      key.is_usable = false;
    }
    return key;
  }

  void add_entry(Frame& frame, const Node* value) {
    Key& key = *frame.key;
    if (key.is_usable && key.text == "<<" && key.style == Style::plain) {
      add_merge_sources(frame, key, *value);
    } else if (key.is_usable) {
      frame.node->entries.push_back({std::move(key.text), key.location, value});
    }
    frame.key.reset();
  }

  void add_merge_sources(Frame& frame, const Key& key, const Node& value) {
    const bool is_list = value.kind == Kind::sequence;
    const auto is_mapping = [](const Node* node) { return node->kind == Kind::mapping; };
    if (is_list && std::all_of(value.items.begin(), value.items.end(), is_mapping)) {
      frame.merge_sources.insert(frame.merge_sources.end(), value.items.begin(), value.items.end());
    } else if (is_mapping(&value)) {
      frame.merge_sources.push_back(&value);
    } else {
      add_problem(key.location, "`<<` merges mappings, found something else",
                  "write `<<: *anchor` or `<<: [*one, *other]`");
    }
  }

  // Appends the entries of the merge sources after the mapping's own entries. If several sources
  // have a key, the first source decides its value.
  void append_merged_entries(Frame& frame) {
    for (const Node* source : frame.merge_sources) {
      for (const Entry& entry : source->entries) {
        count_nodes(entry.value->expanded_count + 1, frame.node->location);
        frame.node->expanded_count += entry.value->expanded_count + 1;
        if (frame.keys.emplace(entry.key, entry.location).second)
          frame.node->entries.push_back(entry);
      }
    }
  }

  Document document_;
  std::vector<Frame> frames_;
  std::unordered_map<YAML::anchor_t, Anchor> anchors_;
  std::int64_t node_count_ = 0;  // with aliases and merged entries expanded
  int documents_ = 0;
};

const Entry* Node::find(std::string_view key) const {
  const auto match = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return match == entries.end() ? nullptr : &*match;
}

Result<Document, Problem> parse(std::string_view text) {
  if (std::ssize(text) > kMaxBytes) {
    return Problem{{},
                   fmt::format("the file is larger than {} MB", kMaxBytes / 1'000'000),
                   "split it, or use `sweep`"};
  }
  if (const auto invalid = find_bad_character(text)) {
    return Problem{
        {invalid->line, invalid->column}, invalid->what, "a configuration is UTF-8 text"};
  }
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder).take();
  } catch (ParseAborted& aborted) {
    return std::move(aborted.problem);
  } catch (const YAML::Exception& exception) {
    const SourceLocation failure = to_location(exception.mark);
    if (auto mistake = find_syntax_mistake(text, failure)) return *std::move(mistake);
    return Problem{failure, "syntax error: " + exception.msg, ""};
  }
}

std::string format_scalar(std::string_view text) {
  const auto is_plain_character = [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-' || c == '+';
  };
  const bool is_plain = !text.empty() && (is_letter(text.front()) || is_digit(text.front())) &&
                        std::ranges::all_of(text, is_plain_character);
  if (is_plain) return std::string(text);
  std::string quoted;
  append_json_text(quoted, text);  // each text of JSON is one of YAML
  return quoted;
}

std::string format_flow(const Node& node) {
  if (node.kind == Kind::scalar) return format_scalar(node.text);
  if (node.kind == Kind::null) return "null";
  std::string text;
  for (const Node* item : node.items)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", format_flow(*item));
  for (const Entry& entry : node.entries) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", format_scalar(entry.key),
                        format_flow(*entry.value));
  }
  return node.kind == Kind::mapping ? fmt::format("{{ {} }}", text) : fmt::format("[{}]", text);
}

}  // namespace bench::yaml
