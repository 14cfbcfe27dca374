// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml.hpp"

#include "base/characters.hpp"
#include "base/json_writer.hpp"
#include "base/lines.hpp"
#include "base/plural.hpp"
#include "base/quote.hpp"
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

// Maximum length in bytes of a corrected line in a message.
constexpr std::size_t kMaxQuotedLine = 200;

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

namespace {

constexpr std::string_view kIndentCharacters = " \t";

// A line that is neither empty nor a comment. Views point into the text.
struct Line {
  int number;  // from 1
  std::string_view indentation;
  std::string_view content;  // text after the indentation, without trailing blanks
  bool is_item;              // starts with "- "
  std::size_t entry_start;   // offset in the line of the text after the indentation and dashes
  int column() const { return static_cast<int>(indentation.size()) + 1; }
  int entry_column() const { return static_cast<int>(entry_start) + 1; }
  std::string_view entry() const { return content.substr(entry_start - indentation.size()); }
};

std::optional<Line> read_line(std::string_view text, int number) {
  const std::size_t begin = text.find_first_not_of(kIndentCharacters);
  const std::size_t end = text.find_last_not_of(" \t\r");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  if (text[begin] == '#') return std::nullopt;
  Line line{number, text.substr(0, begin), text.substr(begin, end + 1 - begin), false, begin};
  while (text.substr(line.entry_start, end + 1 - line.entry_start).starts_with("- ")) {
    line.is_item = true;
    const std::size_t next = text.find_first_not_of(' ', line.entry_start + 1);
    line.entry_start = std::min(next, end + 1);
  }
  return line;
}

// Returns the lines from the first to the one with the number `last`, without empty lines and
// comments.
std::vector<Line> read_lines(std::string_view text, int last) {
  std::vector<Line> lines;
  for (const NumberedLine& next : Lines(text)) {
    const auto number = static_cast<int>(next.number);
    if (number > last) break;
    if (auto line = read_line(next.text, number)) lines.push_back(*line);
  }
  return lines;
}

// Returns the key at the start of a line, after its dashes. Returns an empty text if there is no
// key.
std::string_view find_leading_key(const Line& line) {
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

// Returns whether a line has no space after the colon, as in "m:1". YAML reads such a line as plain
// text that continues in the next lines, up to the first line with a key.
bool lacks_space(const Line& line) {
  const std::string_view key = find_leading_key(line);
  if (key.empty() || line.entry().size() <= key.size() + 1) return false;
  const char next = line.entry()[key.size() + 1];
  return next != ' ' && next != '\t' && next != ':' && next != '/';
}

// Finds lines without a space after the colon at the end of `lines`. Reports the first of them.
std::optional<Problem> find_missing_space(std::span<const Line> lines) {
  std::size_t end = lines.size();
  if (end > 0 && !lacks_space(lines[end - 1])) --end;
  const Line* first = nullptr;
  for (; end > 0 && lacks_space(lines[end - 1]); --end) first = &lines[end - 1];
  if (first == nullptr) return std::nullopt;
  const std::string_view key = find_leading_key(*first);
  const std::string_view value = first->entry().substr(key.size() + 1);
  return Problem{{first->number, first->entry_column()},
                 "a space is missing after the colon of " + quote(key),
                 "write " + quote(fmt::format("{}: {}", key, value), kMaxQuotedLine)};
}

struct Bracket {
  char sign;
  SourceLocation location;
};

// Adds the brackets that a line opens to `open`, and removes those that it closes. Ignores quoted
// texts and comments.
void update_open_brackets(const Line& line, std::vector<Bracket>& open) {
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
  for (const Line& line : lines) update_open_brackets(line, open);
  if (open.empty()) return std::nullopt;
  const Bracket& last = open.back();
  return Problem{last.location, fmt::format("the `{}` here is not closed", last.sign),
                 fmt::format("add `{}`, or the comma that is missing between two entries",
                             last.sign == '[' ? ']' : '}')};
}

// Finds two keys in the last line, such as "sweep: n: [1, 2]".
std::optional<Problem> find_second_key(std::span<const Line> lines) {
  if (lines.empty()) return std::nullopt;
  const Line& line = lines.back();
  const std::string_view outer = find_leading_key(line);
  if (outer.empty()) return std::nullopt;
  std::string_view value = line.entry().substr(outer.size() + 1);
  const std::size_t begin = std::min(value.find_first_not_of(' '), value.size());
  value.remove_prefix(begin);
  const auto end = std::ranges::find_if_not(value, is_word);
  const auto length = static_cast<std::size_t>(end - value.begin());
  if (length == 0 || !value.substr(length).starts_with(": ")) return std::nullopt;
  return Problem{{line.number, line.entry_column() + static_cast<int>(outer.size() + 1 + begin)},
                 fmt::format("{} and {} are two keys in one line", quote(outer),
                             quote(value.substr(0, length))),
                 "write " + quote(fmt::format("{}: {{ {} }}", outer, value), kMaxQuotedLine)};
}

// Returns the lines with which the next key or item may be aligned: the last line and the lines
// that enclose it. For an item, returns only items.
std::vector<const Line*> find_alignment_candidates(std::span<const Line> before, bool is_item) {
  std::vector<const Line*> result;
  int limit = 0;
  for (auto line = before.rbegin(); line != before.rend(); ++line) {
    if (limit > 0 && line->column() >= limit) continue;
    limit = line->column();
    if (!is_item || line->is_item) result.push_back(&*line);
  }
  return result;
}

// Finds a last line that begins in another column than the lines before it allow.
std::optional<Problem> find_wrong_indentation(std::span<const Line> lines) {
  if (lines.size() < 2) return std::nullopt;
  const Line& line = lines.back();
  if (!line.is_item && find_leading_key(line).empty()) return std::nullopt;
  const Line& previous = lines[lines.size() - 2];
  if (previous.entry().ends_with(':') && line.column() > previous.column()) return std::nullopt;
  const auto get_column = [&](const Line* candidate) {
    return line.is_item ? candidate->column() : candidate->entry_column();
  };
  const Line* nearest = nullptr;
  for (const Line* candidate :
       find_alignment_candidates(lines.first(lines.size() - 1), line.is_item)) {
    if (get_column(candidate) == line.column()) return std::nullopt;
    const auto distance = [&](const Line* other) {
      return std::abs(get_column(other) - line.column());
    };
    if (nearest == nullptr || distance(candidate) < distance(nearest)) nearest = candidate;
  }
  if (nearest == nullptr) return std::nullopt;
  const std::string_view name = line.is_item ? "-" : find_leading_key(line);
  const std::string_view nearest_key = line.is_item ? "-" : find_leading_key(*nearest);
  if (nearest_key.empty()) return std::nullopt;
  return Problem{{line.number, line.column()},
                 fmt::format("wrong indentation: {} begins after {}, but {} in line {} after {}",
                             quote(name), pluralise(line.column() - 1, "space"), quote(nearest_key),
                             nearest->number, get_column(nearest) - 1),
                 line.is_item ? "items of one list begin in the same column"
                              : "keys of one mapping begin in the same column"};
}

using MistakeFinder = std::optional<Problem> (*)(std::span<const Line>);
constexpr std::array<MistakeFinder, 5> kMistakeFinders = {
    find_tab, find_missing_space, find_open_bracket, find_second_key, find_wrong_indentation};

}  // namespace

std::optional<Problem> find_syntax_mistake(std::string_view text, SourceLocation failure) {
  const std::vector<Line> lines = read_lines(text, failure.line);
  for (const MistakeFinder find : kMistakeFinders) {
    if (auto problem = find(lines)) return problem;
  }
  return std::nullopt;
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
