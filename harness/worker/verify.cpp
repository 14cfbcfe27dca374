// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/verify.hpp"

#include "base/data_type.hpp"
#include "harness/worker/check.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace bench {
namespace {

// A chain rounds once per layer, and each rounding is a few units in the last place of the layer's
// largest value. Errors grow with the root of the number of layers. For f32, each value is a sum of
// hundreds of products, hence the larger factor. 16-bit types round once after sums in f32.
constexpr double kChainUlpsF32 = 256;
constexpr double kChainUlpsOther = 4;

using Outputs = std::vector<PlainOutput>;

RefusedReply wrong(const Error& error) { return {Outcome::wrong_result, error.message()}; }

Outputs plain_outputs(const Subject& subject, const std::vector<AlignedBuffer>& buffers) {
  Outputs outputs;
  for (const ops::Tensor& tensor : subject_tensors(subject)) {
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

ops::Tolerance tolerance_of(const Subject& subject, std::span<const double> want) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) {
    return problem->op->tolerance(*problem);
  }
  return chain_tolerance(std::get<NetworkPair>(subject).network, want);
}

std::string agreement_text(std::string_view how, const Agreement& total) {
  return fmt::format("{}, {} elements, worst {:.2g} of tolerance", how, total.elements,
                     total.worst);
}

void add(Agreement& total, const Agreement& part) {
  total.elements += part.elements;
  total.worst = std::max(total.worst, part.worst);
}

Result<std::string, RefusedReply> against_reference(const ops::Problem& problem,
                                                    const Outputs& outputs,
                                                    const InputValues& values, std::uint64_t seed) {
  const std::int64_t operations = problem.work.macs.value_or(problem.work.flops);
  const bool full = operations <= kFullCheckOperations;
  const ops::Tolerance tolerance = problem.op->tolerance(problem);
  Agreement total;
  std::string how = full ? "full" : "seeded positions with borders";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::int64_t> positions =
        full ? std::vector<std::int64_t>() : check_positions(outputs[i].tensor->dims, seed);
    const auto want = ops::checked_reference(problem, values, i, positions);
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
  return agreement_text(how, total);
}

// Runs the other execution of the network on the same data and compares all elements.
Result<std::string, RefusedReply> against_twin(ops::Backend& backend, const Subject& subject,
                                               const Outputs& outputs, const CheckRequest& request,
                                               Clock& clock) {
  const std::optional<Subject> twin = twin_of(subject);
  if (!twin) return std::string("finite values; there is no second execution to compare with");
  auto other =
      Instance::build(backend, *twin, input_values(*twin, request.seed), clock, request.available);
  if (!other) {
    return RefusedReply{Outcome::failed,
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
        outputs[i], {}, want, chain_tolerance(std::get<NetworkPair>(subject).network, want));
    if (!agreement) return wrong(agreement.error());
    add(total, *agreement);
  }
  const bool fused = std::get<NetworkPair>(subject).network.fusion == ops::Fusion::fused;
  return agreement_text(fused ? "against the unfused chain" : "against the fused chain", total);
}

// Equal bits need no comparison. Otherwise it compares the same positions with a tolerance, because
// sums may be computed in another order.
Result<std::string, RefusedReply> against_expected(const Subject& subject, const Outputs& outputs,
                                                   const OutputSample& sample,
                                                   const CheckRequest& request) {
  if (sample.digest == request.expected.digest) return std::string("equal to the first process");
  Agreement total;
  std::span<const double> rest = request.expected.values;
  for (const PlainOutput& output : outputs) {
    const std::vector<std::int64_t> positions = check_positions(output.tensor->dims, request.seed);
    if (positions.size() > rest.size()) {
      return RefusedReply{Outcome::failed, "the first process's values do not fit this output"};
    }
    const std::span<const double> want = rest.first(positions.size());
    Result<Agreement> agreement = compare(output, positions, want, tolerance_of(subject, want));
    if (!agreement) {
      return RefusedReply{Outcome::wrong_result,
                          "values differ from the first process's: " + agreement.error().message()};
    }
    add(total, *agreement);
    rest = rest.subspan(positions.size());
  }
  return agreement_text("like the first process", total);
}

// NaN marks what a floating-point kernel left unwritten; for integers a second run with a different
// poison value finds it.
Status check_written(const Subject& subject, Instance& instance, const Outputs& outputs) {
  bool integers = false;
  for (const PlainOutput& output : outputs) {
    BENCH_RETURN_IF_ERROR(find_unwritten(output));
    integers = integers || info(output.tensor->dtype).is_integer;
  }
  if (!integers) return Done{};
  BENCH_RETURN_IF_ERROR(instance.run_again());
  BENCH_ASSIGN_OR_RETURN(const std::vector<AlignedBuffer> again, instance.outputs());
  const Outputs second = plain_outputs(subject, again);
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

Result<Verified, RefusedReply> verify(ops::Backend& backend, const Subject& subject,
                                      Instance& instance, const InputValues& values,
                                      const CheckRequest& request, Clock& clock) {
  auto buffers = instance.outputs();
  if (!buffers) return failed_reply(buffers.error());
  const Outputs outputs = plain_outputs(subject, *buffers);
  if (Status written = check_written(subject, instance, outputs); !written) {
    return wrong(written.error());
  }
  OutputSample sample = sample_outputs(outputs, request.seed);
  const auto* problem = std::get_if<ops::Problem>(&subject);
  Result<std::string, RefusedReply> text =
      request.kind == CheckKind::expected ? against_expected(subject, outputs, sample, request)
      : problem != nullptr ? against_reference(*problem, outputs, values, request.seed)
                           : against_twin(backend, subject, outputs, request, clock);
  if (!text) return std::move(text).error();
  return Verified{std::move(*text), std::move(sample)};
}

}  // namespace bench
