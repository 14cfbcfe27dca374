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

std::vector<IdPattern> compile(const std::vector<std::string>& filters, Findings& findings) {
  std::vector<IdPattern> compiled;
  for (const std::string& filter : filters) {
    const Reader reader(findings, findings.add_argument("--filter " + filter));
    auto pattern = IdPattern::compile(filter);
    if (pattern.ok()) {
      compiled.push_back(*std::move(pattern));
    } else {
      reader.complain({}, pattern.error().what, pattern.error().next);
    }
  }
  return compiled;
}

void check_devices(const std::vector<std::string>& devices, Findings& findings) {
  for (const std::string& device : devices) {
    const auto names = device_names();
    if (std::find(names.begin(), names.end(), device) != names.end()) continue;
    findings.add({findings.add_argument("--device " + device), {}},
                 "unknown device " + quote(device), ops::expected_word(device, names));
  }
}

}  // namespace

void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Findings& findings, std::vector<Case>& cases) {
  const std::size_t before = findings.count();
  const std::vector<IdPattern> compiled = compile(filters, findings);
  check_devices(devices, findings);
  if (findings.count() != before || cases.empty()) return;
  const auto stays = [&](const Case& candidate) {
    const bool device = devices.empty() || std::find(devices.begin(), devices.end(),
                                                     candidate.key.device) != devices.end();
    return device && (compiled.empty() ||
                      std::any_of(compiled.begin(), compiled.end(),
                                  [&](const IdPattern& p) { return p.matches(candidate.id); }));
  };
  const std::string first = cases.front().id;
  const std::size_t all = cases.size();
  std::erase_if(cases, [&](const Case& candidate) { return !stays(candidate); });
  if (!cases.empty()) return;
  std::vector<std::string> arguments;
  for (const std::string& filter : filters) arguments.push_back("--filter " + filter);
  for (const std::string& device : devices) arguments.push_back("--device " + device);
  findings.add({findings.add_argument(fmt::format("{}", fmt::join(arguments, " "))), {}},
               fmt::format("none of {} cases matches", all),
               fmt::format("ids look like {}", first));
}

}  // namespace bench
