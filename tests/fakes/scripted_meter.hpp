// SPDX-License-Identifier: Apache-2.0
// An energy counter of a machine that takes the same power all the time.
#pragma once

#include "harness/host/energy_meter.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::test {

class ScriptedMeter final : public EnergyMeter {
 public:
  ScriptedMeter(FakeClock& clock, std::int64_t watts) : clock_(clock), watts_(watts) {}
  const std::string& source() const override { return source_; }
  std::optional<std::vector<EnergyCount>> read() override {
    constexpr std::int64_t kNanosecondsPerMicrosecond = 1000;
    return std::vector<EnergyCount>{{watts_ * clock_.now().count() / kNanosecondsPerMicrosecond}};
  }

 private:
  FakeClock& clock_;
  std::int64_t watts_;
  std::string source_ = "rapl:package-0";
};

}  // namespace bench::test
