// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"

#include "ops/data_types.hpp"
#include "ops/model.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <set>
#include <utility>

namespace bench::ops {
namespace {

// Names of the problem itself.
constexpr std::string_view kInteger = "integer", kElementBytes = "element_bytes";
constexpr std::array<std::string_view, 5> kCaseNames = {
    "forward", "backward_data", "backward_weights", kInteger, kElementBytes};

constexpr std::string_view kEach = "each";
bool is_case_name(std::string_view name) {
  return std::ranges::find(kCaseNames, name) != kCaseNames.end();
}

ExpressionValue numbers_value(const std::vector<std::int64_t>& numbers) {
  ExpressionList list;
  for (const std::int64_t number : numbers) list.push_back({number});
  return ExpressionValue::of(std::move(list));
}

// The value of a parameter. One that is not set is an empty list, so that a list of sizes leaves it
// out.
ExpressionValue parameter_value(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return ExpressionValue::of(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return ExpressionValue::of(*flag ? 1 : 0);
  if (const auto* real = std::get_if<double>(&value)) {
    return ExpressionValue::of(*real > 0 ? 1 : *real < 0 ? -1 : 0);
  }
  if (const auto* word = std::get_if<std::string>(&value)) return ExpressionValue::of(*word);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    return numbers_value(*list);
  }
  return ExpressionValue::of(ExpressionList{});
}

std::string value_text(const ExpressionValue& value) {
  if (value.kind == ExpressionValue::Kind::word) return value.word;
  std::vector<std::int64_t> numbers;
  for (const ExpressionNumber& number : value.numbers) numbers.push_back(number.value.value_or(0));
  return join_dims(numbers);
}

Checked to_checked(const ExpressionNumber& number) {
  return number.value ? Checked(*number.value) : Checked(INT64_MAX) + 1;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return words;
}

// Sets the parameters of "parameter=value" pairs.
void apply_settings(std::string_view settings, ParameterSet& set) {
  for (const std::string_view setting : split_words(settings)) {
    const std::size_t equals = setting.find('=');
    const Parameter* parameter = find_parameter(set.table(), setting.substr(0, equals));
    assert(equals != std::string_view::npos && parameter != nullptr);
    auto value = constant_default(parameter->kind, setting.substr(equals + 1));
    assert(value && "a setting that is not a value of its parameter");
    set.set(parameter->name, *std::move(value));
  }
}

DataType element_type(ElementType type, DataType dtype) {
  const OperandTypes product = operand_types(dtype);
  switch (type) {
    case ElementType::of_case:
      return dtype;
    case ElementType::statistic:
      return dtype == DataType::f64 ? DataType::f64 : DataType::f32;
    case ElementType::source:
      return product.source;
    case ElementType::weights:
      return product.weights;
    case ElementType::destination:
      return product.destination;
    case ElementType::index:
      return DataType::s32;
    case ElementType::converted:
      return dtype;  // without the parameter
    case ElementType::f32:
      return DataType::f32;
    case ElementType::bf16:
      return DataType::bf16;
    case ElementType::s32:
      return DataType::s32;
    case ElementType::s8:
      return DataType::s8;
    case ElementType::u8:
      return DataType::u8;
  }
  return dtype;
}

}  // namespace

// A description with the parameters of one case: evaluates its expressions.
class DescribedCase {
 public:
  DescribedCase(const CompiledDescription& description, const ParameterSet& parameters,
                Direction direction = Direction::forward, DataType dtype = DataType::f32)
      : description_(description), parameters_(parameters), direction_(direction), dtype_(dtype) {}

  ExpressionValue evaluate(const Expression& expression) const {
    auto value = expression.evaluate_any([&](const std::string& name) { return find(name); });
    assert(value.ok() && "a description whose expression has no value for a valid case");
    return value.ok() ? *std::move(value) : ExpressionValue::of(ExpressionNumber{});
  }
  ExpressionNumber number(const Expression& expression) const {
    const ExpressionValue value = evaluate(expression);
    assert(value.kind == ExpressionValue::Kind::number);
    return value.numbers.front();
  }
  bool holds(const std::optional<Expression>& condition) const {
    return !condition || number(*condition).value.value_or(0) != 0;
  }
  std::string expand(const CompiledDescription::Template& text) const {
    std::string result = text.literals.front();
    for (std::size_t i = 0; i < text.expressions.size(); ++i) {
      result += value_text(evaluate(text.expressions[i])) + text.literals[i + 1];
    }
    return result;
  }

  // Evaluates the quantities in order. Returns those that the case has.
  std::vector<const CompiledDescription::CompiledQuantity*> evaluate_quantities() {
    std::vector<const CompiledDescription::CompiledQuantity*> present;
    for (const auto& quantity : description_.quantities_) {
      if (!holds(quantity.when)) continue;
      quantities_.insert_or_assign(
          std::string(quantity.row->name),
          quantity.value ? evaluate(*quantity.value)
                         : ExpressionValue::of(ExpressionNumber{quantity.row->function(parameters_),
                                                                description_.description().where}));
      present.push_back(&quantity);
    }
    return present;
  }
  std::optional<ExpressionNumber> quantity(std::string_view name) const {
    const auto found = quantities_.find(name);
    if (found == quantities_.end()) return std::nullopt;
    return found->second.numbers.front();
  }

  DraftFormula formula(const CompiledDescription::CompiledQuantity& quantity) const {
    const std::string text = expand(quantity.shown);
    if (!quantity.value) {
      std::string described(quantity.row->expression);
      std::erase_if(described, [](char c) { return c == '{' || c == '}'; });
      return {std::string(quantity.row->name), std::move(described), text,
              to_checked(*this->quantity(quantity.row->name))};
    }
    // Without braces, the shown text is that of the value.
    const auto shown = quantity.shown.expressions.empty() ? Result<Expression>(*quantity.value)
                                                          : Expression::parse(text);
    assert(shown.ok());
    std::string values = shown->substitute([&](const std::string& name) {
      const auto value = find(name);
      return value ? std::optional(value_text(*value)) : std::nullopt;
    });
    return {std::string(quantity.row->name), text, std::move(values),
            to_checked(*this->quantity(quantity.row->name))};
  }

  // Appends the tensors that a row stands for.
  Status add_tensors(const CompiledDescription::CompiledTensor& compiled,
                     std::vector<Tensor>& tensors) {
    const TensorRow& row = *compiled.row;
    if (row.for_each.empty()) {
      BENCH_ASSIGN_OR_RETURN(Tensor tensor, make(compiled, row.name));
      tensors.push_back(std::move(tensor));
      return Done{};
    }
    const std::vector<std::int64_t>& elements = parameters_.numbers(row.for_each);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      quantities_.insert_or_assign(std::string(kEach), ExpressionValue::of(elements[i]));
      BENCH_ASSIGN_OR_RETURN(Tensor tensor, make(compiled, fmt::format("{}{}", row.name, i)));
      tensors.push_back(std::move(tensor));
    }
    return Done{};
  }

 private:
  DataType type_of(const TensorRow& row) const {
    constexpr std::string_view kDestinationType = "dst_dtype";
    if (row.type == ElementType::converted && parameters_.has(kDestinationType)) {
      return *data_type_from_name(parameters_.word(kDestinationType));
    }
    return element_type(row.type, dtype_);
  }

  Result<Tensor> make(const CompiledDescription::CompiledTensor& compiled,
                      std::string_view name) const {
    std::vector<Extent> extents;
    for (const ExpressionNumber& size : evaluate(compiled.sizes).numbers) {
      if (!size.value) return in_range(to_checked(size), name, size.origin).error();
      extents.push_back({size.origin, *size.value});
    }
    BENCH_ASSIGN_OR_RETURN(Tensor tensor,
                           make_tensor(name, compiled.row->role, type_of(*compiled.row), extents));
    if (compiled.touched) {
      BENCH_ASSIGN_OR_RETURN(tensor.touched,
                             in_range(to_checked(number(*compiled.touched)), "elements",
                                      description_.description().where));
    }
    return tensor;
  }

  std::optional<ExpressionValue> find(const std::string& name) const {
    if (find_parameter(parameters_.table(), name) != nullptr) {
      return parameter_value(parameters_.value(name));
    }
    if (const auto found = quantities_.find(name); found != quantities_.end()) return found->second;
    if (const auto direction = enumerator_from_name<Direction>(name))
      return ExpressionValue::of(direction_ == *direction ? 1 : 0);
    if (name == kInteger) return ExpressionValue::of(info(dtype_).is_integer ? 1 : 0);
    if (name == kElementBytes) return ExpressionValue::of(info(dtype_).bytes);
    return std::nullopt;
  }

  const CompiledDescription& description_;
  const ParameterSet& parameters_;
  Direction direction_;
  DataType dtype_;
  std::map<std::string, ExpressionValue, std::less<>> quantities_;
};

Result<CompiledDescription::Template> CompiledDescription::compile_template(std::string_view text) {
  Template result;
  for (;;) {
    const std::size_t open = text.find('{');
    result.literals.emplace_back(text.substr(0, open));
    if (open == std::string_view::npos) return result;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return Error{"`{` without `}`", {}, {}};
    BENCH_ASSIGN_OR_RETURN(Expression expression,
                           Expression::parse(text.substr(open + 1, close - open - 1)));
    result.expressions.push_back(std::move(expression));
    text.remove_prefix(close + 1);
  }
}

Result<std::optional<Expression>> CompiledDescription::compile_optional(std::string_view text) {
  if (text.empty()) return std::optional<Expression>();
  BENCH_ASSIGN_OR_RETURN(Expression expression, Expression::parse(text));
  return std::optional(std::move(expression));
}

Result<CompiledDescription> CompiledDescription::compile(const Description& description) {
  CompiledDescription result;
  result.description_ = description;
  for (const Requirement& row : description.requirements) {
    BENCH_ASSIGN_OR_RETURN(Expression condition, Expression::parse(row.condition));
    BENCH_ASSIGN_OR_RETURN(Template message, compile_template(row.message));
    BENCH_ASSIGN_OR_RETURN(Template next, compile_template(row.next));
    const bool is_of_case = std::ranges::any_of(condition.names(), is_case_name);
    result.requirements_.push_back(
        {&row, is_of_case ? RequirementScope::of_case : RequirementScope::parameters,
         std::move(condition), std::move(message), std::move(next)});
  }
  for (const Quantity& row : description.quantities) {
    std::string text(row.function == nullptr ? row.expression : "");
    std::ranges::replace(text, '{', '(');
    std::ranges::replace(text, '}', ')');
    BENCH_ASSIGN_OR_RETURN(std::optional<Expression> value, compile_optional(text));
    BENCH_ASSIGN_OR_RETURN(Template shown, compile_template(row.expression));
    BENCH_ASSIGN_OR_RETURN(std::optional<Expression> when, compile_optional(row.when));
    result.quantities_.push_back({&row, std::move(value), std::move(shown), std::move(when)});
  }
  for (const TensorRow& row : description.tensors) {
    BENCH_ASSIGN_OR_RETURN(Expression sizes, Expression::parse(row.sizes));
    BENCH_ASSIGN_OR_RETURN(std::optional<Expression> when, compile_optional(row.when));
    BENCH_ASSIGN_OR_RETURN(std::optional<Expression> touched, compile_optional(row.touched));
    BENCH_ASSIGN_OR_RETURN(std::optional<Expression> below, compile_optional(row.below));
    result.tensors_.push_back(
        {&row, std::move(sizes), std::move(when), std::move(touched), std::move(below)});
  }
  BENCH_RETURN_IF_ERROR(result.check_names());
  return result;
}

Status CompiledDescription::check_names() const {
  std::set<std::string, std::less<>> known(kCaseNames.begin(), kCaseNames.end());
  for (const Parameter& parameter : description_.parameters) known.emplace(parameter.name);
  const auto check = [&](const Expression& expression) -> Status {
    for (const std::string& name : expression.names()) {
      if (known.contains(name)) continue;
      return Error{fmt::format("`{}` in `{}` is neither a parameter nor an earlier quantity", name,
                               expression.text()),
                   std::string(description_.name),
                   {}};
    }
    return Done{};
  };
  const auto check_template = [&](const Template& text) -> Status {
    for (const Expression& expression : text.expressions) BENCH_RETURN_IF_ERROR(check(expression));
    return Done{};
  };
  for (const CompiledRequirement& requirement : requirements_) {
    BENCH_RETURN_IF_ERROR(check(requirement.condition));
    BENCH_RETURN_IF_ERROR(check_template(requirement.message));
    BENCH_RETURN_IF_ERROR(check_template(requirement.next));
  }
  for (const CompiledQuantity& quantity : quantities_) {
    if (quantity.value) BENCH_RETURN_IF_ERROR(check(*quantity.value));
    BENCH_RETURN_IF_ERROR(check_template(quantity.shown));
    if (quantity.when) BENCH_RETURN_IF_ERROR(check(*quantity.when));
    known.emplace(quantity.row->name);
  }
  for (const CompiledTensor& tensor : tensors_) {
    if (!tensor.row->for_each.empty()) known.emplace(kEach);
    BENCH_RETURN_IF_ERROR(check(tensor.sizes));
    known.erase(std::string(kEach));
    if (tensor.when) BENCH_RETURN_IF_ERROR(check(*tensor.when));
    if (tensor.touched) BENCH_RETURN_IF_ERROR(check(*tensor.touched));
    if (tensor.below) BENCH_RETURN_IF_ERROR(check(*tensor.below));
  }
  return Done{};
}

Result<ParameterSet> CompiledDescription::complete(const ParameterSet& given) const {
  if (description_.check != nullptr) BENCH_RETURN_IF_ERROR(description_.check(given));
  BENCH_ASSIGN_OR_RETURN(ParameterSet set, complete_defaults(given));
  BENCH_RETURN_IF_ERROR(
      check_requirements(DescribedCase(*this, set), RequirementScope::parameters));
  return set;
}

Status CompiledDescription::check_requirements(const DescribedCase& described,
                                               RequirementScope scope) const {
  for (const CompiledRequirement& requirement : requirements_) {
    if (requirement.scope != scope || described.holds(requirement.condition)) continue;
    return Error{described.expand(requirement.message), std::string(requirement.row->where),
                 described.expand(requirement.next)};
  }
  return Done{};
}

Result<Model> CompiledDescription::model(const Problem& problem) const {
  if (description_.data_types == DataTypes::floating && info(problem.dtype).is_integer) {
    const auto direction = to_string(problem.direction);
    return undefined_for_integers(problem.direction == Direction::forward
                                      ? std::string(description_.name)
                                      : fmt::format("{} of {}", direction, description_.name),
                                  problem.dtype);
  }
  DescribedCase described(*this, problem.parameters, problem.direction, problem.dtype);
  BENCH_RETURN_IF_ERROR(check_requirements(described, RequirementScope::of_case));
  const auto quantities = described.evaluate_quantities();
  ModelDraft draft;
  for (const CompiledTensor& compiled : tensors_) {
    if (!described.holds(compiled.when)) continue;
    BENCH_RETURN_IF_ERROR(described.add_tensors(compiled, draft.tensors));
  }
  const auto work = [&](std::string_view name) -> std::optional<Checked> {
    const auto number = described.quantity(name);
    return number ? std::optional(to_checked(*number)) : std::nullopt;
  };
  draft.macs = work("macs");
  draft.flops = work("flops").value_or(0);
  draft.flops_valid = work("flops_valid").value_or(draft.flops);
  draft.sfu_ops = work("sfu_ops").value_or(0);
  for (const CompiledQuantity* quantity : quantities) {
    if (quantity->row->shown == Quantity::Shown::no) continue;
    draft.formulas.push_back(described.formula(*quantity));
  }
  return finish_model(std::move(draft), description_.where);
}

std::int64_t CompiledDescription::quantity(const Problem& problem, std::string_view name) const {
  DescribedCase described(*this, problem.parameters, problem.direction, problem.dtype);
  described.evaluate_quantities();
  const auto number = described.quantity(name);
  assert(number && number->value && "the description has no such quantity");
  return number ? number->value.value_or(0) : 0;
}

std::int64_t CompiledDescription::index_limit(const Problem& problem,
                                              std::string_view tensor) const {
  const auto compiled = std::ranges::find(
      tensors_, tensor, [](const CompiledTensor& candidate) { return candidate.row->name; });
  if (compiled == tensors_.end() || !compiled->below) return 0;
  DescribedCase described(*this, problem.parameters, problem.direction, problem.dtype);
  described.evaluate_quantities();
  return described.number(*compiled->below).value.value_or(0);
}

Status CompiledDescription::infer(ParameterSet& set, std::string_view tensor,
                                  std::span<const std::int64_t> sizes) const {
  const auto compiled = std::ranges::find(
      tensors_, tensor, [](const CompiledTensor& candidate) { return candidate.row->name; });
  assert(compiled != tensors_.end() && "the description has no such tensor");
  if (!compiled->row->for_each.empty()) return Done{};  // the others are not known
  const auto kind = [&](const std::string& name) {
    const Parameter* parameter = find_parameter(set.table(), name);
    return parameter == nullptr ? std::nullopt : std::optional(parameter->kind);
  };
  if (const auto name = compiled->sizes.as_name(); name && kind(*name) == ParameterKind::shape) {
    return put_inferred(set, *name, Dims(sizes.begin(), sizes.end()));
  }
  if (const auto tail = compiled->sizes.as_tail()) {
    if (kind(tail->start) != ParameterKind::count || !set.has(tail->list)) return Done{};
    const auto rank = set.numbers(tail->list).size();
    if (sizes.size() > rank) return Error{"it has more dimensions", std::string(tensor), {}};
    return put_inferred(set, tail->start, static_cast<std::int64_t>(rank - sizes.size()));
  }
  const std::vector<Expression> elements = compiled->sizes.elements();
  if (elements.size() != sizes.size()) {
    return Error{fmt::format("{} has {} dimensions, expected {}", join_dims(sizes), sizes.size(),
                             elements.size()),
                 "inputs",
                 {}};
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto name = elements[i].as_name();
    if (!name || kind(*name) != ParameterKind::count) continue;
    BENCH_RETURN_IF_ERROR(put_inferred(set, *name, sizes[i]));
  }
  return Done{};
}

std::vector<std::string_view> CompiledDescription::input_tensors(
    const ParameterSet& written) const {
  // What is not written has its default in the conditions.
  ParameterSet set = written;
  for (const Parameter& parameter : set.table()) {
    if (set.has(parameter.name)) continue;
    if (auto value = constant_default(parameter.kind, parameter.fallback)) {
      set.set(parameter.name, *std::move(value));
    }
  }
  const DescribedCase described(*this, set);
  std::vector<std::string_view> names;
  for (const CompiledTensor& tensor : tensors_) {
    if (tensor.row->role != TensorRole::input || !described.holds(tensor.when)) continue;
    const std::string_view list = tensor.row->for_each;
    const std::size_t count = list.empty() ? 1 : set.has(list) ? set.numbers(list).size() : 0;
    names.insert(names.end(), count, tensor.row->name);
  }
  return names;
}

Operator describe(const Description& description, Operator facts) {
  auto compiled = CompiledDescription::compile(description);
  assert(compiled.ok() && "a description that does not compile");
  auto shared = std::make_shared<const CompiledDescription>(std::move(compiled).value());
  const CompiledDescription* plain = shared.get();  // the operator owns it
  facts.name = description.name;
  facts.help = description.help;
  facts.parameters = description.parameters;
  facts.directions = description.directions;
  facts.takes_post_ops = description.takes_post_ops;
  facts.complete = [plain](const ParameterSet& given) { return plain->complete(given); };
  facts.model = [plain](const Problem& problem) { return plain->model(problem); };
  facts.description = std::move(shared);
  return facts;
}

std::optional<ProblemRequest> solve_framework_call(const Operator& op,
                                                   const FrameworkFunction& function,
                                                   std::span<const Dims> arguments) {
  ParameterSet set(op.parameters);
  apply_settings(function.settings, set);
  const std::span<const TensorRow> rows = op.description->description().tensors;
  std::vector<std::pair<std::string_view, const Dims*>> given;
  const std::vector<std::string_view> names = split_words(function.arguments);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name == "_") continue;
    const auto row = std::ranges::find(rows, name, &TensorRow::name);
    assert(row != rows.end() && "a function with a tensor that the operator does not have");
    const bool is_present = i < arguments.size() && !arguments[i].empty();
    const std::string_view first_name = row->when.substr(0, row->when.find(' '));
    const Parameter* flag = find_parameter(op.parameters, first_name);
    if (flag != nullptr && flag->kind == ParameterKind::flag) {
      set.set(flag->name, is_present);
    } else if (!is_present) {
      return std::nullopt;
    }
    if (!is_present) continue;
    if (!op.description->infer(set, name, arguments[i]).ok()) return std::nullopt;
    given.emplace_back(name, &arguments[i]);
  }
  ProblemRequest request{.op = &op, .direction = function.direction, .parameters = std::move(set)};
  const auto problem = make_problem(request);
  if (!problem.ok()) return std::nullopt;
  const bool fits = std::ranges::all_of(given, [&](const auto& argument) {
    const auto tensor = std::ranges::find(problem->tensors, argument.first, &Tensor::name);
    return tensor != problem->tensors.end() && tensor->dims == *argument.second;
  });
  return fits ? std::optional(std::move(request)) : std::nullopt;
}

std::int64_t quantity(const Problem& problem, std::string_view name) {
  assert(problem.op->description != nullptr);
  return problem.op->description->quantity(problem, name);
}

}  // namespace bench::ops
