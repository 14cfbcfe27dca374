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

// Allowed difference in microseconds, in addition to 2 %, between two timings of the same kernel.
inline constexpr double kGapMargin = 2.5;

inline double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

// figures: nothing was required. cut: the time limit was reached, which is not a failure.
enum class Outcome { passed, failed, figures, cut };

// Not thread-safe.
class CheckReport {
 public:
  // `path` is that of the figures file. If it is empty, no figures are written.
  explicit CheckReport(const std::string& path);

  // Adds a result. `question` is a question of docs/cuda.md ("b") or empty. `figures` is an object.
  void add(std::string_view check, std::string_view question, Outcome outcome,
           const nlohmann::ordered_json& figures);
  // Adds a check, which passed if `holds`.
  void add_check(bool holds, std::string_view check, std::string_view question,
                 const nlohmann::ordered_json& figures);
  // Adds a comparison, which passed if measured / expected differs from 1 by at most `tolerance`.
  // Without a measured value, adds only figures, because nothing was checked.
  void add_comparison(std::optional<double> measured_by_expected, double tolerance,
                      std::string_view check, std::string_view question,
                      const nlohmann::ordered_json& figures);
  // Adds a failure of a check that could not be carried out.
  void add_error(std::string_view check, std::string_view question, const std::string& reason);

  int failures() const { return failures_; }
  std::string summary() const;  // "17 passed, 1 failed"

 private:
  std::ofstream file_;
  int passed_ = 0, failures_ = 0;
};

}  // namespace bench::ops::cuda
