// SPDX-License-Identifier: Apache-2.0
#include "harness/result/typed_details.hpp"

#include "base/text.hpp"

#include <utility>
#include <vector>

namespace bench {

std::optional<std::int64_t> take_integer(std::map<std::string, std::string>& details,
                                         const std::string& name) {
  const auto found = details.find(name);
  if (found == details.end()) return std::nullopt;
  const auto number = parse_number<std::int64_t>(found->second);
  // A text such as "007" stays a detail, since a writer would change it to "7". So does a negative
  // number, since it is not a size or a time.
  if (!number || *number < 0 || std::to_string(*number) != found->second) return std::nullopt;
  details.erase(found);
  return number;
}

void extract_typed_details(CaseRecord& record) {
  if (const auto floor = take_integer(record.details, kLaunchFloorDetail))
    record.launch_floor = Nanoseconds(*floor);
  if (auto regret = ops::take_regret(record.details)) record.regret = std::move(regret);
}

std::map<std::string, std::string> details_as_texts(const CaseRecord& record) {
  std::map<std::string, std::string> details = record.details;
  if (record.launch_floor)
    details[kLaunchFloorDetail] = std::to_string(record.launch_floor->count());
  return details;
}

std::map<std::string, Nanoseconds> take_setup(std::map<std::string, std::string>& details) {
  std::vector<std::string> names;
  for (const auto& [name, text] : details) {
    if (name.starts_with(kSetupDetail) && name.ends_with("_ns")) names.push_back(name);
  }
  std::map<std::string, Nanoseconds> setup;
  for (const std::string& name : names) {
    if (const auto time = take_integer(details, name))
      setup[name.substr(kSetupDetail.size())] = Nanoseconds(*time);
  }
  return setup;
}

}  // namespace bench
