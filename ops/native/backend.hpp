// SPDX-License-Identifier: Apache-2.0
// The backend `native`: loops of this program on the CPU, for the operator `peak` and for operators
// that oneDNN does not have.
#pragma once

#include "ops/backend/kernel.hpp"

#include <memory>
#include <string>

namespace bench::ops {

inline constexpr std::string_view kNativeBackend = "native";

// `cpuinfo`: the text of /proc/cpuinfo, whose flags decide which loops can run.
std::unique_ptr<Backend> make_native_backend(const std::string& cpuinfo);
// The same with the flags of this machine.
std::unique_ptr<Backend> make_native_backend();

}  // namespace bench::ops
