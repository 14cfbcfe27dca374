// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/preload/spool.hpp"

#include <execinfo.h>

namespace bench::capture {
namespace {

constexpr int kMaxFrames = 64;

bool add_frame(Text& text, const void* address, const char* program) {
  // This is a return address. The call is before it, and may be the last instruction of its
  // function.
  const char* call = static_cast<const char*>(address) - 1;
  const link_map* module = find_module(call);
  if (module == nullptr) return text.add("\"?\"");  // generated code
  return text.add("\"") && text.add_escaped(module_path(module, program)) && text.add("+0x") &&
         text.add_number(reinterpret_cast<unsigned long>(call) - module->l_addr, 16) &&
         text.add("\"");
}

}  // namespace

void prepare_backtrace() {
  void* frame = nullptr;
  if (settings().backtrace) backtrace(&frame, 1);
}

std::string_view backtrace_field(char* buffer, std::size_t capacity) {
  if (!settings().backtrace) return {};
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  const link_map* own = find_module(reinterpret_cast<const void*>(&backtrace_field));
  Text text(buffer, capacity - 1);
  text.add(",\"backtrace\":[");
  const char* separator = "";
  for (int i = 0; i < count; ++i) {
    if (find_module(static_cast<const char*>(frames[i]) - 1) == own) continue;
    const std::size_t before = text.size();
    if (!text.add(separator) || !add_frame(text, frames[i], settings().program)) {
      text.cut(before);
      break;
    }
    separator = ",";
  }
  buffer[text.size()] = ']';
  return {buffer, text.size() + 1};
}

}  // namespace bench::capture
