// SPDX-License-Identifier: Apache-2.0
// A YAML document as an immutable tree with positions. The one place that knows the YAML library.
// Limits hold while the text is parsed, so that no input makes it slow or large.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace bench::yaml {

inline constexpr std::int64_t kMaxBytes = 8'000'000;  // of one file
inline constexpr std::size_t kMaxLevels = 64;         // of nested lists and mappings
// Nodes that a walk over the tree visits, aliases expanded: twenty times a suite of 10,000 cases.
inline constexpr std::int64_t kMaxNodes = 1'000'000;

// Line and column of a node's first character, from 1; columns count bytes.
struct Mark {
  int line = 1;
  int column = 1;
};

enum class Kind { null, scalar, sequence, mapping };
enum class Style { plain, quoted };  // of scalars: only plain ones may be numbers and booleans

struct Node;

struct Entry {
  std::string key;
  Mark mark;  // of the key
  const Node* value;
};

// An alias is its anchor's node: shared, with the anchor's position.
struct Node {
  Kind kind = Kind::null;
  Style style = Style::plain;
  Mark mark;
  std::string text;                // of a scalar
  std::vector<const Node*> items;  // of a sequence
  std::vector<Entry> entries;      // of a mapping, in order; keys are distinct
  std::int64_t expanded = 1;       // nodes of this subtree, aliases expanded

  // The value of a key; nullptr when absent or when this is no mapping.
  const Entry* find(std::string_view key) const;
};

struct Problem {
  Mark mark;
  std::string what;
  std::string next;
};

// Owns its nodes.
class Document {
 public:
  Document() = default;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  bool has_root() const { return root_ != nullptr; }  // false only of a default Document
  const Node& root() const { return *root_; }
  // Mistakes that leave a usable tree: duplicate keys (the first one counts), keys that are no
  // text, foreign tags, merge keys (`<<`) that name no mapping.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class Builder;
  std::deque<Node> nodes_;
  const Node* root_ = nullptr;
  std::vector<Problem> problems_;
};

// One document with anchors, aliases and merge keys. An empty text is a null node. Error: a syntax
// error, a second document, a byte that is no text, a cycle of aliases, or a limit exceeded.
Result<Document, Problem> parse(std::string_view text);

}  // namespace bench::yaml
