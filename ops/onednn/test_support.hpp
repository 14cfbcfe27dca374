// SPDX-License-Identifier: Apache-2.0
// For tests of kernels: buffers with sentinels, poisoned outputs, and comparison with the
// reference. A problem that a CPU or library does not support must be refused with a reason.
// Problems in f32 must never be refused.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::op_test {

// Fills a buffer before a run. It is NaN in every floating-point type and an unlikely integer, so
// that a comparison detects elements that a kernel does not write.
inline constexpr int kPoison = 0xff;
inline constexpr int kSentinel = 0xa5;
inline constexpr std::size_t kSentinelBytes = 64;

// A kernel's buffer followed by sentinels.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(Bytes size) : size_(static_cast<std::size_t>(size.count)) {
    constexpr std::size_t kAlignment = 64;
    const std::size_t bytes = (size_ + kSentinelBytes + kAlignment - 1) / kAlignment * kAlignment;
    memory_.reset(std::aligned_alloc(kAlignment, bytes));
    std::memset(memory_.get(), kPoison, size_);
    std::memset(end(), kSentinel, kSentinelBytes);
  }
  void* data() const { return memory_.get(); }
  bool intact() const {
    for (std::size_t i = 0; i < kSentinelBytes; ++i) {
      if (end()[i] != kSentinel) return false;
    }
    return true;
  }

 private:
  unsigned char* end() const { return static_cast<unsigned char*>(memory_.get()) + size_; }

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<void, Free> memory_;
};

// Runs a kernel twice (the second run must not depend on the first) on values of its tensors.
class KernelRun {
 public:
  KernelRun(Kernel& kernel, std::span<const Tensor> tensors) : kernel_(kernel), tensors_(tensors) {
    for (const KernelBuffer& buffer : kernel.buffers()) {
      EXPECT_FALSE(buffer.layout.empty());
      buffers_.emplace_back(buffer.size);
      pointers_.push_back(buffers_.back().data());
    }
    EXPECT_GE(buffers_.size(), tensors.size());
  }

  void set(std::size_t tensor, const std::vector<double>& values) {
    std::vector<std::byte> plain(static_cast<std::size_t>(tensors_[tensor].size().count));
    ASSERT_EQ(static_cast<std::int64_t>(values.size()), tensors_[tensor].elements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_element(tensors_[tensor].dtype, plain.data(), i, values[i]);
    }
    const Status packed = kernel_.pack(tensor, plain.data(), pointers_[tensor]);
    ASSERT_TRUE(packed.ok()) << packed.error().message();
  }

  void run() {
    const Status prepared = kernel_.prepare(pointers_);
    ASSERT_TRUE(prepared.ok()) << prepared.error().message();
    auto invocation = kernel_.bind(pointers_);
    ASSERT_TRUE(invocation.ok()) << invocation.error().message();
    ASSERT_TRUE((*invocation)->run()) << (*invocation)->error();
    ASSERT_TRUE((*invocation)->run()) << (*invocation)->error();
    EXPECT_EQ((*invocation)->error(), "");
    for (const GuardedBuffer& buffer : buffers_) EXPECT_TRUE(buffer.intact());
  }

  // Runs once more and reports to `observer`.
  void observe(StepObserver& observer) {
    auto invocation = kernel_.bind(pointers_);
    ASSERT_TRUE(invocation.ok()) << invocation.error().message();
    EXPECT_TRUE((*invocation)->run_observed(observer)) << (*invocation)->error();
  }

  std::vector<double> get(std::size_t tensor) {
    std::vector<std::byte> plain(static_cast<std::size_t>(tensors_[tensor].size().count));
    const Status unpacked = kernel_.unpack(tensor, pointers_[tensor], plain.data());
    EXPECT_TRUE(unpacked.ok());
    std::vector<double> values(static_cast<std::size_t>(tensors_[tensor].elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = load_element(tensors_[tensor].dtype, plain.data(), i);
    }
    return values;
  }

 private:
  Kernel& kernel_;
  std::span<const Tensor> tensors_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<void*> pointers_;
};

// Expects every element to be within the tolerance, which NaN never is.
inline void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                        Tolerance tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double limit = tolerance.absolute + tolerance.relative * std::abs(want[i]);
    if (std::abs(got[i] - want[i]) <= limit) continue;
    if (++wrong == 1) {
      ADD_FAILURE() << what << ": element " << i << " is " << got[i] << ", expected " << want[i]
                    << " +- " << limit;
    }
  }
  EXPECT_EQ(wrong, 0u) << what << ": wrong elements of " << got.size();
}

inline std::string format_problem(const Problem& problem) {
  return std::string(problem.op->name) + "/" + std::string(to_string(problem.direction)) + "/" +
         problem_tokens(problem) + "/" + std::string(info(problem.dtype).name) + "/" +
         std::string(to_string(problem.layout));
}

enum class Outcome { computed, refused };

// Computes the problem on random inputs and compares all outputs with the reference.
inline Outcome expect_computes(Backend& backend, const Problem& problem, std::uint64_t seed = 1) {
  const std::string what = format_problem(problem);
  auto kernel = backend.create(problem);
  if (!kernel.ok()) {
    const BackendError& error = kernel.error();
    EXPECT_EQ(error.kind, BackendError::Kind::unsupported) << what << ": " << error.reason;
    EXPECT_FALSE(error.reason.empty());
    EXPECT_NE(problem.dtype, DataType::f32) << what << ": " << error.reason;
    return Outcome::refused;
  }
  EXPECT_FALSE((*kernel)->implementation().empty());
  EXPECT_GE((*kernel)->workspace().count, 0);
  KernelRun run(**kernel, problem.tensors);
  const std::vector<std::vector<double>> inputs = random_inputs(problem, seed);
  for (std::size_t i = 0; i < inputs.size(); ++i) run.set(i, inputs[i]);
  run.run();
  for (std::size_t i = problem.input_count(); i < problem.tensors.size(); ++i) {
    const std::size_t output = i - problem.input_count();
    expect_near(run.get(i), built_in_reference(problem, inputs, output, {}),
                problem.op->tolerance(problem), what + " " + problem.tensors[i].name);
  }
  return Outcome::computed;
}

}  // namespace bench::ops::op_test
