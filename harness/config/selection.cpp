// SPDX-License-Identifier: Apache-2.0
#include "harness/config/selection.hpp"

#include "harness/config/settings.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace bench {

Result<IdPattern> IdPattern::compile(const std::string& filter) {
  if (filter.size() >= 2 && filter.front() == '/' && filter.back() == '/') {
    BENCH_ASSIGN_OR_RETURN(Regex regex,
                           Regex::compile(std::string_view(filter).substr(1, filter.size() - 2)));
    return IdPattern(std::move(regex));
  }
  BENCH_RETURN_IF_ERROR(check_glob(filter));
  return IdPattern(filter);
}

bool IdPattern::matches(const std::string& id) const {
  if (const Glob* glob = std::get_if<Glob>(&pattern_)) return glob_matches(*glob, id);
  return std::get<Regex>(pattern_).search(id);
}

namespace {

std::vector<IdPattern> compile_filters(const std::vector<std::string>& filters,
                                       Diagnostics& diagnostics) {
  std::vector<IdPattern> patterns;
  for (const std::string& filter : filters) {
    const Reader reader(diagnostics, diagnostics.add_argument("--filter " + filter));
    auto pattern = IdPattern::compile(filter);
    if (pattern.ok()) {
      patterns.push_back(*std::move(pattern));
    } else {
      reader.report_error({}, pattern.error().what, pattern.error().next);
    }
  }
  return patterns;
}

void check_devices(const std::vector<std::string>& devices, Diagnostics& diagnostics) {
  for (const std::string& device : devices) {
    const auto names = device_names();
    if (std::find(names.begin(), names.end(), device) != names.end()) continue;
    diagnostics.add({diagnostics.add_argument("--device " + device), {}},
                    "unknown device " + quote(device), ops::expected_word(device, names));
  }
}

}  // namespace

void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Diagnostics& diagnostics, std::vector<Case>& cases) {
  const std::size_t count_before = diagnostics.count();
  const std::vector<IdPattern> patterns = compile_filters(filters, diagnostics);
  check_devices(devices, diagnostics);
  if (diagnostics.count() != count_before || cases.empty()) return;
  const auto is_selected = [&](const Case& candidate) {
    const bool matches_device = devices.empty() || std::find(devices.begin(), devices.end(),
                                                             candidate.key.device) != devices.end();
    return matches_device && (patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                                              [&](const IdPattern& p) {
                                                                return p.matches(candidate.id);
                                                              }));
  };
  const std::string example = cases.front().id;
  const std::size_t total = cases.size();
  std::erase_if(cases, [&](const Case& candidate) { return !is_selected(candidate); });
  if (!cases.empty()) return;
  std::vector<std::string> arguments;
  for (const std::string& filter : filters) arguments.push_back("--filter " + filter);
  for (const std::string& device : devices) arguments.push_back("--device " + device);
  diagnostics.add({diagnostics.add_argument(fmt::format("{}", fmt::join(arguments, " "))), {}},
                  fmt::format("none of {} cases matches", total),
                  fmt::format("ids look like {}", example));
}

}  // namespace bench
