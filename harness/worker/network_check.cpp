// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/network_check.hpp"

#include "base/data_type.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Tolerance per layer of a network, in units in the last place (ulps) of the largest value. Errors
// grow with the root of the number of layers. For f32, each value is a sum of hundreds of products,
// hence the larger factor. 16-bit types round once after sums in f32.
constexpr double kChainUlpsF32 = 256;
constexpr double kChainUlpsOther = 4;

// Permitted difference of a step of training, in multiples of what a rounding of all inputs moves.
// Every layer rounds, not only the inputs: the gradient of ResNet-50's first convolution in f32, by
// PyTorch, differs by 2 % from that in f64, and a rounding of the images alone changes it by 1 %.
constexpr double kMovesPermitted = 8;
// Number of runs that show what a rounding moves. One of them may move a value little by chance.
constexpr std::uint64_t kMovedRuns = 3;

// Permitted share of elements beyond the tolerance in a step of training. Where a ReLU's input is
// so near to 0 that rounding determines its sign, the gradient of that element is a whole value or
// 0. It changes one channel of each output, of 64 or more in the networks that are measured.
constexpr double kShareBeyond = 0.02;

std::vector<double> load(const PlainOutput& output) {
  std::vector<double> values(static_cast<std::size_t>(output.tensor->elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = load_element(output.tensor->dtype, output.data, i);
  return values;
}

// Returns the inputs, each floating-point value replaced by one next to it, above or below at
// random.
InputValues move_by_one_rounding(std::span<const ops::Tensor> tensors, InputValues inputs,
                                 std::uint64_t seed) {
  SplitMix random(seed);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DataTypeInfo& type = info(tensors[i].dtype);
    if (type.is_integer) continue;
    for (double& value : inputs[i]) {
      const double sign = random.below(2) == 0 ? -1 : 1;
      value = round_to(tensors[i].dtype, value * (1 + sign * type.epsilon));
    }
  }
  return inputs;
}

// The twin of a network, which is created for each run.
class Twin {
 public:
  Twin(ops::Backend& backend, Workload workload, const CheckRequest& request, Clock& clock)
      : backend_(backend), workload_(std::move(workload)), request_(request), clock_(clock) {}

  std::span<const ops::Tensor> tensors() const { return workload_tensors(workload_); }
  InputValues inputs() const { return input_values(workload_, request_.seed); }
  Result<std::vector<AlignedBuffer>, ErrorReply> run(const InputValues& inputs) {
    auto kernel = PreparedKernel::build(backend_, workload_, inputs, clock_, request_.available);
    if (!kernel) {
      return ErrorReply{Outcome::failed,
                        "the network's result cannot be checked, since its other execution does "
                        "not run: " +
                            kernel.error().reason};
    }
    auto buffers = kernel->outputs();
    if (!buffers) return failed_reply(buffers.error());
    return std::move(buffers).value();
  }

 private:
  ops::Backend& backend_;
  Workload workload_;
  const CheckRequest& request_;
  Clock& clock_;
};

// Returns by how much a rounding of the inputs moves each output at most.
Result<std::vector<double>, ErrorReply> find_moves(Twin& twin, const InputValues& inputs,
                                                   std::span<const PlainOutput> expected,
                                                   std::uint64_t seed) {
  std::vector<double> moves(expected.size(), 0.0);
  for (std::uint64_t run = 0; run < kMovedRuns; ++run) {
    BENCH_ASSIGN_OR_RETURN(const std::vector<AlignedBuffer> moved,
                           twin.run(move_by_one_rounding(twin.tensors(), inputs, seed + run)));
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const std::vector<double> before = load(expected[i]);
      const std::vector<double> after = load({expected[i].tensor, moved[i].data()});
      for (std::size_t j = 0; j < before.size(); ++j)
        moves[i] = std::max(moves[i], std::abs(after[j] - before[j]));
    }
  }
  return moves;
}

// Returns the tolerance of each output. `moves`: find_moves() of them, or empty.
std::vector<ops::Tolerance> find_tolerances(const ops::Network& network,
                                            std::span<const PlainOutput> expected,
                                            std::span<const double> moves) {
  std::vector<ops::Tolerance> tolerances;
  for (const PlainOutput& output : expected) {
    tolerances.push_back(network_tolerance(network, load(output)));
    if (!moves.empty())
      tolerances.back().absolute += kMovesPermitted * moves[tolerances.size() - 1];
  }
  return tolerances;
}

std::string_view describe_twin(const ops::Network& network) {
  if (network.mode == ops::Mode::training) return "against the step in plain layouts";
  return network.fusion == ops::Fusion::fused ? "against the unfused chain"
                                              : "against the fused chain";
}

}  // namespace

ops::Tolerance network_tolerance(const ops::Network& network, std::span<const double> want) {
  double largest = 0;
  for (const double value : want) largest = std::max(largest, std::abs(value));
  const double ulps = network.dtype == DataType::f32 ? kChainUlpsF32 : kChainUlpsOther;
  const double layers =
      std::sqrt(static_cast<double>(std::max<std::size_t>(network.nodes.size(), 1)));
  return {info(network.dtype).epsilon * ulps * layers * largest, 0};
}

std::int64_t permitted_beyond(const ops::Network& network, std::size_t count) {
  if (network.mode != ops::Mode::training) return 0;
  return std::max<std::int64_t>(1, std::llround(kShareBeyond * static_cast<double>(count)));
}

Result<NetworkCheck, ErrorReply> check_against_twin(ops::Backend& backend, const Workload& workload,
                                                    std::span<const PlainOutput> outputs,
                                                    const CheckRequest& request, Clock& clock) {
  std::optional<Workload> other = make_twin(workload);
  if (!other)
    return NetworkCheck{"finite values; there is no second execution to compare with", {}};
  const ops::Network& network = std::get<NetworkPair>(workload).network;
  Twin twin(backend, *std::move(other), request, clock);
  const InputValues inputs = twin.inputs();
  BENCH_ASSIGN_OR_RETURN(const std::vector<AlignedBuffer> buffers, twin.run(inputs));
  std::vector<PlainOutput> expected;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expected.push_back({outputs[i].tensor, buffers[i].data()});
  std::vector<double> moves;
  if (network.mode == ops::Mode::training) {
    BENCH_ASSIGN_OR_RETURN(moves, find_moves(twin, inputs, expected, request.seed));
  }
  const std::vector<ops::Tolerance> tolerances = find_tolerances(network, expected, moves);
  NetworkCheck check;
  CheckSummary total;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<double> want = load(expected[i]);
    const auto part =
        compare(outputs[i], {}, want, tolerances[i], permitted_beyond(network, want.size()));
    if (!part) return ErrorReply{Outcome::wrong_result, part.error().message()};
    add(total, *part);
    if (!moves.empty()) check.tolerances.push_back(tolerances[i].absolute);
  }
  check.text = format_check_summary(describe_twin(network), total);
  return check;
}

}  // namespace bench
