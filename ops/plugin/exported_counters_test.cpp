// SPDX-License-Identifier: Apache-2.0
// Counters that are exported and opened again return the same values.
#include "ops/backend/device_counters.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/onednn/test_support.hpp"
#include "ops/plugin/exported_backend.hpp"
#include "ops/plugin/plugin.hpp"
#include "ops/plugin/plugin_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Measured = Result<CounterReadings, BackendError>;

class FakeCounters final : public DeviceCounters {
 public:
  Measured measure(std::span<Invocation* const> rotation) override {
    for (Invocation* invocation : rotation) executed += invocation->run() ? 1 : 0;
    return answer();
  }
  int executed = 0;
  std::function<Measured()> answer;
};

// The built-in backend, with counters.
class CountingBackend final : public Backend {
 public:
  explicit CountingBackend(DeviceCounters* counters) : counters_(counters) {}
  std::string_view name() const override { return "counting"; }
  std::string_view device() const override { return "cpu"; }
  LibraryInfo library() const override { return inner_->library(); }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem) override {
    return inner_->create(problem);
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network& network) override {
    return inner_->create(network);
  }
  DeviceCounters* counters() override { return counters_; }

 private:
  std::unique_ptr<Backend> inner_ = make_onednn_backend();
  DeviceCounters* counters_;
};

class ExportedCountersTest : public ::testing::Test {
 protected:
  void open(DeviceCounters* counters) {
    plugin_.emplace(
        export_plugin("p", "1", {{"counting", "cpu", {"gemm"}, {}, [counters] {
                                    return Result<std::unique_ptr<Backend>, BackendError>(
                                        std::make_unique<CountingBackend>(counters));
                                  }}}));
    auto opened = open_backend(*plugin_->raw()->backends[0], {}, *built_in_);
    ASSERT_TRUE(opened.ok());
    backend_ = std::move(opened).value();
  }
  Measured measure() {
    const Problem gemm = op_test::problem("gemm", "m4n4k4");
    auto kernel = backend_->create(gemm).value();
    std::vector<AlignedBuffer> memory;
    std::vector<void*> buffers;
    for (const KernelBuffer& buffer : kernel->buffers()) {
      const auto size = static_cast<std::size_t>(buffer.size.count);
      buffers.push_back(memory.emplace_back(size).data());
    }
    const auto one = kernel->bind(buffers).value();
    const auto two = kernel->bind(buffers).value();
    Invocation* const rotation[] = {one.get(), two.get()};
    return backend_->counters()->measure(rotation);
  }

  FakeCounters counters_;
  std::optional<plugin::Plugin> plugin_;
  std::unique_ptr<Backend> built_in_ = make_onednn_backend();
  std::unique_ptr<Backend> backend_;
};

TEST_F(ExportedCountersTest, HandsOnInvocationsAndReadings) {
  const CounterReadings given = {{"dram_read_bytes", {4096.0, "dram__bytes_read.sum"}},
                                 {"tensor_instructions", {0.0, "sm__inst"}},
                                 {"l2_hit_share", {std::nullopt, "this chip has no such"}}};
  counters_.answer = [&] { return Measured(given); };
  open(&counters_);
  const Measured measured = measure();
  ASSERT_TRUE(measured.ok()) << measured.error().reason;
  EXPECT_EQ(*measured, given);
  EXPECT_EQ(counters_.executed, 2);
}

TEST_F(ExportedCountersTest, HandsOnRefusals) {
  open(&counters_);
  for (const auto kind : {BackendError::Kind::unsupported, BackendError::Kind::failed}) {
    counters_.answer = [&] { return Measured(BackendError{kind, "for administrators alone"}); };
    const Measured measured = measure();
    ASSERT_FALSE(measured.ok());
    EXPECT_EQ(measured.error().kind, kind);
    EXPECT_EQ(measured.error().reason, "for administrators alone");
  }
  counters_.answer = []() -> Measured { throw std::runtime_error("thrown"); };
  EXPECT_EQ(measure().error().reason, "thrown");
}

TEST_F(ExportedCountersTest, WithoutCountersThereAreNone) {
  open(nullptr);
  EXPECT_EQ(backend_->counters(), nullptr);
}

TEST(PluginCounters, NonsenseIsUnknown) {
  bench_counters raw{};
  raw.size = sizeof raw;
  EXPECT_EQ(find_fault(raw), "has an incomplete table of counters");
  raw.measure = [](void*, const bench_invocation* const*, std::size_t,
                   void (*write)(void* self, const bench_counter* counter), void* self,
                   bench_message*) -> bench_status {
    bench_counter counter{sizeof counter, "a", 1, std::nan(""), ""};
    write(self, &counter);
    counter = {sizeof counter, nullptr, 1, 2, "nameless"};
    write(self, &counter);
    counter = {4, "short", 1, 2, ""};
    write(self, &counter);
    counter = {sizeof counter + 8, "long", 1, 2, ""};
    write(self, &counter);
    counter = {sizeof counter, "b", 1, 2, nullptr};
    write(self, &counter);
    return BENCH_OK;
  };
  EXPECT_EQ(find_fault(raw), std::nullopt);
  PluginCounters counters(raw, nullptr);
  const Measured measured = counters.measure({});
  ASSERT_TRUE(measured.ok());
  EXPECT_THAT(
      *measured,
      ElementsAre(Pair("a", CounterReading{std::nullopt, "the plugin gives no reason"}),
                  Pair("b", CounterReading{2.0, ""}),
                  Pair("long", CounterReading{std::nullopt,
                                              "the plugin's reading is 48 bytes long, but "
                                              "this program supports 40: its `size` is wrong, or "
                                              "it needs a later release of this program"})));
}

TEST(PluginCounters, AnOlderPluginHasNone) {
  const bench_counters counters{};
  bench_backend raw{};
  raw.counters = &counters;
  raw.size = offsetof(bench_backend, counters);
  EXPECT_EQ(find_counters(raw), nullptr);
  raw.size = sizeof raw;
  EXPECT_EQ(find_counters(raw), &counters);
}

}  // namespace
}  // namespace bench::ops
