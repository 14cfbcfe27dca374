// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/rough_time.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

namespace bench {

std::string format_rough_time(Nanoseconds time) {
  using namespace std::chrono_literals;
  struct Unit {
    Nanoseconds limit;  // the unit is for shorter times
    Nanoseconds length;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{10min, 1s, "s"}, {2h, 1min, "min"}, {48h, 1h, "h"}};
  Unit unit{Nanoseconds::max(), 24h, "d"};
  for (const Unit& candidate : kUnits) {
    if (time >= candidate.limit) continue;
    unit = candidate;
    break;
  }
  const double value = std::chrono::duration<double>(time) / unit.length;
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, unit.name);
}

}  // namespace bench
