// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/counters_pass.hpp"

#include "harness/config/case_id.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/workload.hpp"
#include "ops/backend/device_counters.hpp"
#include "profiler/kernel_names/counter_verdict.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace bench {
namespace {

using Details = std::map<std::string, std::string>;
using DetailsReply = Result<Details, ErrorReply>;

constexpr std::string_view kHostDevice = "cpu";

Details unavailable(const std::string& reason) {
  return {{"counters", fmt::format("n/a: {}", reason)}};
}

// The arena is in the device's own memory if it has any. It makes the caches as cold as in the
// timing pass.
Result<std::optional<Arena>> make_arena(const ProfilePassContext& world,
                                        const PrepareRequest& request, CacheMode cache) {
  if (cache == CacheMode::hot) return std::optional<Arena>();
  ops::DeviceMemory* device = world.backend.memory();
  const Bytes asked = request.reuse_distance.value_or(Bytes{0});
  const Bytes size = device != nullptr ? device_arena_size(*device, asked) : world.arena;
  BENCH_ASSIGN_OR_RETURN(Arena arena, Arena::create(size, kArenaSeed, nullptr, device));
  return std::optional<Arena>(std::move(arena));
}

ops::DeviceCounters* find_counters(const ProfilePassContext& world) {
  ops::DeviceCounters* const own = world.backend.counters();
  return own == nullptr && world.backend.device() == kHostDevice ? world.processor : own;
}

DetailsReply count(const ProfilePassContext& world, const ProfileRequest& request,
                   const CaseKey& key) {
  ops::DeviceCounters* counters = find_counters(world);
  if (counters == nullptr) {
    return unavailable(
        fmt::format("the backend `{}` cannot read hardware counters", world.backend.name()));
  }
  const PrepareRequest& prepare = request.prepare;
  auto workload = admit(key, prepare.network.get(), world.backend, world.available, world.registry);
  if (!workload) return std::move(workload).error();
  const InputValues values = input_values(*workload, prepare.seed);
  auto instance = PreparedKernel::build(world.backend, *workload, values, world.clock,
                                        world.available, prepare.input_layouts);
  if (!instance) return refused(instance.error());
  auto arena = make_arena(world, prepare, key.cache);
  if (!arena) return failed_reply(arena.error());
  Details details;
  auto rotation = bind_rotation(instance->kernel(), instance->addresses(), key.cache,
                                prepare.reuse_distance, *arena ? &**arena : nullptr, details);
  if (!rotation) return failed_reply(rotation.error());
  const auto readings = counters->measure((*rotation)->invocations());
  if (!readings) {
    if (readings.error().kind == ops::BackendError::Kind::failed) return refused(readings.error());
    return unavailable(readings.error().reason);
  }
  return counter_details(*readings, workload_work(*workload));
}

}  // namespace

Result<ProfiledReply, ErrorReply> run_counters_pass(const ProfilePassContext& world,
                                                    const ProfileRequest& request) {
  const auto key = parse_id(request.prepare.id, world.registry);
  if (!key) return failed_reply(key.error());
  ProfiledReply reply;
  try {
    BENCH_ASSIGN_OR_RETURN(reply.details, count(world, request, *key));
  } catch (const std::bad_alloc&) {
    return ErrorReply{Outcome::skipped, "this machine does not have enough memory"};
  }
  return reply;
}

std::map<std::string, std::string> counter_details(const CounterReadings& readings,
                                                   const ops::Work& work) {
  Details details;
  for (const auto& [name, reading] : readings) {
    details["counter." + name] = format_reading(name, reading);
    if (reading.value) details[fmt::format("counter.{}.source", name)] = reading.source;
  }
  const TensorCoreVerdict verdict = tensor_core_verdict(readings);
  if (verdict.use != TensorCoreUse::unknown) details["tensor_cores"] = format_verdict(verdict);
  const std::vector<std::string_view> types = tensor_types(readings);
  if (!types.empty()) details["tensor_cores.types"] = fmt::format("{}", fmt::join(types, ", "));
  if (work.macs) {
    const auto check = check_operations(tensor_operations(readings), work.flops);
    if (check) details["check.tensor_operations"] = format_operation_check(*check);
  }
  const auto bytes = check_bytes(dram_bytes(readings), work.traffic());
  if (bytes) details["check.dram_bytes"] = format_byte_check(*bytes);
  const auto missed = readings.find("llc_miss_bytes");
  if (missed != readings.end()) {
    const auto check = check_bytes(missed->second.value, work.traffic());
    if (check) details["check.llc_miss_bytes"] = format_byte_check(*check);
  }
  return details;
}

}  // namespace bench
