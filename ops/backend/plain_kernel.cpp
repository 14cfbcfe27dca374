// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/plain_kernel.hpp"

#include "ops/backend/buffer_role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::size_t kPlainAlignment = kCacheLine;

bool is_plain_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kPlainAlignment == 0;
}

class PlainKernel final : public Kernel {
 public:
  PlainKernel(Problem problem, PlainCode code)
      : problem_(std::move(problem)), code_(std::move(code)) {
    for (const Tensor& tensor : problem_.tensors) {
      buffers_.push_back({buffer_role(tensor), tensor.size(), "plain"});
    }
  }

  std::string implementation() const override { return code_.name; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {0}; }
  bool takes_plain() const override { return true; }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    std::memcpy(packed, plain, static_cast<std::size_t>(buffers_[index].size.count));
    return Done{};
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    return pack(index, packed, plain);
  }
  Status prepare(std::span<void* const> /*buffers*/) override { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    if (!std::ranges::all_of(buffers, is_plain_aligned)) {
      return Error{"a buffer is not aligned to 64 bytes", "", "this is a bug in this program"};
    }
    return code_.bind(problem_, buffers);
  }
  std::map<std::string, std::string> details() const override { return code_.details; }
  KernelThreads threads() const override { return code_.threads; }

 private:
  Problem problem_;
  PlainCode code_;
  std::vector<KernelBuffer> buffers_;
};

}  // namespace

std::unique_ptr<Kernel> make_plain_kernel(Problem problem, PlainCode code) {
  return std::make_unique<PlainKernel>(std::move(problem), std::move(code));
}

}  // namespace bench::ops
