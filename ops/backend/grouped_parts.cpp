// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/grouped_parts.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

namespace bench::ops {
namespace {

const std::byte* at(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}
std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }

}  // namespace

Result<GroupedParts, BackendError> GroupedParts::create(std::span<const Problem> parts,
                                                        const KernelMaker& make_kernel,
                                                        PartWorkspace workspace) {
  assert(!parts.empty());
  GroupedParts result;
  result.part_workspace_ = workspace;
  std::map<std::string, std::shared_ptr<Kernel>> known;
  for (const Problem& part : parts) {
    std::shared_ptr<Kernel>& kernel = known[problem_tokens(part)];
    if (kernel == nullptr) {
      BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> created, make_kernel(part));
      kernel = std::move(created);
    }
    result.kernels_.push_back(kernel);
  }
  const std::size_t tensors = parts.front().tensors.size();
  const auto first = result.kernels_.front()->buffers();
  result.buffers_.assign(first.begin(), first.end());
  std::vector<std::size_t> plain(tensors), packed(tensors);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    result.plain_.push_back(plain);
    result.packed_.push_back(packed);
    const auto buffers = result.kernels_[part]->buffers();
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      plain[tensor] += static_cast<std::size_t>(parts[part].tensors[tensor].size().count);
      // Libraries read no faster from a larger alignment, and some refuse a smaller one.
      packed[tensor] += static_cast<std::size_t>(round_up(buffers[tensor].size.count, kCacheLine));
    }
  }
  for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
    result.buffers_[tensor].size = Bytes{static_cast<std::int64_t>(packed[tensor])};
  }
  return result;
}

std::string GroupedParts::implementation() const {
  std::set<std::string> names;
  for (const auto& kernel : kernels_) names.insert(kernel->implementation());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<KernelStep> GroupedParts::steps() const {
  std::vector<KernelStep> steps;
  for (const auto& kernel : kernels_) {
    const std::vector<KernelStep> own = kernel->steps();
    assert(own.size() == 1 && "a part is one call of the library");
    steps.push_back(own.front());
  }
  return steps;
}

Bytes GroupedParts::workspace() const {
  if (part_workspace_ == PartWorkspace::shared) return kernels_.front()->workspace();
  Bytes total{0};
  std::set<const Kernel*> counted;
  for (const auto& kernel : kernels_) {
    if (counted.insert(kernel.get()).second) total = total + kernel->workspace();
  }
  return total;
}

Summation GroupedParts::summation() const {
  const bool is_reduced = std::ranges::any_of(
      kernels_, [](const auto& kernel) { return kernel->summation() == Summation::reduced; });
  return is_reduced ? Summation::reduced : Summation::full;
}

std::map<std::string, std::string> GroupedParts::details() const {
  std::map<std::string, std::string> details = kernels_.front()->details();
  details["groups"] = fmt::to_string(kernels_.size());
  return details;
}

bool GroupedParts::converts_layout(std::size_t tensor) const {
  return plain_.back()[tensor] != packed_.back()[tensor] ||
         std::ranges::any_of(kernels_,
                             [&](const auto& kernel) { return kernel->converts_layout(tensor); });
}

Status GroupedParts::pack(std::size_t tensor, const void* plain, void* packed) const {
  for (std::size_t part = 0; part < count(); ++part) {
    BENCH_RETURN_IF_ERROR(kernels_[part]->pack(tensor, at(plain, plain_[part][tensor]),
                                               at(packed, packed_[part][tensor])));
  }
  return Done{};
}

Status GroupedParts::unpack(std::size_t tensor, const void* packed, void* plain) const {
  for (std::size_t part = 0; part < count(); ++part) {
    BENCH_RETURN_IF_ERROR(kernels_[part]->unpack(tensor, at(packed, packed_[part][tensor]),
                                                 at(plain, plain_[part][tensor])));
  }
  return Done{};
}

std::vector<void*> GroupedParts::addresses(std::size_t part, std::span<void* const> buffers) const {
  std::vector<void*> result;
  for (std::size_t tensor = 0; tensor < buffers.size(); ++tensor) {
    result.push_back(at(buffers[tensor], packed_[part][tensor]));
  }
  return result;
}

Status GroupedParts::prepare(std::span<void* const> buffers) const {
  for (std::size_t part = 0; part < count(); ++part) {
    BENCH_RETURN_IF_ERROR(kernels_[part]->prepare(addresses(part, buffers)));
  }
  return Done{};
}

Result<std::vector<std::unique_ptr<Invocation>>> GroupedParts::bind(
    std::span<void* const> buffers) const {
  std::vector<std::unique_ptr<Invocation>> invocations;
  for (std::size_t part = 0; part < count(); ++part) {
    BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Invocation> invocation,
                           kernels_[part]->bind(addresses(part, buffers)));
    invocations.push_back(std::move(invocation));
  }
  return invocations;
}

}  // namespace bench::ops
