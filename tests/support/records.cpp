// SPDX-License-Identifier: Apache-2.0
#include "tests/support/records.hpp"

#include <sstream>

namespace bench::test {

std::vector<nlohmann::json> parse_json_lines(const std::string& text) {
  std::vector<nlohmann::json> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) values.push_back(nlohmann::json::parse(line));
  return values;
}

std::vector<nlohmann::json> records_of_kind(const std::string& text, const std::string& kind) {
  std::vector<nlohmann::json> records = parse_json_lines(text);
  std::erase_if(records, [&](const nlohmann::json& record) { return record.at("record") != kind; });
  return records;
}

}  // namespace bench::test
