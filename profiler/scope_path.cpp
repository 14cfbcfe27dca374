// SPDX-License-Identifier: Apache-2.0
#include "profiler/scope_path.hpp"

namespace bench {
namespace {

constexpr char kSeparator = ':';
constexpr char kEscape = '\\';

}  // namespace

std::string append_scope(std::string_view path, std::string_view name) {
  std::string joined(path);
  if (!joined.empty()) joined += kSeparator;
  for (const char c : name) {
    if (c == kSeparator || c == kEscape) joined += kEscape;
    joined += c;
  }
  return joined;
}

std::vector<std::string> split_scope(std::string_view path) {
  std::vector<std::string> names;
  if (path.empty()) return names;
  names.emplace_back();
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == kEscape && i + 1 < path.size()) {
      names.back() += path[++i];
    } else if (path[i] == kSeparator) {
      names.emplace_back();
    } else {
      names.back() += path[i];
    }
  }
  return names;
}

}  // namespace bench
