// SPDX-License-Identifier: Apache-2.0
#include "harness/import/onnx_patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

namespace bench::onnx {
namespace {

using Group = std::vector<std::size_t>;  // numbers of nodes; the last one gives the result

constexpr double kSixth = 1.0 / 6;

bool is_plain_padding(double pad) {
  constexpr double kMaxPadding = 1e6;
  return pad >= 0 && pad < kMaxPadding;
}

// Operators whose result has the rank of the first input.
constexpr std::string_view kKeepRank[] = {
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Clip",
    "Concat",
    "Conv",
    "ConvTranspose",
    "Dropout",
    "Erf",
    "Exp",
    "Gelu",
    "GlobalAveragePool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "InstanceNormalization",
    "LayerNormalization",
    "LeakyRelu",
    "MaxPool",
    "Neg",
    "Pad",
    "Reciprocal",
    "Relu",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Split",
    "Sqrt",
    "Tanh",
    "Transpose",
};
// Operators whose result has the greatest rank of the inputs.
constexpr std::string_view kBroadcast[] = {"Add", "Div", "Mul", "Pow", "Sub", "Where"};

class PatternJoiner {
 public:
  explicit PatternJoiner(Model& model) : model_(model), is_removed_(model.nodes.size(), false) {
    for (const Tensor& tensor : model.tensors) constants_.emplace(tensor.name, &tensor);
    for (const ValueInfo& output : model.outputs) outputs_.insert(output.name);
    for (const auto* values : {&model.inputs, &model.values}) {
      for (const ValueInfo& value : *values)
        if (value.dims) ranks_.emplace(value.name, std::ssize(*value.dims));
    }
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      const Node& node = model.nodes[i];
      for (const std::string& name : node.inputs) readers_[name].push_back(i);
      for (const std::string& name : node.outputs) makers_.emplace(name, i);
      const auto value = node.attributes.find("value");
      const bool is_constant = node.op == "Constant" && node.outputs.size() == 1 &&
                               value != node.attributes.end() && value->second.tensor;
      if (is_constant) node_constants_.emplace(node.outputs.front(), i);
      const auto rank = rank_of_result(node);
      if (rank && !node.outputs.empty()) ranks_.emplace(node.outputs.front(), *rank);
    }
  }

  void join_all() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      if (is_removed_[i] || !model_.nodes[i].domain.empty()) continue;
      const auto* row = std::ranges::find(kStarts, model_.nodes[i].op, &Start::op);
      if (row != kStarts.end()) (this->*row->join)(i);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      if (is_removed_[i]) continue;
      if (kept != i) model_.nodes[kept] = std::move(model_.nodes[i]);
      ++kept;
    }
    model_.nodes.resize(kept);
  }

  static std::vector<std::string_view> starts() {
    std::vector<std::string_view> names;
    for (const Start& start : kStarts) names.push_back(start.op);
    return names;
  }

 private:
  struct Start {
    std::string_view op;
    void (PatternJoiner::*join)(std::size_t node);
  };

  Node& node(std::size_t number) { return model_.nodes[number]; }
  const std::string& result(std::size_t number) { return node(number).outputs.front(); }

  bool has(std::size_t number, std::string_view op, std::size_t inputs) {
    const Node& found = node(number);
    return found.op == op && found.domain.empty() && found.inputs.size() >= inputs &&
           !found.outputs.empty() && !is_removed_[number];
  }

  // Exporters share equal constants by Identity.
  const Tensor* constant(std::string name) {
    constexpr int kMaxShares = 4;
    for (int i = 0; i < kMaxShares; ++i) {
      const auto share = maker(name, "Identity", 1);
      if (!share) break;
      name = node(*share).inputs[0];
    }
    if (const auto found = constants_.find(name); found != constants_.end()) return found->second;
    const auto found = node_constants_.find(name);
    if (found == node_constants_.end()) return nullptr;
    return &*node(found->second).attributes.find("value")->second.tensor;
  }
  bool is_number(const std::string& name) {
    const Tensor* tensor = constant(name);
    return tensor != nullptr && ops::element_count(tensor->dims) == 1;
  }
  std::optional<double> number(const std::string& name) {
    const Tensor* tensor = constant(name);
    if (tensor == nullptr || !tensor->content || tensor->content->size() != 1) return std::nullopt;
    return tensor->content->front();
  }

  // Constants may have been rounded to f16 or bf16.
  static bool is_close(std::optional<double> number, double expected) {
    constexpr double kTolerance = 2e-3;
    return number && std::abs(*number - expected) <= kTolerance * std::max(1.0, std::abs(expected));
  }
  bool is_about(const std::string& name, double expected) {
    return is_close(number(name), expected);
  }
  // The operand that a node multiplies by `factor`, or divides by its inverse. nullptr: it does
  // neither.
  const std::string* scaled_by(std::size_t scaled, double factor) {
    if (has(scaled, "Div", 2))
      return is_about(node(scaled).inputs[1], 1 / factor) ? &node(scaled).inputs[0] : nullptr;
    if (!has(scaled, "Mul", 2)) return nullptr;
    const std::string* operand = beside_number(scaled);
    return operand != nullptr && is_about(other(scaled, *operand), factor) ? operand : nullptr;
  }
  double real_of(const Node& made, std::string_view name, double default_value) {
    const auto found = made.attributes.find(name);
    return found == made.attributes.end() ? default_value : found->second.real;
  }

  // The node that computes a value with the operator `op`.
  std::optional<std::size_t> maker(const std::string& name, std::string_view op,
                                   std::size_t inputs) {
    const auto found = makers_.find(name);
    if (found == makers_.end() || !has(found->second, op, inputs)) return std::nullopt;
    return found->second;
  }

  // The only node that reads a value.
  std::optional<std::size_t> reader(const std::string& name) {
    if (outputs_.contains(name)) return std::nullopt;
    std::optional<std::size_t> only;
    constexpr std::size_t kMaxReaders = 16;  // a value with more is not inside a group
    const auto found = readers_.find(name);
    if (found == readers_.end() || found->second.size() > kMaxReaders) return std::nullopt;
    for (const std::size_t number : found->second) {
      if (is_removed_[number] || only == number) continue;
      if (only) return std::nullopt;
      only = number;
    }
    return only;
  }
  std::optional<std::size_t> reader(std::size_t number, std::string_view op, std::size_t inputs) {
    const auto found = reader(result(number));
    if (!found || !has(*found, op, inputs)) return std::nullopt;
    return found;
  }

  // The operand of a binary node that is not `name`.
  const std::string& other(std::size_t number, const std::string& name) {
    const Node& binary = node(number);
    return binary.inputs[0] == name ? binary.inputs[1] : binary.inputs[0];
  }
  // The operand beside a number: x of Mul(x, 0.5). nullptr: neither is a number.
  const std::string* beside_number(std::size_t number) {
    const Node& binary = node(number);
    if (is_number(binary.inputs[1])) return &binary.inputs[0];
    return is_number(binary.inputs[0]) ? &binary.inputs[1] : nullptr;
  }

  // Replaces the group by one node. Does nothing if a result inside it is read outside.
  bool replace(const Group& group, std::string_view op, std::vector<std::string> inputs,
               std::map<std::string, Attribute, std::less<>> attributes = {}) {
    const std::set<std::size_t> members(group.begin(), group.end());
    for (const std::size_t number : group) {
      if (number == group.back()) continue;
      for (const std::string& name : node(number).outputs) {
        if (outputs_.contains(name)) return false;
        const auto readers = readers_.find(name);
        if (readers == readers_.end()) continue;
        for (const std::size_t read_by : readers->second)
          if (!is_removed_[read_by] && !members.contains(read_by)) return false;
      }
    }
    std::size_t covered = 0;
    for (const std::size_t number : members) {
      covered += node(number).covered;
      is_removed_[number] = number != group.back();
    }
    Node& joined = node(group.back());
    joined.covered = covered;
    joined.op = op;
    joined.domain.clear();
    joined.attributes = std::move(attributes);
    joined.inputs = std::move(inputs);
    for (const std::string& name : joined.inputs) readers_[name].push_back(group.back());
    return true;
  }

  static Attribute word(std::string text) {
    Attribute attribute;
    attribute.text = std::move(text);
    return attribute;
  }
  static Attribute real(double number) {
    Attribute attribute;
    attribute.real = number;
    return attribute;
  }
  static Attribute integer(std::int64_t number) {
    Attribute attribute;
    attribute.integer = number;
    return attribute;
  }

  // x * (1 + f) / 2 in the orders that exporters use; `group` has the nodes up to f.
  void join_gelu(const std::string& x, Group group, std::string_view form) {
    constexpr double kHalf = 0.5;
    const auto sum = reader(group.back(), "Add", 2);
    if (!sum || !is_about(other(*sum, result(group.back())), 1)) return;
    const auto first = reader(*sum, "Mul", 2);
    if (!first) return;
    group.insert(group.end(), {*sum, *first});
    const std::string factor = other(*first, result(*sum));
    if (const auto half = maker(factor, "Mul", 2); half && factor != x) {
      const std::string* scaled = scaled_by(*half, kHalf);
      if (scaled == nullptr || *scaled != x) return;
      group.insert(group.begin(), *half);
    } else {
      const auto last = reader(*first, "Mul", 2);
      if (!last) return;
      const std::string rest = other(*last, result(*first));
      const bool is_half_last = factor == x && is_about(rest, kHalf);
      const bool is_half_first = rest == x && is_about(factor, kHalf);
      if (!is_half_last && !is_half_first) return;
      group.push_back(*last);
    }
    replace(group, "Gelu", {x}, {{"approximate", word(std::string(form))}});
  }

  void join_erf(std::size_t start) {
    if (!has(start, "Erf", 1)) return;
    for (const std::string_view op : {"Div", "Mul"}) {
      const auto scaled = maker(node(start).inputs[0], op, 2);
      if (!scaled) continue;
      const std::string* x = scaled_by(*scaled, std::numbers::sqrt2 / 2);
      if (x != nullptr) join_gelu(*x, {*scaled, start}, "none");
      return;
    }
  }

  // The nodes that compute a multiple of x^3 from x. Empty: others take part.
  Group cube_of(const std::string& name, const std::string& x) {
    constexpr std::size_t kMaxNodes = 5;
    Group found;
    std::vector<std::string> open = {name};
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      if (next == x || is_number(next)) continue;
      auto made = maker(next, "Mul", 2);
      if (!made) made = maker(next, "Pow", 2);
      if (!made || found.size() == kMaxNodes) return {};
      found.insert(found.begin(), *made);
      open.push_back(node(*made).inputs[0]);
      open.push_back(node(*made).inputs[1]);
    }
    return found;
  }

  // The value of what cube_of() accepts. nullopt: a number in it is not known.
  std::optional<double> evaluate(const std::string& name, const std::string& x, double at) {
    if (name == x) return at;
    const bool is_power = maker(name, "Pow", 2).has_value();
    const auto made = is_power ? maker(name, "Pow", 2) : maker(name, "Mul", 2);
    if (!made || is_number(name)) return number(name);
    const auto left = evaluate(node(*made).inputs[0], x, at);
    const auto right = evaluate(node(*made).inputs[1], x, at);
    if (!left || !right) return std::nullopt;
    return is_power ? std::pow(*left, *right) : *left * *right;
  }

  void join_tanh(std::size_t start) {
    constexpr double kCubeFactor = 0.044715;
    constexpr double kCubeAt = 10;  // where other powers and factors differ most
    const double factor = std::sqrt(2 * std::numbers::inv_pi);
    if (!has(start, "Tanh", 1)) return;
    const auto scaled = maker(node(start).inputs[0], "Mul", 2);
    if (!scaled) return;
    const std::string* inner = scaled_by(*scaled, factor);
    const auto sum = inner == nullptr ? std::nullopt : maker(*inner, "Add", 2);
    if (!sum) return;
    for (const std::size_t at : {0U, 1U}) {
      const std::string x = node(*sum).inputs[at];
      Group group = cube_of(node(*sum).inputs[1 - at], x);
      const auto cube = evaluate(node(*sum).inputs[1 - at], x, kCubeAt);
      if (group.empty() || !is_close(cube, kCubeFactor * std::pow(kCubeAt, 3))) continue;
      group.insert(group.end(), {*sum, *scaled, start});
      return join_gelu(x, std::move(group), "tanh");
    }
  }

  void join_sigmoid(std::size_t start) {
    if (!has(start, "Sigmoid", 1)) return;
    const auto product = reader(start, "Mul", 2);
    if (!product) return;
    const std::string x = other(*product, result(start));
    const std::string argument = node(start).inputs[0];
    if (argument == x) {
      replace({start, *product}, "Swish", {x});
      return;
    }
    const auto scaled = maker(argument, "Mul", 2);
    const std::string* scaled_x = scaled ? beside_number(*scaled) : nullptr;
    if (scaled_x == nullptr || *scaled_x != x) return;
    if (const auto alpha = number(other(*scaled, x)))
      replace({*scaled, start, *product}, "Swish", {x}, {{"alpha", real(*alpha)}});
  }

  void join_hard_sigmoid(std::size_t start) {
    if (!has(start, "HardSigmoid", 1)) return;
    const auto product = reader(start, "Mul", 2);
    const std::string x = node(start).inputs[0];
    constexpr double kDefaultAlpha = 0.2;
    constexpr double kHalf = 0.5;
    const bool is_that_of_hardswish =
        is_close(real_of(node(start), "alpha", kDefaultAlpha), kSixth) &&
        is_close(real_of(node(start), "beta", kHalf), kHalf);
    if (!is_that_of_hardswish) return;
    if (product && other(*product, result(start)) == x)
      replace({start, *product}, "HardSwish", {x});
  }

  // The bounds are attributes before opset 11, then inputs.
  bool is_clip(std::size_t number, double least, double most) {
    const Node& clip = node(number);
    if (clip.inputs.size() > 2)
      return is_about(clip.inputs[1], least) && is_about(clip.inputs[2], most);
    constexpr double kNone = -1;
    return clip.inputs.size() == 1 && is_close(real_of(clip, "min", kNone), least) &&
           is_close(real_of(clip, "max", kNone), most);
  }

  // x * clip(x + 3, 0, 6) / 6, divided before or after the product.
  void join_clip(std::size_t start) {
    constexpr double kShift = 3;
    if (!has(start, "Clip", 1)) return;
    const auto sum = maker(node(start).inputs[0], "Add", 2);
    const std::string* shifted = sum ? beside_number(*sum) : nullptr;
    const auto next = reader(result(start));
    if (shifted == nullptr || !next || !is_clip(start, 0, 2 * kShift)) return;
    const std::string x = *shifted;
    if (!is_about(other(*sum, x), kShift)) return;
    const auto is_division = [&](std::size_t number, const std::string& of) {
      const std::string* divided = scaled_by(number, kSixth);
      return divided != nullptr && *divided == of;
    };
    const auto is_product = [&](std::size_t number, const std::string& factor) {
      return has(number, "Mul", 2) && other(number, factor) == x;
    };
    const auto last = node(*next).outputs.empty() ? std::nullopt : reader(result(*next));
    if (!last) return;
    const bool divides_first =
        is_division(*next, result(start)) && is_product(*last, result(*next));
    const bool divides_last = is_product(*next, result(start)) && is_division(*last, result(*next));
    if (divides_first || divides_last) replace({*sum, start, *next, *last}, "HardSwish", {x});
  }

  // The axis of a mean over one axis.
  std::optional<std::int64_t> mean_axis(std::size_t number) {
    const Node& mean = node(number);
    if (const auto axes = mean.attributes.find("axes"); axes != mean.attributes.end()) {
      if (axes->second.integers.size() != 1) return std::nullopt;
      return axes->second.integers.front();
    }
    if (mean.inputs.size() < 2) return std::nullopt;
    const auto axis = this->number(mean.inputs[1]);
    return axis ? std::optional(static_cast<std::int64_t>(*axis)) : std::nullopt;
  }

  std::optional<std::ptrdiff_t> rank_of(const std::string& name) {
    if (const auto rank = ranks_.find(name); rank != ranks_.end()) return rank->second;
    const Tensor* tensor = constant(name);
    return tensor == nullptr ? std::nullopt : std::optional(std::ssize(tensor->dims));
  }

  // The rank of a node's first result, from those of its inputs. nullopt: not known.
  std::optional<std::ptrdiff_t> rank_of_result(const Node& made) {
    if (made.inputs.empty() || !made.domain.empty()) return std::nullopt;
    if (made.op == "Reshape" && made.inputs.size() > 1) {
      const Tensor* shape = constant(made.inputs[1]);
      if (shape == nullptr || shape->dims.size() != 1) return std::nullopt;
      return shape->dims.front();
    }
    const auto keeps = made.attributes.find("keepdims");
    const bool is_mean =
        made.op == "ReduceMean" && (keeps == made.attributes.end() || keeps->second.integer != 0);
    if (is_mean || std::ranges::find(kKeepRank, made.op) != std::end(kKeepRank))
      return rank_of(made.inputs.front());
    if (std::ranges::find(kBroadcast, made.op) == std::end(kBroadcast)) return std::nullopt;
    std::ptrdiff_t most = 0;
    for (const std::string& name : made.inputs) {
      const auto rank = rank_of(name);
      if (!rank) return std::nullopt;
      most = std::max(most, *rank);
    }
    return most;
  }

  // Whether a mean is over the last axis of `name`, as norms are. An axis counted from the front
  // needs the rank.
  bool is_last_axis(std::int64_t axis, const std::string& name, const Node& mean) {
    const auto keeps = mean.attributes.find("keepdims");
    if (keeps != mean.attributes.end() && keeps->second.integer == 0) return false;
    if (axis < 0) return axis == -1;
    return rank_of(name) == axis + 1;
  }

  bool is_square(std::size_t number) {
    const Node& square = node(number);
    if (has(number, "Mul", 2)) return square.inputs[0] == square.inputs[1];
    return has(number, "Pow", 2) && this->number(square.inputs[1]) == 2.0;
  }

  // Extends the group by x / root, or x * (1 / root). Returns whether it found them.
  bool divide_by_root(std::size_t root, const std::string& x, Group& group) {
    if (const auto quotient = reader(root, "Div", 2); quotient && node(*quotient).inputs[0] == x) {
      group.push_back(*quotient);
      return true;
    }
    auto inverse = reader(root, "Reciprocal", 1);
    if (!inverse) {
      inverse = reader(root, "Div", 2);
      if (inverse && number(node(*inverse).inputs[0]) != 1.0) inverse.reset();
    }
    const auto product = inverse ? reader(*inverse, "Mul", 2) : std::nullopt;
    if (!product || other(*product, result(*inverse)) != x) return false;
    group.insert(group.end(), {*inverse, *product});
    return true;
  }

  // Extends the group by an operation with a constant vector, which becomes an input.
  void add_vector(std::string_view op, Group& group, std::vector<std::string>& inputs) {
    const auto next = reader(group.back(), op, 2);
    if (!next) return;
    const std::string& vector = other(*next, result(group.back()));
    const Tensor* tensor = constant(vector);
    if (tensor == nullptr || tensor->dims.size() != 1) return;
    inputs.push_back(vector);
    group.push_back(*next);
  }

  // sqrt(mean(d^2) + epsilon) in a layer norm, whose d is x - mean(x), or in an RMS norm.
  void join_norm(std::size_t start) {
    if (!has(start, "Sqrt", 1)) return;
    const auto sum = maker(node(start).inputs[0], "Add", 2);
    const std::string* variance = sum ? beside_number(*sum) : nullptr;
    const auto mean = variance == nullptr ? std::nullopt : maker(*variance, "ReduceMean", 1);
    if (!mean) return;
    const auto square = makers_.find(node(*mean).inputs[0]);
    const auto axis = mean_axis(*mean);
    if (square == makers_.end() || !axis || !is_square(square->second)) return;
    const std::string deviation = node(square->second).inputs[0];
    if (!is_last_axis(*axis, deviation, node(*mean))) return;
    const double epsilon = number(other(*sum, *variance)).value_or(1e-5);
    Group group = {square->second, *mean, *sum, start};
    if (!divide_by_root(start, deviation, group)) return;
    std::vector<std::string> inputs = {deviation};
    const auto difference = maker(deviation, "Sub", 2);
    const auto centre =
        difference ? maker(node(*difference).inputs[1], "ReduceMean", 1) : std::nullopt;
    const auto centre_axis = centre ? mean_axis(*centre) : std::nullopt;
    const bool is_layer_norm = centre && node(*centre).inputs[0] == node(*difference).inputs[0] &&
                               centre_axis &&
                               is_last_axis(*centre_axis, node(*centre).inputs[0], node(*centre));
    if (is_layer_norm) {
      inputs = {node(*difference).inputs[0]};
      group.insert(group.begin(), {*centre, *difference});
    }
    add_vector("Mul", group, inputs);
    if (is_layer_norm && inputs.size() == 2) add_vector("Add", group, inputs);
    replace(group, is_layer_norm ? "LayerNormalization" : "RMSNormalization", inputs,
            {{"axis", integer(-1)}, {"epsilon", real(epsilon)}});
  }

  // Adds the operand of an Add to a product whose weights have as many columns.
  void join_bias(std::size_t start) {
    if (!has(start, "MatMul", 2) || node(start).inputs.size() != 2) return;
    const Tensor* weights = constant(node(start).inputs[1]);
    const auto sum = reader(start, "Add", 2);
    if (weights == nullptr || weights->dims.size() != 2 || !sum) return;
    const std::string bias = other(*sum, result(start));
    const Tensor* addend = constant(bias);
    if (addend == nullptr || addend->dims != ops::Dims{weights->dims[1]}) return;
    auto inputs = node(start).inputs;
    inputs.push_back(bias);
    replace({start, *sum}, "MatMul", std::move(inputs));
  }

  void join_channel_bias(std::size_t start) {
    if (!has(start, "Conv", 2) || node(start).inputs.size() != 2) return;
    const Tensor* weights = constant(node(start).inputs[1]);
    const auto sum = reader(start, "Add", 2);
    if (weights == nullptr || weights->dims.size() < 3 || !sum) return;
    const std::string bias = other(*sum, result(start));
    const Tensor* addend = constant(bias);
    if (addend == nullptr) return;
    ops::Dims expected(weights->dims.size() - 1, 1);
    expected[0] = weights->dims[0];
    ops::Dims with_image = expected;
    with_image.insert(with_image.begin(), 1);
    if (addend->dims != expected && addend->dims != with_image) return;
    auto inputs = node(start).inputs;
    inputs.push_back(bias);
    auto attributes = node(start).attributes;
    replace({start, *sum}, "Conv", std::move(inputs), std::move(attributes));
  }

  // The padding of a Pad in the order of ONNX; nullopt: it is not one with zeros around images.
  std::optional<std::vector<std::int64_t>> zero_padding(const Node& pad) {
    const auto mode = pad.attributes.find("mode");
    if (mode != pad.attributes.end() && mode->second.text != "constant") return std::nullopt;
    const bool has_value = pad.inputs.size() > 2 && !pad.inputs[2].empty();
    if (has_value && number(pad.inputs[2]) != 0.0) return std::nullopt;
    if (pad.inputs.size() > 3 && !pad.inputs[3].empty()) return std::nullopt;
    Content elements;
    if (const auto pads = pad.attributes.find("pads"); pads != pad.attributes.end()) {
      elements.assign(pads->second.integers.begin(), pads->second.integers.end());
    } else {
      const Tensor* pads_input = pad.inputs.size() > 1 ? constant(pad.inputs[1]) : nullptr;
      if (pads_input == nullptr || !pads_input->content) return std::nullopt;
      elements = *pads_input->content;
    }
    std::vector<std::int64_t> numbers;
    for (const double element : elements) {
      if (!is_plain_padding(element)) return std::nullopt;
      numbers.push_back(static_cast<std::int64_t>(element));
    }
    return numbers;
  }

  void join_pad(std::size_t start) {
    if (!has(start, "Pad", 1)) return;
    const auto conv = reader(start, "Conv", 2);
    const auto pads = zero_padding(node(start));
    if (!conv || !pads || node(*conv).inputs[0] != result(start)) return;
    const std::size_t rank = pads->size() / 2;
    const bool is_image = pads->size() % 2 == 0 && rank >= 3 && (*pads)[0] == 0 &&
                          (*pads)[1] == 0 && (*pads)[rank] == 0 && (*pads)[rank + 1] == 0;
    auto attributes = node(*conv).attributes;
    const auto mode = attributes.find("auto_pad");
    const bool is_plain = mode == attributes.end() || mode->second.text == "NOTSET" ||
                          mode->second.text == "VALID" || mode->second.text.empty();
    if (!is_image || !is_plain) return;
    if (mode != attributes.end() && mode->second.text == "VALID") attributes.erase("pads");
    attributes.erase("auto_pad");
    auto& sum = attributes["pads"].integers;
    sum.resize(2 * (rank - 2), 0);
    for (const std::int64_t pad : sum)
      if (!is_plain_padding(static_cast<double>(pad))) return;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      sum[i] += (*pads)[i + 2];
      sum[i + rank - 2] += (*pads)[i + rank + 2];
    }
    auto inputs = node(*conv).inputs;
    inputs[0] = node(start).inputs[0];
    replace({start, *conv}, "Conv", std::move(inputs), std::move(attributes));
  }

  // where(isnan(softmax(x)), 0, softmax(x)): a row whose keys are all masked. Libraries have it
  // inside the softmax.
  void join_nan_check(std::size_t start) {
    if (!has(start, "IsNaN", 1)) return;
    const std::string probabilities = node(start).inputs[0];
    const auto softmax = maker(probabilities, "Softmax", 1);
    const auto choice = reader(start, "Where", 3);
    if (!softmax || !choice) return;
    const auto& chosen = node(*choice).inputs;
    if (chosen[0] != result(start) || number(chosen[1]) != 0.0 || chosen[2] != probabilities)
      return;
    auto inputs = node(*softmax).inputs;
    auto attributes = node(*softmax).attributes;
    replace({*softmax, start, *choice}, "Softmax", std::move(inputs), std::move(attributes));
  }

  // A product reads a matrix transposed; no library moves it for that.
  void join_transpose(std::size_t start) {
    if (!has(start, "Transpose", 1) || constant(node(start).inputs[0]) != nullptr) return;
    const auto product = reader(start, "MatMul", 2);
    const auto perm = node(start).attributes.find("perm");
    if (!product || perm == node(start).attributes.end()) return;
    std::vector<std::int64_t> axes = perm->second.integers;
    if (axes.size() < 2) return;
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != static_cast<std::int64_t>(i)) return;
    auto inputs = node(*product).inputs;
    auto attributes = node(*product).attributes;
    for (const std::size_t at : {0U, 1U}) {
      if (inputs[at] != result(start)) continue;
      inputs[at] = node(start).inputs[0];
      Attribute& flag = attributes[at == 0 ? "transA" : "transB"];
      flag.integer = flag.integer == 0 ? 1 : 0;
    }
    replace({start, *product}, "MatMul", std::move(inputs), std::move(attributes));
  }

  static constexpr std::array<Start, 11> kStarts = {{
      {"Erf", &PatternJoiner::join_erf},
      {"Tanh", &PatternJoiner::join_tanh},
      {"Sigmoid", &PatternJoiner::join_sigmoid},
      {"HardSigmoid", &PatternJoiner::join_hard_sigmoid},
      {"Clip", &PatternJoiner::join_clip},
      {"Sqrt", &PatternJoiner::join_norm},
      {"MatMul", &PatternJoiner::join_bias},
      {"Conv", &PatternJoiner::join_channel_bias},
      {"Pad", &PatternJoiner::join_pad},
      {"IsNaN", &PatternJoiner::join_nan_check},
      {"Transpose", &PatternJoiner::join_transpose},
  }};

  Model& model_;
  std::vector<bool> is_removed_;
  std::map<std::string, const Tensor*, std::less<>> constants_;
  std::map<std::string, std::size_t, std::less<>> node_constants_;  // numbers of Constant nodes
  std::set<std::string, std::less<>> outputs_;
  std::map<std::string, std::ptrdiff_t, std::less<>> ranks_;  // of values, where they are known
  std::map<std::string, std::vector<std::size_t>, std::less<>> readers_;
  std::map<std::string, std::size_t, std::less<>> makers_;
};

}  // namespace

void join_patterns(Model& model) { PatternJoiner(model).join_all(); }

std::vector<std::string_view> pattern_starts() { return PatternJoiner::starts(); }

}  // namespace bench::onnx
