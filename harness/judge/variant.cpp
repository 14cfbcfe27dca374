// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/variant.hpp"

#include "harness/config/case_work.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/signed_rank.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kGpu = "cuda";
// Images have the dimensions n, c, h and w, and volumes one more.
constexpr std::size_t kImageRank = 4;
// A vector of AVX-512 and a cache line have 64 bytes. Tensor cores read operands in units of 16.
constexpr std::int64_t kVectorBytes = 64;
constexpr std::int64_t kTensorCoreBytes = 16;
// Maximum ratio of the padded to the original size of a dimension. Beyond it, padding can only
// lose.
constexpr std::int64_t kMaxPadding = 2;
// Number of candidates of `tune`.
constexpr std::int64_t kTunedCandidates = 8;
constexpr std::int64_t kBatches = 2;
// Error of each side of the interval.
constexpr double kBoundError = 0.025;
// Part of a case's memory from which a change is mentioned.
constexpr double kMinMemoryChange = 0.01;

struct VariantInput {
  const Case& spec;
  const ops::Problem* problem;  // nullptr for a network
  int threads;

  bool is_on_gpu() const { return spec.key.device == kGpu; }
};

Variant make_variant(const VariantInput& input, std::string why, std::string cost = "") {
  return {
      .name = {}, .why = std::move(why), .cost = std::move(cost), .key = input.spec.key, .tune = 0};
}

using Proposal = std::optional<Variant>;

template <ops::Layout layout>
Proposal other_layout(const VariantInput& input) {
  const bool has_images =
      input.problem != nullptr && input.problem->tensors.front().dims.size() >= kImageRank;
  if (!has_images || input.spec.key.layout == layout) return std::nullopt;
  Variant variant = make_variant(
      input,
      layout == ops::Layout::any
          ? "The library chooses the layout that its kernel computes fastest."
          : fmt::format("The tensors are in {} when the kernel begins.", to_string(layout)),
      layout == ops::Layout::any ? "reorders where a neighbour has another layout" : "");
  variant.key.layout = layout;
  return variant;
}

template <DataType type>
Proposal other_type(const VariantInput& input) {
  const DataType own = input.spec.key.dtype;
  const bool is_wide = own == DataType::f32;
  const bool is_half = own == DataType::bf16 || own == DataType::f16;
  if (type == own || (type == DataType::f32 ? !is_half : !is_wide)) return std::nullopt;
  Variant variant = make_variant(input, "");
  variant.key.dtype = type;
  if constexpr (type == DataType::f32) {
    variant.why = "The library may have a faster kernel for f32 on this machine.";
  } else {
    variant.why = fmt::format("{} halves the traffic and may use faster units.", info(type).name);
    variant.cost = type == DataType::bf16 ? "8 of 24 bits of precision remain"
                                          : "11 of 24 bits of precision remain, up to 65504";
  }
  return variant;
}

Proposal tf32(const VariantInput& input) {
  const CaseKey& key = input.spec.key;
  if (!input.is_on_gpu() || key.dtype != DataType::f32 || key.math != ops::Math::standard)
    return std::nullopt;
  Variant variant = make_variant(input, "Tensor cores compute f32 operands rounded to TF32.",
                                 "11 of 24 bits of the operands' precision remain");
  variant.key.math = ops::Math::tf32;
  return variant;
}

// The dimensions that a kernel divides into vectors, and the one whose size is the batch.
struct Dimensions {
  std::string_view op;
  std::array<std::string_view, 2> vectors;
  std::string_view batch;
};
constexpr std::array<Dimensions, 3> kDimensions = {
    {{"conv", {"c", "k"}, "n"}, {"gemm", {"n", "k"}, "m"}, {"pool", {}, "n"}}};

const Dimensions* find_dimensions(const VariantInput& input) {
  if (input.problem == nullptr) return nullptr;
  const auto row = std::ranges::find(kDimensions, input.spec.key.op, &Dimensions::op);
  return row == kDimensions.end() ? nullptr : &*row;
}

// Returns the row of an operator that multiplies by weights; nullptr for others.
const Dimensions* find_product(const VariantInput& input) {
  const Dimensions* dimensions = find_dimensions(input);
  return dimensions == nullptr || dimensions->vectors.front().empty() ? nullptr : dimensions;
}

std::string segment_with(const ops::Problem& problem, const ops::ParameterSet& parameters) {
  ops::Problem changed = problem;
  changed.parameters = parameters;
  return ops::problem_tokens(changed);
}

std::int64_t round_up(std::int64_t size, std::int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

// Zeros fill the last vector of each dimension. Groups would need zeros within each, and the
// channels of a depthwise convolution are groups.
Proposal pad(const VariantInput& input) {
  const Dimensions* dimensions = find_product(input);
  if (dimensions == nullptr) return std::nullopt;
  ops::ParameterSet parameters = input.problem->parameters;
  if (ops::find_parameter(parameters.table(), "g") != nullptr && parameters.count("g") != 1)
    return std::nullopt;
  const std::int64_t lanes =
      (input.is_on_gpu() ? kTensorCoreBytes : kVectorBytes) / info(input.spec.key.dtype).bytes;
  std::string changes;
  for (const std::string_view name : dimensions->vectors) {
    const std::int64_t size = parameters.count(name);
    const std::int64_t padded = round_up(size, lanes);
    if (padded == size || padded > kMaxPadding * size) continue;
    parameters.set(name, padded);
    changes +=
        fmt::format("{}{} from {} to {}", changes.empty() ? "" : " and ", name, size, padded);
  }
  if (changes.empty()) return std::nullopt;
  Variant variant = make_variant(
      input,
      fmt::format("Zeros extend {}. A kernel computes {} values at once, so a size that is not a "
                  "multiple of {} leaves a rest.",
                  changes, lanes, lanes),
      "copies into padded tensors, or padded weights");
  variant.key.parameters = segment_with(*input.problem, parameters);
  return variant;
}

// Proposes `threads` threads if that is not what the case has.
Proposal with_threads(const VariantInput& input, int threads, std::string why, std::string cost) {
  const int own = input.spec.key.threads.value_or(input.threads);
  if (input.is_on_gpu() || threads < 1 || threads == own || threads < input.spec.key.streams)
    return std::nullopt;
  Variant variant = make_variant(input, std::move(why), std::move(cost));
  variant.key.threads = threads == input.threads ? std::nullopt : std::optional(threads);
  return variant;
}

Proposal one_thread(const VariantInput& input) {
  return with_threads(input, 1, "Small work ends before threads are woken and joined.", "");
}
Proposal half_of_threads(const VariantInput& input) {
  if (input.threads < 4) return std::nullopt;  // half of 2 or 3 is one_thread
  return with_threads(input, input.threads / 2,
                      "Hardware threads share the units of a core, and all cores the memory.", "");
}
Proposal all_threads(const VariantInput& input) {
  return with_threads(input, input.threads, "More threads compute at the same time.",
                      "processors that other work cannot use at the same time");
}

Proposal tune(const VariantInput& input) {
  if (find_product(input) == nullptr || input.spec.measure.tune != 0) return std::nullopt;
  Variant variant =
      make_variant(input, "The fastest of the library's kernels by measurement, not by its rules.",
                   "a measurement when the program starts");
  variant.tune = kTunedCandidates;
  return variant;
}

Proposal batch(const VariantInput& input) {
  Variant variant = make_variant(
      input,
      fmt::format("{} batches at once share the reading of weights and the start.", kBatches),
      fmt::format("each result is there only after {} batches", kBatches));
  variant.batches = kBatches;
  if (input.problem == nullptr) {
    auto segment = parse_network_segment(input.spec.key.parameters);
    if (!segment) return std::nullopt;
    segment->batch *= kBatches;
    variant.key.parameters = format_network_segment(*segment);
    return variant;
  }
  const Dimensions* dimensions = find_dimensions(input);
  if (dimensions == nullptr) return std::nullopt;
  ops::ParameterSet parameters = input.problem->parameters;
  parameters.set(dimensions->batch, parameters.count(dimensions->batch) * kBatches);
  variant.key.parameters = segment_with(*input.problem, parameters);
  return variant;
}

Proposal fuse_network(const VariantInput& input) {
  auto segment = parse_network_segment(input.spec.key.parameters);
  if (!segment || segment->fusion == ops::Fusion::fused || segment->mode != ops::Mode::inference)
    return std::nullopt;
  Variant variant =
      make_variant(input, "Activations and additions are computed while their input is in caches.");
  segment->fusion = ops::Fusion::fused;
  variant.key.parameters = format_network_segment(*segment);
  return variant;
}

// The activation that usually follows a convolution or a product. Fused, it costs less than as a
// pass of its own over the output.
constexpr std::string_view kActivation = "relu";

Proposal fuse(const VariantInput& input) {
  if (input.problem == nullptr) return fuse_network(input);
  const bool has_activation = !input.problem->post_ops.empty();
  const bool is_forward = input.spec.key.direction == ops::Direction::forward;
  if (find_product(input) == nullptr || has_activation || !is_forward) return std::nullopt;
  Variant variant = make_variant(
      input, fmt::format("A {0} behind the case is computed with it, not by a case of its own. The "
                         "times compare one case with two.",
                         kActivation));
  ops::Problem fused = *input.problem;
  fused.post_ops.push_back({std::string(kActivation)});
  variant.key.parameters = ops::problem_tokens(fused);
  CaseKey activation = input.spec.key;
  activation.op = "pointwise";
  activation.parameters =
      fmt::format("{}-{}", kActivation, fmt::join(input.problem->output().dims, "x"));
  activation.layout = ops::Layout::any;
  activation.math = ops::Math::standard;
  activation.dtype = input.problem->output().dtype;
  variant.saved = std::move(activation);
  return variant;
}

struct VariantRule {
  std::string_view name;
  Proposal (*propose)(const VariantInput& input);
};
constexpr std::array kVariantRules = std::to_array<VariantRule>({
    {"bf16", other_type<DataType::bf16>},
    {"f16", other_type<DataType::f16>},
    {"f32", other_type<DataType::f32>},
    {"tf32", tf32},
    {"nchw", other_layout<ops::Layout::nchw>},
    {"nhwc", other_layout<ops::Layout::nhwc>},
    {"any_layout", other_layout<ops::Layout::any>},
    {"pad", pad},
    {"fuse", fuse},
    {"tune", tune},
    {"batch", batch},
    {"one_thread", one_thread},
    {"half_of_threads", half_of_threads},
    {"all_threads", all_threads},
});

// Sets the range of a later duet: mean -+ t*deviation*sqrt(1 + 1/count) of the logarithms.
void set_later_range(std::span<const double> differences, VariantEffect& effect) {
  if (differences.size() < kMinDuetsOfRange) return;
  const auto count = static_cast<double>(differences.size());
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / count;
  double squares = 0;
  for (const double difference : differences) squares += (difference - mean) * (difference - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  const double reach = student_t_quantile(1 - kBoundError, static_cast<int>(count) - 1) *
                       deviation * std::sqrt(1 + 1 / count);
  effect.later_low = std::exp(mean - reach);
  effect.later_high = std::exp(mean + reach);
}

// Returns the median over the duets of a side's time of an iteration.
Nanoseconds median_time(std::span<const Duet> duets, std::vector<Nanoseconds> Duet::*side) {
  std::vector<double> medians;
  for (const Duet& duet : duets) {
    if (const auto middle = duet_median(duet, side)) medians.push_back(*middle);
  }
  return Nanoseconds(std::llround(median(medians).value_or(0)));
}

std::int64_t sum_sizes(std::span<const ops::Tensor> tensors) {
  std::int64_t sum = 0;
  for (const ops::Tensor& tensor : tensors) sum += tensor.size().count;
  return sum;
}

}  // namespace

std::span<const std::string_view> variant_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kVariantRules.size()> names;
    std::ranges::transform(kVariantRules, names.begin(), &VariantRule::name);
    return names;
  }();
  return kNames;
}

std::vector<Variant> propose_variants(const Case& spec, int threads) {
  const VariantInput input{spec, std::get_if<ops::Problem>(&spec.work), threads};
  std::vector<Variant> variants;
  for (const VariantRule& rule : kVariantRules) {
    Proposal variant = rule.propose(input);
    if (!variant) continue;
    variant->name = rule.name;
    variants.push_back(*std::move(variant));
  }
  return variants;
}

std::optional<VariantEffect> compute_variant_effect(std::span<const Duet> duets,
                                                    std::span<const Duet> saved_duets,
                                                    std::int64_t batches) {
  const bool has_saved = !saved_duets.empty();
  std::vector<double> differences;
  for (std::size_t i = 0; i < duets.size(); ++i) {
    auto difference = log_ratio(duets[i]);
    if (!difference || (has_saved && i >= saved_duets.size())) continue;
    *difference -= std::log(static_cast<double>(batches));
    if (has_saved) {
      const auto saved = log_ratio(saved_duets[i]);
      if (!saved) continue;
      *difference -= std::log1p(std::exp(*saved));
    }
    differences.push_back(*difference);
  }
  if (differences.empty()) return std::nullopt;
  const HodgesLehmann estimator(differences);
  const auto [low, high] = estimator.bounds(kBoundError);
  VariantEffect effect;
  effect.duets = static_cast<int>(differences.size());
  effect.ratio = std::exp(*estimator.estimate());
  if (low) effect.low = std::exp(*low);
  if (high) effect.high = std::exp(*high);
  set_later_range(differences, effect);
  effect.case_time = median_time(duets, &Duet::base);
  effect.variant_time = median_time(duets, &Duet::candidate);
  if (has_saved) effect.saved_time = median_time(saved_duets, &Duet::candidate);
  return effect;
}

std::optional<Bytes> find_memory_change(const Case& spec, const PlannedVariant& planned) {
  std::int64_t before = sum_sizes(case_tensors(spec));
  // The output of the case is the input of the saved one, so it counts once.
  if (planned.saved) before += sum_sizes(case_tensors(*planned.saved)) / 2;
  const std::int64_t change = sum_sizes(case_tensors(planned.spec)) - before;
  if (std::abs(static_cast<double>(change)) < kMinMemoryChange * static_cast<double>(before))
    return std::nullopt;
  return Bytes{change};
}

VariantVerdict judge_variant(const VariantEffect& effect) {
  if (effect.high && *effect.high < 1) return VariantVerdict::faster;
  if (effect.low && *effect.low > 1) return VariantVerdict::slower;
  return VariantVerdict::uncertain;
}

}  // namespace bench
