// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/availability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bench::ops::cuda {
namespace {

// Returns 90 for "90-real" and "90a-virtual".
int parse_architecture(std::string_view entry) {
  int number = 0;
  std::from_chars(entry.data(), entry.data() + entry.size(), number);
  return number;
}

bool has_code(std::string_view entry, int device) {
  const int compiled = parse_architecture(entry);
  if (compiled == 0 || device < compiled) return false;
  return !entry.ends_with("-real") || device / 10 == compiled / 10;
}

}  // namespace

std::string code_unavailable_reason(std::string_view architectures, int major, int minor) {
  const int device = major * 10 + minor;
  std::string_view remaining = architectures;
  while (!remaining.empty()) {
    const std::size_t end = std::min(remaining.find(';'), remaining.size());
    if (has_code(remaining.substr(0, end), device)) return "";
    remaining.remove_prefix(std::min(end + 1, remaining.size()));
  }
  return fmt::format("compute capability {}.{}, for which this build has no code ({})", major,
                     minor, architectures);
}

}  // namespace bench::ops::cuda
