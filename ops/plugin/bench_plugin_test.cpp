// SPDX-License-Identifier: Apache-2.0
// A plugin written with the C++ wrapper, as this program sees it: what it overrides arrives, and
// what it does not override has its documented default.
#include "ops/plugin/bench_plugin.hpp"

#include "ops/network/test_support.hpp"
#include "ops/onednn/test_support.hpp"
#include "ops/plugin/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using op_test::layer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Copies its first tensor to its last. In its buffers, tensors are stored backwards.
class Backwards final : public plugin::Kernel, plugin::Packing {
 public:
  explicit Backwards(std::size_t elements) : elements_(elements) {}

  const char* implementation() const override { return "backwards"; }
  std::vector<plugin::KernelStep> steps() const override {
    return {{"copy", "first half", ""}, {"copy", "second half", "x -> reversed x"}};
  }
  std::vector<plugin::KernelBuffer> buffers() const override {
    const auto bytes = static_cast<std::int64_t>(elements_ * sizeof(float));
    return {{BENCH_ROLE_INPUT, bytes, "reversed x"}, {BENCH_ROLE_OUTPUT, bytes, "reversed x"}};
  }
  plugin::Packing* packing() override { return this; }
  std::unique_ptr<plugin::Invocation> bind(std::vector<void*> buffers) override {
    class Bound final : public plugin::SteppedInvocation {
     public:
      Bound(std::vector<void*> buffers, std::size_t elements)
          : buffers_(std::move(buffers)), half_(elements / 2), elements_(elements) {}
      void run() override {
        copy(0, half_);
        copy(half_, elements_);
      }
      void run_observed(const plugin::Observer& observer) override {
        for (const std::size_t step : {0, 1}) {
          observer.begins(step);
          copy(step * half_, step == 0 ? half_ : elements_);
          observer.enqueued(step);
          observer.done(step);
        }
      }

     private:
      void copy(std::size_t begin, std::size_t end) {
        const auto* from = static_cast<const float*>(buffers_.front());
        std::copy(from + begin, from + end, static_cast<float*>(buffers_.back()) + begin);
      }

      std::vector<void*> buffers_;
      std::size_t half_, elements_;
    };
    return std::make_unique<Bound>(std::move(buffers), elements_);
  }

 private:
  void pack(std::size_t, const void* plain, void* packed) override { reverse(plain, packed); }
  void unpack(std::size_t, const void* packed, void* plain) override { reverse(packed, plain); }
  void reverse(const void* from, void* to) const {
    const auto* values = static_cast<const float*>(from);
    std::reverse_copy(values, values + elements_, static_cast<float*>(to));
  }

  std::size_t elements_;
};

class Plain final : public plugin::Kernel {
 public:
  const char* implementation() const override { return "plain"; }
  void run(void* const*) override { throw std::bad_alloc(); }
};

class Whole final : public plugin::Backend {
 public:
  Whole() : Backend("whole", {"pointwise"}) {}
  std::vector<plugin::LibraryInfo> libraries() override {
    return {{"fast", "1.5", "/lib/fast.so", ""}, {"driver", "9", "", "open"}};
  }
  std::unique_ptr<plugin::Kernel> make(const plugin::Problem& problem) override {
    return std::make_unique<Backwards>(static_cast<std::size_t>(problem.tensor(0).elements()));
  }
};

class Least final : public plugin::Backend {
 public:
  Least() : Backend("least", {"pointwise", "network"}) {}
  std::unique_ptr<plugin::Kernel> make(const plugin::Problem&) override {
    return std::make_unique<Plain>();
  }
};

class PluginWrapperTest : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> open(const plugin::Backend& backend) {
    auto opened = open_backend(*backend.raw(), {"plugin", "1", "file", "plugin"}, *built_in_);
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  }

  std::unique_ptr<Backend> built_in_ = make_onednn_backend();
  const Problem relu_ = op_test::problem("pointwise", "relu-2x5");
  const Network network_ = op_test::make({.name = "small",
                                          .input = {2, 4, 4},
                                          .layers = {layer("conv", "conv", "k3r1s1", {"input"}),
                                                     layer("relu", "pointwise", "relu", {"conv"})}},
                                         Fusion::separate, DataType::f32, 2);
};

TEST_F(PluginWrapperTest, AKernelHasItsOwnLayoutsAndSteps) {
  Whole whole;
  const auto backend = open(whole);
  auto kernel = backend->create(relu_);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_FALSE((*kernel)->takes_plain());
  EXPECT_EQ((*kernel)->buffers().front().layout, "reversed x");
  ASSERT_EQ((*kernel)->steps().size(), 2U);
  EXPECT_EQ((*kernel)->steps()[1].implementation, "second half");
  EXPECT_EQ((*kernel)->steps()[1].layouts, "x -> reversed x");

  op_test::KernelRun run(**kernel, relu_.tensors);
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  run.set(0, values);
  run.run();
  EXPECT_EQ(run.get(1), values);
  struct Steps final : StepObserver {
    void begins(std::size_t step) noexcept override { events.push_back(10 + step); }
    void enqueued(std::size_t step) noexcept override { events.push_back(20 + step); }
    void done(std::size_t step) noexcept override { events.push_back(30 + step); }
    std::vector<std::size_t> events;
  } steps;
  run.observe(steps);
  EXPECT_THAT(steps.events, ElementsAre(10, 20, 30, 11, 21, 31));
}

TEST_F(PluginWrapperTest, ABackendNamesItsLibraries) {
  Whole whole;
  const auto backend = open(whole);
  EXPECT_EQ(backend->library().path, "/lib/fast.so");
  ASSERT_EQ(backend->further_libraries().size(), 1U);
  EXPECT_EQ(backend->further_libraries()[0].detail, "open");
  const auto unserved = backend->create(op_test::problem("softmax", "4x8-a1"));
  ASSERT_FALSE(unserved.ok());
  EXPECT_THAT(unserved.error().reason, HasSubstr("does not serve the operator `softmax`"));
}

// An operator whose tolerance throws for n = 3.
class Strict final : public plugin::Operator {
 public:
  Strict() : Operator({"strict", "help", {{"n", "n", BENCH_COUNT, "required", "size"}}}) {
    set_tolerance([](const plugin::Problem& problem) -> plugin::Tolerance {
      if (problem.output(0).elements() == 3) throw std::runtime_error("no tolerance for 3");
      return {0.25, 0.5};
    });
  }
  void model(const plugin::Problem& problem, plugin::Model& model) const override {
    model.input("x", BENCH_F32, {problem.count("n")});
    model.output("y", BENCH_F32, {problem.count("n")});
    model.work(problem.count("n"));
  }
  void reference(const plugin::Problem&, const double* const*, const plugin::Wanted& wanted,
                 double* values) const override {
    std::fill_n(values, wanted.count, 7.0);
  }
};

TEST_F(PluginWrapperTest, AToleranceThatThrowsFailsTheReferenceWithItsMessage) {
  const Strict strict;
  const auto op = make_plugin_operator(*strict.raw());
  const auto make = [&](const char* tokens) {
    auto parsed = parse_problem_tokens(*op, tokens);
    EXPECT_TRUE(parsed.ok());
    return make_problem({.op = op.get(), .parameters = std::move(parsed->parameters)});
  };
  const auto good = make("n2");
  ASSERT_TRUE(good.ok()) << good.error().message();
  EXPECT_EQ(op->tolerance(*good).absolute, 0.25);
  EXPECT_EQ(op->tolerance(*good).relative, 0.5);
  const auto computed = op->reference(*good, std::vector<std::vector<double>>{{1, 2}}, 0, {});
  ASSERT_TRUE(computed.ok()) << computed.error().message();
  EXPECT_THAT(*computed, ElementsAre(7, 7));
  const auto bad = make("n3");
  ASSERT_TRUE(bad.ok()) << bad.error().message();
  const auto refused = op->reference(*bad, std::vector<std::vector<double>>{{1, 2, 3}}, 0, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), HasSubstr("no tolerance for 3"));
}

TEST_F(PluginWrapperTest, AnExceptionOfTheToleranceDoesNotLeaveThePlugin) {
  class Throwing final : public plugin::Operator {
   public:
    Throwing() : Operator({"throwing", "help", {}}) {
      set_tolerance([](const plugin::Problem&) -> plugin::Tolerance { throw 1; });
    }
    void model(const plugin::Problem&, plugin::Model&) const override {}
    void reference(const plugin::Problem&, const double* const*, const plugin::Wanted&,
                   double*) const override {}
  } const throwing;
  double absolute = 1, relative = 1;
  throwing.raw()->tolerance(throwing.raw()->self, nullptr, &absolute, &relative);
  EXPECT_TRUE(std::isnan(absolute));
  EXPECT_TRUE(std::isnan(relative));
}

TEST_F(PluginWrapperTest, WhatIsNotOverriddenHasItsDefault) {
  Least least;
  const auto backend = open(least);
  EXPECT_EQ(backend->library().path, "file");
  EXPECT_EQ(backend->memory(), nullptr);
  EXPECT_EQ(backend->tracer(), nullptr);
  EXPECT_EQ(backend->counters(), nullptr);
  const auto refused = backend->create(network_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(refused.error().reason, HasSubstr("`least` does not run whole networks"));

  const auto kernel = backend->create(relu_);
  ASSERT_TRUE(kernel.ok());
  EXPECT_TRUE((*kernel)->takes_plain());
  EXPECT_FALSE((*kernel)->has_device_clock());
  EXPECT_THAT((*kernel)->steps(), IsEmpty());
  EXPECT_THAT((*kernel)->details(), IsEmpty());
  EXPECT_EQ((*kernel)->buffers().back().size, relu_.tensors.back().size());
}

}  // namespace
}  // namespace bench::ops
