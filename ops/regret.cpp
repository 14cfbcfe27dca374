// SPDX-License-Identifier: Apache-2.0
#include "ops/regret.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace bench::ops {
namespace {

constexpr char kNameEnd = '\t', kLineEnd = '\n';
constexpr std::string_view kFailed = "failed: ";

std::string detail_name(std::string_view part) { return fmt::format("{}{}", kRegretDetail, part); }

// Replaces what separates the parts of a line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == kNameEnd || letter == kLineEnd; }, ' ');
  return text;
}

std::string format_candidate(const MeasuredCandidate& candidate) {
  const std::string result = candidate.time ? fmt::to_string(candidate.time->count())
                                            : std::string(kFailed) + one_line(candidate.failure);
  return fmt::format("{}{}{}{}", one_line(candidate.name), kNameEnd, result, kLineEnd);
}

std::optional<MeasuredCandidate> parse_candidate(std::string_view line) {
  const std::size_t end = line.find(kNameEnd);
  if (end == std::string_view::npos) return std::nullopt;
  MeasuredCandidate candidate;
  candidate.name = line.substr(0, end);
  const std::string_view result = line.substr(end + 1);
  if (result.starts_with(kFailed)) {
    candidate.failure = result.substr(kFailed.size());
    return candidate;
  }
  const auto time = parse_number<std::int64_t>(result);
  if (!time || *time < 0) return std::nullopt;
  candidate.time = Nanoseconds(*time);
  return candidate;
}

std::optional<std::vector<MeasuredCandidate>> parse_candidates(std::string_view text) {
  std::vector<MeasuredCandidate> candidates;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find(kLineEnd));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto candidate = parse_candidate(line);
    if (!candidate) return std::nullopt;
    candidates.push_back(*std::move(candidate));
  }
  return candidates;
}

std::optional<Nanoseconds> time_of(const std::vector<MeasuredCandidate>& candidates,
                                   std::string_view name) {
  const auto found = std::ranges::find(candidates, name, &MeasuredCandidate::name);
  return found == candidates.end() ? std::nullopt : found->time;
}

}  // namespace

bool Regret::is_compared() const {
  return has_cost() || std::ranges::any_of(candidates, [&](const MeasuredCandidate& candidate) {
           return candidate.name != chosen && candidate.time.has_value();
         });
}

double Regret::cost() const {
  if (!has_cost()) return 0;
  return static_cast<double>(chosen_time.count()) / static_cast<double>(best_time.count()) - 1;
}

void add_details(const Regret& regret, std::map<std::string, std::string>& details) {
  details[detail_name("chosen")] = one_line(regret.chosen);
  details[detail_name("best")] = one_line(regret.best);
  std::string lines;
  for (const MeasuredCandidate& candidate : regret.candidates) lines += format_candidate(candidate);
  details[detail_name("candidates")] = lines;
}

std::optional<Regret> take_regret(std::map<std::string, std::string>& details) {
  const auto chosen = details.find(detail_name("chosen"));
  const auto best = details.find(detail_name("best"));
  const auto lines = details.find(detail_name("candidates"));
  if (chosen == details.end() || best == details.end() || lines == details.end())
    return std::nullopt;
  auto candidates = parse_candidates(lines->second);
  if (!candidates) return std::nullopt;
  const auto chosen_time = time_of(*candidates, chosen->second);
  const auto best_time = time_of(*candidates, best->second);
  if (!chosen_time || !best_time) return std::nullopt;
  Regret regret{chosen->second, *chosen_time, best->second, *best_time, *std::move(candidates)};
  details.erase(chosen);
  details.erase(best);
  details.erase(lines);
  return regret;
}

}  // namespace bench::ops
