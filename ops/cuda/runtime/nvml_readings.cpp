// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/nvml_conditions.hpp"

#include <algorithm>
#include <memory>
#include <unistd.h>
#include <utility>

namespace bench::ops::cuda {

DeviceState to_device_state(const NvmlReading& reading, std::int64_t process) {
  constexpr std::int64_t kMega = 1'000'000;
  DeviceState state;
  if (reading.sm_clock_mhz) state.sm_clock_hz = *reading.sm_clock_mhz * kMega;
  state.power_milliwatt = reading.power_milliwatt;
  state.used_bytes = reading.memory_used_bytes;
  if (!reading.processes) return state;
  const auto own = std::find_if(reading.processes->begin(), reading.processes->end(),
                                [&](const NvmlProcessMemory& row) { return row.pid == process; });
  if (own != reading.processes->end()) state.process_bytes = own->bytes;
  return state;
}

StateReaderMaker readings_by_nvml(std::vector<SearchStep> search,
                                  std::function<Result<std::string>()> bus_id) {
  return [search = std::move(search), bus_id = std::move(bus_id)]() -> Result<StateReader> {
    BENCH_ASSIGN_OR_RETURN(const std::string device, bus_id());
    auto opened = Nvml::open(search);
    if (!opened) return Error{opened.error().reason, "NVML", ""};
    const auto nvml = std::make_shared<const Nvml>(*std::move(opened));
    if (const auto first = nvml->reading(device); !first) {
      return Error{first.error().message(), "NVML", ""};
    }
    return StateReader([nvml, device, own = ::getpid()]() -> std::optional<DeviceState> {
      const auto reading = nvml->reading(device);
      if (!reading) return std::nullopt;
      return to_device_state(*reading, own);
    });
  };
}

}  // namespace bench::ops::cuda
