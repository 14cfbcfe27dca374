// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>

namespace bench::ops::cuda {

CheckReport::CheckReport(const std::string& path) {
  if (!path.empty()) file_.open(path, std::ios::app);
}

void CheckReport::add(std::string_view check, std::string_view question, Outcome outcome,
                      const nlohmann::ordered_json& figures) {
  constexpr std::array<std::string_view, 4> kWords = {"ok", "FAILED", "figures", "cut"};
  const std::string_view word = kWords[static_cast<std::size_t>(outcome)];
  nlohmann::ordered_json line = {{"question", question}, {"check", check}, {"outcome", word}};
  line.update(figures);
  if (question.empty()) line.erase("question");
  if (file_.is_open()) file_ << line.dump() << '\n' << std::flush;
  std::fputs(fmt::format("{:8} {}: {}\n", word, check, figures.dump()).c_str(), stdout);
  std::fflush(stdout);
  passed_ += outcome == Outcome::passed ? 1 : 0;
  failures_ += outcome == Outcome::failed ? 1 : 0;
}

void CheckReport::add_check(bool holds, std::string_view check, std::string_view question,
                            const nlohmann::ordered_json& figures) {
  add(check, question, holds ? Outcome::passed : Outcome::failed, figures);
}

void CheckReport::add_comparison(std::optional<double> measured_by_expected, double tolerance,
                                 std::string_view check, std::string_view question,
                                 const nlohmann::ordered_json& figures) {
  if (!measured_by_expected) return add(check, question, Outcome::figures, figures);
  add_check(std::abs(*measured_by_expected - 1) <= tolerance, check, question, figures);
}

void CheckReport::add_error(std::string_view check, std::string_view question,
                            const std::string& reason) {
  add(check, question, Outcome::failed, {{"reason", reason}});
}

std::string CheckReport::summary() const {
  return fmt::format("{} passed, {} failed", passed_, failures_);
}

}  // namespace bench::ops::cuda
