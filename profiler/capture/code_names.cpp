// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/code_names.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

// A program that generates code or never runs an address twice must not use up the memory.
constexpr std::size_t kMaxKnown = std::size_t{1} << 20;

}  // namespace

const CodeName& CodeNames::name(std::string_view path, std::uint64_t address) {
  std::pair<std::string, std::uint64_t> key(path, address);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= kMaxKnown) known_.clear();
  CodeName name = find(key.first, address);
  return known_.emplace(std::move(key), std::move(name)).first->second;
}

const CodeName& CodeNames::name_at_offset(std::string_view path, std::uint64_t offset) {
  const auto address = lookup_.file_address ? lookup_.file_address(path, offset) : std::nullopt;
  return name(path, address.value_or(offset));
}

CodeName CodeNames::generated(std::int64_t pid, std::uint64_t address) const {
  const auto function =
      lookup_.generated_name ? lookup_.generated_name(pid, address) : std::nullopt;
  return {std::string(kGeneratedObject), function.value_or(std::string(kGeneratedObject))};
}

CodeName CodeNames::kernel(std::uint64_t address) const {
  const auto function = lookup_.kernel_name ? lookup_.kernel_name(address) : std::nullopt;
  return {std::string(kKernelObject), function.value_or(std::string(kKernelObject))};
}

CodeName CodeNames::find(const std::string& path, std::uint64_t address) const {
  if (path.empty()) return {"(unloaded)", "(unloaded)"};
  const std::string object = path.substr(path.rfind('/') + 1);
  const std::string frame = fmt::format("{}+0x{:x}", path, address);
  if (lookup_.frame_name) {
    const std::string named = lookup_.frame_name(frame);
    const std::string ending = fmt::format(" ({})", object);
    if (named != frame && named.ends_with(ending)) {
      return {object, named.substr(0, named.size() - ending.size())};
    }
  }
  const auto begin = lookup_.function_begin ? lookup_.function_begin(path, address) : std::nullopt;
  return {object, fmt::format("{}+0x{:x}", object, begin.value_or(address))};
}

}  // namespace bench
