// SPDX-License-Identifier: Apache-2.0
#include "harness/config/selection.hpp"

#include "base/pattern.hpp"
#include "harness/config/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace bench {
namespace {

struct Glob {
  std::string pattern;
};
using Filter = std::variant<Glob, Regex>;

bool is_regex(std::string_view filter) {
  return filter.size() >= 2 && filter.front() == '/' && filter.back() == '/';
}

std::vector<Filter> compile(const std::vector<std::string>& filters, Findings& findings) {
  std::vector<Filter> compiled;
  for (const std::string& filter : filters) {
    const Reader reader(findings, findings.add_argument("--filter " + filter));
    if (is_regex(filter)) {
      auto regex = Regex::compile(std::string_view(filter).substr(1, filter.size() - 2));
      if (regex.ok()) {
        compiled.push_back(*std::move(regex));
      } else {
        reader.complain({}, regex.error().what, regex.error().next);
      }
    } else if (const Status status = check_glob(filter); status.ok()) {
      compiled.push_back(Glob{filter});
    } else {
      reader.complain({}, status.error().what, status.error().next);
    }
  }
  return compiled;
}

bool matches(const Filter& filter, const std::string& id) {
  if (const Glob* glob = std::get_if<Glob>(&filter)) return glob_matches(glob->pattern, id);
  return std::get<Regex>(filter).search(id);
}

void check_devices(const std::vector<std::string>& devices, Findings& findings) {
  for (const std::string& device : devices) {
    const auto names = device_names();
    if (std::find(names.begin(), names.end(), device) != names.end()) continue;
    findings.add({findings.add_argument("--device " + device), {}},
                 "unknown device " + quote(device), expectation(device, names));
  }
}

}  // namespace

void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Findings& findings, std::vector<Case>& cases) {
  const std::size_t before = findings.count();
  const std::vector<Filter> compiled = compile(filters, findings);
  check_devices(devices, findings);
  if (findings.count() != before || cases.empty()) return;
  const auto stays = [&](const Case& candidate) {
    const bool device = devices.empty() || std::find(devices.begin(), devices.end(),
                                                     candidate.key.device) != devices.end();
    return device && (compiled.empty() ||
                      std::any_of(compiled.begin(), compiled.end(),
                                  [&](const Filter& f) { return matches(f, candidate.id); }));
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
