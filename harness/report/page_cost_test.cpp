// SPDX-License-Identifier: Apache-2.0
// The work of a report page, counted in allocations of memory, since times of a busy machine vary.
#include "harness/report/console.hpp"
#include "harness/report/format.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

namespace {
std::atomic<std::size_t> allocations = 0;
}  // namespace

// Not inlined: the compiler would see free() for memory of an operator new that it expects to
// replace.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace bench {
namespace {

// A report of `count` networks, each with one layer of its own.
Report many_networks(int count) {
  Report report;
  for (int i = 0; i < count; ++i) {
    CaseRecord record;
    record.id = fmt::format("gemm/forward/m{}n1k1/f32/native/cpu/hot", i + 1);
    record.op = "gemm";
    record.network = fmt::format("net{}", i);
    record.layers = {"fc"};
    record.time = TimeSummary{};
    record.time->median = Nanoseconds(1000 + i);
    report.cases.push_back(std::move(record));
  }
  return report;
}

std::size_t allocations_of_layer_plots(int networks) {
  const Report report = many_networks(networks);
  const std::vector<NetworkSummary> summaries = summarise_networks(report);
  EXPECT_EQ(summaries.size(), static_cast<std::size_t>(networks));
  const RunView view{.report = report, .networks = summaries};
  const std::size_t before = allocations;
  EXPECT_FALSE(run_page(view, {}).empty());
  return allocations - before;
}

// Each network indexed all cases again: 20,000 cases with 1,000 networks took 25 s.
TEST(PageCost, TwiceTheCasesAndNetworksAreTwiceTheWork) {
  const std::size_t once = allocations_of_layer_plots(150);
  const std::size_t twice = allocations_of_layer_plots(300);
  EXPECT_LT(twice, 2 * once + once / 10);
}

}  // namespace
}  // namespace bench
