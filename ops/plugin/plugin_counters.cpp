// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_counters.hpp"

#include "ops/plugin/c_struct.hpp"
#include "ops/plugin/c_text.hpp"
#include "ops/plugin/plugin_kernel.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

// `self` is the destination. A counter without a name is ignored.
void take_counter(void* self, const bench_counter* counter) {
  const auto fault = struct_fault(counter);
  const bool is_named = counter != nullptr && BENCH_HAS(bench_counter, counter, name);  // NOLINT
  if (!is_named || counter->name == nullptr) return;
  CounterReading reading;
  if (fault) {
    reading.source = "the plugin's reading " + *fault;
    static_cast<CounterReadings*>(self)->insert_or_assign(text_of(counter->name),
                                                          std::move(reading));
    return;
  }
  if (counter->present != 0 && std::isfinite(counter->value)) reading.value = counter->value;
  reading.source = text_of(counter->source);
  if (!reading.value && reading.source.empty()) reading.source = "the plugin gives no reason";
  static_cast<CounterReadings*>(self)->insert_or_assign(text_of(counter->name), std::move(reading));
}

}  // namespace

const bench_counters* counters_of(const bench_backend& backend) {
  const bool has = BENCH_HAS(bench_backend, &backend, counters);  // NOLINT: the pointer's size
  return has ? backend.counters : nullptr;
}

std::optional<std::string> fault_of(const bench_counters& counters) {
  if (const auto fault = struct_fault(&counters))
    return fmt::format("has an incomplete table of counters: it {}", *fault);
  const bool complete = counters.measure != nullptr;
  return complete ? std::nullopt
                  : std::optional<std::string>("has an incomplete table of counters");
}

Result<CounterReadings, Refusal> PluginCounters::measure(std::span<Invocation* const> rotation) {
  std::vector<const bench_invocation*> invocations;
  for (const Invocation* invocation : rotation) {
    invocations.push_back(&plugin_invocation(*invocation));
  }
  CounterReadings readings;
  CMessage message;
  const bench_status status = raw_.measure(state_, invocations.data(), invocations.size(),
                                           take_counter, &readings, message.get());
  if (status == BENCH_OK) return readings;
  return refusal_of(status, message.error("the device's counters cannot be read"));
}

}  // namespace bench::ops
