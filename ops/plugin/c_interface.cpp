// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/c_interface.hpp"

#include <cstring>

namespace bench::ops {
namespace {

template <std::size_t kSize>
std::string terminated_text(const std::array<char, kSize>& buffer) {
  return {buffer.data(), strnlen(buffer.data(), kSize)};
}

}  // namespace

CMessage::CMessage()
    : text_{}, where_{}, next_{}, raw_{sizeof(bench_message), text_.data(),  text_.size(),
                                       where_.data(),         where_.size(), next_.data(),
                                       next_.size()} {}

Error CMessage::error(std::string_view what) const {
  Error error{terminated_text(text_), terminated_text(where_), terminated_text(next_)};
  if (error.what.empty()) error.what = fmt::format("{} without a reason", what);
  return error;
}

BackendError backend_error(bench_status status, const Error& error) {
  BackendError::Kind kind = BackendError::Kind::failed;
  if (status == BENCH_UNSUPPORTED) kind = BackendError::Kind::unsupported;
  if (status == BENCH_SKIPPED) kind = BackendError::Kind::skipped;
  return {kind, error.message()};
}

bench_status to_c_status(const BackendError& error) {
  switch (error.kind) {
    case BackendError::Kind::unsupported:
      return BENCH_UNSUPPORTED;
    case BackendError::Kind::skipped:
      return BENCH_SKIPPED;
    case BackendError::Kind::failed:
      break;
  }
  return BENCH_FAILED;
}

std::string string_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace bench::ops
