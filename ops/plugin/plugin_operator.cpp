// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/plugin.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::int32_t kParameterKindCount = 7;
constexpr std::int32_t kDirectionCount = 3;
constexpr std::int32_t kTensorRoleCount = 3;
// For an operator without its own tolerance: roundings before the last one.
constexpr double kDefaultRoundings = 8;

ParameterDescription describe(const bench_parameter& parameter) {
  ParameterDescription result{string_or_empty(parameter.name),
                              string_or_empty(parameter.token),
                              static_cast<ParameterKind>(parameter.kind),
                              string_or_empty(parameter.fallback),
                              string_or_empty(parameter.help),
                              parameter.minimum,
                              {}};
  for (std::size_t i = 0; i < parameter.word_count; ++i) {
    result.words.push_back(string_or_empty(parameter.words[i]));
  }
  return result;
}

OperatorDescription describe(const bench_operator& op) {
  OperatorDescription result{
      string_or_empty(op.name), string_or_empty(op.help), {}, {}, op.takes_post_ops != 0};
  for (std::size_t i = 0; i < op.parameter_count; ++i) {
    result.parameters.push_back(describe(*op.parameters[i]));
  }
  for (std::size_t i = 0; i < op.direction_count; ++i) {
    result.directions.push_back(static_cast<Direction>(op.directions[i]));
  }
  return result;
}

// Receives what a plugin's model() writes, and keeps the first error.
class ModelReceiver {
 public:
  explicit ModelReceiver(const bench_operator& op)
      : op_(op), raw_{sizeof(bench_model), this, add_tensor, add_formula, set_work} {}

  const bench_model* get() const { return &raw_; }
  Result<Model> finish() &&;

 private:
  static bench_status add_tensor(void* self, const bench_tensor* tensor) {
    auto& receiver = *static_cast<ModelReceiver*>(self);
    return receiver.record(tensor == nullptr ? receiver.make_error("has no tensor")
                                             : receiver.add(*tensor));
  }
  static bench_status add_formula(void* self, const bench_formula* formula) {
    auto& receiver = *static_cast<ModelReceiver*>(self);
    if (formula == nullptr) return receiver.record(receiver.make_error("has no formula"));
    receiver.model_.formulas.push_back({string_or_empty(formula->name),
                                        string_or_empty(formula->expression),
                                        string_or_empty(formula->values), formula->result});
    return BENCH_OK;
  }
  static bench_status set_work(void* self, const bench_work* work) {
    auto& receiver = *static_cast<ModelReceiver*>(self);
    return receiver.record(work == nullptr ? receiver.make_error("has no work")
                                           : receiver.set(*work));
  }

  Error make_error(std::string what) const {
    return {fmt::format("the model of `{}` {}", string_or_empty(op_.name), what), "",
            "this is a bug in the plugin"};
  }
  bench_status record(const Status& status) {
    if (status.ok()) return BENCH_OK;
    if (!error_) error_ = status.error();
    return BENCH_INVALID;
  }
  Status add(const bench_tensor& row);
  Status set(const bench_work& work);

  const bench_operator& op_;
  bench_model raw_;
  Model model_;
  bool has_outputs_ = false;
  std::optional<Error> error_;
};

Status ModelReceiver::add(const bench_tensor& row) {
  const std::string name = string_or_empty(row.name);
  if (name.empty()) return make_error("has a tensor without a name");
  if (row.role < 0 || row.role >= kTensorRoleCount) {
    return make_error(fmt::format("gives the tensor `{}` the unknown role {}", name, row.role));
  }
  if (row.dtype < 0 || static_cast<std::size_t>(row.dtype) >= data_types().size()) {
    return make_error(fmt::format("gives the tensor `{}` the unknown type {}", name, row.dtype));
  }
  if (row.rank == 0 || row.rank > kMaxPluginDimensions || row.dims == nullptr) {
    return make_error(fmt::format("gives the tensor `{}` {} dimensions", name, row.rank));
  }
  const auto role = static_cast<TensorRole>(row.role);
  if (has_outputs_ && role != TensorRole::output) {
    return make_error(fmt::format("has `{}` after its outputs", name));
  }
  has_outputs_ = role == TensorRole::output;
  std::vector<std::string> names;  // for errors
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < row.rank; ++i) {
    if (row.dims[i] < 1) {
      return make_error(fmt::format("gives the tensor `{}` a dimension of {}", name, row.dims[i]));
    }
    names.push_back(fmt::format("dimension {}", i));
  }
  for (std::size_t i = 0; i < row.rank; ++i) extents.push_back({names[i], row.dims[i]});
  auto created = make_tensor(name, role, static_cast<DataType>(row.dtype), extents);
  if (!created.ok())
    return Error{created.error().what, "", ""};  // its `where` is not a parameter of the operator
  Tensor tensor = std::move(created).value();
  if (row.touched > tensor.touched) {
    return make_error(fmt::format("touches {} elements of `{}`, which has {}", row.touched, name,
                                  tensor.touched));
  }
  if (row.touched >= 0) tensor.touched = row.touched;
  model_.tensors.push_back(std::move(tensor));
  return Done{};
}

Status ModelReceiver::set(const bench_work& work) {
  if (work.macs < 0 || work.flops < 0 || work.flops_valid < 0 || work.sfu_ops < 0) {
    return make_error("has a negative count of operations: an overflow");
  }
  if (work.has_macs != 0) model_.work.macs = work.macs;
  model_.work.flops = work.flops;
  model_.work.flops_valid = work.flops_valid;
  model_.work.sfu_ops = work.sfu_ops;
  return Done{};
}

Result<Model> ModelReceiver::finish() && {
  if (error_) return *std::move(error_);
  if (!has_outputs_) return make_error("has no output");
  BENCH_RETURN_IF_ERROR(count_bytes(model_.tensors, model_.work));
  model_.formulas.push_back(bytes_formula(model_.tensors));
  return std::move(model_);
}

Result<Model> call_model(const bench_operator& op, const Problem& problem) {
  const CProblem c_problem(problem);
  if (op.check != nullptr) {
    CMessage message;
    if (op.check(op.self, c_problem.get(), message.get()) != BENCH_OK) {
      return message.error(fmt::format("`{}` refuses these parameters", problem.op->name));
    }
  }
  CMessage message;
  ModelReceiver receiver(op);
  const bench_status status = op.model(op.self, c_problem.get(), receiver.get(), message.get());
  Result<Model> model = std::move(receiver).finish();
  if (status == BENCH_OK) return model;
  // The plugin may have failed only because the host returned an error to it.
  if (message.silent() && !model.ok()) return model;
  return message.error(fmt::format("the model of `{}` failed", problem.op->name));
}

Result<std::vector<double>> call_reference(const bench_operator& op, const Problem& problem,
                                           ReferenceInputs inputs, std::size_t output,
                                           std::span<const std::int64_t> positions) {
  const CProblem c_problem(problem);
  std::vector<const double*> addresses;
  for (const std::vector<double>& input : inputs) addresses.push_back(input.data());
  const Tensor& tensor = problem.tensors[problem.input_count() + output];
  std::vector<double> values(positions.empty() ? static_cast<std::size_t>(tensor.elements())
                                               : positions.size());
  CMessage message;
  const bench_status status = op.reference(op.self, c_problem.get(), addresses.data(), output,
                                           positions.empty() ? nullptr : positions.data(),
                                           values.size(), values.data(), message.get());
  if (status == BENCH_OK) return values;
  return message.error(fmt::format("the reference of `{}` failed", problem.op->name));
}

Tolerance call_tolerance(const bench_operator& op, const Problem& problem) {
  const DataType type = problem.output().dtype;
  Tolerance result = rounding_tolerance(type, kDefaultRoundings, 0);
  if (op.tolerance == nullptr) return result;
  const CProblem c_problem(problem);
  op.tolerance(op.self, c_problem.get(), &result.absolute, &result.relative);
  return result;
}

}  // namespace

Status check_operator_description(const bench_operator& op) {
  const std::string name = string_or_empty(op.name);
  if (op.direction_count > 0 && op.directions == nullptr) {
    return Error{fmt::format("its operator `{}` has no list of its directions", name), "", ""};
  }
  for (std::size_t i = 0; i < op.direction_count; ++i) {
    if (op.directions[i] >= 0 && op.directions[i] < kDirectionCount) continue;
    return Error{fmt::format("its operator `{}` has the direction {}", name, op.directions[i]), "",
                 ""};
  }
  for (std::size_t i = 0; i < op.parameter_count; ++i) {
    const bench_parameter& parameter = *op.parameters[i];
    const bool has_words = parameter.word_count == 0 || parameter.words != nullptr;
    if (has_words && parameter.kind >= 0 && parameter.kind < kParameterKindCount) continue;
    return Error{fmt::format("its operator `{}` has a parameter `{}` of kind {} or without words",
                             name, string_or_empty(parameter.name), parameter.kind),
                 "", ""};
  }
  return check_description(describe(op));
}

std::shared_ptr<const Operator> make_plugin_operator(const bench_operator& op) {
  const bench_operator* row = &op;
  return make_described_operator(
      describe(op),
      {.model = [row](const Problem& problem) { return call_model(*row, problem); },
       .reference =
           [row](const Problem& problem, ReferenceInputs inputs, std::size_t output,
                 std::span<const std::int64_t> positions) {
             return call_reference(*row, problem, inputs, output, positions);
           },
       .tolerance = [row](const Problem& problem) { return call_tolerance(*row, problem); }});
}

}  // namespace bench::ops
