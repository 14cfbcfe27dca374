// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/caller_frames.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

// Beginnings of function names: the C interface's prefixes and the C++ namespaces.
constexpr std::array<std::string_view, 4> kNames = {"dnnl_", "dnnl::", "mkldnn_", "mkldnn::"};
constexpr std::array<std::string_view, 2> kFiles = {"libdnnl.", "libmkldnn."};

bool begins_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return text.starts_with(one); });
}

bool is_of_library(const StackFrame& frame) {
  return begins_with_any(frame.file.substr(frame.file.rfind('/') + 1), kFiles) ||
         begins_with_any(frame.name, kNames);
}

}  // namespace

// Names of template functions begin with their return type, so not every frame of the library is
// recognised. But the library's entry point always is. It is in the module of the innermost frame
// and comes after all other frames of the library, so all frames before it count as well.
std::size_t count_library_frames(std::span<const StackFrame> frames) {
  const auto leaves = [&](const StackFrame& frame) { return frame.file != frames.front().file; };
  const auto end = frames.empty() ? frames.end() : std::ranges::find_if(frames, leaves);
  const auto module = frames.first(static_cast<std::size_t>(end - frames.begin()));
  std::size_t count = 0;
  for (std::size_t i = 0; i < module.size(); ++i) {
    if (is_of_library(module[i])) count = i + 1;
  }
  if (count == 0) {
    const auto is_named = [](const StackFrame& frame) { return !frame.name.empty(); };
    const auto named = std::ranges::find_if(module, is_named);
    if (named != module.end()) count = static_cast<std::size_t>(named - module.begin());
  }
  while (count < frames.size() && is_of_library(frames[count])) ++count;
  return count == frames.size() ? 0 : count;
}

}  // namespace bench
