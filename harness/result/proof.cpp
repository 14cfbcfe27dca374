// SPDX-License-Identifier: Apache-2.0
#include "harness/result/proof.hpp"

#include "base/utc_time.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

double found_fraction(const ProofOfLife::Power& row) {
  return row.cases == 0 ? 0 : static_cast<double>(row.found) / static_cast<double>(row.cases);
}

}  // namespace

double injected_error(double injected, double measured) {
  return std::abs(measured - injected) / injected;
}

std::optional<double> smallest_found_slowdown(const ProofOfLife& proof) {
  std::optional<double> smallest;
  for (auto row = proof.power.rbegin(); row != proof.power.rend(); ++row) {
    if (found_fraction(*row) < kMinPower) break;
    smallest = row->slowdown;
  }
  return smallest;
}

std::string find_proof_problem(const ProofOfLife& proof) {
  if (proof.suites == 0) return fmt::format("its {} duets per case are too few", proof.duets);
  if (!proof.injected) return "it injected no slowdown";
  const auto& [slowdown, measured] = *proof.injected;
  if (injected_error(slowdown, measured) > kMaxInjectedError) {
    return fmt::format("it read an injected {:+.1f} % as {:+.1f} %", 100 * slowdown,
                       100 * measured);
  }
  const double red = static_cast<double>(proof.red_suites) / static_cast<double>(proof.suites);
  if (red > kMaxRedSuites) return fmt::format("{:.1f} % of unchanged suites failed", 100 * red);
  if (smallest_found_slowdown(proof)) return "";
  if (proof.power.empty()) return "it tried no slowdown";
  const ProofOfLife::Power& largest = proof.power.back();
  return fmt::format("it found {:+.0f} % in only {:.0f} % of slower cases", 100 * largest.slowdown,
                     100 * found_fraction(largest));
}

std::optional<std::chrono::seconds> proof_age(const ProofOfLife& proof, std::string_view now) {
  const auto end = parse_utc_time(now);
  const auto begin = parse_utc_time(proof.time);
  if (!end || !begin || *end < *begin) return std::nullopt;
  return *end - *begin;
}

}  // namespace bench
