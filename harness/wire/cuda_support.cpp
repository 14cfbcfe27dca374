// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/cuda_support.hpp"

#include "base/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using nlohmann::json;

constexpr std::string_view kSupportSchema = "bench.cuda_support/1";

CudaSupport read_support(const json& object) {
  return {object.at("runs").get<std::string>(), object.at("by").get<std::string>(),
          object.at("reason").get<std::string>(),
          object.at("engines").get<std::vector<std::string>>()};
}

}  // namespace

std::string format_cuda_support(const CudaSupports& supports) {
  json document = {{"schema", kSupportSchema}, {"cases", json::object()}};
  for (const auto& [id, support] : supports) {
    document["cases"][id] = {{"runs", support.runs},
                             {"by", support.by},
                             {"reason", support.reason},
                             {"engines", support.engines}};
  }
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<CudaSupports> parse_cuda_support(std::string_view text) {
  return read_json_document(text, kSupportSchema, [](const json& document) {
    CudaSupports supports;
    for (const auto& [id, object] : document.at("cases").items()) {
      supports.emplace(id, read_support(object));
    }
    return supports;
  });
}

Result<CudaSupport> parse_one_cuda_support(std::string_view text) {
  try {
    return read_support(json::parse(text, nullptr, false));
  } catch (const json::exception& exception) {
    return Error{fmt::format("the CUDA plugin's answer is invalid: {}", exception.what()), "", ""};
  }
}

}  // namespace bench
