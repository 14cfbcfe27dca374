// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// Recurrent layers.
#include "harness/import/onnx_network.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace bench::onnx {
namespace {

using RecurrentResults = Result<std::vector<Value>>;

Error no_recurrence(std::string what) { return {std::move(what), "", ""}; }

struct RecurrentRow {
  std::string_view op, layer;
  std::int64_t gates;
  std::size_t inputs;  // that must be constants, if they are not omitted: states and peepholes
};
constexpr std::array<RecurrentRow, 3> kRecurrentRows = {
    {{"RNN", "rnn", 1, 6}, {"GRU", "gru", 3, 6}, {"LSTM", "lstm", 4, 8}}};

// Returns why an operator computes something else; empty: it does not.
std::string_view find_obstacle(const NodeView& view, const RecurrentRow& row) {
  const auto omitted = [&](std::size_t index) {
    return index >= view.node.inputs.size() || view.node.inputs[index].empty();
  };
  for (std::size_t i = 1; i < row.inputs; ++i) {
    if (i == 4 || omitted(i)) continue;
    if (view.input(i) == nullptr || !view.input(i)->is_constant())
      return i < 4 ? "its weights are computed" : "its first state is computed";
  }
  // With constant lengths, exporters repeat the number of steps.
  if (!omitted(4) && (view.input(4) == nullptr || !view.input(4)->is_constant()))
    return "its sequences have lengths of their own";
  if (!omitted(7)) return "its cells have peepholes";
  for (const std::string_view name : {"activation_alpha", "activation_beta", "clip"}) {
    if (view.attribute(name) != nullptr) return "its cells have other functions";
  }
  if (view.integer("layout", 0) != 0) return "its source begins with the sequences";
  if (view.integer("input_forget", 0) != 0) return "its gates are coupled";
  return {};
}

// Whether `activations` are those of the operator; sets the parameter of a simple cell that is not
// tanh. Each direction has its own.
bool set_functions(const NodeView& view, const RecurrentRow& row, LayerParameters& parameters) {
  const Attribute* attribute = view.attribute("activations");
  if (attribute == nullptr) return true;
  const auto& names = attribute->texts;
  if (row.op == "RNN") {
    const bool is_relu = !names.empty() && names.front() == "Relu";
    if (is_relu) parameters.emplace_back("function", std::string("relu"));
    return std::ranges::all_of(
        names, [&](const std::string& name) { return name == (is_relu ? "Relu" : "Tanh"); });
  }
  const std::size_t count = row.op == "LSTM" ? 3 : 2;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != (i % count == 0 ? "Sigmoid" : "Tanh")) return false;
  }
  return true;
}

// The sources and results of ONNX are [steps, n, size] and [steps, directions, n, size].
RecurrentResults lower_recurrent(const NodeView& view, NetworkBuilder& builder) {
  const auto* row = std::ranges::find(kRecurrentRows, view.node.op, &RecurrentRow::op);
  const Value* source = view.input(0);
  const Value* recurrent = view.input(2);
  if (source == nullptr || recurrent == nullptr || source->dims.size() != 3 ||
      recurrent->dims.size() != 3) {
    return no_recurrence("an input is missing or unknown");
  }
  if (const auto obstacle = find_obstacle(view, *row); !obstacle.empty())
    return no_recurrence(std::string(obstacle));
  const Attribute* direction = view.attribute("direction");
  const bool is_bidirectional = direction != nullptr && direction->text == "bidirectional";
  if (direction != nullptr && direction->text == "reverse")
    return no_recurrence("it runs from the last step to the first only");
  const std::int64_t hidden = recurrent->dims[2];
  LayerParameters parameters;
  if (!set_functions(view, *row, parameters))
    return no_recurrence("its cells have other functions");
  if (row->op == "GRU" && view.integer("linear_before_reset", 0) == 0)
    parameters.emplace_back("reset", std::string("before"));
  parameters.emplace_back("hidden", hidden);
  if (is_bidirectional) parameters.emplace_back("bidirectional", true);
  if (view.input(3) == nullptr) parameters.emplace_back("bias", false);
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add(row->layer, parameters, {*source}));
  const std::int64_t steps = source->dims[0], n = source->dims[1];
  if (!is_bidirectional) {
    std::vector<Value> results = {with_dims(result, {steps, 1, n, hidden})};
    const bool reads_last = view.node.outputs.size() > 1 && !view.node.outputs[1].empty();
    if (!reads_last) return results;
    BENCH_ASSIGN_OR_RETURN(
        Value last,
        builder.add("slice",
                    {{"axis", std::int64_t{0}}, {"begin", steps - 1}, {"size", std::int64_t{1}}},
                    {result}));
    results.push_back(with_dims(std::move(last), {1, n, hidden}));
    return results;
  }
  BENCH_ASSIGN_OR_RETURN(
      Value moved,
      builder.add_permutation(with_dims(std::move(result), {steps, n, 2, hidden}), {0, 2, 1, 3}));
  return std::vector<Value>{std::move(moved)};
}

constexpr std::array kRecurrent = {
    LoweringRow{"", "RNN", lower_recurrent},
    LoweringRow{"", "GRU", lower_recurrent},
    LoweringRow{"", "LSTM", lower_recurrent},
};

}  // namespace

std::span<const LoweringRow> recurrent_rows() { return kRecurrent; }

}  // namespace bench::onnx
