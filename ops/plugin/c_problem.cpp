// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/c_problem.hpp"

#include "base/data_type.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/c_interface.hpp"

#include <fmt/format.h>

#include <utility>

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

Result<Problem> read_problem(const bench_request& request) {
  const std::string name = string_or_empty(request.op);
  const Operator* op = find_operator(name);
  if (op == nullptr) return Error{fmt::format("no built-in operator `{}`", name), "op", ""};
  const auto is_code = [](std::int32_t code, std::size_t count) {
    return code >= 0 && static_cast<std::size_t>(code) < count;
  };
  if (!is_code(request.direction, enumerator_names<Direction>().size()) ||
      !is_code(request.dtype, data_types().size()) ||
      !is_code(request.layout, enumerator_names<Layout>().size()) ||
      !is_code(request.math, enumerator_names<Math>().size())) {
    return Error{fmt::format("a request for `{}` with a code out of range", name), "", ""};
  }
  BENCH_ASSIGN_OR_RETURN(ProblemTokens tokens,
                         parse_problem_tokens(*op, string_or_empty(request.tokens)));
  return make_problem({.op = op,
                       .direction = static_cast<Direction>(request.direction),
                       .dtype = static_cast<DataType>(request.dtype),
                       .layout = static_cast<Layout>(request.layout),
                       .math = static_cast<Math>(request.math),
                       .parameters = std::move(tokens.parameters),
                       .post_ops = std::move(tokens.post_ops)});
}

}  // namespace bench::ops
