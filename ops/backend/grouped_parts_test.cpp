// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/grouped_parts.hpp"

#include "ops/grouped_gemm/grouped_gemm.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace bench::ops::op_test {
namespace {

// Keeps tensors as they are, and copies the source to the destination.
class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(const Problem& problem) {
    for (const Tensor& tensor : problem.tensors) {
      sizes_.push_back(static_cast<std::size_t>(tensor.size().count));
      buffers_.push_back({BufferRole::input, tensor.size(), "ab"});
    }
  }
  std::string implementation() const override { return "copy"; }
  std::vector<KernelStep> steps() const override { return {{"", "copy", "copy", "ab", {}}}; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {7}; }
  bool converts_layout(std::size_t) const override { return false; }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    std::memcpy(packed, plain, sizes_[index]);
    return Done{};
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    std::memcpy(plain, packed, sizes_[index]);
    return Done{};
  }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const>) override {
    return std::unique_ptr<Invocation>();
  }

 private:
  std::vector<std::size_t> sizes_;
  std::vector<KernelBuffer> buffers_;
};

TEST(GroupedParts, JoinTheBuffersOfTheirKernels) {
  const Problem grouped = problem("grouped_gemm", "5x16x5-n3k7");
  int created = 0;
  auto parts = GroupedParts::create(
      group_products(grouped),
      [&](const Problem& part) -> Result<std::unique_ptr<Kernel>, BackendError> {
        ++created;
        return std::unique_ptr<Kernel>(std::make_unique<CopyKernel>(part));
      });
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(created, 2);  // groups of the same size share a kernel
  EXPECT_EQ(parts->workspace(), Bytes{14});
  EXPECT_EQ(parts->steps().size(), 3U);
  EXPECT_EQ(parts->implementation(), "copy");
  EXPECT_EQ(parts->details().at("groups"), "3");
  // 5x7, 16x7 and 5x7 floats, each at a multiple of 64 bytes.
  EXPECT_EQ(parts->buffers()[0].size, Bytes{192 + 448 + 192});
  EXPECT_TRUE(parts->converts_layout(0));
  std::vector<float> plain(26 * 7), again(26 * 7);
  std::iota(plain.begin(), plain.end(), 1.0F);
  std::vector<std::byte> packed(192 + 448 + 192);
  ASSERT_TRUE(parts->pack(0, plain.data(), packed.data()).ok());
  EXPECT_EQ(std::memcmp(packed.data() + 192, plain.data() + 35, 448), 0);
  ASSERT_TRUE(parts->unpack(0, packed.data(), again.data()).ok());
  EXPECT_EQ(plain, again);
}

TEST(GroupedParts, ReturnTheErrorOfAPart) {
  const auto parts =
      GroupedParts::create(group_products(problem("grouped_gemm", "5x16-n3k7")),
                           [](const Problem&) -> Result<std::unique_ptr<Kernel>, BackendError> {
                             return unsupported("no such product");
                           });
  ASSERT_FALSE(parts.ok());
  EXPECT_EQ(parts.error().reason, "no such product");
}

}  // namespace
}  // namespace bench::ops::op_test
