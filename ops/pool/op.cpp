// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"
#include "ops/model.hpp"
#include "ops/pool/pool.hpp"
#include "ops/spatial.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 3> kFunctions = {kPoolMax, kPoolIncludePad, kPoolExcludePad};

constexpr std::array<Parameter, 10> kParameters = {{
    {.name = "function",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "required",
     .help = "the value of a window; averages count padding as zeros, or not at all",
     .words = kFunctions},
    {.name = "n", .token = "n", .kind = ParameterKind::count, .fallback = "1", .help = "images"},
    {.name = "c",
     .token = "c",
     .kind = ParameterKind::count,
     .fallback = "required",
     .help = "channels"},
    {.name = "d",
     .token = "d",
     .kind = ParameterKind::count,
     .fallback = "optional",
     .help = "input depth (3-D)"},
    {.name = "h",
     .token = "h",
     .kind = ParameterKind::count,
     .fallback = "like d",
     .help = "input height (2-D and 3-D)"},
    {.name = "w",
     .token = "w",
     .kind = ParameterKind::count,
     .fallback = "like h",
     .help = "input width"},
    {.name = "window",
     .token = "r",
     .kind = ParameterKind::spatial,
     .fallback = "required",
     .help = "size of the window; leave out with `global`"},
    {.name = "stride",
     .token = "u",
     .kind = ParameterKind::spatial,
     .fallback = "window",
     .help = "step of the window"},
    {.name = "pad",
     .token = "p",
     .kind = ParameterKind::padding,
     .fallback = "0",
     .help = "padding, smaller than the window",
     .minimum = 0},
    {.name = "global",
     .token = "global",
     .kind = ParameterKind::flag,
     .fallback = "false",
     .help = "the window is the whole input"},
}};

constexpr std::string_view kExamples[] = {"max-n2c16h9r3u2p1",
                                          "max-n2c16h9r3u2p1_0",
                                          "avg_include_pad-n2c16h9r3u2p1",
                                          "avg_exclude_pad-n2c16h9r3u2p1",
                                          "avg_include_pad-n2c16h7+global",
                                          "max-n2c16w9r3u2p1",
                                          "avg_exclude_pad-n2c16d5h9r3u2p1"};

constexpr std::array<Direction, 2> kDirections = {Direction::forward, Direction::backward_data};
constexpr std::array<std::string_view, 1> kWindowName = {"window"};

// Returns an error if another window parameter is set together with `global`. Clears an explicit
// padding of 0, which is not a contradiction.
Status complete_global(ParameterSet& set) {
  if (set.has("pad")) {
    bool is_zero = true;
    for (const PadPair& pad : set.padding("pad")) is_zero = is_zero && pad == PadPair{};
    if (is_zero) set.set("pad", std::monostate{});
  }
  for (const std::string_view name : {"window", "stride", "pad"}) {
    if (!set.has(name)) continue;
    return Error{.what = fmt::format("`{}` has no meaning with `global`", name),
                 .where = std::string(name),
                 .next = fmt::format("leave out `{}` or `global`", name)};
  }
  return Done{};
}

Status check_padding(const ParameterSet& set) {
  const std::vector<std::int64_t>& window = set.numbers("window");
  const std::vector<PadPair>& pads = set.padding("pad");
  for (std::size_t i = 0; i < window.size(); ++i) {
    if (pads[i].begin < window[i] && pads[i].end < window[i]) continue;
    return Error{.what = fmt::format("`pad` {}_{} is not smaller than the window {}", pads[i].begin,
                                     pads[i].end, window[i]),
                 .where = "pad",
                 .next = "a window must not contain only padding"};
  }
  return Done{};
}

Status complete_window(ParameterSet& set, int rank) {
  BENCH_RETURN_IF_ERROR(require(set, "window"));
  BENCH_RETURN_IF_ERROR(expand_spatial(set, "window", rank, 1));
  if (!set.has("stride")) set.set("stride", set.value("window"));
  BENCH_RETURN_IF_ERROR(expand_spatial(set, "stride", rank, 1));
  BENCH_RETURN_IF_ERROR(expand_padding(set, "pad", rank));
  BENCH_RETURN_IF_ERROR(check_padding(set));
  for (SpatialAxis& axis : spatial_axes(set, kWindowName)) {
    BENCH_RETURN_IF_ERROR(infer_output(axis, Sweep::convolution));
  }
  return Done{};
}

Result<ParameterSet> complete(const ParameterSet& given) {
  BENCH_RETURN_IF_ERROR(require(given, "function"));
  BENCH_RETURN_IF_ERROR(require(given, "c"));
  ParameterSet set = given;
  if (!set.has("n")) set.set("n", std::int64_t{1});
  if (!set.has("global")) set.set("global", false);
  BENCH_ASSIGN_OR_RETURN(const int rank, complete_sizes(set));
  BENCH_RETURN_IF_ERROR(set.flag("global") ? complete_global(set) : complete_window(set, rank));
  return set;
}

// The counts from which the model computes FLOPs and bytes.
struct Counts {
  Checked images = 0;   // n*c
  Checked window = 1;   // elements per window
  Checked outputs = 1;  // elements of the destination
  Checked taps = 1;     // window elements on the input, not on padding
  Checked touched = 1;  // elements of the source
};

Counts make_counts(const ParameterSet& set, const std::vector<SpatialAxis>& axes) {
  Counts counts;
  counts.images = Checked(set.count("n")) * set.count("c");
  counts.outputs = counts.taps = counts.touched = counts.images;
  for (const SpatialAxis& axis : axes) {
    const AxisCounts axis_counts = count_axis(axis, Sweep::convolution);
    counts.window *= axis.kernel;
    counts.outputs *= axis.output;
    counts.taps *= axis_counts.taps;
    counts.touched *= axis_counts.inputs;
  }
  return counts;
}

Result<Tensor> make_image(std::string_view name, TensorRole role, const Problem& problem,
                          const std::vector<SpatialAxis>& axes, std::int64_t SpatialAxis::*size) {
  std::vector<Extent> extents = {{"n", problem.parameters.count("n")},
                                 {"c", problem.parameters.count("c")}};
  for (const SpatialAxis& axis : axes) extents.push_back({axis.name, axis.*size});
  return make_tensor(name, role, problem.dtype, extents);
}

std::string format_checked(Checked value) { return fmt::to_string(value.value().value_or(0)); }

Result<Model> make_forward_model(const Problem& problem) {
  const std::vector<SpatialAxis> axes = pool_axes(problem.parameters);
  const Counts counts = make_counts(problem.parameters, axes);
  ModelDraft draft;
  BENCH_ASSIGN_OR_RETURN(
      Tensor source, make_image("source", TensorRole::input, problem, axes, &SpatialAxis::input));
  BENCH_ASSIGN_OR_RETURN(source.touched, in_range(counts.touched, "elements", "c"));
  draft.tensors.push_back(std::move(source));
  BENCH_ASSIGN_OR_RETURN(Tensor destination, make_image("destination", TensorRole::output, problem,
                                                        axes, &SpatialAxis::output));
  draft.tensors.push_back(std::move(destination));
  const bool is_max = problem.parameters.word("function") == kPoolMax;
  // A maximum of R values takes R - 1 comparisons, a mean R - 1 additions and a multiplication.
  draft.flops = counts.outputs * (is_max ? counts.window - 1 : counts.window);
  draft.flops_valid = is_max ? counts.taps - counts.outputs : counts.taps;
  draft.formulas = {
      {"flops", is_max ? "outputs*(window-1)" : "outputs*window",
       fmt::format("{}*{}", format_checked(counts.outputs),
                   is_max ? fmt::format("({}-1)", format_checked(counts.window))
                          : format_checked(counts.window)),
       draft.flops},
      {"flops_valid", is_max ? "taps-outputs" : "taps",
       is_max ? fmt::format("{}-{}", format_checked(counts.taps), format_checked(counts.outputs))
              : format_checked(counts.taps),
       draft.flops_valid}};
  return finish_model(std::move(draft), "c");
}

Result<Model> make_backward_model(const Problem& problem) {
  if (info(problem.dtype).is_integer) {
    return undefined_for_integers("backward_data of pool", problem.dtype);
  }
  const std::vector<SpatialAxis> axes = pool_axes(problem.parameters);
  const Counts counts = make_counts(problem.parameters, axes);
  const bool is_max = problem.parameters.word("function") == kPoolMax;
  ModelDraft draft;
  if (is_max) {
    BENCH_ASSIGN_OR_RETURN(
        Tensor source, make_image("source", TensorRole::input, problem, axes, &SpatialAxis::input));
    // The backward pass does not read the source. It reads the positions of the maxima from a
    // workspace, which the forward pass has written and which is counted separately.
    source.touched = 0;
    draft.tensors.push_back(std::move(source));
  }
  BENCH_ASSIGN_OR_RETURN(Tensor diff_destination, make_image("diff_destination", TensorRole::input,
                                                             problem, axes, &SpatialAxis::output));
  draft.tensors.push_back(std::move(diff_destination));
  BENCH_ASSIGN_OR_RETURN(Tensor diff_source, make_image("diff_source", TensorRole::output, problem,
                                                        axes, &SpatialAxis::input));
  draft.tensors.push_back(std::move(diff_source));
  // Per output: one addition at the maximum's position. For a mean: one multiplication, then one
  // addition for each element of the window.
  draft.flops = is_max ? counts.outputs : counts.outputs * (counts.window + 1);
  draft.flops_valid = is_max ? counts.outputs : counts.outputs + counts.taps;
  draft.formulas = {
      {"flops", is_max ? "outputs" : "outputs*(window+1)",
       is_max ? format_checked(counts.outputs)
              : fmt::format("{}*({}+1)", format_checked(counts.outputs),
                            format_checked(counts.window)),
       draft.flops},
      {"flops_valid", is_max ? "outputs" : "outputs+taps",
       is_max ? format_checked(counts.outputs)
              : fmt::format("{}+{}", format_checked(counts.outputs), format_checked(counts.taps)),
       draft.flops_valid}};
  return finish_model(std::move(draft), "c");
}

Result<Model> model(const Problem& problem) {
  return problem.direction == Direction::forward ? make_forward_model(problem)
                                                 : make_backward_model(problem);
}

Tolerance tolerance(const Problem& problem) {
  const bool is_max = problem.parameters.word("function") == kPoolMax;
  if (is_max && problem.direction == Direction::forward) return {};  // exactly one of the inputs
  double window = 1;
  for (const SpatialAxis& axis : pool_axes(problem.parameters)) {
    window *= static_cast<double>(axis.kernel);
  }
  // At most one rounding per addition, one for the divisor and one for the product. An integer mean
  // halfway between two values may be rounded to either.
  return rounding_tolerance(problem.dtype, window + 2, 1);
}

bool must_have_one_maximum(const Problem& problem, std::size_t tensor) {
  return problem.direction == Direction::backward_data && tensor == 0 &&
         problem.parameters.word("function") == kPoolMax &&
         info(problem.tensors[tensor].dtype).bytes == 2;
}

// Returns values of the source that differ within each window, because each library chooses its own
// maximum among equal elements. The values are multiples of 2^-7 in [-1, 1). Each image and channel
// numbers the positions of a sliding window in its own order: an odd factor permutes the numbers
// modulo a power of two. Returns nullopt if the values need not differ.
std::optional<std::vector<double>> make_distinct_values(const Problem& problem, std::size_t tensor,
                                                        std::uint64_t stream) {
  if (!must_have_one_maximum(problem, tensor)) return std::nullopt;
  constexpr std::uint64_t kValues = 256;
  const std::vector<SpatialAxis> axes = pool_axes(problem.parameters);
  std::vector<double> values(static_cast<std::size_t>(problem.tensors[0].elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t window_position = 0, radix = 1;
    auto plane = static_cast<std::int64_t>(i);
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      window_position += radix * static_cast<std::uint64_t>(plane % axis->input % axis->kernel);
      radix *= static_cast<std::uint64_t>(axis->kernel);
      plane /= axis->input;
    }
    const std::uint64_t order = mix(stream + static_cast<std::uint64_t>(plane));
    const std::uint64_t step = (order | 1) * window_position + (order >> 32);
    values[i] = static_cast<double>(step % kValues) * 0x1p-7 - 1;
  }
  return values;
}

}  // namespace

std::vector<SpatialAxis> pool_axes(const ParameterSet& complete) {
  std::vector<SpatialAxis> axes;
  if (complete.flag("global")) {
    const std::vector<std::int64_t> sizes = spatial_sizes(complete);
    const std::span<const std::string_view> names = size_names(spatial_rank(complete));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      axes.push_back({.name = names[i], .input = sizes[i], .kernel = sizes[i], .pad = {}});
    }
  } else {
    axes = spatial_axes(complete, kWindowName);
  }
  for (SpatialAxis& axis : axes) {
    const Status status = infer_output(axis, Sweep::convolution);
    assert(status.ok() && "complete() has checked the sizes");
    static_cast<void>(status);
  }
  return axes;
}

extern const Operator pool_operator;
const Operator pool_operator = {
    .name = "pool",
    .help = "maximum or mean over windows",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = pool_reference,
    .tolerance = tolerance,
    .inference = kImageInference,
    .filling = {.values = make_distinct_values},
    .product = {.rule = "op-pool",
                .sentence = "pooling compares and adds: there is no product of matrices"},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

}  // namespace bench::ops
