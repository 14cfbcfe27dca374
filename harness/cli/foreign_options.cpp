// SPDX-License-Identifier: Apache-2.0
// table: one row per option of another profiler
#include "harness/cli/foreign_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

struct ForeignOption {
  std::string_view tool;
  std::string_view written;
  std::string_view command;  // the command of this program that does the same
  std::string_view instead;
};
constexpr std::string_view kMegEngine = "MegEngine's profile_analyze";
constexpr std::string_view kPyProf = "PyProf's prof";
constexpr std::string_view kNvprof = "nvprof";
constexpr std::string_view kPyTorch = "PyTorch's profiler";

constexpr std::array kForeignOptions = {
    ForeignOption{kMegEngine, "--opr-name", "analyze", "--name REGEX"},
    ForeignOption{kMegEngine, "--input-dtype", "analyze", "--dtype NAME"},
    ForeignOption{kMegEngine, "--show-host", "analyze", "--kind operator"},
    ForeignOption{kMegEngine, "--copy-time", "analyze", "--kind memcpy"},
    ForeignOption{kMegEngine, "--wiki", "analyze", "--format markdown"},
    ForeignOption{kMegEngine, "--confluence", "analyze", "--format markdown"},
    ForeignOption{kMegEngine, "--dump-only-opr", "analyze", "--format json"},
    ForeignOption{kMegEngine, "--top-end-key", "analyze", "--order-by time_ns"},
    ForeignOption{kMegEngine, "--print-only", "analyze", "--summary"},
    ForeignOption{kPyProf, "--csv", "analyze", "--format csv"},
    ForeignOption{kNvprof, "--print-gpu-trace", "analyze", "--kind kernel"},
    ForeignOption{kNvprof, "--print-gpu-summary", "analyze", "--kind kernel --aggregate-by name"},
    ForeignOption{kNvprof, "--print-api-trace", "analyze", "--kind api"},
    ForeignOption{kNvprof, "--print-api-summary", "analyze", "--kind api --aggregate-by name"},
    ForeignOption{kPyTorch, "--sort-by", "analyze", "--order-by COLUMN"},
};

}  // namespace

std::optional<std::string> foreign_option_hint(std::string_view command, std::string_view written) {
  const auto* row = std::ranges::find_if(kForeignOptions, [&](const ForeignOption& option) {
    return option.command == command && option.written == written;
  });
  if (row == kForeignOptions.end()) return std::nullopt;
  return fmt::format("use `{}`, which is `{}` of {}", row->instead, row->written, row->tool);
}

}  // namespace bench
