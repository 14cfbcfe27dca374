// SPDX-License-Identifier: Apache-2.0
#include "harness/result/advice.hpp"

#include "base/checked.hpp"
#include "base/data_type.hpp"
#include "base/text.hpp"
#include "harness/result/roofline.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace bench {
namespace {

// Minimum ratio of a data type's peak to the peak of f32 if the machine accelerates the type. The
// margin exceeds the differences between measurements of equal loops.
constexpr double kMinAcceleration = 1.1;
// Advice about a kernel that could compute faster is useful only below this efficiency.
constexpr double kGoodEfficiency = 0.7;
constexpr std::int64_t kVectorBytes = 64;  // an AVX-512 vector, and also a cache line
constexpr std::string_view kWholeNetwork = ops::kNetworkOperator;
constexpr std::string_view kF32 = "f32";
constexpr std::string_view kTensorCoresNotEligible = "not eligible";

// A case in a narrow type is slow if its time is this multiple of the ideal time in f32. Usual f32
// kernels reach half of their ceiling or more, and the margin covers the others.
constexpr int kMinF32Factor = 3;

bool is_narrower_than_f32(std::string_view dtype) {
  const auto type = data_type_from_name(dtype);
  return type && info(*type).bytes < info(DataType::f32).bytes;
}

// Limits the product, so that a sum of such sizes does not overflow.
std::int64_t multiply_limited(std::int64_t size, std::int64_t factor) {
  constexpr std::int64_t kMaxSize = std::numeric_limits<std::int64_t>::max() / 4;
  return std::min((Checked(size) * factor).value().value_or(kMaxSize), kMaxSize);
}

struct AdviceInput {
  const CaseRecord& record;
  const Roofline& roofline;
  const Ceilings& ceilings;
  IdSegments id;
  int threads;
  std::optional<ops::ParameterSet> parameters;  // set if the operator is built-in
};

// The rules, one function each. A rule returns its advice, or an empty text if it does not apply.

std::string launch_bound(const AdviceInput& input) {
  if (input.roofline.bound != Bound::launch) return "";
  const bool on_gpu = !input.ceilings.gpu.empty();
  return fmt::format(
      "The {} could do this work in {}, less than {}: combine it with its neighbours (fusion, a "
      "larger batch{}).",
      on_gpu ? "GPU" : "machine", format_time(input.roofline.ideal),
      on_gpu ? "it needs to run an empty kernel" : "the library needs to start any primitive",
      on_gpu ? ", a CUDA graph" : "");
}

std::string library_fallback(const AdviceInput& input) {
  const std::string implementation = input.record.implementation.value_or("");
  const bool is_plain = implementation.starts_with("ref") || implementation.starts_with("simple");
  const bool is_conv_as_gemm = input.id.op == "conv" && implementation.starts_with("gemm");
  if (!is_plain && !is_conv_as_gemm) return "";
  return fmt::format(
      "The library ran `{}`, its {}; `bench explain` lists why it did not choose a faster one.",
      implementation, is_plain ? "plain implementation" : "convolution through a matrix product");
}

std::string slow_type(const AdviceInput& input) {
  if (input.roofline.bound != Bound::compute) return "";
  if (!is_narrower_than_f32(input.record.dtype)) return "";
  // A type without a measured rate may still be fast: its loop may not exist in this version.
  const auto type_rate = find_measured_rate(input.ceilings, input.record.dtype, input.threads);
  const auto f32_rate = find_measured_rate(input.ceilings, kF32, input.threads);
  if (!type_rate || !f32_rate) return "";
  if (type_rate->value > kMinAcceleration * f32_rate->value) return "";
  return fmt::format(
      "This machine computes {0} no faster than f32: its ceilings are {1} in {0} and {2} in f32. "
      "Only the memory traffic of {0} is smaller.",
      input.record.dtype, format_rate(*type_rate), format_rate(*f32_rate));
}

// Returns the properties of the same case in f32, as far as they follow from its sizes.
RooflineInput as_f32(RooflineInput input) {
  const std::int64_t factor =
      info(DataType::f32).bytes / info(*data_type_from_name(input.dtype)).bytes;
  const auto scale = [&](std::optional<Bytes>& bytes) {
    if (bytes) bytes = Bytes{multiply_limited(bytes->count, factor)};
  };
  input.dtype = kF32;
  input.work.bytes_read = multiply_limited(input.work.bytes_read, factor);
  input.work.bytes_written = multiply_limited(input.work.bytes_written, factor);
  scale(input.working_set);
  scale(input.weights);
  scale(input.rotated);
  return input;
}

std::string slower_than_f32(const AdviceInput& input) {
  if (!is_narrower_than_f32(input.record.dtype) || input.roofline.bound == Bound::launch) return "";
  const auto own = make_roofline_input(input.record, input.ceilings);
  if (!own) return "";
  const auto wide = compute_roofline(as_f32(*own), input.ceilings);
  if (!wide || wide->bound == Bound::launch) return "";
  const Nanoseconds time = input.record.time->median;
  if (time < kMinF32Factor * wide->ideal) return "";
  return fmt::format(
      "The case takes {}, although this machine could do the same work in f32 in {}, with all its "
      "larger data: the library has no fast kernel for this shape in {}. Measure it in f32, too.",
      format_time(time), format_time(wide->ideal), input.record.dtype);
}

std::string no_tensor_cores(const AdviceInput& input) {
  const auto& details = input.record.details;
  if (const auto missed = details.find(kTensorCoresMissed); missed != details.end()) {
    return fmt::format("Tensor cores were missed: {}.", missed->second);
  }
  const auto answer = details.find(kTensorCoresDetail);
  const auto reason = details.find(kTensorCoresReason);
  const bool is_refused = answer != details.end() && answer->second == kTensorCoresNotEligible;
  if (!is_refused || reason == details.end() || input.roofline.bound != Bound::compute) return "";
  return fmt::format(
      "The CUDA cores limit this case, since tensor cores cannot compute it: {}. `bench explain` "
      "says what to change.",
      reason->second);
}

// The parameters whose dimensions a kernel vectorises, by operator.
struct VectorSizes {
  std::string_view op;
  std::array<std::string_view, 2> parameters;
};
constexpr std::array<VectorSizes, 2> kVectorSizes = {{{"conv", {"c", "k"}}, {"gemm", {"n", "k"}}}};

std::string alignment(const AdviceInput& input) {
  const auto* row = std::ranges::find(kVectorSizes, input.id.op, &VectorSizes::op);
  const auto type = data_type_from_name(input.record.dtype);
  if (row == kVectorSizes.end() || !input.parameters || !type) return "";
  if (input.roofline.bound != Bound::compute || input.roofline.efficiency >= kGoodEfficiency)
    return "";
  const std::int64_t lanes = kVectorBytes / info(*type).bytes;
  for (const std::string_view name : row->parameters) {
    const std::int64_t size = input.parameters->count(name);
    if (size % lanes == 0) continue;
    return fmt::format(
        "{}={} is not a multiple of {}, the {} values of a 64-byte vector: a part of each vector "
        "computes nothing.",
        name, size, lanes, input.record.dtype);
  }
  return "";
}

std::string batch(const AdviceInput& input) {
  const bool is_bandwidth_bound =
      input.roofline.bound == Bound::memory || input.roofline.bound == Bound::cache;
  if (!is_bandwidth_bound || !input.record.memory || !input.record.work) return "";
  const std::int64_t weights = input.record.memory->weights.count;
  if (2 * weights < input.record.work->traffic().count) return "";
  return fmt::format(
      "Most of the traffic is {} of weights, which each call reads once: a larger batch shares "
      "them.",
      format_bytes({weights}));
}

std::string cold_weights(const AdviceInput& input) {
  if (input.id.cache != "cold_weights" || input.roofline.bound != Bound::memory) return "";
  return "The weights come from memory, as in a network larger than the caches: a narrower type of "
         "the weights shortens the case as much as it shrinks them.";
}

std::string layout_reorders(const AdviceInput& input) {
  if (!input.record.preparation.reorder || !input.record.time) return "";
  if (*input.record.preparation.reorder < input.record.time->median) return "";
  return fmt::format(
      "Converting inputs and weights into the kernel's layouts takes {}, longer than the case "
      "itself ({}): keep them converted between calls.",
      format_time(*input.record.preparation.reorder), format_time(input.record.time->median));
}

std::string fusion_not_taken(const AdviceInput& input) {
  const bool is_unfused_network =
      input.id.op == kWholeNetwork && input.id.parameters.find("+separate") != std::string::npos;
  if (!is_unfused_network) return "";
  return "The network runs with `fuse: false`: activations and additions after convolutions read "
         "and write memory of their own.";
}

// The devices to which a rule applies.
enum class AdviceDevices { all, cpu, gpu };

struct AdviceRule {
  std::string_view id;
  std::string (*apply)(const AdviceInput& input);
  AdviceDevices devices = AdviceDevices::all;
};
constexpr std::array<AdviceRule, 10> kAdviceRules = {
    {{"launch_bound", launch_bound},
     {"library_fallback", library_fallback, AdviceDevices::cpu},
     {"slow_type", slow_type, AdviceDevices::cpu},
     {"slower_than_f32", slower_than_f32, AdviceDevices::cpu},
     {"tensor_cores", no_tensor_cores, AdviceDevices::gpu},
     {"alignment", alignment, AdviceDevices::cpu},
     {"batch", batch},
     {"cold_weights", cold_weights},
     {"layout_reorders", layout_reorders},
     {"fusion_not_taken", fusion_not_taken}}};

bool applies_to_device(const AdviceRule& rule, const Ceilings& ceilings) {
  const AdviceDevices device = ceilings.gpu.empty() ? AdviceDevices::cpu : AdviceDevices::gpu;
  return rule.devices == AdviceDevices::all || rule.devices == device;
}

std::optional<ops::ParameterSet> parse_parameters(const IdSegments& id) {
  const ops::Operator* op = ops::find_operator(id.op);
  if (op == nullptr) return std::nullopt;
  const auto tokens = ops::parse_problem_tokens(*op, id.parameters);
  if (!tokens.ok()) return std::nullopt;
  auto complete = op->complete(tokens->parameters);
  return complete.ok() ? std::optional(*std::move(complete)) : std::nullopt;
}

}  // namespace

std::span<const std::string_view> advice_ids() {
  static constexpr auto kIds = [] {
    std::array<std::string_view, kAdviceRules.size()> ids;
    std::ranges::transform(kAdviceRules, ids.begin(), &AdviceRule::id);
    return ids;
  }();
  return kIds;
}

std::vector<Advice> advice_for(const CaseRecord& record, const Ceilings& ceilings) {
  if (!record.roofline) return {};
  const auto properties = make_roofline_input(record, ceilings);
  const IdSegments id = split_id(record.id);
  const int threads =
      properties ? properties->threads.value_or(ceilings.threads) : ceilings.threads;
  const AdviceInput input{record, *record.roofline, ceilings, id, threads, parse_parameters(id)};
  std::vector<Advice> advice;
  for (const AdviceRule& rule : kAdviceRules) {
    std::string text = applies_to_device(rule, ceilings) ? rule.apply(input) : "";
    if (!text.empty()) advice.push_back({std::string(rule.id), std::move(text)});
  }
  return advice;
}

std::vector<Advice> advice_in(const CaseRecord& record) {
  std::vector<Advice> advice;
  for (const std::string_view id : advice_ids()) {
    const auto detail = record.details.find(fmt::format("{}{}", kAdviceDetail, id));
    if (detail != record.details.end()) advice.push_back({std::string(id), detail->second});
  }
  return advice;
}

}  // namespace bench
