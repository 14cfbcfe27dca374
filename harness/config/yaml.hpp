// SPDX-License-Identifier: Apache-2.0
// A YAML document as an immutable tree with positions. Only yaml.cpp uses the YAML library. Limits
// apply during parsing, so that no input makes it slow or large.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::yaml {

inline constexpr std::int64_t kMaxBytes = 8'000'000;  // bytes of one file
inline constexpr std::size_t kMaxLevels = 64;         // depth of nested lists and mappings
// Nodes of one tree, counting an alias as all nodes of its anchor. A suite of 10,000 cases has a
// twentieth of this.
inline constexpr std::int64_t kMaxNodes = 1'000'000;

// Line and column of a node's first character, from 1; columns count bytes.
struct SourceLocation {
  int line = 1;
  int column = 1;
};

enum class Kind { null, scalar, sequence, mapping };
enum class Style { plain, quoted };  // of scalars: only plain ones may be numbers or booleans

struct Node;

struct Entry {
  std::string key;
  SourceLocation location;  // position of the key
  const Node* value;
};

// An alias has no node of its own: it refers to its anchor's node, with the anchor's position.
struct Node {
  Kind kind = Kind::null;
  Style style = Style::plain;
  SourceLocation location;
  std::string text;                 // text of a scalar
  std::vector<const Node*> items;   // items of a sequence
  std::vector<Entry> entries;       // entries of a mapping, in order; keys are distinct
  std::int64_t expanded_count = 1;  // nodes of this subtree, aliases expanded

  // Returns the entry of a key; nullptr if there is none or this is not a mapping.
  const Entry* find(std::string_view key) const;
};

struct Problem {
  SourceLocation location;
  std::string what;
  std::string next;
};

// Owns its nodes.
class Document {
 public:
  Document() = default;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  bool has_root() const { return root_ != nullptr; }  // false only for a default Document
  const Node& root() const { return *root_; }
  // Errors that leave a usable tree. Examples: duplicate keys (the first one counts), keys that are
  // not text, foreign tags, and merge keys (`<<`) whose value is not a mapping.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class Builder;
  std::deque<Node> nodes_;
  const Node* root_ = nullptr;
  std::vector<Problem> problems_;
};

// Parses one document with anchors, aliases and merge keys. An empty text gives a null node.
// Returns a problem for a syntax error, a second document, a byte that is not text, a cycle of
// aliases, or an exceeded limit.
Result<Document, Problem> parse(std::string_view text);

// Finds the mistake in `text` that made parsing fail at `failed`. The YAML library only reports
// where it stopped, which is often a line after the mistake, and not what to write. Recognises tabs
// as indentation, missing spaces after colons, unclosed brackets, two keys in one line, and wrong
// indentation. Returns nullopt for other mistakes.
std::optional<Problem> find_syntax_mistake(std::string_view text, SourceLocation failed);

}  // namespace bench::yaml
