// SPDX-License-Identifier: Apache-2.0
// Which numbers of devices a file may contain. Tables and timelines have a row per device, so a
// file must not decide how many there are.
#pragma once

#include <cstdint>

namespace bench {

// Runtimes number the devices of a process from 0 on. No machine has nearly as many.
inline constexpr std::int64_t kMaxDeviceNumber = 4095;

inline constexpr bool is_device_number(std::int64_t number) {
  return number >= 0 && number <= kMaxDeviceNumber;
}

}  // namespace bench
