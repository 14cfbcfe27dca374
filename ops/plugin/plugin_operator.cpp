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

constexpr std::int32_t kParameterKinds = 7;
constexpr std::int32_t kDirections = 3;
constexpr std::int32_t kTensorRoles = 3;
constexpr std::size_t kMaxDimensions = 12;  // the limit of the CPU library
// For an operator without its own tolerance: roundings before the last one.
constexpr double kDefaultSteps = 8;

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
class Sink {
 public:
  explicit Sink(const bench_operator& op)
      : op_(op), raw_{sizeof(bench_model), this, add_tensor, add_formula, set_work} {}

  const bench_model* get() const { return &raw_; }
  Result<Model> finish() &&;

 private:
  static bench_status add_tensor(void* self, const bench_tensor* tensor) {
    auto& sink = *static_cast<Sink*>(self);
    return sink.keep(tensor == nullptr ? sink.fault("has no tensor") : sink.add(*tensor));
  }
  static bench_status add_formula(void* self, const bench_formula* formula) {
    auto& sink = *static_cast<Sink*>(self);
    if (formula == nullptr) return sink.keep(sink.fault("has no formula"));
    sink.model_.formulas.push_back({string_or_empty(formula->name),
                                    string_or_empty(formula->expression),
                                    string_or_empty(formula->values), formula->result});
    return BENCH_OK;
  }
  static bench_status set_work(void* self, const bench_work* work) {
    auto& sink = *static_cast<Sink*>(self);
    return sink.keep(work == nullptr ? sink.fault("has no work") : sink.set(*work));
  }

  Error fault(std::string what) const {
    return {fmt::format("the model of `{}` {}", string_or_empty(op_.name), what), "",
            "this is a bug in the plugin"};
  }
  bench_status keep(const Status& status) {
    if (status.ok()) return BENCH_OK;
    if (!error_) error_ = status.error();
    return BENCH_INVALID;
  }
  Status add(const bench_tensor& given);
  Status set(const bench_work& work);

  const bench_operator& op_;
  bench_model raw_;
  Model model_;
  bool has_outputs_ = false;
  std::optional<Error> error_;
};

Status Sink::add(const bench_tensor& given) {
  const std::string name = string_or_empty(given.name);
  if (name.empty()) return fault("has a tensor without a name");
  if (given.role < 0 || given.role >= kTensorRoles) {
    return fault(fmt::format("gives the tensor `{}` the unknown role {}", name, given.role));
  }
  if (given.dtype < 0 || static_cast<std::size_t>(given.dtype) >= data_types().size()) {
    return fault(fmt::format("gives the tensor `{}` the unknown type {}", name, given.dtype));
  }
  if (given.rank == 0 || given.rank > kMaxDimensions || given.dims == nullptr) {
    return fault(fmt::format("gives the tensor `{}` {} dimensions", name, given.rank));
  }
  const auto role = static_cast<TensorRole>(given.role);
  if (has_outputs_ && role != TensorRole::output) {
    return fault(fmt::format("has `{}` after its outputs", name));
  }
  has_outputs_ = role == TensorRole::output;
  std::vector<std::string> names;  // for errors
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < given.rank; ++i) {
    if (given.dims[i] < 1) {
      return fault(fmt::format("gives the tensor `{}` a dimension of {}", name, given.dims[i]));
    }
    names.push_back(fmt::format("dimension {}", i));
  }
  for (std::size_t i = 0; i < given.rank; ++i) extents.push_back({names[i], given.dims[i]});
  auto made = make_tensor(name, role, static_cast<DataType>(given.dtype), extents);
  if (!made.ok()) return Error{made.error().what, "", ""};  // the place is not a parameter
  Tensor tensor = std::move(made).value();
  if (given.touched > tensor.touched) {
    return fault(fmt::format("touches {} elements of `{}`, which has {}", given.touched, name,
                             tensor.touched));
  }
  if (given.touched >= 0) tensor.touched = given.touched;
  model_.tensors.push_back(std::move(tensor));
  return Done{};
}

Status Sink::set(const bench_work& work) {
  if (work.macs < 0 || work.flops < 0 || work.flops_valid < 0 || work.sfu_ops < 0) {
    return fault("has a negative count of operations: an overflow");
  }
  if (work.has_macs != 0) model_.work.macs = work.macs;
  model_.work.flops = work.flops;
  model_.work.flops_valid = work.flops_valid;
  model_.work.sfu_ops = work.sfu_ops;
  return Done{};
}

Result<Model> Sink::finish() && {
  if (error_) return *std::move(error_);
  if (!has_outputs_) return fault("has no output");
  BENCH_RETURN_IF_ERROR(count_bytes(model_.tensors, model_.work));
  model_.formulas.push_back(bytes_formula(model_.tensors));
  return std::move(model_);
}

Result<Model> call_model(const bench_operator& op, const Problem& problem) {
  const CProblem given(problem);
  if (op.check != nullptr) {
    CMessage message;
    if (op.check(op.self, given.get(), message.get()) != BENCH_OK) {
      return message.error(fmt::format("`{}` refuses these parameters", problem.op->name));
    }
  }
  CMessage message;
  Sink sink(op);
  const bench_status status = op.model(op.self, given.get(), sink.get(), message.get());
  Result<Model> model = std::move(sink).finish();
  if (status == BENCH_OK) return model;
  // The plugin may only have returned an error that the host found.
  if (message.silent() && !model.ok()) return model;
  return message.error(fmt::format("the model of `{}` failed", problem.op->name));
}

Result<std::vector<double>> call_reference(const bench_operator& op, const Problem& problem,
                                           ReferenceInputs inputs, std::size_t output,
                                           std::span<const std::int64_t> positions) {
  const CProblem given(problem);
  std::vector<const double*> addresses;
  for (const std::vector<double>& input : inputs) addresses.push_back(input.data());
  const Tensor& tensor = problem.tensors[problem.input_count() + output];
  std::vector<double> values(positions.empty() ? static_cast<std::size_t>(tensor.elements())
                                               : positions.size());
  CMessage message;
  const bench_status status = op.reference(op.self, given.get(), addresses.data(), output,
                                           positions.empty() ? nullptr : positions.data(),
                                           values.size(), values.data(), message.get());
  if (status == BENCH_OK) return values;
  return message.error(fmt::format("the reference of `{}` failed", problem.op->name));
}

Tolerance call_tolerance(const bench_operator& op, const Problem& problem) {
  const DataType type = problem.tensors[problem.input_count()].dtype;
  Tolerance result = rounding_tolerance(type, kDefaultSteps, 0);
  if (op.tolerance == nullptr) return result;
  const CProblem given(problem);
  op.tolerance(op.self, given.get(), &result.absolute, &result.relative);
  return result;
}

}  // namespace

Status check_operator_description(const bench_operator& op) {
  const std::string name = string_or_empty(op.name);
  if (op.direction_count > 0 && op.directions == nullptr) {
    return Error{fmt::format("its operator `{}` has no list of its directions", name), "", ""};
  }
  for (std::size_t i = 0; i < op.direction_count; ++i) {
    if (op.directions[i] >= 0 && op.directions[i] < kDirections) continue;
    return Error{fmt::format("its operator `{}` has the direction {}", name, op.directions[i]), "",
                 ""};
  }
  for (std::size_t i = 0; i < op.parameter_count; ++i) {
    const bench_parameter& parameter = *op.parameters[i];
    const bool words = parameter.word_count == 0 || parameter.words != nullptr;
    if (words && parameter.kind >= 0 && parameter.kind < kParameterKinds) continue;
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
