// SPDX-License-Identifier: Apache-2.0
#include "tests/support/records.hpp"

#include <sstream>
#include <utility>

namespace bench::test {

std::vector<nlohmann::json> records_of_kind(const std::string& text, const std::string& kind) {
  std::vector<nlohmann::json> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("record") == kind) found.push_back(std::move(record));
  }
  return found;
}

}  // namespace bench::test
