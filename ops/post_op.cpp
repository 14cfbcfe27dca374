// SPDX-License-Identifier: Apache-2.0
#include "ops/post_op.hpp"

#include "base/checked.hpp"
#include "ops/foreign_words.hpp"
#include "ops/number_text.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace bench::ops {
namespace {

constexpr std::string_view kAdd = "add";
constexpr std::string_view kNumberStart = "0123456789.-";

std::vector<std::string_view> post_op_names() {
  std::vector<std::string_view> names{kAdd};
  for (const UnaryFunction& function : unary_functions()) names.push_back(function.name);
  return names;
}

// Returns the function with the longest name that is a prefix of `text`, or nullptr if there is
// none. After the name, `text` must end or continue with a number.
const UnaryFunction* find_leading_function(std::string_view text) {
  const UnaryFunction* best = nullptr;
  for (const UnaryFunction& function : unary_functions()) {
    if (!text.starts_with(function.name)) continue;
    const std::string_view remaining = text.substr(function.name.size());
    const bool is_complete_name =
        remaining.empty() || kNumberStart.find(remaining.front()) != std::string_view::npos;
    if (is_complete_name && (best == nullptr || function.name.size() > best->name.size()))
      best = &function;
  }
  return best;
}

// Reads "0.1" or "-1_1" into the coefficients. Returns false if the text does not have that form.
bool read_coefficients(std::string_view text, int coefficients, PostOp& post_op) {
  double* const targets[] = {&post_op.alpha, &post_op.beta};
  for (int i = 0; i < coefficients; ++i) {
    if (i > 0) {
      if (text.empty()) return true;  // only alpha: beta keeps its default
      if (!text.starts_with('_')) return false;
      text.remove_prefix(1);
    }
    const std::optional<double> number = read_real(text);
    if (!number) return false;
    *targets[i] = *number;
  }
  return text.empty();
}

Tensor make_residual(const Tensor& output, std::size_t number) {
  Tensor residual = output;
  residual.name = number == 1 ? "residual" : fmt::format("residual_{}", number);
  residual.role = TensorRole::input;
  residual.touched = residual.elements();
  return residual;
}

Status add_counts(Model& model, Checked flops, Checked sfu_ops) {
  BENCH_ASSIGN_OR_RETURN(model.work.flops,
                         in_range(Checked(model.work.flops) + flops, "flops", "post_ops"));
  BENCH_ASSIGN_OR_RETURN(model.work.flops_valid, in_range(Checked(model.work.flops_valid) + flops,
                                                          "flops_valid", "post_ops"));
  BENCH_ASSIGN_OR_RETURN(model.work.sfu_ops, in_range(Checked(model.work.sfu_ops) + sfu_ops,
                                                      "special-function operations", "post_ops"));
  return Done{};
}

// Rounds integer outputs to nearest and saturates them, as kernels do after an f32 bias. Returns
// other outputs unchanged.
std::vector<double> round_integers(const Problem& problem, std::vector<double> values) {
  const DataType dtype = problem.output().dtype;
  if (!info(dtype).is_integer) return values;
  round_all_to(dtype, values);
  return values;
}

}  // namespace

Result<PostOp> parse_post_op(std::string_view text) {
  if (text == kAdd) return PostOp{std::string(kAdd)};
  const UnaryFunction* function = find_leading_function(text);
  if (function == nullptr) {
    return Error{fmt::format("unknown post-op `{}`", text), "post_ops",
                 expected_word(text, post_op_names())};
  }
  PostOp post_op{std::string(function->name), function->alpha, function->beta};
  const std::string_view numbers = text.substr(function->name.size());
  if (!numbers.empty() && !read_coefficients(numbers, function->coefficients, post_op)) {
    return Error{fmt::format("post-op `{}` takes {} numbers, found `{}`", function->name,
                             function->coefficients, numbers),
                 "post_ops", "numbers are joined by `_`, as in `clip-1_1`"};
  }
  return post_op;
}

std::string format_post_op(const PostOp& post_op) {
  const UnaryFunction* function = find_unary_function(post_op.function);
  if (function == nullptr || function->coefficients == 0 ||
      (post_op.alpha == function->alpha && post_op.beta == function->beta)) {
    return post_op.function;
  }
  std::string text = post_op.function + format_real(post_op.alpha);
  if (function->coefficients == 2) text += "_" + format_real(post_op.beta);
  return text;
}

bool is_residual(const Tensor& tensor) { return tensor.name.starts_with("residual"); }

Status add_post_ops(std::span<const PostOp> post_ops, Model& model) {
  if (post_ops.empty()) return Done{};
  const auto find_output = [&] {
    return std::ranges::find(model.tensors, TensorRole::output, &Tensor::role);
  };
  const Tensor output = *find_output();
  const Checked elements = output.elements();
  std::size_t residuals = 0;
  for (const PostOp& post_op : post_ops) {
    const UnaryFunction* function = find_unary_function(post_op.function);
    ElementWork work{.flops = 1, .sfu_ops = 0};
    if (function != nullptr) {
      work = function->forward;
    } else if (post_op.function == kAdd) {
      model.tensors.insert(find_output(), make_residual(output, ++residuals));
    } else {
      return Error{fmt::format("unknown post-op `{}`", post_op.function), "post_ops",
                   expected_word(post_op.function, post_op_names())};
    }
    BENCH_RETURN_IF_ERROR(add_counts(model, elements * work.flops, elements * work.sfu_ops));
    model.formulas.push_back({"flops of " + post_op.function,
                              fmt::format("{} * elements of {}", work.flops, output.name),
                              fmt::format("{}*{}", work.flops, *elements.value()),
                              *(elements * work.flops).value()});
  }
  BENCH_RETURN_IF_ERROR(count_bytes(model.tensors, model.work));
  // Replaces the operator's own formula for bytes, which does not include the residuals.
  std::erase_if(model.formulas, [](const Formula& formula) { return formula.name == "bytes"; });
  model.formulas.push_back(bytes_formula(model.tensors));
  return Done{};
}

std::vector<double> built_in_reference(const Problem& problem, ReferenceInputs inputs,
                                       std::size_t output,
                                       std::span<const std::int64_t> positions) {
  return try_reference(problem, inputs, output, positions).value();
}

Result<std::vector<double>> try_reference(const Problem& problem, ReferenceInputs inputs,
                                          std::size_t output,
                                          std::span<const std::int64_t> positions) {
  BENCH_ASSIGN_OR_RETURN(std::vector<double> values,
                         problem.op->reference(problem, inputs, output, positions));
  if (output != 0) return values;
  const auto residual_count =
      static_cast<std::size_t>(std::ranges::count(problem.post_ops, kAdd, &PostOp::function));
  std::size_t residual = problem.input_count() - residual_count;
  for (const PostOp& post_op : problem.post_ops) {
    const UnaryFunction* function = find_unary_function(post_op.function);
    if (function != nullptr) {
      for (double& value : values) value = function->value(value, post_op.alpha, post_op.beta);
      continue;
    }
    const std::vector<double>& addend = inputs[residual++];
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += addend[positions.empty() ? i : static_cast<std::size_t>(positions[i])];
    }
  }
  return round_integers(problem, std::move(values));
}

}  // namespace bench::ops
