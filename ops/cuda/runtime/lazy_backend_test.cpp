// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/lazy_backend.hpp"

#include "ops/cuda/runtime/test_support.hpp"
#include "ops/network/network.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench::ops::cuda {
namespace {

using test::ScriptedDevice;
using ::testing::ElementsAre;

TEST(DeviceSession, MakesTheDeviceOnceAndNotBeforeItIsUsed) {
  ScriptedDevice device;
  int made = 0;
  DeviceSession session([&]() -> Result<DeviceParts, BackendError> {
    ++made;
    return device.parts();
  });
  ASSERT_TRUE(session.synchronise().ok());
  EXPECT_EQ(made, 0);
  const auto address = session.memory().allocate({16});
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(made, 1);
  const std::array<char, 16> text = {"sixteen letters"};
  std::array<char, 16> back{};
  ASSERT_TRUE(session.memory().copy_in(*address, text.data(), {16}).ok());
  ASSERT_TRUE(session.memory().copy_out(back.data(), *address, {16}).ok());
  EXPECT_EQ(back, text);
  ASSERT_TRUE(session.memory().fill(*address, 0x41, {16}).ok());
  EXPECT_EQ(device.runtime->calls.back(), "synchronise");
  ASSERT_TRUE(session.memory().copy_out(back.data(), *address, {16}).ok());
  EXPECT_EQ(back[15], 'A');
  EXPECT_EQ(session.memory().cache(), Bytes{50 << 20});
  EXPECT_EQ(session.memory().available(), Bytes{(1 << 30) - 16});
  session.memory().release(*address);
  EXPECT_EQ(session.memory().available(), Bytes{1 << 30});
  EXPECT_EQ(made, 1);
}

TEST(DeviceSession, SaysTheSameReasonEveryTime) {
  int made = 0;
  DeviceSession session([&]() -> Result<DeviceParts, BackendError> {
    ++made;
    return BackendError{BackendError::Kind::failed, "cudaSetDevice: out of memory"};
  });
  EXPECT_EQ(session.memory().allocate({1}).error().what, "cudaSetDevice: out of memory");
  EXPECT_EQ(session.parts().error().reason, "cudaSetDevice: out of memory");
  EXPECT_EQ(session.memory().available(), std::nullopt);
  EXPECT_TRUE(session.synchronise().ok());
  EXPECT_EQ(made, 1);
}

// Refuses everything and records its settings.
class SetBackend final : public Backend {
 public:
  explicit SetBackend(std::vector<std::string>& log) : log_(log) {}
  std::string_view name() const override { return "set"; }
  std::string_view device() const override { return "cuda"; }
  LibraryInfo library() const override { return {}; }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem&) override {
    log_.emplace_back("create");
    return BackendError{BackendError::Kind::unsupported, "a test"};
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network&) override {
    return BackendError{BackendError::Kind::unsupported, "a test"};
  }
  void set_tuning(std::int64_t candidates) override {
    log_.push_back("tune " + std::to_string(candidates));
  }

 private:
  std::vector<std::string>& log_;
};

TEST(LazyBackend, IsMadeAtItsFirstKernelAndSetAsItWasBefore) {
  ScriptedDevice device;
  std::vector<std::string> log;
  LazyBackendParts parts;
  parts.name = "lazy";
  parts.library.version = "13.1.0";
  parts.session = std::make_shared<DeviceSession>([&]() -> Result<DeviceParts, BackendError> {
    log.emplace_back("device");
    return device.parts();
  });
  parts.make = [&](const DeviceParts& made) -> Result<std::unique_ptr<Backend>, BackendError> {
    EXPECT_EQ(made.runtime, device.runtime);
    log.emplace_back("backend");
    return std::unique_ptr<Backend>(std::make_unique<SetBackend>(log));
  };
  const auto backend = make_lazy_backend(parts);
  EXPECT_EQ(backend->name(), "lazy");
  EXPECT_EQ(backend->library().version, "13.1.0");
  EXPECT_NE(backend->memory(), nullptr);
  EXPECT_EQ(backend->tracer(), nullptr);
  backend->set_tuning(4);
  backend->set_choices("conv\tengine_4\n");
  EXPECT_TRUE(log.empty());
  const Problem problem = bench::ops::op_test::problem("gemm", "m4n4k4");
  EXPECT_FALSE(backend->create(problem).ok());
  backend->set_tuning(8);
  EXPECT_FALSE(backend->create(problem).ok());
  EXPECT_THAT(log, ElementsAre("device", "backend", "tune 4", "create", "tune 8", "create"));
  EXPECT_EQ(device.runtime->choices().find_fixed("conv"), "engine_4");
  device.runtime->choices().note("conv", "engine_7");
  EXPECT_EQ(backend->choices(), "conv\tengine_7\n");
  backend->set_choices("");
  EXPECT_EQ(device.runtime->choices().find_fixed("conv"), std::nullopt);
}

// Creates a kernel with a backend that calls `create`.
BackendError error_of(std::function<void(const Problem& problem)> create, const Problem& problem) {
  class CallingBackend final : public Backend {
   public:
    explicit CallingBackend(std::function<void(const Problem& problem)> create)
        : create_(std::move(create)) {}
    std::string_view name() const override { return "calling"; }
    std::string_view device() const override { return "cuda"; }
    LibraryInfo library() const override { return {}; }
    Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& given) override {
      create_(given);
      return unsupported("called");
    }
    Result<std::unique_ptr<Kernel>, BackendError> create(const Network& given) override {
      create_(given.nodes.front().problem);
      return unsupported("called");
    }

   private:
    std::function<void(const Problem& problem)> create_;
  };
  ScriptedDevice device;
  LazyBackendParts parts;
  parts.session = std::make_shared<DeviceSession>(
      [&]() -> Result<DeviceParts, BackendError> { return device.parts(); });
  parts.make = [&](const DeviceParts&) -> Result<std::unique_ptr<Backend>, BackendError> {
    return std::unique_ptr<Backend>(std::make_unique<CallingBackend>(create));
  };
  const auto backend = make_lazy_backend(parts);
  const auto kernel = backend->create(problem);
  EXPECT_FALSE(kernel.ok());
  Network network;
  network.nodes.push_back({.name = "node", .layer = "node", .problem = problem, .sources = {}});
  const auto of_network = backend->create(network);
  EXPECT_EQ(of_network.error().reason, kernel.error().reason);
  network.gap = "no loss";
  EXPECT_EQ(backend->create(network).error().reason, "no loss");
  return kernel.error();
}

// The program that loads the CUDA plugin has another table of operators.
TEST(LazyBackend, OperatorsOfTheCallerBecomeItsOwn) {
  Problem problem = bench::ops::op_test::problem("gemm", "m4n4k4");
  const Operator* own = problem.op;
  const Operator callers = *own;
  problem.op = &callers;
  EXPECT_EQ(error_of([&](const Problem& given) { EXPECT_EQ(given.op, own); }, problem).reason,
            "called");
  Operator foreign = *own;
  foreign.name = "scale_shift";
  problem.op = &foreign;
  const BackendError refused = error_of([](const Problem&) { FAIL(); }, problem);
  EXPECT_EQ(refused.kind, BackendError::Kind::unsupported);
  EXPECT_EQ(refused.reason, "no backend of a GPU serves the operator `scale_shift`");
}

TEST(LazyBackend, ExceptionsBecomeRefusals) {
  const Problem problem = bench::ops::op_test::problem("gemm", "m4n4k4");
  const BackendError named =
      error_of([](const Problem&) { throw std::runtime_error("the reason"); }, problem);
  EXPECT_EQ(named.kind, BackendError::Kind::failed);
  EXPECT_EQ(named.reason, "the reason");
  const BackendError memory = error_of([](const Problem&) { throw std::bad_alloc(); }, problem);
  EXPECT_EQ(memory.kind, BackendError::Kind::skipped);
  EXPECT_THAT(memory.reason, ::testing::HasSubstr("memory"));
}

TEST(LazyBackend, RefusesKernelsForTheReasonOfTheDevice) {
  LazyBackendParts parts;
  parts.session = std::make_shared<DeviceSession>([]() -> Result<DeviceParts, BackendError> {
    return BackendError{BackendError::Kind::skipped, "no NVIDIA driver"};
  });
  const auto backend = make_lazy_backend(parts);
  const auto kernel = backend->create(bench::ops::op_test::problem("gemm", "m4n4k4"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(kernel.error().reason, "no NVIDIA driver");
}

}  // namespace
}  // namespace bench::ops::cuda
