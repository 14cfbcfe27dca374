// SPDX-License-Identifier: Apache-2.0
// Results of the checks on a device: one line each on standard output, and figures as JSON lines.
#pragma once

#include "base/units.hpp"

#include <nlohmann/json_fwd.hpp>

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

using Figures = nlohmann::ordered_json;

// Allowed difference between two timings of the same kernel, in microseconds, in addition to 2 %.
inline constexpr double kGapMargin = 2.5;

inline double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

// figures: there was no requirement. cut: the time limit was reached, which is not a failure.
enum class Outcome { passed, failed, figures, cut };

// Not thread-safe.
class CheckReport {
 public:
  // `path` of the figures file; empty: no figures are kept.
  explicit CheckReport(const std::string& path);

  // `question` of docs/cuda.md ("b"); empty: none. `figures` is an object.
  void add(std::string_view check, std::string_view question, Outcome outcome,
           const nlohmann::ordered_json& figures);
  void passed_if(bool holds, std::string_view check, std::string_view question,
                 const nlohmann::ordered_json& figures);
  // Passed if the measured value is within `tolerance` of 1, relative to the expected one. Without
  // a measured value there are only figures: nothing was checked.
  void compared(std::optional<double> measured_by_expected, double tolerance,
                std::string_view check, std::string_view question,
                const nlohmann::ordered_json& figures);
  // The check itself could not be carried out.
  void broken(std::string_view check, std::string_view question, const std::string& reason);

  int failures() const { return failures_; }
  std::string summary() const;  // "17 passed, 1 failed"

 private:
  std::ofstream file_;
  int passed_ = 0, failures_ = 0;
};

}  // namespace bench::ops::cuda
