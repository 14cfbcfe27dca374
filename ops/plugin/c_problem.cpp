// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/c_problem.hpp"

#include "ops/operator.hpp"

#include <type_traits>

namespace bench::ops {
namespace {

// The interface's codes are this program's enumerators; a test checks each of them.
template <class Enumeration>
std::int32_t to_code(Enumeration value) {
  return static_cast<std::int32_t>(value);
}

void add_tensor(const Tensor& tensor, CList<bench_tensor>& list) {
  bench_tensor& row = list.add();
  row.name = tensor.name.c_str();
  row.role = to_code(tensor.role);
  row.dtype = to_code(tensor.dtype);
  row.dims = tensor.dims.data();
  row.rank = tensor.dims.size();
  row.touched = tensor.touched;
}

bench_work to_c_work(const Work& work) {
  return {sizeof(bench_work), work.macs ? 1 : 0, work.macs.value_or(0), work.flops,
          work.flops_valid,   work.sfu_ops,      work.bytes_read,       work.bytes_written};
}

}  // namespace

CProblem::CProblem(const Problem& problem)
    : op_(problem.op->name),
      tokens_(problem_tokens(problem)),
      work_(to_c_work(problem.work)),
      raw_{} {
  const auto table = problem.parameters.table();
  for (std::size_t i = 0; i < table.size(); ++i) add_value(table[i], problem.parameters.value(i));
  for (const PostOp& post_op : problem.post_ops) {
    bench_post_op& row = post_ops_.add();
    row.function = post_op.function.c_str();
    row.alpha = post_op.alpha;
    row.beta = post_op.beta;
  }
  for (const Tensor& tensor : problem.tensors) add_tensor(tensor, tensors_);
  raw_ = {.size = sizeof(bench_problem),
          .op = op_.c_str(),
          .direction = to_code(problem.direction),
          .dtype = to_code(problem.dtype),
          .layout = to_code(problem.layout),
          .math = to_code(problem.math),
          .tokens = tokens_.c_str(),
          .values = values_.data(),
          .value_count = values_.size(),
          .post_ops = post_ops_.data(),
          .post_op_count = post_ops_.size(),
          .tensors = tensors_.data(),
          .tensor_count = tensors_.size(),
          .input_count = problem.input_count(),
          .work = problem.tensors.empty() ? nullptr : &work_};
}

void CProblem::add_value(const Parameter& parameter, const Value& value) {
  bench_value& row = values_.add();
  row.name = names_.emplace_back(parameter.name).c_str();
  row.kind = to_code(parameter.kind);
  row.present = std::holds_alternative<std::monostate>(value) ? 0 : 1;
  if (const auto* count = std::get_if<std::int64_t>(&value)) row.integer = *count;
  if (const auto* flag = std::get_if<bool>(&value)) row.integer = *flag ? 1 : 0;
  if (const auto* real = std::get_if<double>(&value)) row.real = *real;
  if (const auto* word = std::get_if<std::string>(&value)) row.word = word->c_str();
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
    row.numbers = numbers->data();
    row.number_count = numbers->size();
  }
  if (const auto* pads = std::get_if<std::vector<PadPair>>(&value)) {
    std::vector<std::int64_t>& pad_values = pads_.emplace_back();
    for (const PadPair& pad : *pads) pad_values.insert(pad_values.end(), {pad.begin, pad.end});
    row.numbers = pad_values.data();
    row.number_count = pad_values.size();
  }
}

namespace {

std::vector<std::int32_t> codes_of(std::span<const Source> sources) {
  std::vector<std::int32_t> codes;
  for (const Source& source : sources) codes.push_back(source_code(source));
  return codes;
}

std::vector<std::int32_t> numbers_of(std::span<const Source> sources) {
  std::vector<std::int32_t> numbers;
  for (const Source& source : sources) {
    const bool is_parameter = source.kind == Source::Kind::parameter;
    numbers.push_back(static_cast<std::int32_t>(is_parameter ? source.index : source.output));
  }
  return numbers;
}

}  // namespace

CNetwork::CNetwork(const Network& network)
    : outputs_(codes_of(network.outputs)), output_numbers_(numbers_of(network.outputs)), raw_{} {
  for (const Node& node : network.nodes) {
    bench_node& row = nodes_.add();
    row.name = node.name.c_str();
    row.problem = problems_.emplace_back(node.problem).get();
    const auto& sources = sources_.emplace_back(codes_of(node.sources));
    row.sources = sources.data();
    row.source_count = sources.size();
    row.source_numbers = source_numbers_.emplace_back(numbers_of(node.sources)).data();
  }
  for (const Tensor& tensor : network.tensors) add_tensor(tensor, tensors_);
  for (const Network::ParameterPlace& place : network.parameter_places) {
    bench_place& row = places_.add();
    row.node = static_cast<std::int64_t>(place.node);
    row.tensor = static_cast<std::int64_t>(place.tensor);
  }
  raw_ = {.size = sizeof(bench_network),
          .name = network.name.c_str(),
          .batch = network.batch,
          .dtype = to_code(network.dtype),
          .training = network.mode == Mode::training ? 1 : 0,
          .fused = network.fusion == Fusion::fused ? 1 : 0,
          .nodes = nodes_.data(),
          .node_count = nodes_.size(),
          .tensors = tensors_.data(),
          .tensor_count = tensors_.size(),
          .places = places_.data(),
          .place_count = places_.size(),
          .input_nhwc = network.input_layout == Layout::nhwc ? 1 : 0,
          .outputs = outputs_.data(),
          .output_count = outputs_.size(),
          .output_numbers = output_numbers_.data()};
}

}  // namespace bench::ops
