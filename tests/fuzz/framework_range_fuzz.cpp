// SPDX-License-Identifier: Apache-2.0
// Any lines as texts of a framework's ranges, or as PyProf's markers: all views are within the
// line, and if the work is understood, it is plausible.
#include "ops/framework_operator.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace {

using bench::fuzz::require;

bool is_within(std::string_view part, std::string_view text) {
  const std::less_equal<> before;
  return part.empty() || (before(text.data(), part.data()) &&
                          before(part.data() + part.size(), text.data() + text.size()));
}

void check_work(const bench::FrameworkCall& call) {
  const auto work = bench::ops::compute_framework_work(call);
  if (!work) return;
  require(!work->op.empty());
  require(work->flops >= 0 && work->macs.value_or(0) >= 0 && work->bytes.value_or(0) >= 0);
}

void check_marker(std::string_view line) {
  const auto marker = bench::parse_pyprof_marker(line);
  if (!marker) return;
  require(!marker->name.empty() && is_within(marker->name, line) &&
          is_within(marker->module, line));
  require(marker->arguments.size() == marker->inputs.size());
  for (const bench::FrameworkArgument& argument : marker->arguments) {
    require(is_within(argument.name, line) && is_within(argument.type, line));
  }
  check_work({marker->name, &marker->inputs, nullptr, &marker->arguments});
}

void check(std::string_view line) {
  check_marker(line);
  const auto range = bench::parse_framework_range(line);
  if (!range) return;
  require(!range->name.empty());
  require(is_within(range->name, line) && is_within(range->sizes, line));
  require(range->origins.empty() || range->origins.size() == range->inputs.size());
  require(range->sequence.value_or(0) >= 0);
  check_work({range->name, &range->inputs, nullptr});
  for (const auto& shape : range->inputs) check_work({range->name, &range->inputs, &shape});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A separate copy, so that reading beyond a line is detected.
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    check(std::string(text, begin, end - begin));
    begin = end + 1;
  }
  return 0;
}
