// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions, found at run time: nothing links the library, so that its absence is a reason
// and no program fails to start.
#pragma once

#include "base/result.hpp"

#include <cupti.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// What errors of the library are about.
inline constexpr std::string_view kCuptiSubject = "CUPTI";

// One row a function: its name in the library, and in CuptiApi.
// clang-format off
#define BENCH_CUPTI_FUNCTIONS(row) \
  row(cuptiGetVersion, get_version) \
  row(cuptiGetResultString, result_string) \
  row(cuptiSubscribe_v2, subscribe) \
  row(cuptiUnsubscribe, unsubscribe) \
  row(cuptiEnableCallback, enable_callback) \
  row(cuptiGetCallbackName, callback_name) \
  row(cuptiSetThreadIdType, set_thread_id_type) \
  row(cuptiActivitySetAttribute, set_attribute) \
  row(cuptiActivityRegisterTimestampCallback, register_timestamp) \
  row(cuptiActivityRegisterCallbacks, register_buffers) \
  row(cuptiActivityEnable, enable) \
  row(cuptiActivityDisable, disable) \
  row(cuptiActivityEnableRuntimeApi, enable_runtime_api) \
  row(cuptiActivityEnableDriverApi, enable_driver_api) \
  row(cuptiActivityEnableAllocationSource, enable_allocation_source) \
  row(cuptiActivityFlushAll, flush_all) \
  row(cuptiActivityGetNumDroppedRecords, dropped_records) \
  row(cuptiActivityGetNextRecord, next_record) \
  row(cuptiActivityPushExternalCorrelationId, push_external_id) \
  row(cuptiActivityPopExternalCorrelationId, pop_external_id) \
  row(cuptiGetGraphNodeId, graph_node_id)
// clang-format on

// Plain pointers, so that tests put functions of theirs in.
struct CuptiApi {
#define BENCH_CUPTI_MEMBER(function, member) decltype(&function) member = nullptr;
  BENCH_CUPTI_FUNCTIONS(BENCH_CUPTI_MEMBER)
#undef BENCH_CUPTI_MEMBER
};

struct CuptiLibrary {
  CuptiApi api;  // all pointers are set
  std::string path;
  std::uint32_t version = 0;  // as cuptiGetVersion() returns it: 130001
};

// The first of the candidates (file names for the loader, or paths) that can be loaded. It stays
// loaded: CUPTI has threads of its own. Errors: none can be loaded, a function is missing, another
// version than this program was built for; each with what to do.
Result<CuptiLibrary> load_cupti(std::span<const std::string> candidates);

// Records are structures of one version: error unless major and minor are those of `built`.
Status check_cupti_version(std::uint32_t found, std::uint32_t built);
std::string cupti_version_text(std::uint32_t version);  // "13.0.1"; before 13.0: "API 28"

// "CUPTI_ERROR_INVALID_KIND (21)"
std::string cupti_result_text(const CuptiApi& api, CUptiResult result);

}  // namespace bench
