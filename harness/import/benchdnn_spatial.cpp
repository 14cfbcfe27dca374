// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"
#include "base/quote.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "harness/import/benchdnn_primitive.hpp"
#include "harness/import/benchdnn_text.hpp"
#include "ops/operator.hpp"
#include "ops/spatial.hpp"
#include "profiler/onednn/memory_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace bench {
namespace {

constexpr std::array<std::string_view, 22> kConvKeys = {
    "g",  "mb", "ic", "id", "ih", "iw", "oc", "od", "oh", "ow", "kd",
    "kh", "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw"};
constexpr std::array<std::string_view, 6> kProductKeys = {"mb", "ic", "id", "ih", "iw", "oc"};
constexpr std::array<std::string_view, 7> kNormKeys = {"g", "mb", "ic", "id", "ih", "iw", "eps"};
// "If mb is not given, it is 2."
constexpr std::int64_t kDefaultBatch = 2;

Result<std::int64_t> require_size(const BenchdnnDescriptor& descriptor, std::string_view key) {
  const auto size = descriptor.find(key);
  if (size && *size > 0) return *size;
  return Error{fmt::format("`{}` is missing or 0", key), {}, {}};
}

bool has_bias(const BenchdnnDirection& direction, const BenchdnnValues& values) {
  return direction.has_bias || (!values["bia-dt"].empty() && values["bia-dt"] != "undef");
}

void add_bias(const BenchdnnDirection& direction, const BenchdnnValues& values,
              BenchdnnPrimitive& primitive) {
  if (has_bias(direction, values)) primitive.memory.push_back({"bia", "f32", "a"});
}

ops::Dims result_dims(std::int64_t n, std::int64_t channels, std::vector<std::int64_t> spatial) {
  ops::Dims dims = {n, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

Result<ops::ProblemRequest> request_convolution(std::string_view text, const BenchdnnValues& values,
                                                ops::Sweep sweep) {
  const bool is_plain = sweep == ops::Sweep::convolution;
  constexpr std::string_view kPrefix = "convolution_";
  std::string algorithm = lower_case(values["alg"]);
  if (algorithm.starts_with(kPrefix)) algorithm.erase(0, kPrefix.size());
  if (algorithm == "wino") return Error{"cases do not choose the algorithm wino", {}, {}};
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kConvKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t oc, require_size(descriptor, "oc"));
  if (descriptor.find("g") == 0) return Error{"`g` is 0", {}, {}};
  BENCH_ASSIGN_OR_RETURN(const BenchdnnAxes axes, complete_benchdnn_axes(descriptor, sweep));
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 3));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  const std::size_t rank = axes.rank + 2;
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_benchdnn_layout({{values["stag"]}, {values["dtag"]}}, rank));
  if (!benchdnn_tag_letters(values["wtag"], rank).empty())
    return Error{
        fmt::format("cases do not choose the layout of weights ({})", quote(values["wtag"])),
        {},
        {}};
  const std::int64_t n = benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch));
  const std::string letters = plain_tag(rank);
  BenchdnnPrimitive primitive{
      .primitive = is_plain ? "convolution" : "deconvolution",
      .propagation = direction.propagation,
      .problem =
          fmt::format("g{}mb{}_ic{}oc{}{}", descriptor.value_or("g", 1), n, ic, oc, axes.text),
      .memory = {{"src", types[0], letters},
                 {"wei", types[1], letters},
                 {"dst", types[2], letters}},
      .destination = result_dims(n, oc, axes.outputs),
      .layout = layout};
  add_bias(direction, values, primitive);
  return find_benchdnn_case(primitive, values);
}

struct PoolAlgorithm {
  std::string_view name, algorithm;
};
constexpr std::array<PoolAlgorithm, 3> kPoolAlgorithms = {{
    {"max", "pooling_max"},
    {"avg_np", "pooling_avg_exclude_padding"},
    {"avg_p", "pooling_avg_include_padding"},
}};

// Formats "_ih56iw56" for the sizes of an image.
std::string format_image(const std::vector<std::int64_t>& sizes) {
  std::string text;
  const std::size_t first = ops::kMaxSpatialRank - sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("i{}{}", ops::kSpatialSizeNames[first + i], sizes[i]);
  return text;
}

}  // namespace

Result<ops::ProblemRequest> request_benchdnn_conv(std::string_view descriptor,
                                                  const BenchdnnValues& values) {
  return request_convolution(descriptor, values, ops::Sweep::convolution);
}

Result<ops::ProblemRequest> request_benchdnn_deconv(std::string_view descriptor,
                                                    const BenchdnnValues& values) {
  return request_convolution(descriptor, values, ops::Sweep::transposed);
}

Result<ops::ProblemRequest> request_benchdnn_ip(std::string_view text,
                                                const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kProductKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t oc, require_size(descriptor, "oc"));
  BENCH_ASSIGN_OR_RETURN(const auto sizes, complete_benchdnn_sizes(descriptor));
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 3));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  const std::size_t rank = sizes.size() + 2;
  // A case's source is one plain matrix: the dimensions of an image are one long row.
  BENCH_ASSIGN_OR_RETURN(const ops::Layout source, find_benchdnn_layout({{values["stag"]}}, rank));
  BENCH_ASSIGN_OR_RETURN(const ops::Layout result, find_benchdnn_layout({{values["dtag"]}}, 2));
  const bool is_plain = rank == 2 || source != ops::Layout::nhwc;
  if (!is_plain || result == ops::Layout::nhwc ||
      !benchdnn_tag_letters(values["wtag"], rank).empty())
    return Error{
        "a product's matrices are plain, and the library chooses the weights' layout", {}, {}};
  const std::int64_t n = benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch));
  BenchdnnPrimitive primitive{
      .primitive = "inner_product",
      .propagation = direction.propagation,
      .problem = fmt::format("mb{}ic{}{}oc{}", n, ic, format_image(sizes), oc),
      .memory = {{"src", types[0], plain_tag(rank)},
                 {"wei", types[1], plain_tag(rank)},
                 {"dst", types[2], "ab"}},
      .destination = {n, oc}};
  add_bias(direction, values, primitive);
  return find_benchdnn_case(primitive, values);
}

Result<ops::ProblemRequest> request_benchdnn_pool(std::string_view text,
                                                  const BenchdnnValues& values) {
  std::string algorithm = lower_case(values["alg"]);
  const auto* row = std::ranges::find(kPoolAlgorithms, algorithm, &PoolAlgorithm::name);
  if (row != kPoolAlgorithms.end()) algorithm = row->algorithm;
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kConvKeys));
  if (descriptor.find("oc") || descriptor.find("g"))
    return Error{"a pool has neither `oc` nor `g`", {}, {}};
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const BenchdnnAxes axes,
                         complete_benchdnn_axes(descriptor, ops::Sweep::convolution));
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 2));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  const std::size_t rank = axes.rank + 2;
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout, find_benchdnn_layout({{values["tag"]}}, rank));
  const std::int64_t n = benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch));
  const std::string letters = plain_tag(rank);
  return find_benchdnn_case({.primitive = "pooling",
                             .propagation = direction.propagation,
                             .auxiliary = "alg:" + algorithm,
                             .problem = fmt::format("mb{}ic{}{}", n, ic, axes.text),
                             .memory = {{"src", types[0], letters}, {"dst", types[1], letters}},
                             .destination = result_dims(n, ic, axes.outputs),
                             .layout = layout},
                            values);
}

Result<ops::ProblemRequest> request_benchdnn_bnorm(std::string_view text,
                                                   const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kNormKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const auto sizes, complete_benchdnn_sizes(descriptor));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  const std::size_t rank = sizes.size() + 2;
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout, find_benchdnn_layout({{values["tag"]}}, rank));
  const std::int64_t n = benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch));
  const std::string letters = plain_tag(rank);
  return find_benchdnn_case(
      {.primitive = "batch_normalization",
       .propagation = direction.propagation,
       .auxiliary = fmt::format("flags:{}", values["flags"]),
       .problem = fmt::format("mb{}ic{}{}", n, ic, format_image(sizes)),
       .memory = {{"src", values["dt"], letters}, {"dst", values["dt"], letters}},
       .destination = result_dims(n, ic, sizes),
       .layout = layout},
      values);
}

// oneDNN's lines of group normalisations are not read elsewhere, so the request is made here.
Result<ops::ProblemRequest> request_benchdnn_gnorm(std::string_view text,
                                                   const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kNormKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t groups, require_size(descriptor, "g"));
  BENCH_ASSIGN_OR_RETURN(const auto sizes, complete_benchdnn_sizes(descriptor));
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 2));
  const auto dtype = data_type_from_name(types[0]);
  if (!dtype || types[1] != types[0])
    return Error{"source and destination of a case have one floating-point type", {}, {}};
  if (values["dir"] != "FWD_I" || !values["attr-post-ops"].empty())
    return Error{"group_norm has only inference, without post-ops", {}, {}};
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_benchdnn_layout({{values["tag"], 2}}, sizes.size() + 2));
  const std::string_view flags = values["flags"];
  if (flags.find_first_not_of("CH") != std::string_view::npos)
    return Error{fmt::format("group_norm has no such case (flags:{})", flags), {}, {}};
  const ops::Operator* op = ops::find_operator("group_norm");
  ops::ParameterSet set(op->parameters);
  set.set("n", benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch)));
  set.set("c", ic);
  set.set("groups", groups);
  ops::set_spatial_sizes(set, ops::kSpatialSizeNames,
                         sizes.empty() ? std::vector<std::int64_t>{1} : sizes);
  set.set("scale", flags.find('C') != std::string_view::npos);
  set.set("shift", flags.find('H') != std::string_view::npos);
  return ops::ProblemRequest{
      .op = op, .dtype = *dtype, .layout = layout, .parameters = std::move(set)};
}

// Real numbers of a descriptor (alpha, beta, k) may only be the defaults, which it leaves out.
Result<ops::ProblemRequest> request_benchdnn_lrn(std::string_view text,
                                                 const BenchdnnValues& values) {
  constexpr std::array<std::string_view, 6> kKeys = {"mb", "ic", "id", "ih", "iw", "ls"};
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const auto sizes, complete_benchdnn_sizes(descriptor));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  const std::size_t rank = sizes.size() + 2;
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout, find_benchdnn_layout({{values["tag"]}}, rank));
  const std::int64_t n = benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch));
  constexpr std::int64_t kNeighbours = 5;
  const bool is_within = lower_case(values["alg"]).find("within") != std::string::npos;
  const std::string letters = plain_tag(rank);
  return find_benchdnn_case(
      {.primitive = "lrn",
       .propagation = direction.propagation,
       .auxiliary = is_within ? "alg:lrn_within_channel" : "alg:lrn_across_channels",
       .problem = fmt::format("mb{}ic{}{}ls{}beta0.75", n, ic, format_image(sizes),
                              descriptor.value_or("ls", kNeighbours)),
       .memory = {{"src", values["dt"], letters}, {"dst", values["dt"], letters}},
       .destination = result_dims(n, ic, sizes),
       .layout = layout},
      values);
}

Result<ops::ProblemRequest> request_benchdnn_resampling(std::string_view text,
                                                        const BenchdnnValues& values) {
  constexpr std::array<std::string_view, 8> kKeys = {"mb", "ic", "id", "ih",
                                                     "iw", "od", "oh", "ow"};
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t ic, require_size(descriptor, "ic"));
  BENCH_ASSIGN_OR_RETURN(const auto inputs, complete_benchdnn_sizes(descriptor));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  const std::size_t rank = inputs.size() + 2;
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout, find_benchdnn_layout({{values["tag"]}}, rank));
  const std::int64_t n = benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch));
  // A missing output repeats the one before.
  std::string sizes;
  std::vector<std::int64_t> outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string_view axis = ops::kSpatialSizeNames[ops::kMaxSpatialRank - inputs.size() + i];
    const auto output = descriptor.find(fmt::format("o{}", axis));
    if (!output && outputs.empty()) return Error{fmt::format("`o{}` is missing", axis), {}, {}};
    outputs.push_back(output.value_or(outputs.empty() ? 0 : outputs.back()));
    sizes += fmt::format("i{}{}o{}{}", axis, inputs[i], axis, outputs.back());
  }
  const std::string letters = plain_tag(rank);
  const std::string algorithm = benchdnn_algorithm(values["alg"], "resampling_");
  return find_benchdnn_case(
      {.primitive = "resampling",
       .propagation = direction.propagation,
       .auxiliary = "alg:" + algorithm,
       .problem = fmt::format("mb{}ic{}{}", n, ic, sizes),
       .memory = {{"src", values["sdt"], letters}, {"dst", values["ddt"], letters}},
       .destination = result_dims(n, ic, outputs),
       .layout = layout},
      values);
}

// A cell always has a bias and a first state in benchdnn. Sizes that are missing are those of the
// state.
Result<ops::ProblemRequest> request_benchdnn_rnn(std::string_view text,
                                                 const BenchdnnValues& values) {
  constexpr std::array<std::string_view, 7> kKeys = {"l", "t", "mb", "sic", "slc", "dhc", "dic"};
  BENCH_ASSIGN_OR_RETURN(const auto descriptor, BenchdnnDescriptor::parse(text, kKeys));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t state, require_size(descriptor, "sic"));
  for (const std::string_view option : {"with-peephole", "with-projection", "l", "t"}) {
    const std::string_view value = values[option];
    if (value == "0" || value == "false") continue;
    return Error{fmt::format("cases do not have --{}={}", option, quote(value)), {}, {}};
  }
  const std::string cfg(values["cfg"]);
  if (cfg != "f32" && cfg != "bf16" && cfg != "f16")
    return Error{fmt::format("cases do not have the types {}", quote(cfg)), {}, {}};
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["prop"]));
  const std::int64_t hidden = descriptor.value_or("dhc", state);
  const std::string algorithm = lower_case(values["alg"]);
  const std::string run(values["direction"]);
  const bool is_backward = direction.propagation.starts_with("backward");
  BenchdnnPrimitive primitive{
      .primitive = "rnn",
      .propagation = is_backward ? "backward" : direction.propagation,
      .auxiliary = fmt::format(
          "alg:{} direction:{} activation:{}", algorithm,
          run == "concat" ? "bidirectional_concat"
                          : (run == "left2right" ? "unidirectional_left2right" : run),
          algorithm == "vanilla_rnn" ? "eltwise_" + lower_case(values["activation"]) : "undef"),
      .problem = fmt::format("l{}t{}mb{}sic{}slc{}dhc{}", descriptor.value_or("l", 1),
                             descriptor.value_or("t", 1),
                             benchdnn_batch(values, descriptor.value_or("mb", kDefaultBatch)),
                             state, descriptor.value_or("slc", state), hidden),
      .memory = {{"src_layer", cfg, "abc"},
                 {"src_iter", cfg, "abcd"},
                 {"wei_layer", cfg, "abcde"},
                 {"wei_iter", cfg, "abcde"},
                 {"bias", "f32", "abcd"},
                 {"dst_layer", cfg, "abc"}},
      .destination = {}};
  return find_benchdnn_case(primitive, values);
}

}  // namespace bench
