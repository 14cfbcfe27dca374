// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/check.hpp"

#include "base/data_type.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

namespace bench {

namespace {

using ops::Dims;

// Maximum border elements of one plane; a larger border is sampled like the rest.
constexpr std::int64_t kMaxBorder = 16384;
// Spatial dimensions are at most the last three of n, c, d, h, w.
constexpr std::size_t kMaxPlaneRank = 3;
// Bound of a sum of N independent errors in standard deviations: fewer than 1e-9 false positives.
constexpr double kSigmas = 6;

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) count *= size;
  return count;
}

// Adds both ends of every dimension, as long as the combinations stay below kCheckedPositions (12
// dimensions). For further dimensions it adds only the first index.
void add_corners(const Dims& dims, std::vector<std::int64_t>& positions) {
  std::vector<std::int64_t> corners = {0};
  for (const std::int64_t size : dims) {
    const bool both =
        size > 1 && 2 * static_cast<std::int64_t>(corners.size()) <= kCheckedPositions;
    std::vector<std::int64_t> longer;
    for (const std::int64_t corner : corners) {
      longer.push_back(corner * size);
      if (both) longer.push_back(corner * size + size - 1);
    }
    corners = std::move(longer);
  }
  positions.insert(positions.end(), corners.begin(), corners.end());
}

bool on_border(std::int64_t position, std::span<const std::int64_t> plane) {
  for (std::size_t i = plane.size(); i-- > 0;) {
    const std::int64_t index = position % plane[i];
    if (index == 0 || index == plane[i] - 1) return true;
    position /= plane[i];
  }
  return false;
}

// Number of border elements: all except the interior.
std::int64_t border_size(std::span<const std::int64_t> plane) {
  std::int64_t interior = 1;
  for (const std::int64_t size : plane) interior *= std::max<std::int64_t>(size - 2, 0);
  return product(plane) - interior;
}

void add_border_plane(const Dims& dims, SplitMix& random, std::vector<std::int64_t>& positions) {
  const std::size_t leading = dims.size() > 2 ? 2 : dims.size() - 1;
  const std::size_t begin = std::max(leading, dims.size() - std::min(dims.size(), kMaxPlaneRank));
  const std::span<const std::int64_t> plane = std::span(dims).subspan(begin);
  if (border_size(plane) > kMaxBorder) return;
  const std::int64_t size = product(plane);
  const auto planes = static_cast<std::uint64_t>(product(std::span(dims).first(begin)));
  const std::int64_t base = static_cast<std::int64_t>(random.below(planes)) * size;
  for (std::int64_t i = 0; i < size; ++i) {
    if (on_border(i, plane)) positions.push_back(base + i);
  }
}

// Adds random positions with one index at its first or last value.
void add_faces(const Dims& dims, SplitMix& random, std::vector<std::int64_t>& positions) {
  const std::int64_t total = product(dims);
  const std::int64_t each = kCheckedPositions / 4 / static_cast<std::int64_t>(2 * dims.size());
  std::int64_t stride = total;
  for (const std::int64_t size : dims) {
    stride /= size;
    for (std::int64_t i = 0; i < 2 * each; ++i) {
      const auto any = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(total)));
      const std::int64_t index = any / stride % size;
      positions.push_back(any + ((i % 2 == 0 ? 0 : size - 1) - index) * stride);
    }
  }
}

void sort_distinct(std::vector<std::int64_t>& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

std::vector<std::int64_t> check_positions(const Dims& dims, std::uint64_t seed) {
  const std::int64_t total = product(dims);
  std::vector<std::int64_t> positions;
  if (total <= kCheckedPositions) {
    for (std::int64_t i = 0; i < total; ++i) positions.push_back(i);
    return positions;
  }
  SplitMix random(seed);
  add_corners(dims, positions);
  add_border_plane(dims, random, positions);
  add_faces(dims, random, positions);
  sort_distinct(positions);
  while (static_cast<std::int64_t>(positions.size()) < kCheckedPositions) {
    for (auto missing = kCheckedPositions - static_cast<std::int64_t>(positions.size());
         missing > 0; --missing) {
      positions.push_back(
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(total))));
    }
    sort_distinct(positions);
  }
  return positions;
}

std::string element_name(const ops::Tensor& tensor, std::int64_t position) {
  std::vector<std::int64_t> index(tensor.dims.size());
  for (std::size_t i = tensor.dims.size(); i-- > 0;) {
    index[i] = position % tensor.dims[i];
    position /= tensor.dims[i];
  }
  return fmt::format("{}[{}]", tensor.name, fmt::join(index, ","));
}

Result<Agreement> compare(const PlainOutput& output, std::span<const std::int64_t> positions,
                          std::span<const double> want, const ops::Tolerance& tolerance) {
  Agreement agreement;
  std::int64_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto position = positions.empty() ? static_cast<std::int64_t>(i) : positions[i];
    const double got =
        load_element(output.tensor->dtype, output.data, static_cast<std::size_t>(position));
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(want[i]);
    const double difference = std::abs(got - want[i]);
    const bool same = got == want[i] || (std::isnan(got) && std::isnan(want[i]));
    if (!same && !(difference <= allowed)) {  // also true if the difference is NaN
      if (wrong++ == 0) {
        first = fmt::format("{}: got {}, want {}, tolerance {:.3g}",
                            element_name(*output.tensor, position), got, want[i], allowed);
      }
    } else if (!same) {
      agreement.worst = std::max(agreement.worst, difference / allowed);
    }
  }
  agreement.elements = static_cast<std::int64_t>(want.size());
  if (wrong > 0) {
    return Error{fmt::format("{}; {} of {} compared elements are wrong", first, wrong, want.size()),
                 "", ""};
  }
  return agreement;
}

Status find_unwritten(const PlainOutput& output) {
  const ops::Tensor& tensor = *output.tensor;
  if (info(tensor.dtype).is_integer) return Done{};
  const std::int64_t count = tensor.elements();
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isnan(load_element(tensor.dtype, output.data, static_cast<std::size_t>(i)))) {
      return Error{element_name(tensor, i) +
                       ": got NaN, want a number: never written, or computed from an element that "
                       "was not",
                   "", ""};
    }
  }
  return Done{};
}

namespace {

// Returns y = M x for a row-major matrix given by `at(i, j)`, rows x columns.
template <class At>
std::vector<double> multiply(std::int64_t rows, std::int64_t columns, const At& at,
                             std::span<const double> x) {
  std::vector<double> y(static_cast<std::size_t>(rows), 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += at(i, j) * x[static_cast<std::size_t>(j)];
    y[static_cast<std::size_t>(i)] = sum;
  }
  return y;
}

struct GemmShape {
  std::int64_t batch, m, n, k;
  bool trans_a, trans_b, bias;
};

std::optional<GemmShape> gemm_shape(const ops::Problem& problem, const PlainOutput& output) {
  if (problem.op->name != "gemm" || problem.direction != ops::Direction::forward ||
      !problem.post_ops.empty() || info(output.tensor->dtype).is_integer) {
    return std::nullopt;
  }
  const ops::ParameterSet& p = problem.parameters;
  return GemmShape{p.count("batch"),  p.count("m"),      p.count("n"),  p.count("k"),
                   p.flag("trans_a"), p.flag("trans_b"), p.flag("bias")};
}

// Returns A (B x) + bias . x for the matrices with index `b` in the batch.
std::vector<double> product_of_factors(const GemmShape& s, ops::ReferenceInputs inputs,
                                       std::int64_t b, std::span<const double> x) {
  const double* right = inputs[1].data() + b * s.k * s.n;
  const auto right_at = [&](std::int64_t i, std::int64_t j) {
    return s.trans_b ? right[j * s.k + i] : right[i * s.n + j];
  };
  const double* left = inputs[0].data() + b * s.m * s.k;
  const auto left_at = [&](std::int64_t i, std::int64_t j) {
    return s.trans_a ? left[j * s.m + i] : left[i * s.k + j];
  };
  std::vector<double> y = multiply(s.m, s.k, left_at, multiply(s.k, s.n, right_at, x));
  if (!s.bias) return y;
  double shift = 0;
  for (std::int64_t j = 0; j < s.n; ++j) {
    shift += inputs[2][static_cast<std::size_t>(j)] * x[static_cast<std::size_t>(j)];
  }
  for (double& value : y) value += shift;
  return y;
}

}  // namespace

std::optional<Status> freivalds(const ops::Problem& problem, ops::ReferenceInputs inputs,
                                const PlainOutput& output, std::uint64_t seed) {
  const std::optional<GemmShape> shape = gemm_shape(problem, output);
  if (!shape) return std::nullopt;
  const GemmShape& s = *shape;
  const ops::Tolerance tolerance = problem.op->tolerance(problem);
  SplitMix random(seed);
  std::vector<double> x(static_cast<std::size_t>(s.n));
  for (double& value : x) value = random.below(2) == 0 ? -1 : 1;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const std::vector<double> want = product_of_factors(s, inputs, b, x);
    for (std::int64_t i = 0; i < s.m; ++i) {
      double got = 0;
      double squares = 0;  // sum over the tolerances of the row
      for (std::int64_t j = 0; j < s.n; ++j) {
        const auto flat = static_cast<std::size_t>((b * s.m + i) * s.n + j);
        const double value = load_element(output.tensor->dtype, output.data, flat);
        const double allowed = tolerance.absolute + tolerance.relative * std::abs(value);
        got += value * x[static_cast<std::size_t>(j)];
        squares += allowed * allowed;
      }
      const double bound = kSigmas * std::sqrt(squares);
      if (!(std::abs(got - want[static_cast<std::size_t>(i)]) <= bound)) {
        return Status(Error{
            fmt::format("row {} of matrix {}: Freivalds' sum is {}, want {}, tolerance {:.3g}", i,
                        b, got, want[static_cast<std::size_t>(i)], bound),
            "", ""});
      }
    }
  }
  return Status(Done{});
}

OutputSample sample_outputs(std::span<const PlainOutput> outputs, std::uint64_t seed) {
  OutputSample sample;
  for (const PlainOutput& output : outputs) {
    const std::string_view bytes(reinterpret_cast<const char*>(output.data),
                                 static_cast<std::size_t>(output.tensor->size().count));
    sample.digest += content_hash(bytes);
    for (const std::int64_t position : check_positions(output.tensor->dims, seed)) {
      sample.values.push_back(
          load_element(output.tensor->dtype, output.data, static_cast<std::size_t>(position)));
    }
  }
  return sample;
}

namespace {

// A chain rounds once per layer, and each rounding is a few units in the last place of the layer's
// largest value. Errors grow with the root of the number of layers. For f32, each value is a sum of
// hundreds of products, hence the larger factor. 16-bit types round once after sums in f32.
constexpr double kChainUlpsF32 = 256;
constexpr double kChainUlpsOther = 4;

using Outputs = std::vector<PlainOutput>;

ErrorReply wrong(const Error& error) { return {Outcome::wrong_result, error.message()}; }

Outputs plain_outputs(const Workload& workload, const std::vector<AlignedBuffer>& buffers) {
  Outputs outputs;
  for (const ops::Tensor& tensor : workload_tensors(workload)) {
    if (tensor.role != ops::TensorRole::output) continue;
    outputs.push_back({&tensor, buffers[outputs.size()].data()});
  }
  return outputs;
}

// Absolute, based on the largest value: fused and unfused chains round in different places.
ops::Tolerance chain_tolerance(const ops::Network& network, std::span<const double> want) {
  double largest = 0;
  for (const double value : want) largest = std::max(largest, std::abs(value));
  const double ulps = network.dtype == DataType::f32 ? kChainUlpsF32 : kChainUlpsOther;
  const double layers =
      std::sqrt(static_cast<double>(std::max<std::size_t>(network.nodes.size(), 1)));
  return {info(network.dtype).epsilon * ulps * layers * largest, 0};
}

ops::Tolerance choose_tolerance(const Workload& workload, std::span<const double> want) {
  if (const auto* problem = std::get_if<ops::Problem>(&workload)) {
    return problem->op->tolerance(*problem);
  }
  return chain_tolerance(std::get<NetworkPair>(workload).network, want);
}

std::string format_agreement(std::string_view how, const Agreement& total) {
  return fmt::format("{}, {} elements, worst {:.2g} of tolerance", how, total.elements,
                     total.worst);
}

void add(Agreement& total, const Agreement& part) {
  total.elements += part.elements;
  total.worst = std::max(total.worst, part.worst);
}

Result<std::string, ErrorReply> against_reference(const ops::Problem& problem,
                                                  const Outputs& outputs, const InputValues& values,
                                                  std::uint64_t seed) {
  const std::int64_t operations = problem.work.macs.value_or(problem.work.flops);
  const bool full = operations <= kFullCheckOperations;
  const ops::Tolerance tolerance = problem.op->tolerance(problem);
  Agreement total;
  std::string how = full ? "full" : "seeded positions with borders";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::int64_t> positions =
        full ? std::vector<std::int64_t>() : check_positions(outputs[i].tensor->dims, seed);
    const auto want = ops::try_reference(problem, values, i, positions);
    if (!want) return failed_reply(want.error());
    Result<Agreement> agreement = compare(outputs[i], positions, *want, tolerance);
    if (!agreement) return wrong(agreement.error());
    add(total, *agreement);
    if (full) continue;
    if (const std::optional<Status> test = freivalds(problem, values, outputs[i], seed)) {
      if (!*test) return wrong(test->error());
      how += " and Freivalds' test";
    }
  }
  return format_agreement(how, total);
}

// Runs the other execution of the network on the same data and compares all elements.
Result<std::string, ErrorReply> against_twin(ops::Backend& backend, const Workload& workload,
                                             const Outputs& outputs, const CheckRequest& request,
                                             Clock& clock) {
  const std::optional<Workload> twin = make_twin(workload);
  if (!twin) return std::string("finite values; there is no second execution to compare with");
  auto other = PreparedKernel::build(backend, *twin, input_values(*twin, request.seed), clock,
                                     request.available);
  if (!other) {
    return ErrorReply{Outcome::failed,
                      "the network's result cannot be checked, since its other execution does "
                      "not run: " +
                          other.error().reason};
  }
  auto buffers = other->outputs();
  if (!buffers) return failed_reply(buffers.error());
  Agreement total;
  const Outputs expected = plain_outputs(*twin, *buffers);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::vector<double> want(static_cast<std::size_t>(expected[i].tensor->elements()));
    for (std::size_t j = 0; j < want.size(); ++j) {
      want[j] = load_element(expected[i].tensor->dtype, expected[i].data, j);
    }
    Result<Agreement> agreement = compare(
        outputs[i], {}, want, chain_tolerance(std::get<NetworkPair>(workload).network, want));
    if (!agreement) return wrong(agreement.error());
    add(total, *agreement);
  }
  const bool fused = std::get<NetworkPair>(workload).network.fusion == ops::Fusion::fused;
  return format_agreement(fused ? "against the unfused chain" : "against the fused chain", total);
}

// Equal bits need no comparison. Otherwise it compares the same positions with a tolerance, because
// sums may be computed in another order.
Result<std::string, ErrorReply> against_expected(const Workload& workload, const Outputs& outputs,
                                                 const OutputSample& sample,
                                                 const CheckRequest& request) {
  if (sample.digest == request.expected.digest) return std::string("equal to the first process");
  Agreement total;
  std::span<const double> rest = request.expected.values;
  for (const PlainOutput& output : outputs) {
    const std::vector<std::int64_t> positions = check_positions(output.tensor->dims, request.seed);
    if (positions.size() > rest.size()) {
      return ErrorReply{Outcome::failed, "the first process's values do not fit this output"};
    }
    const std::span<const double> want = rest.first(positions.size());
    Result<Agreement> agreement =
        compare(output, positions, want, choose_tolerance(workload, want));
    if (!agreement) {
      return ErrorReply{Outcome::wrong_result,
                        "values differ from the first process's: " + agreement.error().message()};
    }
    add(total, *agreement);
    rest = rest.subspan(positions.size());
  }
  return format_agreement("like the first process", total);
}

// NaN marks what a floating-point kernel left unwritten; for integers a second run with a different
// poison value finds it.
Status check_written(const Workload& workload, PreparedKernel& instance, const Outputs& outputs) {
  bool integers = false;
  for (const PlainOutput& output : outputs) {
    BENCH_RETURN_IF_ERROR(find_unwritten(output));
    integers = integers || info(output.tensor->dtype).is_integer;
  }
  if (!integers) return Done{};
  BENCH_RETURN_IF_ERROR(instance.run_again());
  BENCH_ASSIGN_OR_RETURN(const std::vector<AlignedBuffer> again, instance.outputs());
  const Outputs second = plain_outputs(workload, again);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ops::Tensor& tensor = *outputs[i].tensor;
    if (!info(tensor.dtype).is_integer) continue;
    for (std::int64_t j = 0; j < tensor.elements(); ++j) {
      const auto index = static_cast<std::size_t>(j);
      const double got = load_element(tensor.dtype, outputs[i].data, index);
      if (got != load_element(tensor.dtype, second[i].data, index)) {
        return Error{element_name(tensor, j) + ": got another value in a second run: never written",
                     "", ""};
      }
    }
  }
  return Done{};
}

}  // namespace

Result<Verified, ErrorReply> verify(ops::Backend& backend, const Workload& workload,
                                    PreparedKernel& instance, const InputValues& values,
                                    const CheckRequest& request, Clock& clock) {
  auto buffers = instance.outputs();
  if (!buffers) return failed_reply(buffers.error());
  const Outputs outputs = plain_outputs(workload, *buffers);
  if (Status written = check_written(workload, instance, outputs); !written) {
    return wrong(written.error());
  }
  OutputSample sample = sample_outputs(outputs, request.seed);
  const auto* problem = std::get_if<ops::Problem>(&workload);
  Result<std::string, ErrorReply> text =
      request.kind == CheckKind::expected ? against_expected(workload, outputs, sample, request)
      : problem != nullptr ? against_reference(*problem, outputs, values, request.seed)
                           : against_twin(backend, workload, outputs, request, clock);
  if (!text) return std::move(text).error();
  return Verified{std::move(*text), std::move(sample)};
}

}  // namespace bench
