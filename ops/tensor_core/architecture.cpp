// SPDX-License-Identifier: Apache-2.0
// table: one row per architecture, one per generation of libraries
#include "ops/tensor_core/architecture.hpp"

#include "base/characters.hpp"
#include "base/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using enum LibraryGeneration;

constexpr std::array<LibraryGenerationInfo, 4> kGenerations = {{
    {cuda10, "cuda10", "cuBLAS 10, cuDNN before 7.6.3"},
    {cuda11, "cuda11", "cuBLAS 11, cuDNN 8"},
    {cuda12, "cuda12", "cuBLAS 12, cuDNN 8.9 and 9"},
    {cuda13, "cuda13", "cuBLAS 13, cuDNN 9"},
}};

constexpr std::array<Architecture, 14> kArchitectures = {{
    {Sm::sm_70, "sm_70", "Volta", "V100", cuda10, cuda12},
    {Sm::sm_72, "sm_72", "Volta", "Xavier", cuda10, cuda12},
    {Sm::sm_75, "sm_75", "Turing", "T4, RTX 20", cuda10, cuda13},
    {Sm::sm_80, "sm_80", "Ampere", "A100", cuda11, cuda13},
    {Sm::sm_86, "sm_86", "Ampere", "A10, RTX 30", cuda11, cuda13},
    {Sm::sm_87, "sm_87", "Ampere", "Orin", cuda11, cuda13},
    {Sm::sm_88, "sm_88", "Ampere", "integrated", cuda13, cuda13},
    {Sm::sm_89, "sm_89", "Ada", "L4, L40S, RTX 40", cuda11, cuda13},
    {Sm::sm_90, "sm_90", "Hopper", "H100, H200", cuda11, cuda13},
    {Sm::sm_100, "sm_100", "Blackwell", "B200, GB200", cuda12, cuda13},
    {Sm::sm_103, "sm_103", "Blackwell", "B300, GB300", cuda12, cuda13},
    {Sm::sm_110, "sm_110", "Blackwell", "Thor", cuda13, cuda13},
    {Sm::sm_120, "sm_120", "Blackwell", "RTX 50, RTX PRO 6000", cuda12, cuda13},
    {Sm::sm_121, "sm_121", "Blackwell", "GB10", cuda12, cuda13},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kArchitectures.size(); ++i) {
    if (static_cast<std::size_t>(kArchitectures[i].id) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

// Converts "sm90a", "SM_90", "90" and "9.0" to "sm_90". Returns other texts unchanged.
std::string to_canonical_name(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (is_digit(c)) digits += c;
  }
  const std::size_t last = text.find_last_not_of("af");  // sm_90a, sm_100f
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::string(text);
  const std::string_view prefix = text.substr(0, first);
  const std::string_view number = text.substr(first, last + 1 - first);
  const bool is_known_prefix =
      prefix.empty() || prefix == "sm_" || prefix == "sm" || prefix == "SM_";
  const bool is_number =
      std::all_of(number.begin(), number.end(), [](char c) { return is_digit(c) || c == '.'; });
  return is_known_prefix && is_number ? "sm_" + digits : std::string(text);
}

template <class Row>
std::vector<std::string_view> list_names(std::span<const Row> rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace

std::span<const LibraryGenerationInfo> library_generations() { return kGenerations; }

const LibraryGenerationInfo& info(LibraryGeneration generation) {
  return kGenerations[static_cast<std::size_t>(generation)];
}

std::span<const Architecture> architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view text) {
  const std::string name = to_canonical_name(text);
  for (const Architecture& row : kArchitectures) {
    if (row.name == name) return &row;
  }
  const auto names = list_names(architectures());
  std::string all;
  for (const std::string_view candidate : names)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", candidate);
  const auto near = nearest_name(name, names);
  return Error{fmt::format("unknown architecture `{}`", text), "",
               near ? fmt::format("did you mean `{}`? Known are {}", *near, all)
                    : fmt::format("known are {}", all)};
}

Result<Platform> parse_platform(std::string_view text) {
  const std::size_t colon = text.find(':');
  BENCH_ASSIGN_OR_RETURN(const Architecture* const architecture,
                         find_architecture(text.substr(0, colon)));
  if (colon == std::string_view::npos) return Platform{architecture, architecture->last};
  const std::string_view name = text.substr(colon + 1);
  for (const LibraryGenerationInfo& row : kGenerations) {
    if (row.name == name) return Platform{architecture, row.generation};
  }
  return Error{fmt::format("unknown generation of libraries `{}`", name), "",
               expectation(name, list_names(library_generations()))};
}

}  // namespace bench::ops
