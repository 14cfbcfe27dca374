// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions, looked up at run time. No program links the library, so without it a program
// still starts and can state the reason.
#pragma once

#include "base/function_table.hpp"

#include <cupti.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// Subject of the library's errors.
inline constexpr std::string_view kCuptiSubject = "CUPTI";

// Plain pointers, so that tests can insert their own functions.
struct CuptiApi {
  BENCH_FUNCTIONS(CuptiApi, (get_version, cuptiGetVersion), (result_string, cuptiGetResultString),
                  (subscribe, cuptiSubscribe_v2), (unsubscribe, cuptiUnsubscribe),
                  (enable_callback, cuptiEnableCallback), (callback_name, cuptiGetCallbackName),
                  (set_thread_id_type, cuptiSetThreadIdType),
                  (set_attribute, cuptiActivitySetAttribute),
                  (register_timestamp, cuptiActivityRegisterTimestampCallback),
                  (register_buffers, cuptiActivityRegisterCallbacks), (enable, cuptiActivityEnable),
                  (disable, cuptiActivityDisable),
                  (enable_runtime_api, cuptiActivityEnableRuntimeApi),
                  (enable_driver_api, cuptiActivityEnableDriverApi),
                  (enable_allocation_source, cuptiActivityEnableAllocationSource),
                  (flush_all, cuptiActivityFlushAll),
                  (dropped_records, cuptiActivityGetNumDroppedRecords),
                  (next_record, cuptiActivityGetNextRecord),
                  (push_external_id, cuptiActivityPushExternalCorrelationId),
                  (pop_external_id, cuptiActivityPopExternalCorrelationId),
                  (graph_node_id, cuptiGetGraphNodeId));
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

}  // namespace bench
