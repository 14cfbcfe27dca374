// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml.hpp"

#include "base/characters.hpp"
#include "base/lines.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <istream>
#include <optional>
#include <span>
#include <streambuf>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench::yaml {

namespace {

// Thrown to leave the library's parser from within an event; caught in parse().
struct Abandoned {
  Problem problem;
};

[[noreturn]] void abandon(SourceLocation location, std::string what, std::string next = {}) {
  throw Abandoned{{location, std::move(what), std::move(next)}};
}

SourceLocation to_location(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

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

Style to_style(std::string_view tag) {
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
      abandon(to_location(mark), "a second document starts here",
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
      abandon(to_location(mark), "this alias is inside the node that it names",
              "a node cannot contain itself");
    }
    count(found->second.node->expanded_count, to_location(mark));
    attach(found->second.node, to_location(mark));
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
    SourceLocation location;
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
    std::unordered_map<std::string, SourceLocation> keys = {};
    std::vector<const Node*> merged = {};  // mappings named by `<<`
  };

  void complain(SourceLocation location, std::string what, std::string next) {
    document_.problems_.push_back({location, std::move(what), std::move(next)});
  }

  // Counts every visited node, so that the limit applies before memory or time is spent.
  void count(std::int64_t nodes, SourceLocation location) {
    visited_ += nodes;
    if (visited_ > kMaxNodes) {
      abandon(location, fmt::format("more than {} values, aliases expanded", kMaxNodes),
              "split the file, or use `sweep`");
    }
  }

  Node* make(Kind kind, const YAML::Mark& mark, std::string_view tag) {
    count(1, to_location(mark));
    Node& node = document_.nodes_.emplace_back();
    node.kind = kind;
    node.location = to_location(mark);
    node.style = to_style(tag);
    if (std::find(kCoreTags.begin(), kCoreTags.end(), tag) == kCoreTags.end()) {
      complain(node.location, fmt::format("unknown tag `{}`", tag), "remove it");
    }
    return &node;
  }

  void add_leaf(Kind kind, const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor,
                const std::string& text) {
    Node* node = make(kind, mark, tag);
    node->text = text;
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {node, true};
    attach(node, node->location);
  }

  void open(Kind kind, const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) {
    if (frames_.size() >= kMaxLevels) {
      abandon(to_location(mark), fmt::format("more than {} levels of nesting", kMaxLevels),
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
    attach(node, node->location);
  }

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
    if (!key.usable) {
      complain(location, "a key must be a word, found a list, a mapping or nothing", "");
    } else if (const auto [first, inserted] = frame.keys.emplace(key.text, location); !inserted) {
      complain(location,
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
      frame.node->entries.push_back({std::move(key.text), key.location, value});
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
      complain(key.location, "`<<` merges mappings, found something else",
               "write `<<: *anchor` or `<<: [*one, *other]`");
    }
  }

  // Merged keys follow the mapping's own; the first mapping that has a key counts.
  void merge(Frame& frame) {
    for (const Node* source : frame.merged) {
      for (const Entry& entry : source->entries) {
        count(entry.value->expanded_count + 1, frame.node->location);
        frame.node->expanded_count += entry.value->expanded_count + 1;
        if (frame.keys.emplace(entry.key, entry.location).second)
          frame.node->entries.push_back(entry);
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
    const SourceLocation failed = to_location(exception.mark);
    if (auto mistake = find_syntax_mistake(text, failed)) return *std::move(mistake);
    return Problem{failed, "syntax error: " + exception.msg, ""};
  }
}

namespace {

constexpr std::string_view kBlanks = " \t";

// A line that is neither empty nor a comment.
struct Line {
  int number;
  std::string_view indentation;
  std::string_view content;   // text after the indentation, without trailing blanks
  bool is_item;               // starts with "- "
  std::size_t content_start;  // bytes before the content that follows the dashes
  int column() const { return static_cast<int>(indentation.size()) + 1; }
  int content_column() const { return static_cast<int>(content_start) + 1; }
  std::string_view entry() const { return content.substr(content_start - indentation.size()); }
};

std::optional<Line> read_line(std::string_view text, int number) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  const std::size_t end = text.find_last_not_of(" \t\r");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  if (text[begin] == '#') return std::nullopt;
  Line line{number, text.substr(0, begin), text.substr(begin, end + 1 - begin), false, begin};
  while (text.substr(line.content_start, end + 1 - line.content_start).starts_with("- ")) {
    line.is_item = true;
    const std::size_t next = text.find_first_not_of(' ', line.content_start + 1);
    line.content_start = std::min(next, end + 1);
  }
  return line;
}

// Returns all lines up to the one at which parsing failed.
std::vector<Line> read_lines(std::string_view text, int last) {
  std::vector<Line> lines;
  for (const NumberedLine& next : Lines(text)) {
    const auto number = static_cast<int>(next.number);
    if (number > last) break;
    if (auto line = read_line(next.text, number)) lines.push_back(*line);
  }
  return lines;
}

// Returns the word before the first colon of a line; empty if the line does not start with a key.
std::string_view leading_key(const Line& line) {
  const std::string_view entry = line.entry();
  const auto end = std::ranges::find_if_not(entry, is_word);
  const auto length = static_cast<std::size_t>(end - entry.begin());
  return end != entry.end() && *end == ':' ? entry.substr(0, length) : std::string_view();
}

std::optional<Problem> find_tab(std::span<const Line> lines) {
  for (const Line& line : lines) {
    const std::size_t tab = line.indentation.find('\t');
    if (tab == std::string_view::npos) continue;
    return Problem{{line.number, static_cast<int>(tab) + 1},
                   "a tab indents this line",
                   "YAML is indented with spaces: replace the tab"};
  }
  return std::nullopt;
}

// Whether the line lacks the space after the colon, as in "m:1". YAML reads it as a plain text that
// continues over the next lines, up to the first line with a key.
bool lacks_space(const Line& line) {
  const std::string_view key = leading_key(line);
  if (key.empty() || line.entry().size() <= key.size() + 1) return false;
  const char next = line.entry()[key.size() + 1];
  return next != ' ' && next != '\t' && next != ':' && next != '/';
}

std::optional<Problem> find_missing_space(std::span<const Line> lines) {
  std::size_t end = lines.size();
  if (end > 0 && !lacks_space(lines[end - 1])) --end;
  const Line* first = nullptr;
  for (; end > 0 && lacks_space(lines[end - 1]); --end) first = &lines[end - 1];
  if (first == nullptr) return std::nullopt;
  const std::string_view key = leading_key(*first);
  const std::string_view value = first->entry().substr(key.size() + 1);
  return Problem{{first->number, first->content_column()},
                 fmt::format("a space is missing after the colon of `{}`", key),
                 fmt::format("write `{}: {}`", key, value)};
}

struct Bracket {
  char sign;
  SourceLocation location;
};

// Tracks the brackets that a line opens and closes, outside of quotes and comments.
void follow_brackets(const Line& line, std::vector<Bracket>& open) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.content.size(); ++i) {
    const char c = line.content[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '#' && i > 0 && line.content[i - 1] == ' ') {
      return;
    } else if (c == '[' || c == '{') {
      open.push_back({c, {line.number, line.column() + static_cast<int>(i)}});
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
  }
}

std::optional<Problem> find_open_bracket(std::span<const Line> lines) {
  std::vector<Bracket> open;
  for (const Line& line : lines) follow_brackets(line, open);
  if (open.empty()) return std::nullopt;
  const Bracket& last = open.back();
  return Problem{last.location, fmt::format("the `{}` here is not closed", last.sign),
                 fmt::format("add `{}`, or the comma that is missing between two entries",
                             last.sign == '[' ? ']' : '}')};
}

// Finds a line such as "sweep: n: [1, 2]".
std::optional<Problem> find_second_key(std::span<const Line> lines) {
  if (lines.empty()) return std::nullopt;
  const Line& line = lines.back();
  const std::string_view outer = leading_key(line);
  if (outer.empty()) return std::nullopt;
  std::string_view rest = line.entry().substr(outer.size() + 1);
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  rest.remove_prefix(begin);
  const auto end = std::ranges::find_if_not(rest, is_word);
  const auto length = static_cast<std::size_t>(end - rest.begin());
  if (length == 0 || !rest.substr(length).starts_with(": ")) return std::nullopt;
  return Problem{
      {line.number, line.content_column() + static_cast<int>(outer.size() + 1 + begin)},
      fmt::format("`{}` and `{}` are two keys in one line", outer, rest.substr(0, length)),
      fmt::format("write `{}: {{ {} }}`", outer, rest)};
}

// Returns the lines with which a following key or item may be aligned: the last line and those that
// enclose it.
std::vector<const Line*> siblings(std::span<const Line> before, bool is_item) {
  std::vector<const Line*> result;
  int limit = 0;
  for (auto line = before.rbegin(); line != before.rend(); ++line) {
    if (limit > 0 && line->column() >= limit) continue;
    limit = line->column();
    if (!is_item || line->is_item) result.push_back(&*line);
  }
  return result;
}

std::string spaces(int count) { return fmt::format("{} space{}", count, count == 1 ? "" : "s"); }

std::optional<Problem> find_indentation(std::span<const Line> lines) {
  if (lines.size() < 2) return std::nullopt;
  const Line& line = lines.back();
  if (!line.is_item && leading_key(line).empty()) return std::nullopt;
  const Line& previous = lines[lines.size() - 2];
  if (previous.entry().ends_with(':') && line.column() > previous.column()) return std::nullopt;
  const auto column_of = [&](const Line* other) {
    return line.is_item ? other->column() : other->content_column();
  };
  const Line* nearest = nullptr;
  for (const Line* other : siblings(lines.first(lines.size() - 1), line.is_item)) {
    if (column_of(other) == line.column()) return std::nullopt;
    const auto distance = [&](const Line* sibling) {
      return std::abs(column_of(sibling) - line.column());
    };
    if (nearest == nullptr || distance(other) < distance(nearest)) nearest = other;
  }
  if (nearest == nullptr) return std::nullopt;
  const std::string_view name = line.is_item ? "-" : leading_key(line);
  const std::string_view other = line.is_item ? "-" : leading_key(*nearest);
  if (other.empty()) return std::nullopt;
  return Problem{
      {line.number, line.column()},
      fmt::format("wrong indentation: `{}` begins after {}, but `{}` in line {} after {}", name,
                  spaces(line.column() - 1), other, nearest->number, column_of(nearest) - 1),
      line.is_item ? "items of one list begin in the same column"
                   : "keys of one mapping begin in the same column"};
}

using Finder = std::optional<Problem> (*)(std::span<const Line>);
constexpr std::array<Finder, 5> kFinders = {find_tab, find_missing_space, find_open_bracket,
                                            find_second_key, find_indentation};

}  // namespace

std::optional<Problem> find_syntax_mistake(std::string_view text, SourceLocation failed) {
  const std::vector<Line> lines = read_lines(text, failed.line);
  for (const Finder find : kFinders) {
    if (auto problem = find(lines)) return problem;
  }
  return std::nullopt;
}

}  // namespace bench::yaml
