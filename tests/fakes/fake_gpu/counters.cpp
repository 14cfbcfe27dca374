// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_gpu/device.hpp"

#include <cstddef>

namespace bench::fake_gpu {

Result<CounterReadings, ops::BackendError> Counters::measure(
    std::span<ops::Invocation* const> rotation) {
  const CountersScript& script = script_.counters;
  if (script.refused) return *script.refused;
  for (std::int64_t i = 0; i <= script.passes; ++i) {  // one more, because the first counts nothing
    ops::Invocation& invocation = *rotation[static_cast<std::size_t>(i) % rotation.size()];
    if (!invocation.run())
      return ops::BackendError{ops::BackendError::Kind::failed, invocation.error()};
  }
  CounterReadings readings;
  for (const auto& [name, value] : script.values) readings[name] = {value, "fake__" + name};
  for (const auto& [name, reason] : script.absent) readings[name] = {std::nullopt, reason};
  return readings;
}

}  // namespace bench::fake_gpu
