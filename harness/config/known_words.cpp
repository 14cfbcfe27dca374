// SPDX-License-Identifier: Apache-2.0
#include "harness/config/known_words.hpp"

#include "base/characters.hpp"
#include "base/nearest_name.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/yaml.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace bench {
namespace {

constexpr std::string_view kNetworkWord = "network";
constexpr std::string_view kGiveAnId = "give the id of a case";

std::vector<std::string_view> as_views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// Returns the part of an argument that may be a name: "configs/quik.yaml" -> "quik".
std::string find_word(std::string_view argument) {
  return std::filesystem::path(argument).stem().string();
}

// Appends to a question or to the beginning of a sentence.
std::string continue_with(std::string_view begin, std::string_view text) {
  std::string joined = fmt::format("{}{}", begin, text);
  char& first = joined[begin.size()];
  if (begin.ends_with("? ") && is_lower(first)) first = static_cast<char>(first - 'a' + 'A');
  return joined;
}

WordAnswer answer_operator(const ops::Operator& op, std::string what, std::string_view meaning,
                           const KnownWords& words) {
  return {std::move(what), continue_with(meaning, kGiveAnId),
          example_of_operator(op, *words.registry)};
}

WordAnswer answer_network(std::string_view name, std::string what, std::string_view meaning) {
  const std::string configuration =
      fmt::format("a configuration with `network: {}` also measures its layers; {}",
                  yaml::format_scalar(name), kGiveAnId);
  return {std::move(what), continue_with(meaning, configuration), example_of_network(name)};
}

// Answers a name of another framework, or a function of `pointwise`; nullopt for another word.
std::optional<WordAnswer> answer_foreign_name(std::string_view word, const KnownWords& words) {
  const std::vector<std::string_view> operators = words.registry->operator_names();
  const auto hint = ops::foreign_word_hint(word, operators);
  if (!hint) return std::nullopt;
  const ops::ForeignWord* foreign = ops::find_foreign_word(word, operators);
  const ops::Operator* op = words.registry->find(foreign == nullptr ? "pointwise" : foreign->name);
  if (op == nullptr) return std::nullopt;
  return answer_operator(*op, "is not the name of an operator", *hint + "; ", words);
}

// Answers a word that is a name already; nullopt for another word.
std::optional<WordAnswer> answer_name(std::string_view word, const KnownWords& words) {
  if (const ops::Operator* op = words.registry->find(word)) {
    const bool is_suite = std::ranges::find(words.suites, word) != words.suites.end();
    return answer_operator(*op, "is an operator, not a case",
                           is_suite ? fmt::format("the configuration is `{}.yaml`; ", word) : "",
                           words);
  }
  if (word == kNetworkWord)
    return WordAnswer{"is the operator of networks, not a case", std::string(kGiveAnId),
                      example_for_id(kNetworkWord, words)};
  if (std::ranges::find(words.networks, word) != words.networks.end())
    return answer_network(word, "is a network, not a case", "");
  return answer_foreign_name(word, words);
}

// Answers a word that is near a name; nullopt for another word.
std::optional<WordAnswer> answer_near(std::string_view word, const std::string& read_error,
                                      const KnownWords& words) {
  std::vector<std::string_view> names = words.registry->operator_names();
  names.insert(names.end(), words.suites.begin(), words.suites.end());
  names.insert(names.end(), words.networks.begin(), words.networks.end());
  const auto near = nearest_name(word, names);
  if (!near) return std::nullopt;
  if (const ops::Operator* op = words.registry->find(*near)) {
    return answer_operator(*op, read_error, fmt::format("did you mean the operator `{}`? ", *near),
                           words);
  }
  if (std::ranges::find(words.suites, *near) != words.suites.end()) {
    return WordAnswer{read_error, fmt::format("did you mean the configuration `{}`?", *near),
                      std::string(*near)};
  }
  return answer_network(*near, read_error, fmt::format("did you mean the network `{}`? ", *near));
}

std::string format_names(std::string_view title, std::vector<std::string_view> names,
                         std::string_view word) {
  if (const auto near = nearest_name(word, names)) {
    const auto found = std::ranges::find(names, *near);
    std::rotate(names.begin(), found, found + 1);
  }
  return fmt::format("{}: {}", title, fmt::join(names, " "));
}

}  // namespace

WordAnswer answer_word(std::string_view argument, const std::string& read_error,
                       const KnownWords& words) {
  if (auto answer = answer_name(argument, words)) return *std::move(answer);
  const std::string word = find_word(argument);
  if (auto answer = answer_near(word, read_error, words)) return *std::move(answer);
  return {read_error, fmt::format("give a configuration, or {}", kGiveAnId.substr(5)),
          example_for_id(argument, words)};
}

std::vector<std::string> list_known_words(std::string_view argument, const KnownWords& words) {
  const std::string word = find_word(argument);
  std::vector<std::string> lines{format_names("operators", words.registry->operator_names(), word)};
  if (!words.networks.empty())
    lines.push_back(format_names("networks", as_views(words.networks), word));
  if (!words.suites.empty())
    lines.push_back(format_names("configurations", as_views(words.suites), word));
  return lines;
}

std::string example_of_operator(const ops::Operator& op, const ops::OperatorRegistry& registry) {
  const auto direction = to_string(op.directions.front());
  const std::string id = fmt::format("{}/{}/{}/f32/{}/cpu/hot", op.name, direction,
                                     op.examples.empty() ? "..." : op.examples.front(),
                                     registry.default_backend("cpu", op.name));
  const auto key = parse_id(id, registry);
  return key.ok() ? to_id(*key) : id;
}

std::string example_of_network(std::string_view name) {
  return fmt::format("network/forward/{}/f32/onednn/cpu/hot", name);
}

std::string example_for_id(std::string_view argument, const KnownWords& words) {
  const std::string_view op_name = argument.substr(0, argument.find('/'));
  if (op_name == kNetworkWord && !words.networks.empty())
    return example_of_network(words.networks.front());
  constexpr std::string_view kDefault = "gemm";
  const ops::Operator* op = words.registry->find(
      nearest_name(op_name, words.registry->operator_names()).value_or(kDefault));
  return op == nullptr ? "" : example_of_operator(*op, *words.registry);
}

}  // namespace bench
