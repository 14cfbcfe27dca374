// SPDX-License-Identifier: Apache-2.0
// oneDNN's rnn is the operator rnn, lstm or gru.
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {

extern const Operator rnn_operator;
extern const Operator lstm_operator;
extern const Operator gru_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"rnn"};

// The cells that operators have. `parameter` and `word`: what makes the operator compute the cell.
struct CellRow {
  std::string_view algorithm, activation;
  const Operator& op;
  std::string_view parameter, word;
};
const std::array<CellRow, 5> kCells = {
    {{"vanilla_rnn", "eltwise_tanh", rnn_operator, "function", "tanh"},
     {"vanilla_rnn", "eltwise_relu", rnn_operator, "function", "relu"},
     {"vanilla_lstm", "undef", lstm_operator, "", ""},
     {"vanilla_gru", "undef", gru_operator, "reset", "before"},
     {"lbr_gru", "undef", gru_operator, "reset", "after"}}};

const CellRow* find_cell(std::string_view auxiliary) {
  const std::string_view algorithm = auxiliary_value(auxiliary, "alg");
  const std::string_view activation = auxiliary_value(auxiliary, "activation");
  const auto* row = std::ranges::find_if(kCells, [&](const CellRow& cell) {
    return cell.algorithm == algorithm && (activation.empty() || cell.activation == activation);
  });
  return row == kCells.end() ? nullptr : row;
}

// Reads "l1t7mb3sic16slc16dhc16dic16": layers, steps, sequences, sizes of the state and the source.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto words = ProblemWords::parse(primitive.problem);
  const CellRow* cell = find_cell(primitive.auxiliary);
  const bool is_backward = primitive.propagation == "backward";
  const std::string_view run = auxiliary_value(primitive.auxiliary, "direction");
  const bool is_bidirectional = run == "bidirectional_concat";
  if (!words || cell == nullptr || (!is_bidirectional && run != "unidirectional_left2right") ||
      (!is_backward && !primitive.propagation.starts_with("forward"))) {
    return std::nullopt;
  }
  const auto hidden = words->find("dhc");
  if (!hidden || words->find("sic") != hidden) return std::nullopt;
  ParameterSet set(cell->op.parameters);
  const std::pair<std::string_view, std::string_view> sizes[] = {
      {"layers", "l"}, {"steps", "t"}, {"n", "mb"}, {"input", "slc"}, {"hidden", "dhc"}};
  for (const auto& [parameter, word] : sizes) {
    const auto size = words->find(word);
    if (!size || *size < 1) return std::nullopt;
    set.set(parameter, *size);
  }
  if (!cell->parameter.empty()) set.set(cell->parameter, std::string(cell->word));
  set.set("bidirectional", is_bidirectional);
  set.set("bias", primitive.find("bias") != nullptr);
  set.set("state", primitive.find("src_iter") != nullptr);
  return VerboseProblem{
      .request = {.op = &cell->op,
                  .direction = is_backward ? Direction::backward_weights : Direction::forward,
                  .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping rnn_verbose;
const VerboseMapping rnn_verbose = {
    .op = "rnn", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
