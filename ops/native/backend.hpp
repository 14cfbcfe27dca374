// SPDX-License-Identifier: Apache-2.0
// The backend `native`: loops of this program that compute the operator `peak` on the CPU.
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
