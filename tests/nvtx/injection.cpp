// SPDX-License-Identifier: Apache-2.0
// Acts as a vendor's tool for an NVTX program: a library that NVTX loads by NVTX_INJECTION64_PATH.
// Appends a line for each call to the file that BENCH_NVTX_LOG names: "THREAD push TEXT", "THREAD
// pop", "THREAD start ID TEXT", "THREAD end ID", "THREAD mark TEXT".
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void write_line(const std::string& text) {
  static const int file = open(std::getenv("BENCH_NVTX_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string line = std::to_string(syscall(SYS_gettid)) + " " + text + "\n";
  if (write(file, line.data(), line.size()) < 0) std::perror("NVTX log");
}

const char* text_of(const nvtxEventAttributes_t* attributes) {
  return attributes->messageType == NVTX_MESSAGE_TYPE_ASCII ? attributes->message.ascii : "?";
}

int push(const char* text) {
  write_line(std::string("push ") + text);
  return 0;
}

int push_ex(const nvtxEventAttributes_t* attributes) { return push(text_of(attributes)); }

int pop() {
  write_line("pop");
  return 0;
}

nvtxRangeId_t start(const char* text) {
  static std::atomic<nvtxRangeId_t> last{0};
  const nvtxRangeId_t id = ++last;
  write_line("start " + std::to_string(id) + " " + text);
  return id;
}

nvtxRangeId_t start_ex(const nvtxEventAttributes_t* attributes) {
  return start(text_of(attributes));
}

void end(nvtxRangeId_t id) { write_line("end " + std::to_string(id)); }
void mark(const char* text) { write_line(std::string("mark ") + text); }
void mark_ex(const nvtxEventAttributes_t* attributes) { mark(text_of(attributes)); }

template <class Function>
void install(NvtxFunctionTable table, NvtxCallbackIdCore id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE_RangePop) {
    return 0;
  }
  install(table, NVTX_CBID_CORE_RangePushA, push);
  install(table, NVTX_CBID_CORE_RangePushEx, push_ex);
  install(table, NVTX_CBID_CORE_RangePop, pop);
  install(table, NVTX_CBID_CORE_RangeStartA, start);
  install(table, NVTX_CBID_CORE_RangeStartEx, start_ex);
  install(table, NVTX_CBID_CORE_RangeEnd, end);
  install(table, NVTX_CBID_CORE_MarkA, mark);
  install(table, NVTX_CBID_CORE_MarkEx, mark_ex);
  return 1;
}
