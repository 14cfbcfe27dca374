// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/scripted_cupti.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>

namespace bench::test {
namespace {

CuptiScript* cupti_script = nullptr;

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void*,
                      CUpti_SubscriberParams* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_SubscriberParams_STRUCT_SIZE);
  EXPECT_GE(parameters->oldSubscriberSize, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
  cupti_script->other_tool.copy(parameters->oldSubscriberName, parameters->oldSubscriberSize);
  cupti_script->callback = callback;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(cupti_script);
  return cupti_script->called(fmt::format("subscribe {}", parameters->subscriberName));
}
CUptiResult unsubscribe(CUpti_SubscriberHandle) { return cupti_script->called("unsubscribe"); }
CUptiResult enable_callback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                            CUpti_CallbackId id) {
  return cupti_script->called(
      fmt::format("{} callback {}", enable != 0 ? "enable" : "disable", id));
}
CUptiResult set_thread_id_type(CUpti_ActivityThreadIdType type) {
  return cupti_script->called(fmt::format("thread ids {}", static_cast<int>(type)));
}
CUptiResult set_attribute(CUpti_ActivityAttribute attribute, std::size_t* size, void* value) {
  EXPECT_EQ(*size, 1u);
  return cupti_script->called(fmt::format("attribute {} = {}", static_cast<int>(attribute),
                                          *static_cast<std::uint8_t*>(value)));
}
CUptiResult register_timestamp(CUpti_TimestampCallbackFunc function) {
  cupti_script->timestamp = function;
  return cupti_script->called("timestamp");
}
CUptiResult register_buffers(CUpti_BuffersCallbackRequestFunc requested,
                             CUpti_BuffersCallbackCompleteFunc completed) {
  cupti_script->requested = requested;
  cupti_script->completed = completed;
  return cupti_script->called("buffers");
}
CUptiResult enable(CUpti_ActivityKind kind) {
  return cupti_script->called(fmt::format("enable {}", static_cast<int>(kind)));
}
CUptiResult disable(CUpti_ActivityKind kind) {
  return cupti_script->called(fmt::format("disable {}", static_cast<int>(kind)));
}
CUptiResult enable_runtime_api(CUpti_CallbackId id, std::uint8_t enable) {
  return cupti_script->called(fmt::format("runtime {} {}", id, enable));
}
CUptiResult enable_driver_api(CUpti_CallbackId id, std::uint8_t enable) {
  return cupti_script->called(fmt::format("driver {} {}", id, enable));
}
CUptiResult enable_allocation_source(std::uint8_t enable) {
  return cupti_script->called(fmt::format("allocation source {}", enable));
}
CUptiResult flush_all(std::uint32_t flag) {
  const CUptiResult result = cupti_script->called(fmt::format("flush {}", flag));
  // CUPTI uses its own threads for this.
  std::thread([] {
    for (; !cupti_script->buffers.empty(); cupti_script->buffers.pop_front()) {
      cupti_script->deliver(cupti_script->buffers.front());
    }
  }).join();
  return result;
}
// CUPTI holds its own lock here and in the other callbacks. A caller that held the collector's lock
// would deadlock.
CUptiResult dropped_records(CUcontext, std::uint32_t stream, std::size_t* dropped) {
  *dropped = std::exchange(cupti_script->dropped[stream], 0);
  if (std::exchange(cupti_script->asked, true)) return CUPTI_SUCCESS;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, records = 0;
  cupti_script->requested(&buffer, &size, &records);
  cupti_script->completed(nullptr, stream, buffer, size, 0);
  cupti_script->asked = false;
  return CUPTI_SUCCESS;
}
CUptiResult push_external_id(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  return cupti_script->called(fmt::format("push {} {}", static_cast<int>(kind), id));
}
CUptiResult pop_external_id(CUpti_ExternalCorrelationKind kind, std::uint64_t*) {
  return cupti_script->called(fmt::format("pop {}", static_cast<int>(kind)));
}
CUptiResult graph_node_id(CUgraphNode node, std::uint64_t* id) {
  *id = reinterpret_cast<std::uintptr_t>(node);
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult CuptiScript::called(std::string call) {
  calls.push_back(call);
  const auto result = results.find(call);
  return result == results.end() ? CUPTI_SUCCESS : result->second;
}

void CuptiScript::deliver(SyntheticBuffer& filled) {
  std::uint8_t* buffer = nullptr;
  std::size_t records = 99;
  requested(&buffer, &buffer_size, &records);
  EXPECT_EQ(records, 0u);
  ASSERT_GE(buffer_size, filled.size());
  std::memcpy(buffer, filled.data(), filled.size());
  completed(nullptr, 0, buffer, buffer_size, filled.size());
}

CuptiApi scripted_cupti(CuptiApi api, CuptiScript& next) {
  cupti_script = &next;
  api.subscribe = subscribe;
  api.unsubscribe = unsubscribe;
  api.enable_callback = enable_callback;
  api.set_thread_id_type = set_thread_id_type;
  api.set_attribute = set_attribute;
  api.register_timestamp = register_timestamp;
  api.register_buffers = register_buffers;
  api.enable = enable;
  api.disable = disable;
  api.enable_runtime_api = enable_runtime_api;
  api.enable_driver_api = enable_driver_api;
  api.enable_allocation_source = enable_allocation_source;
  api.flush_all = flush_all;
  api.dropped_records = dropped_records;
  api.push_external_id = push_external_id;
  api.pop_external_id = pop_external_id;
  api.graph_node_id = graph_node_id;
  return api;
}

}  // namespace bench::test
