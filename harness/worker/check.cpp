// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/check.hpp"

#include "base/data_type.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "harness/worker/network_check.hpp"
#include "ops/gemm/gemm.hpp"
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

// Maximum number of border elements of a plane that are all checked. A larger border is only
// sampled.
constexpr std::int64_t kMaxBorder = 16384;
// Maximum number of spatial dimensions: d, h and w of n, c, d, h, w.
constexpr std::size_t kMaxPlaneRank = 3;
// Tolerance of Freivalds' test, in standard deviations of a sum of independent errors. For normally
// distributed errors, the probability of a false positive is about 2e-9.
constexpr double kSigmas = 6;

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) count *= size;
  return count;
}

// Adds the corners: every combination of the first and the last index of each dimension. Limited to
// kCheckedPositions combinations (12 dimensions); further dimensions have only the first index.
void add_corners(const Dims& dims, std::vector<std::int64_t>& positions) {
  std::vector<std::int64_t> corners = {0};
  for (const std::int64_t size : dims) {
    const bool has_room =
        size > 1 && 2 * static_cast<std::int64_t>(corners.size()) <= kCheckedPositions;
    std::vector<std::int64_t> extended;
    for (const std::int64_t corner : corners) {
      extended.push_back(corner * size);
      if (has_room) extended.push_back(corner * size + size - 1);
    }
    corners = std::move(extended);
  }
  positions.insert(positions.end(), corners.begin(), corners.end());
}

bool is_on_border(std::int64_t position, std::span<const std::int64_t> plane) {
  for (std::size_t i = plane.size(); i-- > 0;) {
    const std::int64_t index = position % plane[i];
    if (index == 0 || index == plane[i] - 1) return true;
    position /= plane[i];
  }
  return false;
}

// Returns the number of border elements: all except the interior.
std::int64_t count_border(std::span<const std::int64_t> plane) {
  std::int64_t interior = 1;
  for (const std::int64_t size : plane) interior *= std::max<std::int64_t>(size - 2, 0);
  return product(plane) - interior;
}

// Adds the border of one random plane, unless it is larger than kMaxBorder.
void add_border_plane(const Dims& dims, SplitMix& random, std::vector<std::int64_t>& positions) {
  const std::size_t leading = dims.size() > 2 ? 2 : dims.size() - 1;
  const std::size_t begin = std::max(leading, dims.size() - std::min(dims.size(), kMaxPlaneRank));
  const std::span<const std::int64_t> plane = std::span(dims).subspan(begin);
  if (count_border(plane) > kMaxBorder) return;
  const std::int64_t size = product(plane);
  const auto planes = static_cast<std::uint64_t>(product(std::span(dims).first(begin)));
  const std::int64_t base = static_cast<std::int64_t>(random.below(planes)) * size;
  for (std::int64_t i = 0; i < size; ++i) {
    if (is_on_border(i, plane)) positions.push_back(base + i);
  }
}

// Adds random positions with one index at its first or last value.
void add_faces(const Dims& dims, SplitMix& random, std::vector<std::int64_t>& positions) {
  const std::int64_t total = product(dims);
  const std::int64_t per_face = kCheckedPositions / 4 / static_cast<std::int64_t>(2 * dims.size());
  std::int64_t stride = total;
  for (const std::int64_t size : dims) {
    stride /= size;
    for (std::int64_t i = 0; i < 2 * per_face; ++i) {
      const auto position =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(total)));
      const std::int64_t index = position / stride % size;
      positions.push_back(position + ((i % 2 == 0 ? 0 : size - 1) - index) * stride);
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

void add(CheckSummary& total, const CheckSummary& part) {
  total.elements += part.elements;
  total.worst = std::max(total.worst, part.worst);
  total.beyond += part.beyond;
}

std::string format_check_summary(std::string_view method, const CheckSummary& total) {
  std::string text = fmt::format("{}, {} elements, worst {:.2g} of tolerance", method,
                                 total.elements, total.worst);
  if (total.beyond > 0) text += fmt::format("; {} beyond it", total.beyond);
  return text;
}

std::string format_element(const ops::Tensor& tensor, std::int64_t position) {
  std::vector<std::int64_t> index(tensor.dims.size());
  for (std::size_t i = tensor.dims.size(); i-- > 0;) {
    index[i] = position % tensor.dims[i];
    position /= tensor.dims[i];
  }
  return fmt::format("{}[{}]", tensor.name, fmt::join(index, ","));
}

Result<CheckSummary> compare(const PlainOutput& output, std::span<const std::int64_t> positions,
                             std::span<const double> want, const ops::Tolerance& tolerance,
                             std::int64_t permitted) {
  CheckSummary summary;
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
                            format_element(*output.tensor, position), got, want[i], allowed);
      }
    } else if (!same) {
      summary.worst = std::max(summary.worst, difference / allowed);
    }
  }
  summary.elements = static_cast<std::int64_t>(want.size());
  summary.beyond = wrong;
  if (wrong > permitted) {
    return Error{fmt::format("{}; {} of {} compared elements are wrong", first, wrong, want.size()),
                 "", ""};
  }
  return summary;
}

Status find_unwritten(const PlainOutput& output) {
  const ops::Tensor& tensor = *output.tensor;
  if (info(tensor.dtype).is_integer) return Done{};
  const std::int64_t count = tensor.elements();
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isnan(load_element(tensor.dtype, output.data, static_cast<std::size_t>(i)))) {
      return Error{format_element(tensor, i) +
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

// Returns nullopt if Freivalds' test does not apply to the problem or the output.
std::optional<ops::GemmShape> find_gemm_shape(const ops::Problem& problem,
                                              const PlainOutput& output) {
  if (problem.op != &ops::gemm_operator || !problem.post_ops.empty() ||
      info(problem.dtype).is_integer) {
    return std::nullopt;
  }
  const ops::GemmShape shape = ops::gemm_shape(problem);
  const bool is_product = output.tensor->name == problem.tensors[shape.result].name;
  if (!is_product || shape.result_batch != shape.batch) return std::nullopt;
  return shape;
}

// Returns the product of the matrix with index `b` in the batch and x.
std::vector<double> multiply_operand(const ops::GemmShape& shape, const ops::GemmOperand& operand,
                                     ops::ReferenceInputs inputs, std::int64_t b, std::int64_t rows,
                                     std::int64_t columns, std::span<const double> x) {
  const double* matrix =
      inputs[operand.tensor].data() + b / shape.share(operand.batch) * rows * columns;
  const bool is_plain = operand.storage == ops::Storage::plain;
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return is_plain ? matrix[i * columns + j] : matrix[j * rows + i];
  };
  return multiply(rows, columns, at, x);
}

// Returns A (B x) + bias . x for the matrices with index `b` in the batch.
std::vector<double> multiply_factors(const ops::GemmShape& s, ops::ReferenceInputs inputs,
                                     std::int64_t b, std::span<const double> x) {
  const std::vector<double> right =
      multiply_operand(s, s.right, inputs, b, s.inner.count, s.columns.count, x);
  std::vector<double> y =
      multiply_operand(s, s.left, inputs, b, s.rows.count, s.inner.count, right);
  if (!s.has_bias) return y;
  double bias_sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) bias_sum += inputs[2][j] * x[j];
  for (double& value : y) value += bias_sum;
  return y;
}

}  // namespace

std::optional<Status> freivalds(const ops::Problem& problem, ops::ReferenceInputs inputs,
                                const PlainOutput& output, std::uint64_t seed) {
  const std::optional<ops::GemmShape> shape = find_gemm_shape(problem, output);
  if (!shape) return std::nullopt;
  const std::int64_t rows = shape->rows.count;
  const std::int64_t columns = shape->columns.count;
  const ops::Tolerance tolerance = problem.op->tolerance(problem);
  SplitMix random(seed);
  std::vector<double> x(static_cast<std::size_t>(columns));
  for (double& value : x) value = random.below(2) == 0 ? -1 : 1;
  for (std::int64_t b = 0; b < shape->batch; ++b) {
    const std::vector<double> want = multiply_factors(*shape, inputs, b, x);
    for (std::int64_t i = 0; i < rows; ++i) {
      double got = 0;
      double squares = 0;  // sum of the squared tolerances of the row
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto flat = static_cast<std::size_t>((b * rows + i) * columns + j);
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

using Outputs = std::vector<PlainOutput>;

ErrorReply wrong_result(const Error& error) { return {Outcome::wrong_result, error.message()}; }

Outputs plain_outputs(const Workload& workload, const std::vector<AlignedBuffer>& buffers) {
  Outputs outputs;
  for (const ops::Tensor& tensor : workload_tensors(workload)) {
    if (tensor.role != ops::TensorRole::output) continue;
    outputs.push_back({&tensor, buffers[outputs.size()].data()});
  }
  return outputs;
}

// Returns the tolerance of a problem as the kernel computes it.
ops::Tolerance problem_tolerance(const ops::Problem& problem, const ops::Kernel& kernel) {
  if (kernel.summation() == ops::Summation::full) return problem.op->tolerance(problem);
  ops::Problem reduced = problem;
  reduced.math = ops::Math::fast_accumulation;
  return reduced.op->tolerance(reduced);
}

// Returns the tolerance of output `index`, which had the values `want` in the process of `sample`.
ops::Tolerance choose_tolerance(const Workload& workload, const ops::Kernel& kernel,
                                const OutputSample& sample, std::size_t index,
                                std::span<const double> want) {
  if (const auto* problem = std::get_if<ops::Problem>(&workload))
    return problem_tolerance(*problem, kernel);
  if (index < sample.tolerances.size()) return {sample.tolerances[index], 0};
  return network_tolerance(std::get<NetworkPair>(workload).network, want);
}

// Returns how many of `count` elements of an output may be beyond its tolerance.
std::int64_t permitted_beyond(const Workload& workload, std::size_t count) {
  const auto* pair = std::get_if<NetworkPair>(&workload);
  return pair == nullptr ? 0 : bench::permitted_beyond(pair->network, count);
}

Result<std::string, ErrorReply> check_against_reference(const ops::Problem& problem,
                                                        const ops::Kernel& kernel,
                                                        const Outputs& outputs,
                                                        const InputValues& values,
                                                        std::uint64_t seed) {
  const std::int64_t operations = problem.work.macs.value_or(problem.work.flops);
  const bool is_full = operations <= kMaxFullCheckOperations;
  const ops::Tolerance tolerance = problem_tolerance(problem, kernel);
  CheckSummary total;
  std::string method = is_full ? "full" : "seeded positions with borders";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::int64_t> positions =
        is_full ? std::vector<std::int64_t>() : check_positions(outputs[i].tensor->dims, seed);
    const auto want = ops::try_reference(problem, values, i, positions);
    if (!want) return failed_reply(want.error());
    Result<CheckSummary> summary = compare(outputs[i], positions, *want, tolerance);
    if (!summary) return wrong_result(summary.error());
    add(total, *summary);
    if (is_full) continue;
    if (const std::optional<Status> test = freivalds(problem, values, outputs[i], seed)) {
      if (!*test) return wrong_result(test->error());
      method += " and Freivalds' test";
    }
  }
  return format_check_summary(method, total);
}

// Compares the outputs with those of the first process. If the digests are equal, so are the
// outputs. Otherwise compares the same positions with a tolerance, because sums may be computed in
// another order.
Result<std::string, ErrorReply> check_against_expected(const Workload& workload,
                                                       const ops::Kernel& kernel,
                                                       const Outputs& outputs,
                                                       const OutputSample& sample,
                                                       const CheckRequest& request) {
  if (sample.digest == request.expected.digest) return std::string("equal to the first process");
  CheckSummary total;
  std::span<const double> remaining = request.expected.values;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::int64_t> positions =
        check_positions(outputs[i].tensor->dims, request.seed);
    if (positions.size() > remaining.size()) {
      return ErrorReply{Outcome::failed,
                        fmt::format("{} values do not fit this output", request.origin)};
    }
    const std::span<const double> want = remaining.first(positions.size());
    Result<CheckSummary> summary = compare(
        outputs[i], positions, want, choose_tolerance(workload, kernel, request.expected, i, want),
        permitted_beyond(workload, positions.size()));
    if (!summary) {
      return ErrorReply{
          Outcome::wrong_result,
          fmt::format("values differ from {}: {}", request.origin, summary.error().message())};
    }
    add(total, *summary);
    remaining = remaining.subspan(positions.size());
  }
  return format_check_summary("like the first process", total);
}

// Returns an error if the kernel did not write an element. NaN marks such elements in
// floating-point outputs. In integer outputs, a second run with a different poison value finds
// them.
Result<Done, ErrorReply> check_written(const Workload& workload, PreparedKernel& prepared,
                                       const Outputs& outputs) {
  bool has_integers = false;
  for (const PlainOutput& output : outputs) {
    if (Status found = find_unwritten(output); !found) return wrong_result(found.error());
    has_integers = has_integers || info(output.tensor->dtype).is_integer;
  }
  if (!has_integers) return Done{};
  if (auto run = prepared.run_with_other_poison(); !run) return to_error_reply(run.error());
  const auto again = prepared.outputs();
  if (!again) return failed_reply(again.error());
  const Outputs second = plain_outputs(workload, *again);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ops::Tensor& tensor = *outputs[i].tensor;
    if (!info(tensor.dtype).is_integer) continue;
    for (std::int64_t j = 0; j < tensor.elements(); ++j) {
      const auto index = static_cast<std::size_t>(j);
      const double got = load_element(tensor.dtype, outputs[i].data, index);
      if (got != load_element(tensor.dtype, second[i].data, index)) {
        return wrong_result(
            {format_element(tensor, j) + ": got another value in a second run: never written", "",
             ""});
      }
    }
  }
  return Done{};
}

}  // namespace

bool takes_next_engine(ops::Backend& backend, const Workload& workload, const ErrorReply& error) {
  const bool is_at_fault = error.outcome == Outcome::wrong_result ||
                           (error.outcome == Outcome::failed && !error.implementation.empty());
  return is_at_fault && std::holds_alternative<ops::Problem>(workload) &&
         backend.reject_last_engine(error.reason);
}

Result<Done, ErrorReply> verify_again(ops::Backend& backend, const Workload& workload,
                                      PreparedKernel& prepared, ops::Invocation* invocation,
                                      const CheckRequest& request, Clock& clock) {
  if (const Status run = prepared.run_again(invocation); !run) return failed_reply(run.error());
  const auto verified = verify(backend, workload, prepared, {}, request, clock);
  if (verified) return Done{};
  ErrorReply reply = verified.error();
  reply.reason = "after the samples: " + reply.reason;
  return reply;
}

Result<Verification, ErrorReply> verify(ops::Backend& backend, const Workload& workload,
                                        PreparedKernel& prepared, const InputValues& values,
                                        const CheckRequest& request, Clock& clock) {
  auto buffers = prepared.outputs();
  if (!buffers) return failed_reply(buffers.error());
  const Outputs outputs = plain_outputs(workload, *buffers);
  BENCH_RETURN_IF_ERROR(check_written(workload, prepared, outputs));
  OutputSample sample = sample_outputs(outputs, request.seed);
  const auto* problem = std::get_if<ops::Problem>(&workload);
  if (request.kind == CheckKind::reference && problem == nullptr) {
    BENCH_ASSIGN_OR_RETURN(NetworkCheck check,
                           check_against_twin(backend, workload, outputs, request, clock));
    sample.tolerances = std::move(check.tolerances);
    return Verification{std::move(check.text), std::move(sample)};
  }
  Result<std::string, ErrorReply> text =
      request.kind == CheckKind::expected
          ? check_against_expected(workload, prepared.kernel(), outputs, sample, request)
          : check_against_reference(*problem, prepared.kernel(), outputs, values, request.seed);
  if (!text) return std::move(text).error();
  return Verification{std::move(*text), std::move(sample)};
}

}  // namespace bench
