// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions, looked up at run time. No program links the library, so without it a program
// still starts and can state the reason.
#pragma once

#include "base/result.hpp"

#include <cupti.h>

#include <cstdint>
#include <dlfcn.h>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// Subject of the library's errors.
inline constexpr std::string_view kCuptiSubject = "CUPTI";

// One row per function: its name in the library and in CuptiApi.
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

// Plain pointers, so that tests can insert their own functions.
struct CuptiApi {
#define BENCH_CUPTI_MEMBER(function, member) decltype(&function) member = nullptr;
  BENCH_CUPTI_FUNCTIONS(BENCH_CUPTI_MEMBER)
#undef BENCH_CUPTI_MEMBER
};

struct CuptiLibrary {
  CuptiApi api;  // all pointers are set
  std::string path;
  std::uint32_t version = 0;  // as returned by cuptiGetVersion(): 130001
};

// Loads the first usable candidate (file names for the loader, or paths). It stays loaded, because
// CUPTI has its own threads. Returns an error with a remedy if none can be loaded or a function is
// missing. The same applies if the version differs from the one that this program was built for.
Result<CuptiLibrary> load_cupti(std::span<const std::string> candidates);

// The record structures belong to one version. Returns an error unless major and minor match
// `built`.
Status check_cupti_version(std::uint32_t found, std::uint32_t built);
std::string format_cupti_version(std::uint32_t version);  // "13.0.1"; before 13.0: "API 28"

// "CUPTI_ERROR_INVALID_KIND (21)"
std::string format_cupti_result(const CuptiApi& api, CUptiResult result);

// Looks up `name` in a loaded library. If it is missing, sets `function` to null and stores the
// first such name in `missing`.
template <class Function>
void resolve_function(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace bench
