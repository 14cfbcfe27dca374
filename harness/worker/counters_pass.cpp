// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/counters_pass.hpp"

#include "harness/config/case_id.hpp"
#include "harness/worker/check.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/thrown_reply.hpp"
#include "harness/worker/workload.hpp"
#include "ops/backend/device_counters.hpp"
#include "profiler/kernel_names/counter_verdict.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <memory>
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

// Creates an arena like that of the timing pass, so that the caches are equally cold: in the
// device's memory if it has its own. Returns nullopt for hot caches.
Result<std::optional<Arena>> make_arena(const ProfilePassContext& context,
                                        const PrepareRequest& request, CacheMode cache) {
  if (cache == CacheMode::hot) return std::optional<Arena>();
  ops::DeviceMemory* device = context.backend.memory();
  const Bytes requested = request.reuse_distance.value_or(Bytes{0});
  const Bytes size = device != nullptr ? device_arena_size(*device, requested) : context.arena;
  BENCH_ASSIGN_OR_RETURN(Arena arena, Arena::create(size, kArenaSeed, nullptr, device));
  return std::optional<Arena>(std::move(arena));
}

// Returns the backend's counters, or the processor's for a CPU backend without counters. Null if
// there are none.
ops::DeviceCounters* find_counters(const ProfilePassContext& context) {
  ops::DeviceCounters* const own = context.backend.counters();
  return own == nullptr && context.backend.device() == kHostDevice ? context.processor : own;
}

// Creates the kernel that the measuring processes executed: rejects the engines that they rejected,
// if the request asks for a check.
Result<PreparedKernel, ErrorReply> build_measured(const ProfilePassContext& context,
                                                  const PrepareRequest& request,
                                                  const Workload& workload) {
  const InputValues values = input_values(workload, request.seed);
  const auto build_once = [&]() -> Result<PreparedKernel, ErrorReply> {
    auto prepared = PreparedKernel::build(context.backend, workload, values, context.clock,
                                          context.available, request.input_layouts);
    if (!prepared) return to_error_reply(prepared.error());
    if (request.check == CheckKind::none) return *std::move(prepared);
    const CheckRequest check{request.check, request.expected, request.seed, context.available};
    auto verified = verify(context.backend, workload, *prepared, values, check, context.clock);
    if (!verified) return std::move(verified).error();
    return *std::move(prepared);
  };
  for (;;) {
    auto prepared = build_once();
    if (prepared || !takes_next_engine(context.backend, workload, prepared.error()))
      return prepared;
  }
}

DetailsReply read_counters(const ProfilePassContext& context, const ProfileRequest& request,
                           const CaseKey& key) {
  ops::DeviceCounters* counters = find_counters(context);
  if (counters == nullptr) {
    return unavailable(
        fmt::format("the backend `{}` cannot read hardware counters", context.backend.name()));
  }
  const PrepareRequest& prepare = request.prepare;
  auto workload =
      admit(key, prepare.network.get(), context.backend, context.available, context.registry);
  if (!workload) return std::move(workload).error();
  set_candidates(context.backend, prepare, key.cache, context.arena);
  BENCH_ASSIGN_OR_RETURN(PreparedKernel prepared, build_measured(context, prepare, *workload));
  auto arena = make_arena(context, prepare, key.cache);
  if (!arena) return failed_reply(arena.error());
  Details details;
  auto rotation = bind_rotation(prepared.kernel(), prepared.addresses(), key.cache,
                                prepare.reuse_distance, *arena ? &**arena : nullptr, details);
  if (!rotation) return failed_reply(rotation.error());
  const auto readings = counters->measure((*rotation)->invocations());
  if (!readings) {
    if (readings.error().kind == ops::BackendError::Kind::failed)
      return to_error_reply(readings.error());
    return unavailable(readings.error().reason);
  }
  return counter_details(*readings, workload_work(*workload));
}

}  // namespace

Result<ProfiledReply, ErrorReply> run_counters_pass(const ProfilePassContext& context,
                                                    const ProfileRequest& request) {
  const auto key = parse_id(request.prepare.id, context.registry);
  if (!key) return failed_reply(key.error());
  ProfiledReply reply;
  try {
    BENCH_ASSIGN_OR_RETURN(reply.details, read_counters(context, request, *key));
  } catch (const std::exception& exception) {
    return thrown_reply("counters", exception);
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
  const TensorCoreVerdict verdict = tensor_core_verdict(readings, work.flops);
  if (verdict.use != TensorCoreUse::unknown) details["tensor_cores"] = format_verdict(verdict);
  const std::vector<std::string_view> types = tensor_types(readings);
  if (!types.empty()) details["tensor_cores.types"] = fmt::format("{}", fmt::join(types, ", "));
  if (work.macs) {
    const auto check = check_operations(tensor_operations(readings), work.flops);
    if (check) details["check.tensor_operations"] = format_operation_check(*check);
  }
  const auto bytes = check_bytes(dram_bytes(readings), work.traffic());
  if (bytes) details["check.dram_bytes"] = format_byte_check(*bytes);
  const auto misses = readings.find("llc_miss_bytes");
  if (misses != readings.end()) {
    const auto check = check_bytes(misses->second.value, work.traffic());
    if (check) details["check.llc_miss_bytes"] = format_byte_check(*check);
  }
  return details;
}

}  // namespace bench
