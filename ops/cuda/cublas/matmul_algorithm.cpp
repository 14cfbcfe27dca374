// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/matmul_algorithm.hpp"

#include "ops/cuda/cublas/product_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr std::array kUnsupported = {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE,
                                     CUBLAS_STATUS_ARCH_MISMATCH};

BackendError product_error(const CublasLtApi& api, std::string_view what, cublasStatus_t status) {
  const auto kind =
      is_unsupported_status(status) ? BackendError::Kind::unsupported : BackendError::Kind::failed;
  return {kind, fmt::format("cuBLASLt: {}: {}", what, api.text(status))};
}

using Preference =
    std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, decltype(&::cublasLtMatmulPreferenceDestroy)>;

// Excludes algorithms that split K and add the partial sums of a 16-bit result in 16 bits.
cublasStatus_t keep_precision(const CublasLtApi& api, cublasLtMatmulPreference_t preference,
                              const MatmulDescriptors& descriptors) {
  if (info(descriptors.destination()).bytes >= 4) return CUBLAS_STATUS_SUCCESS;
  const std::uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  return api.set_preference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                            sizeof(schemes));
}

Result<Preference, BackendError> make_preference(const CublasLtApi& api,
                                                 const MatmulDescriptors& descriptors,
                                                 Bytes workspace) {
  cublasLtMatmulPreference_t raw = nullptr;
  cublasStatus_t status = api.create_preference(&raw);
  if (status != CUBLAS_STATUS_SUCCESS) return product_error(api, "a preference", status);
  Preference preference(raw, api.destroy_preference);
  const auto bytes = static_cast<std::uint64_t>(workspace.count);
  status = api.set_preference(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
  if (status != CUBLAS_STATUS_SUCCESS) return product_error(api, "the workspace's limit", status);
  status = keep_precision(api, raw, descriptors);
  if (status != CUBLAS_STATUS_SUCCESS)
    return product_error(api, "the scheme of reductions", status);
  const auto alignment = static_cast<std::uint32_t>(kProductAlignment);
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    status = api.set_preference(raw, name, &alignment, sizeof(alignment));
    if (status != CUBLAS_STATUS_SUCCESS) return product_error(api, "an alignment", status);
  }
  return preference;
}

struct ConfigRow {
  cublasLtMatmulAlgoConfigAttributes_t name;
  std::size_t bytes;
  std::string_view key;
};
constexpr std::array<ConfigRow, 9> kConfig = {
    {{CUBLASLT_ALGO_CONFIG_ID, sizeof(std::int32_t), "algorithm"},
     {CUBLASLT_ALGO_CONFIG_TILE_ID, sizeof(std::uint32_t), "tile"},
     {CUBLASLT_ALGO_CONFIG_STAGES_ID, sizeof(std::uint32_t), "stages"},
     {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, sizeof(std::int32_t), "split_k"},
     {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, sizeof(std::uint32_t), "reduction"},
     {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, sizeof(std::uint32_t), "swizzle"},
     {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, sizeof(std::uint32_t), "custom"},
     {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, sizeof(std::uint16_t), "inner_shape"},
     {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, sizeof(std::uint16_t), "cluster"}}};

// A value of -1 leaves the choice to cuBLASLt. Only the ID and the number of splits are signed; no
// other value comes near 2^31.
constexpr std::int32_t kAutomatic = -1;
constexpr std::string_view kAutomaticName = "auto";

// Reads a property of an algorithm. Returns nullopt if cuBLASLt does not report it. Values have 2
// or 4 bytes and are little-endian.
std::optional<std::int32_t> read_config_value(const CublasLtApi& api,
                                              const cublasLtMatmulAlgo_t& code,
                                              const ConfigRow& row) {
  std::int32_t value = 0;
  std::size_t written = 0;
  if (api.get_algorithm(&code, row.name, &value, row.bytes, &written) != CUBLAS_STATUS_SUCCESS) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool is_unsupported_status(cublasStatus_t status) {
  return std::ranges::find(kUnsupported, status) != kUnsupported.end();
}

Result<std::vector<MatmulAlgorithm>, BackendError> find_matmul_algorithms(
    const CublasLtApi& api, cublasLtHandle_t handle, const MatmulDescriptors& descriptors,
    Bytes workspace, int count) {
  BENCH_ASSIGN_OR_RETURN(const Preference preference, make_preference(api, descriptors, workspace));
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(count));
  int result_count = 0;
  const cublasStatus_t status = api.heuristic(
      handle, descriptors.product(), descriptors.a(), descriptors.b(), descriptors.c(),
      descriptors.d(), preference.get(), count, results.data(), &result_count);
  if (status != CUBLAS_STATUS_SUCCESS)
    return product_error(api, "no algorithm for this product", status);
  std::vector<MatmulAlgorithm> algorithms;
  cublasStatus_t first_failure = CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < result_count; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    if (result.state != CUBLAS_STATUS_SUCCESS) {
      if (i == 0) first_failure = result.state;
      continue;
    }
    algorithms.push_back({result.algo, {static_cast<std::int64_t>(result.workspaceSize)}});
  }
  if (algorithms.empty()) return product_error(api, "no algorithm for this product", first_failure);
  return algorithms;
}

std::map<std::string, std::string> algorithm_details(const CublasLtApi& api,
                                                     const MatmulAlgorithm& algorithm) {
  std::map<std::string, std::string> details;
  for (const ConfigRow& row : kConfig) {
    if (const auto value = read_config_value(api, algorithm.code, row)) {
      details[std::string(row.key)] =
          *value == kAutomatic ? std::string(kAutomaticName) : fmt::to_string(*value);
    }
  }
  details["workspace_bytes"] = fmt::to_string(algorithm.workspace.count);
  return details;
}

std::string algorithm_name(const std::map<std::string, std::string>& details) {
  std::string name = "cublaslt";
  if (const auto id = details.find("algorithm"); id != details.end()) name += ":" + id->second;
  for (const std::string key : {"tile", "stages", "split_k"}) {
    const auto value = details.find(key);
    const bool is_listed = key != "split_k" ||
                           (value != details.end() && value->second != "1" && value->second != "0");
    if (value == details.end() || !is_listed) continue;
    name += fmt::format(":{}{}{}", key, value->second == kAutomaticName ? "_" : "", value->second);
  }
  return name;
}

}  // namespace bench::ops::cuda
