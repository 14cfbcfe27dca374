// SPDX-License-Identifier: Apache-2.0
#include "tests/support/schema.hpp"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <fstream>
#include <memory>
#include <stdexcept>

namespace bench::test {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

Json load(const std::string& file) {
  std::ifstream in(std::string(BENCH_SOURCE_DIR) + "/" + file);
  if (!in) throw std::runtime_error("no schema " + file);
  return Json::parse(in);
}

// Schemas refer to one another by file name in the same folder.
const Json* fetch(const std::string& uri) {
  return new Json(load("docs/" + uri.substr(uri.rfind('/') + 1)));
}
void release(const Json* document) { delete document; }

class Validator {
 public:
  explicit Validator(const std::string& file) : document_(load(file)) {
    valijson::SchemaParser parser;
    parser.populateSchema(Adapter(document_), schema_, fetch, release);
  }

  std::vector<std::string> problems(std::string_view text) const {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return {"it is not valid JSON"};
    // Strong types: "1" is not a number.
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    if (validator.validate(schema_, Adapter(json), &results)) return {};
    std::vector<std::string> found;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      std::string place;
      for (const std::string& part : error.context) place += part;
      found.push_back(place + ": " + error.description);
    }
    if (found.empty()) found.push_back("it does not match the schema");
    return found;
  }

 private:
  Json document_;
  valijson::Schema schema_;
};

}  // namespace

std::vector<std::string> schema_problems(std::string_view json, const std::string& schema_file) {
  return Validator(schema_file).problems(json);
}

std::vector<std::string> result_file_problems(std::string_view text) {
  const Validator validator("docs/result.schema.json");
  std::vector<std::string> problems;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t newline = text.find('\n');
    const std::string line = "line " + std::to_string(number) + ": ";
    if (newline == std::string_view::npos) {
      problems.push_back(line + "it does not end in a newline");
      break;
    }
    for (const std::string& problem : validator.problems(text.substr(0, newline)))
      problems.push_back(line + problem);
    text.remove_prefix(newline + 1);
  }
  return problems;
}

}  // namespace bench::test
