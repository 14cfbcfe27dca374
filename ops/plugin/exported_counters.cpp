// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_counters.hpp"

#include "ops/backend/device_counters.hpp"
#include "ops/plugin/c_call.hpp"
#include "ops/plugin/exported_device.hpp"
#include "ops/plugin/exported_kernel.hpp"

#include <vector>

namespace bench::ops {
namespace {

using CounterWriter = void (*)(void* self, const bench_counter* counter);

bench_status measure(void* state, const bench_invocation* const* rotation,
                     std::size_t rotation_count, CounterWriter write, void* self,
                     bench_message* message) {
  return guarded_request(message, [&]() -> Result<Done, Refusal> {
    std::vector<Invocation*> invocations;
    for (std::size_t i = 0; i < rotation_count; ++i) {
      invocations.push_back(&exported_invocation(*rotation[i]));
    }
    BENCH_ASSIGN_OR_RETURN(const CounterReadings readings,
                           static_cast<OpenedDevice*>(state)->counters->measure(invocations));
    for (const auto& [name, reading] : readings) {
      const bench_counter counter{.size = sizeof(bench_counter),
                                  .name = name.c_str(),
                                  .present = reading.value ? 1 : 0,
                                  .value = reading.value.value_or(0),
                                  .source = reading.source.c_str()};
      write(self, &counter);
    }
    return Done{};
  });
}

}  // namespace

const bench_counters kExportedCounters = {.size = sizeof(bench_counters), .measure = measure};

}  // namespace bench::ops
