// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX model as a network. A node that no operator computes is a hole: at the edge of the
// graph its results become inputs of the network; between layers, only a suite of the operators is
// left.
#include "base/checked.hpp"
#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/config/case_id.hpp"
#include "harness/import/kind.hpp"
#include "harness/import/onnx_network.hpp"
#include "harness/import/onnx_patterns.hpp"
#include "harness/import/suite_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace bench {
namespace {

using onnx::Node;
using onnx::Value;

// Tensors with more elements are not those of a model; products of their sizes stay in range.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;

// Whether the product of all sizes but those that are 0 is within the limit.
bool is_possible(const ops::Dims& dims) {
  Checked product = 1;
  for (const std::int64_t size : dims) product *= std::max<std::int64_t>(1, size);
  return dims.size() <= onnx::kMaxRank &&
         product.value().value_or(kMaxElements + 1) <= kMaxElements;
}

// What became of a node.
struct NodeFate {
  enum class Kind { layers, no_layer, refused } kind = Kind::layers;
  std::string_view group;  // of no_layer
  std::string reason;      // of refused
  std::optional<std::int64_t> flops = 0;
};
constexpr std::string_view kConstants = "constants and shapes";
constexpr std::string_view kViewGroup = "views, casts, dropout";
constexpr std::string_view kScales = "scales of products of integers";

// Functions that cost one FLOP per element of their result, and have no operator.
constexpr std::string_view kElementFunctions[] = {
    "Erf",
    "Where",
    "Sin",
    "Cos",
    "Reciprocal",
    "Floor",
    "Ceil",
    "Sign",
    "Not",
    "Softplus",
    "Mish",
    "IsNaN",
    "Equal",
    "Greater",
    "Less",
    "And",
    "Or",
    "LessOrEqual",
    "GreaterOrEqual",
    "Mod",
    "Round",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "Softsign",
    "Selu",
    "QuantizeLinear",
    "DequantizeLinear",
};
// What only moves elements.
constexpr std::string_view kMoves[] = {
    "Cast",
    "Gather",
    "Pad",
    "Expand",
    "Tile",
    "Slice",
    "ScatterND",
    "ScatterElements",
    "Trilu",
    "TopK",
    "NonZero",
    "ArgMax",
    "ArgMin",
    "GatherND",
    "GatherElements",
    "Concat",
    "Range",
    "Reshape",
    "Unsqueeze",
    "Squeeze",
    "Transpose",
    "OneHot",
    "Identity",
    "Split",
};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Imports one model.
class ModelImport {
 public:
  ModelImport(const ImportRequest& request, onnx::Model model)
      : request_(request), model_(std::move(model)) {
    for (const onnx::ValueInfo& info : model_.values) known_.emplace(info.name, &info);
    for (const onnx::ValueInfo& info : model_.outputs) known_.emplace(info.name, &info);
  }

  Result<Imported> import() {
    BENCH_RETURN_IF_ERROR(read_dimensions());
    BENCH_RETURN_IF_ERROR(add_tensors());
    BENCH_RETURN_IF_ERROR(add_inputs());
    BENCH_RETURN_IF_ERROR(check_dimensions());
    settle_type();
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      builder_.begin_node(i, model_.nodes[i]);
      BENCH_RETURN_IF_ERROR(add_node(i));
    }
    settle_scales();
    return collect();
  }

 private:
  std::string place(const Node& node) const {
    return fmt::format("{}: byte {}", request_.files.front().path, node.offset);
  }

  // --dimension NAME=SIZE
  Status read_dimensions() {
    for (const std::string& text : request_.dimensions) {
      const std::size_t equals = text.rfind('=');
      const auto size = equals == std::string::npos
                            ? std::nullopt
                            : parse_number<std::int64_t>(std::string_view(text).substr(equals + 1));
      if (!size || *size < 1 || equals == 0 || *size > kMaxElements)
        return Error{fmt::format("{} does not set a dimension", quote(text)), "--dimension",
                     "write NAME=SIZE with a size >= 1: batch=8"};
      given_[text.substr(0, equals)] = *size;
    }
    return Done{};
  }

  // A given dimension that the model does not have is an error.
  Status check_dimensions() const {
    std::vector<std::string_view> names;
    for (const ModelDimension& dimension : dimensions_) names.push_back(dimension.name);
    for (const auto& [name, size] : given_) {
      if (std::ranges::find(names, name) != names.end()) continue;
      if (names.empty())
        return Error{fmt::format("the model has no dimension {}", quote(name)), "--dimension",
                     "all its sizes are fixed; leave the option out"};
      return Error{fmt::format("the model has no dimension {}", quote(name)), "--dimension",
                   expectation(name, names)};
    }
    return Done{};
  }

  std::int64_t size_of(const onnx::Dimension& dimension, std::string name) {
    if (dimension.size) return *dimension.size;
    if (!dimension.symbol.empty()) name = dimension.symbol;
    const auto known = std::ranges::find(dimensions_, name, &ModelDimension::name);
    if (known != dimensions_.end()) return known->size;
    const auto given = given_.find(name);
    const bool is_given = given != given_.end();
    dimensions_.push_back({name, is_given ? given->second : 1, is_given});
    return dimensions_.back().size;
  }

  Status set_value(const std::string& name, Value value) {
    if (!is_possible(value.dims))
      return Error{fmt::format("the tensor {} has impossible sizes", quote(name)),
                   request_.files.front().path, "export the model again"};
    if (value.is_constant()) {
      value.source = name;
      value.source_dims = value.dims;
    }
    values_.insert_or_assign(name, std::move(value));
    return Done{};
  }

  Status add_tensors() {
    for (onnx::Tensor& tensor : model_.tensors) {
      BENCH_RETURN_IF_ERROR(set_value(
          tensor.name, onnx::make_constant(tensor.type, tensor.dims, std::move(tensor.content))));
    }
    return Done{};
  }

  Status add_inputs() {
    constexpr std::size_t kMaxDimensions = 1000;
    for (const onnx::ValueInfo& input : model_.inputs) {
      if (dimensions_.size() > kMaxDimensions)
        return Error{fmt::format("the model has more than {} open dimensions", kMaxDimensions),
                     request_.files.front().path, "export it with fixed sizes"};
      if (values_.contains(input.name) || !input.dims) continue;
      Value value;
      value.origin = Value::Origin::input;
      value.type = input.type;
      for (std::size_t i = 0; i < input.dims->size(); ++i)
        value.dims.push_back(size_of((*input.dims)[i], fmt::format("{}.{}", input.name, i)));
      value.source = input.name;
      value.source_dims = value.dims;
      if (onnx::is_floating(input.type) && type_ == 0) type_ = input.type;
      BENCH_RETURN_IF_ERROR(set_value(input.name, std::move(value)));
    }
    return Done{};
  }

  // Without an input of numbers, as in a language model: the type that most weights have; without
  // weights, that of most values.
  void settle_type() {
    const auto find_most = [](const auto& typed) {
      std::map<int, std::size_t> counts;
      for (const auto& each : typed)
        if (onnx::is_floating(each.type)) ++counts[each.type];
      const auto most = std::ranges::max_element(
          counts, {}, [](const std::pair<const int, std::size_t>& row) { return row.second; });
      return most == counts.end() ? 0 : most->first;
    };
    if (type_ == 0) type_ = find_most(model_.tensors);
    if (type_ == 0) type_ = find_most(model_.values);
  }

  Status add_node(std::size_t number) {
    const Node& node = model_.nodes[number];
    std::vector<const Value*> inputs;
    std::string unknown;
    for (const std::string& name : node.inputs) {
      const auto found = name.empty() ? values_.end() : values_.find(name);
      inputs.push_back(found == values_.end() ? nullptr : &found->second);
      if (!name.empty() && found == values_.end() && unknown.empty()) unknown = name;
    }
    const auto opset = model_.opsets.find(node.domain);
    constexpr std::int64_t kNewest = 1000;
    const onnx::NodeView view{node, inputs, opset == model_.opsets.end() ? kNewest : opset->second};
    NodeFate fate;
    std::vector<Value> results;
    if (!unknown.empty()) {
      fate = refuse(fmt::format("the shape of its input is not known: {}", reason_of(unknown)));
    } else {
      auto folded = onnx::fold_node(view);
      if (!folded.ok()) {
        fate = refuse(folded.error().what);
      } else if (*folded) {
        fate = {.kind = NodeFate::Kind::no_layer, .group = kConstants, .reason = {}};
        results = **std::move(folded);
        if (node.op == "Transpose" && view.input(0) != nullptr && !node.outputs.empty())
          stored_as_.emplace(node.outputs.front(), view.input(0)->source);
      } else {
        fate = lower(view, results);
      }
    }
    if (fate.kind == NodeFate::Kind::refused) results = hole_results(view, fate);
    track_scales(number, view, fate, results);
    fates_.push_back(std::move(fate));
    for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
      if (node.outputs[i].empty()) continue;
      BENCH_RETURN_IF_ERROR(set_value(node.outputs[i], std::move(results[i])));
    }
    return Done{};
  }

  static NodeFate refuse(std::string reason) {
    return {.kind = NodeFate::Kind::refused, .group = {}, .reason = std::move(reason), .flops = {}};
  }

  // Why a value is not known.
  std::string reason_of(const std::string& name) const {
    const auto unknown = unknown_.find(name);
    if (unknown == unknown_.end()) return fmt::format("no node before it computes {}", quote(name));
    return fmt::format("{} does not say it", quote(unknown->second));
  }

  static const onnx::LoweringRow* find_row(const Node& node) {
    for (const auto rows : {onnx::product_rows(), onnx::elementwise_rows(), onnx::layout_rows(),
                            onnx::fused_rows(), onnx::quantised_rows(), onnx::recurrent_rows()}) {
      const auto row = std::ranges::find_if(rows, [&](const onnx::LoweringRow& each) {
        return each.op == node.op && each.domain == node.domain;
      });
      if (row != rows.end()) return &*row;
    }
    return nullptr;
  }

  std::string no_row_reason(const Node& node) const {
    for (const auto& [name, attribute] : node.attributes)
      if (attribute.has_graph) return fmt::format("the graphs inside {} are not read", node.op);
    if (model_.functions.contains(node.op))
      return "it is a function of the model; inline it with onnx.inliner";
    if (!node.domain.empty()) return fmt::format("no operator for {} of {}", node.op, node.domain);
    return fmt::format("no operator for {}", node.op);
  }

  NodeFate lower(const onnx::NodeView& view, std::vector<Value>& results) {
    const onnx::LoweringRow* row = find_row(view.node);
    if (row == nullptr) return refuse(no_row_reason(view.node));
    auto lowered = row->lower(view, builder_);
    if (!lowered.ok()) return refuse(lowered.error().what);
    results = *std::move(lowered);
    if (builder_.has_parameters_of_node()) count_parameters(view);
    if (builder_.has_layers_of_node())
      return {.group = {}, .reason = {}, .flops = builder_.node_flops()};
    return {.kind = NodeFate::Kind::no_layer, .group = kViewGroup, .reason = {}};
  }

  // Counts the constants of a layer that layers before it have as well. Each layer of the network
  // has parameters of its own.
  void count_parameters(const onnx::NodeView& view) {
    constexpr std::size_t kStatistics = 3;  // a batch norm does not learn the inputs from here on
    const bool has_statistics = view.node.op == "BatchNormalization";
    for (std::size_t i = 0; i < view.inputs.size(); ++i) {
      const Value* input = view.input(i);
      const bool is_parameter = input != nullptr && input->is_constant() &&
                                !(has_statistics && i >= kStatistics) && !builder_.is_input(*input);
      if (!is_parameter) continue;
      const auto stored = stored_as_.find(input->source);
      if (parameters_.insert(stored == stored_as_.end() ? input->source : stored->second).second)
        continue;
      shared_parameters_ =
          saturated(shared_parameters_, ops::element_count(input->dims).value_or(0));
    }
  }

  // The sizes that the exporter states for a value.
  std::optional<ops::Dims> stated_dims(const std::string& name) const {
    const auto known = known_.find(name);
    if (known == known_.end() || !known->second->dims) return std::nullopt;
    ops::Dims dims;
    for (const onnx::Dimension& dimension : *known->second->dims) {
      const auto given = std::ranges::find(dimensions_, dimension.symbol, &ModelDimension::name);
      if (!dimension.size && given == dimensions_.end()) return std::nullopt;
      dims.push_back(dimension.size ? *dimension.size : given->size);
    }
    return dims;
  }

  // The sizes of a function of elements: its operands, broadcast.
  static std::optional<ops::Dims> element_dims(const onnx::NodeView& view) {
    std::optional<ops::Dims> dims = ops::Dims();
    for (const Value* input : view.inputs) {
      if (input == nullptr) return std::nullopt;
      dims = onnx::broadcast_dims(*dims, input->dims);
      if (!dims) return std::nullopt;
    }
    return dims;
  }

  // The sizes of the first result of a node that is not expressed.
  std::optional<ops::Dims> refused_dims(const onnx::NodeView& view) const {
    if (auto stated = stated_dims(view.node.outputs.front())) return stated;
    const Value* input = view.input(0);
    if (input == nullptr) return std::nullopt;
    const std::string_view op = view.node.op;
    if (is_one_of(kElementFunctions, op)) return element_dims(view);
    const bool keeps =
        op == "Cast" || op == "Trilu" || op == "ScatterND" || op == "ScatterElements";
    if (keeps || op == "QuantizeLinear" || op == "DequantizeLinear") return input->dims;
    if (onnx::is_view_operator(op)) {
      auto dims = onnx::view_dims(view);
      if (dims.ok()) return *std::move(dims);
    }
    if (op == "Expand" && onnx::integers_of(view.input(1)))
      return onnx::broadcast_dims(input->dims, *onnx::integers_of(view.input(1)));
    return std::nullopt;
  }

  int refused_type(const onnx::NodeView& view, const std::string& output) const {
    const auto known = known_.find(output);
    if (known != known_.end() && known->second->type != 0) return known->second->type;
    if (view.node.op == "Cast") return static_cast<int>(view.integer("to", onnx::kFloat));
    if (view.node.op == "Where" && view.input(1) != nullptr) return view.input(1)->type;
    return view.input(0) == nullptr ? onnx::kFloat : view.input(0)->type;
  }

  std::vector<Value> hole_results(const onnx::NodeView& view, NodeFate& fate) {
    builder_.discard_node();
    const Node& node = view.node;
    const bool is_after = std::ranges::any_of(view.inputs, [](const Value* input) {
      return input != nullptr && (input->origin == Value::Origin::layer || input->is_after_layers);
    });
    std::vector<Value> results;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto dims =
          i == 0 && !node.outputs[i].empty() ? refused_dims(view) : stated_dims(node.outputs[i]);
      if (!dims || !is_possible(*dims)) {
        for (std::size_t j = i; j < node.outputs.size(); ++j)
          unknown_.emplace(node.outputs[j], node.op);
        break;
      }
      Value value;
      value.origin = Value::Origin::hole;
      value.type = refused_type(view, node.outputs[i]);
      value.dims = *dims;
      value.source = node.outputs[i];
      value.source_dims = *dims;
      value.is_after_layers = is_after;
      results.push_back(std::move(value));
    }
    if (is_one_of(kMoves, node.op)) fate.flops = 0;
    if (is_one_of(kElementFunctions, node.op) && !results.empty())
      fate.flops = ops::element_count(results.front().dims);
    return results;
  }

  // Remembers which nodes quantise the operands of products.
  void track_scales(std::size_t number, const onnx::NodeView& view, NodeFate& fate,
                    std::vector<Value>& results) {
    const std::string_view op = view.node.op;
    const bool quantises = op == "QuantizeLinear";
    if (fate.kind != NodeFate::Kind::no_layer || fate.group != kViewGroup) return;
    if (!quantises && op != "DequantizeLinear") return;
    fate.group = kScales;
    const Value* input = view.input(0);
    if (results.empty() || input == nullptr) return;
    if (quantises) {
      const auto* product = builder_.integers_of_layer(*input);
      if (product != nullptr && *product) used_scales_.insert(number);
    }
    if (!results.front().quantised) {
      used_scales_.insert(number);  // a bias in integers
      return;
    }
    // A pair quantises and dequantises a tensor. In a longer chain, each value would have the list
    // of all nodes before it.
    constexpr std::size_t kMaxChain = 4;
    auto& nodes = results.front().quantised->nodes;
    if (input->quantised && input->quantised->nodes.size() < kMaxChain)
      nodes = input->quantised->nodes;
    nodes.push_back(number);
  }

  // A node that quantises a tensor for something else than a product is work without an operator.
  void settle_scales() {
    for (const onnx::BuiltLayer& layer : builder_.layers()) {
      if (!layer.integers) continue;
      for (const auto* operand : {&layer.integers->source, &layer.integers->weights})
        used_scales_.insert(operand->nodes.begin(), operand->nodes.end());
      is_quantised_ = true;
    }
    for (std::size_t i = 0; i < fates_.size(); ++i) {
      if (fates_[i].group != kScales || used_scales_.contains(i)) continue;
      fates_[i] = refuse("no operator quantises a tensor between operators");
      fates_[i].flops = std::nullopt;
      is_quantised_ = true;
    }
  }

  Result<Imported> collect() {
    Imported found;
    found.files.push_back(request_.files.front().path);
    ImportedModel model;
    model.producer = model_.producer;
    model.dimensions = dimensions_;
    if (type_ == onnx::kFloat16) model.dtype = "f16";
    if (type_ == onnx::kBfloat16) model.dtype = "bf16";
    if (type_ == onnx::kDouble) model.dtype = "f64";
    count_nodes(found, model);
    if (builder_.layers().empty()) {
      found.model = std::move(model);
      return found;
    }
    BENCH_RETURN_IF_ERROR(add_network(found, model));
    found.model = std::move(model);
    return found;
  }

  void count_nodes(Imported& found, ImportedModel& model) const {
    std::map<std::string_view, std::int64_t> groups;
    for (std::size_t i = 0; i < fates_.size(); ++i) {
      const Node& node = model_.nodes[i];
      const NodeFate& fate = fates_[i];
      const auto covered = static_cast<std::int64_t>(node.covered);
      model.nodes += covered;
      if (fate.kind == NodeFate::Kind::refused) {
        const std::string name =
            node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name;
        RefusedProblem refused{{0, 0}, fmt::format("{}: {}", name, node.op), fate.reason};
        refused.count = node.covered;
        refused.flops = fate.flops;
        model.refused_flops = saturated(model.refused_flops, fate.flops.value_or(0));
        if (!fate.flops) model.without_flops += covered;
        found.refused.push_back(std::move(refused));
        continue;
      }
      model.expressed += covered;
      model.flops = saturated(model.flops, fate.flops.value_or(0));
      if (fate.kind == NodeFate::Kind::no_layer) groups[fate.group] += covered;
    }
    for (const auto& [name, count] : groups) model.without_layer.emplace_back(name, count);
  }

  static std::int64_t saturated(std::int64_t sum, std::int64_t more) {
    return (Checked(sum) + more).value().value_or(std::numeric_limits<std::int64_t>::max());
  }

  Result<std::string> network_name() const {
    std::string name = request_.name;
    if (name.empty()) {
      name = std::filesystem::path(request_.files.front().path).stem().string();
      std::ranges::replace_if(
          name, [](char c) { return !is_network_name(std::string(1, c)); }, '_');
    }
    if (is_network_name(name)) return name;
    return Error{fmt::format("a network cannot be called {}", quote(name)), "--out",
                 "its file is NAME.yaml, and its name has letters, digits and underscores"};
  }

  Status add_network(Imported& found, ImportedModel& model) {
    std::vector<Value> results;
    for (const onnx::ValueInfo& output : model_.outputs) {
      const auto value = values_.find(output.name);
      if (value != values_.end()) results.push_back(value->second);
    }
    ops::NetworkDefinition definition = builder_.take("network", results);
    const auto make = [&](std::int64_t batch) {
      return ops::make_network(definition, batch, DataType::f32, ops::Mode::inference,
                               ops::Fusion::fused);
    };
    const auto network = make(1);
    if (!network.ok()) {
      Error error = network.error();
      error.what = fmt::format("the layers are not a network: {} ({})", error.what, error.where);
      error.where = request_.files.front().path;
      return error;
    }
    model.parameters = network->parameters;
    model.shared_parameters = is_quantised_ ? 0 : shared_parameters_;  // scales are constants too
    model.macs = network->work.macs.value_or(0);
    for (const ops::LayerDefinition& layer : definition.layers) model.layers += !layer.op.empty();
    model.suite_reason = suite_reason();
    if (!model.suite_reason.empty()) return add_cases(*network, found, model);
    BENCH_ASSIGN_OR_RETURN(definition.name, network_name());
    constexpr std::int64_t kOther = 2;
    model.scales_with_batch = make(kOther).ok();
    model.network = std::move(definition);
    return Done{};
  }

  std::string suite_reason() const {
    if (is_quantised_) return "it computes with integers, and a network has one data type";
    if (builder_.has_gap()) return "operators between its layers cannot be expressed";
    return {};
  }

  // The problem of a node, in integers if its operands are.
  static Result<ops::Problem> case_of(const ops::Node& node, const onnx::IntegerProduct* integers) {
    if (integers == nullptr) return node.problem;
    ops::ProblemRequest request{
        .op = node.problem.op,
        .dtype = integers->source.type == onnx::kUint8 ? DataType::u8 : DataType::s8,
        .parameters = node.problem.parameters};
    if (node.problem.op->name == "gemm" && integers->has_scales) {
      request.parameters.set("src_scale", std::string("tensor"));
      request.parameters.set("weights_scale",
                             std::string(integers->weights.is_per_channel ? "channel" : "tensor"));
      constexpr std::pair<int, std::string_view> kTypes[] = {
          {onnx::kInt8, "s8"}, {onnx::kUint8, "u8"}, {0, "f32"}};
      const auto* type = std::ranges::find(kTypes, integers->destination,
                                           &std::pair<int, std::string_view>::first);
      if (type != std::end(kTypes)) request.parameters.set("dst_dtype", std::string(type->second));
    }
    if (node.problem.op->name == "gemm" && integers->source.has_zero_point)
      request.parameters.set("src_zero_point", true);
    return ops::make_problem(std::move(request));
  }

  Status add_cases(const ops::Network& network, Imported& found, ImportedModel& model) const {
    std::map<std::string_view, const onnx::IntegerProduct*> integers;
    for (const onnx::BuiltLayer& layer : builder_.layers())
      if (layer.integers) integers.emplace(layer.definition.name, &*layer.integers);
    model.states_types = !integers.empty();
    std::map<std::string, std::size_t> numbers;  // by what decides the case
    for (const ops::Node& node : network.nodes) {
      const auto product = integers.find(node.name);
      auto problem = case_of(node, product == integers.end() ? nullptr : product->second);
      if (!problem.ok()) problem = node.problem;
      const std::string key = fmt::format("{}/{}/{}", problem->op->name,
                                          ops::problem_tokens(*problem), info(problem->dtype).name);
      const auto [known, is_new] = numbers.emplace(key, found.cases.size());
      if (is_new) {
        found.cases.push_back({.op = problem->op,
                               .fields = suite_fields(*problem),
                               .place = {},
                               .text = node.name,
                               .in_model = ModelUse{}});
      }
      ModelUse& use = *found.cases[known->second].in_model;
      ++use.count;
      // Those of the node, as in the sum of the model. A case in integers may have others.
      use.flops = saturated(use.flops, node.problem.work.flops);
    }
    std::ranges::stable_sort(found.cases, std::greater(),
                             [](const ImportedCase& item) { return item.in_model->flops; });
    return Done{};
  }

  const ImportRequest& request_;
  onnx::Model model_;
  std::map<std::string, const onnx::ValueInfo*, std::less<>> known_;
  std::map<std::string, std::int64_t> given_;  // sizes of dimensions
  std::vector<ModelDimension> dimensions_;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, std::string> unknown_;  // values without sizes, and what computes them
  onnx::NetworkBuilder builder_;
  std::vector<NodeFate> fates_;
  std::set<std::size_t> used_scales_;
  std::set<std::string, std::less<>> parameters_;  // constants that layers have as parameters
  std::map<std::string, std::string, std::less<>> stored_as_;  // transposed constants
  std::int64_t shared_parameters_ = 0;
  bool is_quantised_ = false;
  int type_ = 0;  // that of the first input of numbers, or settle_type()
};

}  // namespace

Result<Imported> read_onnx(const ImportRequest& request) {
  const ImportFile& file = request.files.front();
  if (request.files.size() > 1)
    return Error{"a network is made of one model", request.files[1].path,
                 "import each model into a file of its own"};
  BENCH_ASSIGN_OR_RETURN(onnx::Model model, onnx::parse_model(file.path, file.text));
  const auto opset = model.opsets.find("");
  constexpr std::int64_t kOldest = 7;  // before it, operands broadcast by attributes
  if (opset != model.opsets.end() && opset->second < kOldest)
    return Error{fmt::format("the model has opset {}; the oldest that is read is {}", opset->second,
                             kOldest),
                 file.path, "convert it with onnx.version_converter"};
  onnx::join_patterns(model);
  return ModelImport(request, std::move(model)).import();
}

}  // namespace bench
