// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/kernel_name.hpp"

#include "base/characters.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace bench {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kDecltype = "decltype ";
constexpr std::string_view kOperator = "operator";

// Reads a demangled declaration from left to right and keeps the path of its name. Bracketed parts
// are skipped as a unit, so their content cannot be mistaken for part of the name.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : rest_(text) {}

  std::string name() {
    while (!rest_.empty() && !done_) step();
    return kept_;
  }

 private:
  void step() {
    const char c = rest_.front();
    if (rest_.starts_with(kAnonymous)) {
      keep(kAnonymous.size());
    } else if (rest_.starts_with(kDecltype)) {  // a return type
      rest_.remove_prefix(kDecltype.size());
      skip('(', ')');
    } else if (at_operator()) {
      keep_operator();
    } else if (c == '<') {
      skip('<', '>');
    } else if (c == '{') {  // {lambda(int)#1}
      keep(length_of('{', '}'));
    } else if (c == '(') {
      skip_parentheses();
    } else if (c == ' ') {  // the text so far was the return type
      kept_.clear();
      rest_.remove_prefix(1);
    } else {
      keep(1);
    }
  }

  void keep(std::size_t count) {
    kept_ += rest_.substr(0, count);
    rest_.remove_prefix(std::min(count, rest_.size()));
  }

  bool at_operator() const {
    if (!rest_.starts_with(kOperator)) return false;
    const bool begins = kept_.empty() || !is_word(kept_.back());
    return begins && rest_.size() > kOperator.size() && !is_word(rest_[kOperator.size()]);
  }

  // Handles "operator()", "operator<<", "operator new" and "operator int".
  void keep_operator() {
    keep(kOperator.size());
    if (rest_.starts_with("()")) {
      keep(2);
    } else if (rest_.front() == ' ') {
      keep(std::min(rest_.find_first_of("(<"), rest_.size()));
    } else {
      keep(std::min(rest_.find_first_of(" ("), rest_.size()));
      if (rest_.starts_with(" <")) rest_.remove_prefix(1);
    }
  }

  // Returns the length up to the bracket that closes the one at the front. Ignores the content of
  // parentheses, such as the `>` of `(a > b)`.
  std::size_t length_of(char open, char close) const {
    int depth = 0, hidden = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (open != '(' && c == '(') ++hidden;
      if (open != '(' && c == ')') --hidden;
      if (hidden > 0) continue;
      if (c == open) ++depth;
      if (c == close && --depth == 0) return i + 1;
    }
    return rest_.size();
  }

  void skip(char open, char close) { rest_.remove_prefix(length_of(open, close)); }

  // The parameter list ends the name, unless it belongs to an enclosing function.
  void skip_parentheses() {
    skip('(', ')');
    const std::size_t next = rest_.find("::");
    const std::string_view qualifiers = rest_.substr(0, next);
    const bool inside = next != std::string_view::npos &&
                        (qualifiers.empty() || qualifiers == " const" || qualifiers == " &");
    if (inside) {
      rest_.remove_prefix(next);
    } else {
      done_ = true;
    }
  }

  std::string_view rest_;
  std::string kept_;
  bool done_ = false;
};

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

}  // namespace

KernelName kernel_name(std::string_view symbol) {
  KernelName name{std::string(symbol), std::string(symbol)};
  // The demangler would read other names as type names: "f" as "float".
  if (!symbol.starts_with("_Z")) return name;
  std::string text = demangled(name.long_name);
  if (text.empty()) return name;
  name.long_name = std::move(text);
  std::string path = NameReader(name.long_name).name();
  name.short_name = path.empty() ? name.long_name : std::move(path);
  return name;
}

}  // namespace bench
