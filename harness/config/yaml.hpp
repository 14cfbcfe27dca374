// SPDX-License-Identifier: Apache-2.0
// Parses YAML documents into immutable trees with positions. Only yaml.cpp uses the YAML library.
// Limits apply during parsing, so that no input takes much time or memory.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::yaml {

inline constexpr std::int64_t kMaxBytes = 8'000'000;  // size of one file
inline constexpr std::size_t kMaxLevels = 64;         // depth of nested lists and mappings
// Number of nodes of one tree. An alias counts as all nodes of its anchor. A suite of 10,000 cases
// has a twentieth of this number.
inline constexpr std::int64_t kMaxNodes = 1'000'000;

// A position in a text, such as a node's first character. Line and column count from 1; columns
// count bytes.
struct SourceLocation {
  int line = 1;
  int column = 1;
};

enum class Kind { null, scalar, sequence, mapping };
// Style of a scalar. Only plain ones can be numbers or booleans.
enum class Style { plain, quoted };

struct Node;

// One key of a mapping with its value.
struct Entry {
  std::string key;
  SourceLocation location;  // position of the key
  const Node* value;
};

// A node of the tree. An alias has no node of its own: lists and mappings point to the node of its
// anchor, which has the anchor's position.
struct Node {
  Kind kind = Kind::null;
  Style style = Style::plain;
  SourceLocation location;
  std::string text;                 // text of a scalar
  std::vector<const Node*> items;   // items of a sequence
  std::vector<Entry> entries;       // entries of a mapping, in order; keys are distinct
  std::int64_t expanded_count = 1;  // number of nodes in this subtree, with aliases expanded

  // Returns the entry of a key. Returns nullptr if the key is missing or this is not a mapping.
  const Entry* find(std::string_view key) const;
};

// An error in a document: what is wrong, where, and what to do.
struct Problem {
  SourceLocation location;
  std::string what;
  std::string next;
};

// A parsed document. Owns its nodes; their addresses stay valid when the document is moved.
class Document {
 public:
  Document() = default;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  bool has_root() const { return root_ != nullptr; }  // false only for a default Document
  const Node& root() const { return *root_; }
  // Errors that leave a usable tree. Examples: duplicate keys (the tree has the first), keys that
  // are not text, unknown tags, and merge keys (`<<`) whose value is not a mapping.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class Builder;
  std::deque<Node> nodes_;
  const Node* root_ = nullptr;
  std::vector<Problem> problems_;
};

// Parses one document with anchors, aliases and merge keys. The root of an empty text is a null
// node. Returns a problem for a syntax error, a second document, invalid UTF-8, a control
// character, a cycle of aliases, or an exceeded limit.
Result<Document, Problem> parse(std::string_view text);

// Returns a text as a scalar between braces: as it is, or in quotes if it would have another
// meaning.
std::string format_scalar(std::string_view text);
// Returns the text of a node in one line: "[1, 8]", "{ m: 8 }".
std::string format_flow(const Node& node);

// Finds the mistake in `text` that made the YAML library stop at `failure`. The library does not
// report what to write, and it often stops a line after the mistake. Recognises tabs as
// indentation, missing spaces after colons, unclosed brackets, two keys in one line, and wrong
// indentation. Returns nullopt for other mistakes.
std::optional<Problem> find_syntax_mistake(std::string_view text, SourceLocation failure);

}  // namespace bench::yaml
