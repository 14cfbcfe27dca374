// SPDX-License-Identifier: Apache-2.0
// Backends that are exported as a plugin and opened again are unchanged.
#include "ops/plugin/exported_backend.hpp"

#include "base/data_type.hpp"
#include "ops/model.hpp"
#include "ops/network/test_support.hpp"
#include "ops/onednn/test_support.hpp"
#include "ops/plugin/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using op_test::KernelRun;
using op_test::layer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Passes a backend through the interface and back.
class RoundTrip {
 public:
  explicit RoundTrip(BackendExport backend)
      : plugin_(export_plugin("trip", "1.2", {std::move(backend)})),
        built_in_(make_onednn_backend()),
        opened_(open_backend(*plugin_.raw()->backends[0], {"trip", "1.2", "file", "plugin"},
                             *built_in_)) {}

  const bench_backend& raw() { return *plugin_.raw()->backends[0]; }
  Result<std::unique_ptr<Backend>, BackendError>& opened() { return opened_; }
  Backend& backend() { return **opened_; }
  Backend& built_in() { return *built_in_; }

 private:
  plugin::Plugin plugin_;
  std::unique_ptr<Backend> built_in_;
  Result<std::unique_ptr<Backend>, BackendError> opened_;
};

BackendExport onednn_export() {
  return {"onednn", "cpu", {"conv", "gemm", "pool", "batch_norm", "network"}, {}, [] {
            return Result<std::unique_ptr<Backend>, BackendError>(make_onednn_backend());
          }};
}

// Records the events of an execution as text.
class Listener final : public StepObserver {
 public:
  void begins(std::size_t step) noexcept override { tell("begins", step); }
  void enqueued(std::size_t step) noexcept override { tell("enqueued", step); }
  void done(std::size_t step) noexcept override { tell("done", step); }
  void part_begins(std::string_view name) noexcept override {
    reported.push_back("part " + std::string(name));
  }
  void part_ends() noexcept override { reported.push_back("part ends"); }

  std::vector<std::string> reported;

 private:
  void tell(const char* what, std::size_t step) {
    reported.push_back(what + (" " + std::to_string(step)));
  }
};

std::vector<std::string> texts(const Kernel& kernel) {
  std::vector<std::string> texts = {kernel.implementation(),
                                    std::to_string(kernel.workspace().count)};
  for (const KernelBuffer& buffer : kernel.buffers()) {
    texts.push_back(std::to_string(static_cast<int>(buffer.role)) + " " +
                    std::to_string(buffer.size.count) + " " + buffer.layout);
  }
  for (const KernelStep& step : kernel.steps()) {
    const std::string moved =
        step.moved ? join_dims(step.moved->dims) + std::string(info(step.moved->dtype).name) : "";
    texts.push_back(step.node + "|" + step.kind + "|" + step.implementation + "|" + step.layouts +
                    "|" + moved);
  }
  for (const auto& [name, value] : kernel.details()) texts.push_back(name + "=" + value);
  return texts;
}

// All tensors that are not inputs after two runs, and the events of a third run.
struct Seen {
  std::vector<std::vector<double>> outputs;
  std::vector<std::string> reported;
};
Seen execute(Kernel& kernel, std::span<const Tensor> tensors,
             const std::vector<std::vector<double>>& values) {
  Seen seen;
  KernelRun run(kernel, tensors);
  for (std::size_t i = 0; i < values.size(); ++i) run.set(i, values[i]);
  run.run();
  for (std::size_t i = values.size(); i < tensors.size(); ++i) seen.outputs.push_back(run.get(i));
  Listener listener;
  run.observe(listener);
  seen.reported = std::move(listener.reported);
  return seen;
}

void expect_same(Kernel& kernel, Kernel& again, std::span<const Tensor> tensors,
                 const std::vector<std::vector<double>>& values) {
  EXPECT_EQ(texts(again), texts(kernel));
  EXPECT_EQ(again.takes_plain(), kernel.takes_plain());
  EXPECT_EQ(again.has_device_clock(), kernel.has_device_clock());
  const Seen first = execute(kernel, tensors, values);
  const Seen second = execute(again, tensors, values);
  EXPECT_EQ(second.outputs, first.outputs);
  EXPECT_EQ(second.reported, first.reported);
  EXPECT_THAT(first.reported, ::testing::Contains("done 0"));
}

TEST(ExportedBackendTest, ComputesTheSameFromTheSameBuffers) {
  RoundTrip trip(onednn_export());
  ASSERT_TRUE(trip.opened().ok());
  const auto direct = make_onednn_backend();
  for (const auto& [op, tokens, direction] :
       {std::tuple("conv", "n2c8h6w5k16r3s3p0_1+bias+clip-1_1+add", Direction::forward),
        std::tuple("conv", "n2c8h6w6k16r3s3p1", Direction::backward_weights),
        std::tuple("gemm", "b3m4n5k6+ta+bias+leaky_relu0.1", Direction::forward),
        std::tuple("pool", "max-n2c16h7w7r3u2p1", Direction::backward_data)}) {
    SCOPED_TRACE(tokens);
    const Problem problem = op_test::problem(op, tokens, DataType::f32, direction);
    auto kernel = direct->create(problem);
    auto again = trip.backend().create(problem);
    ASSERT_TRUE(kernel.ok());
    ASSERT_TRUE(again.ok()) << again.error().reason;
    expect_same(**kernel, **again, problem.tensors, op_test::random_inputs(problem, 3));
  }
}

TEST(ExportedBackendTest, ANetworkKeepsItsNodesParametersAndSteps) {
  const NetworkDefinition block = {
      .name = "block",
      .input = {8, 6, 6},
      .layers = {layer("conv1", "conv", "k16r3s3p1", {"input"}),
                 layer("conv1.bn", "batch_norm", "", {"conv1"}),
                 layer("down", "conv", "k16r1s1", {"input"}),
                 layer("add", "pointwise", "add", {"conv1.bn", "down"}),
                 layer("relu", "pointwise", "relu", {"add"}),
                 layer("pool", "pool", "avg_include_pad+global", {"relu"}),
                 layer("fc", "gemm", "n10+bias", {"pool"})}};
  RoundTrip trip(onednn_export());
  const auto direct = make_onednn_backend();
  for (const Fusion fusion : {Fusion::separate, Fusion::fused}) {
    const Network network = op_test::make(block, fusion, DataType::f32, 2);
    auto kernel = direct->create(network);
    auto again = trip.backend().create(network);
    ASSERT_TRUE(kernel.ok());
    ASSERT_TRUE(again.ok()) << again.error().reason;
    ASSERT_GT((*kernel)->steps().size(), 4U);
    EXPECT_TRUE(std::ranges::any_of((*again)->steps(),
                                    [](const KernelStep& step) { return step.moved.has_value(); }));
    std::vector<std::vector<double>> values = random_parameters(network, 5);
    values.insert(values.begin(), random_values(network.nodes.front().problem, 0, 5));
    expect_same(**kernel, **again, network.tensors, values);
  }
}

TEST(ExportedBackendTest, HandsOnNamesLibrariesAndRefusals) {
  RoundTrip trip(onednn_export());
  const auto direct = make_onednn_backend();
  EXPECT_EQ(trip.backend().name(), "onednn");
  EXPECT_EQ(trip.backend().device(), "cpu");
  EXPECT_EQ(trip.backend().library().path, direct->library().path);
  EXPECT_EQ(trip.backend().library().detail, direct->library().detail);
  EXPECT_EQ(trip.backend().further_libraries().size(), direct->further_libraries().size());
  EXPECT_EQ(trip.backend().memory(), nullptr);
  EXPECT_EQ(trip.backend().tracer(), nullptr);
  EXPECT_EQ(probe_backend(trip.raw()), std::nullopt);
  const Problem f64 = op_test::problem("conv", "n2c8h6w6k16r3s3p1", DataType::f64);
  const auto refused = direct->create(f64);
  const auto again = trip.backend().create(f64);
  ASSERT_FALSE(refused.ok());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, refused.error().kind);
  EXPECT_EQ(again.error().reason, refused.error().reason);
  const auto unserved = trip.backend().create(op_test::problem("softmax", "4x8-a1"));
  ASSERT_FALSE(unserved.ok());
  EXPECT_THAT(unserved.error().reason, HasSubstr("does not serve"));
}

TEST(ExportedBackendTest, SaysWhyItCannotRunOrOpen) {
  BackendExport absent = onednn_export();
  absent.probe = [] { return std::optional<std::string>("no device today"); };
  RoundTrip without(std::move(absent));
  EXPECT_EQ(probe_backend(without.raw()), "no device today");
  ASSERT_FALSE(without.opened().ok());
  EXPECT_EQ(without.opened().error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(without.opened().error().reason, "no device today");

  BackendExport old = onednn_export();
  old.open = []() -> Result<std::unique_ptr<Backend>, BackendError> {
    return BackendError{BackendError::Kind::unsupported, "the driver is too old"};
  };
  RoundTrip trip(std::move(old));
  EXPECT_EQ(probe_backend(trip.raw()), std::nullopt);
  ASSERT_FALSE(trip.opened().ok());
  EXPECT_EQ(trip.opened().error().kind, BackendError::Kind::unsupported);
  EXPECT_EQ(trip.opened().error().reason, "the driver is too old");
}

TEST(ExportedBackendTest, OpensOnceAtATime) {
  RoundTrip trip(onednn_export());
  const auto second = open_backend(trip.raw(), {}, trip.built_in());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().reason, HasSubstr("already open"));
  trip.opened() = BackendError{BackendError::Kind::failed, "closed"};
  EXPECT_TRUE(open_backend(trip.raw(), {}, trip.built_in()).ok());
}

}  // namespace
}  // namespace bench::ops
