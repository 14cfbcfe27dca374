// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/c_interface.hpp"

#include <cstring>

namespace bench::ops {
namespace {

template <std::size_t kSize>
std::string ended(const std::array<char, kSize>& buffer) {
  return {buffer.data(), strnlen(buffer.data(), kSize)};
}

}  // namespace

CMessage::CMessage()
    : text_{}, where_{}, next_{}, raw_{sizeof(bench_message), text_.data(),  text_.size(),
                                       where_.data(),         where_.size(), next_.data(),
                                       next_.size()} {}

Error CMessage::error(std::string_view what) const {
  Error error{ended(text_), ended(where_), ended(next_)};
  if (error.what.empty()) error.what = fmt::format("{} without a reason", what);
  return error;
}

Refusal refusal_of(bench_status status, const Error& error) {
  Refusal::Kind kind = Refusal::Kind::failed;
  if (status == BENCH_UNSUPPORTED) kind = Refusal::Kind::unsupported;
  if (status == BENCH_SKIPPED) kind = Refusal::Kind::skipped;
  return {kind, error.message()};
}

bench_status status_of(const Refusal& refusal) {
  switch (refusal.kind) {
    case Refusal::Kind::unsupported:
      return BENCH_UNSUPPORTED;
    case Refusal::Kind::skipped:
      return BENCH_SKIPPED;
    case Refusal::Kind::failed:
      break;
  }
  return BENCH_FAILED;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

}  // namespace bench::ops
