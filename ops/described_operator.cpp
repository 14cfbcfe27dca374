// SPDX-License-Identifier: Apache-2.0
#include "ops/described_operator.hpp"

#include "base/characters.hpp"
#include "ops/model.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bench::ops {
namespace {

bool consists_of(std::string_view text, bool (*allowed)(char)) {
  return !text.empty() && std::ranges::all_of(text, allowed);
}
bool is_token_letter(char c) { return is_lower(c) || c == '_'; }
bool is_word_letter(char c) { return is_token_letter(c) || is_digit(c); }

const ParameterDescription* find(std::span<const ParameterDescription> parameters,
                                 std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &ParameterDescription::name);
  return found == parameters.end() ? nullptr : &*found;
}

// A description being checked. Its errors name the operator and the parameter.
class Checker {
 public:
  explicit Checker(const OperatorDescription& op) : op_(op) {}

  Status check() const {
    if (!is_plugin_name(op_.name)) {
      return Error{fmt::format("the operator name `{}` is not [a-z][a-z0-9_]*", op_.name), "", ""};
    }
    if (op_.help.empty()) return make_error("has no help");
    if (op_.directions.empty()) return make_error("has no direction");
    for (std::size_t i = 0; i < op_.parameters.size(); ++i) {
      BENCH_RETURN_IF_ERROR(check_parameter(i));
    }
    return Done{};
  }

 private:
  Error make_error(std::string_view what) const {
    return {fmt::format("its operator `{}` {}", op_.name, what), "", ""};
  }
  Error make_error(const ParameterDescription& parameter, std::string_view what) const {
    return make_error(fmt::format("has a parameter `{}` {}", parameter.name, what));
  }

  Status check_parameter(std::size_t index) const {
    const ParameterDescription& parameter = op_.parameters[index];
    const auto earlier = std::span(op_.parameters).first(index);
    if (!is_plugin_name(parameter.name))
      return make_error(parameter, "whose name is not [a-z][a-z0-9_]*");
    if (find(earlier, parameter.name) != nullptr) return make_error(parameter, "twice");
    if (parameter.kind == ParameterKind::spatial || parameter.kind == ParameterKind::padding) {
      return make_error(parameter, "of a kind that only built-in operators have");
    }
    if (parameter.help.empty()) return make_error(parameter, "without help");
    if (parameter.minimum < 0) return make_error(parameter, "with a negative minimum");
    BENCH_RETURN_IF_ERROR(check_words(parameter));
    BENCH_RETURN_IF_ERROR(check_token(parameter, earlier));
    return check_fallback(parameter, earlier);
  }

  Status check_words(const ParameterDescription& parameter) const {
    const bool is_word = parameter.kind == ParameterKind::word;
    if (is_word == parameter.words.empty()) {
      return make_error(parameter,
                        is_word ? "without words" : "with words, although its kind is not word");
    }
    const auto allowed = parameter.token.empty() ? is_word_letter : is_token_letter;
    for (const std::string& word : parameter.words) {
      if (!consists_of(word, allowed)) {
        return make_error(parameter,
                          fmt::format("with the word `{}`, expected lower-case letters, _{}", word,
                                      parameter.token.empty() ? " and digits" : ""));
      }
    }
    return Done{};
  }

  Status check_token(const ParameterDescription& parameter,
                     std::span<const ParameterDescription> earlier) const {
    const bool is_positional =
        parameter.kind == ParameterKind::word || parameter.kind == ParameterKind::shape;
    if (parameter.token.empty()) {
      return is_positional ? Status(Done{}) : Status(make_error(parameter, "without a token"));
    }
    if (!consists_of(parameter.token, is_token_letter)) {
      return make_error(parameter, "whose token is not lower-case letters and _");
    }
    if (std::ranges::find(earlier, parameter.token, &ParameterDescription::token) !=
        earlier.end()) {
      return make_error(parameter, "with another parameter's token");
    }
    if (parameter.kind == ParameterKind::flag) {
      return op_.takes_post_ops && parse_post_op(parameter.token).ok()
                 ? Status(make_error(parameter, "whose token is the name of a post-op"))
                 : Status(Done{});
    }
    // After "alpha1", the token of "e5" would continue the number (1e5). After "n4", the token of
    // "x2" would continue a list (4x2).
    if (parameter.token.front() == 'e' || parameter.token.front() == 'x') {
      return make_error(parameter, "whose token begins with e or x");
    }
    return Done{};
  }

  Status check_fallback(const ParameterDescription& parameter,
                        std::span<const ParameterDescription> earlier) const {
    const std::string& fallback = parameter.fallback;
    if (fallback == kRequired || fallback == kOptional) {
      return parameter.kind == ParameterKind::flag
                 ? Status(make_error(parameter, "of kind flag, whose default is not true or false"))
                 : Status(Done{});
    }
    if (const ParameterDescription* earlier_parameter = find(earlier, fallback)) {
      return earlier_parameter->kind == parameter.kind
                 ? Status(Done{})
                 : Status(make_error(parameter, "whose default is a parameter of another kind"));
    }
    const bool is_known_word =
        parameter.kind != ParameterKind::word ||
        std::ranges::find(parameter.words, fallback) != parameter.words.end();
    const auto value = constant_default(parameter.kind, fallback);
    const bool is_large_enough = !value || parameter.kind != ParameterKind::count ||
                                 std::get<std::int64_t>(*value) >= parameter.minimum;
    // Only flags that are set are printed, so their default must be false.
    const bool is_allowed_flag = parameter.kind != ParameterKind::flag || fallback == "false";
    if (value && is_known_word && is_large_enough && is_allowed_flag) return Done{};
    return make_error(parameter, fmt::format("whose default `{}` is not a valid value, required, "
                                             "optional, or an earlier parameter",
                                             fallback));
  }

  const OperatorDescription& op_;
};

// A description with the tables that refer to it.
struct DescribedOperator {
  OperatorDescription description;
  std::vector<std::vector<std::string_view>> words;
  std::vector<Parameter> table;
  Operator op;

  void make_table() {
    words.reserve(description.parameters.size());
    for (const ParameterDescription& parameter : description.parameters) {
      words.emplace_back(parameter.words.begin(), parameter.words.end());
      table.push_back({.name = parameter.name,
                       .token = parameter.token,
                       .kind = parameter.kind,
                       .fallback = parameter.fallback,
                       .help = parameter.help,
                       .minimum = parameter.minimum,
                       .words = words.back()});
    }
  }
};

}  // namespace

bool is_plugin_name(std::string_view name) {
  return consists_of(name, is_word_letter) && is_lower(name.front());
}

Status check_description(const OperatorDescription& description) {
  return Checker(description).check();
}

std::shared_ptr<const Operator> make_described_operator(OperatorDescription description,
                                                        OperatorFunctions functions) {
  auto owner = std::make_shared<DescribedOperator>();
  owner->description = std::move(description);
  owner->make_table();
  owner->op = {.name = owner->description.name,
               .help = owner->description.help,
               .parameters = owner->table,
               .directions = owner->description.directions,
               .takes_post_ops = owner->description.takes_post_ops,
               .complete = complete_defaults,
               .model = std::move(functions.model),
               .reference = std::move(functions.reference),
               .tolerance = std::move(functions.tolerance)};
  return {owner, &owner->op};
}

}  // namespace bench::ops
