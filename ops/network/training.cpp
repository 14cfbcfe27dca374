// SPDX-License-Identifier: Apache-2.0
// Appends to the forward pass of a network what makes it a training step.
#include "ops/network/network_steps.hpp"
#include "ops/operator.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::string_view kDiff = "diff_";
constexpr std::string_view kDiffDestination = "diff_destination";
constexpr std::string_view kLoss = "loss";
constexpr std::array<std::string_view, 5> kPassNames = {"forward", "loss", "backward_data",
                                                        "backward_weights", "optimizer"};

// Returns the steps that compute gradients of a layer: in the operator's own directions, as far as
// it has them for this problem, and others.
std::vector<GradientStep> list_steps(const Problem& layer) {
  std::vector<GradientStep> steps;
  for (const Direction direction : layer.op->directions) {
    if (direction == layer.direction) continue;
    Result<Problem> problem = make_problem({.op = layer.op,
                                            .direction = direction,
                                            .dtype = layer.dtype,
                                            .layout = layer.layout,
                                            .math = layer.math,
                                            .parameters = layer.parameters});
    if (!problem) continue;
    GradientStep step;
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < problem->tensors.size(); ++i) {
      std::vector<std::string>& names = i < problem->input_count() ? inputs : step.outputs;
      names.push_back(problem->tensors[i].name);
    }
    step.problems.push_back({*std::move(problem), std::move(inputs)});
    steps.push_back(std::move(step));
  }
  if (layer.op->gradient != nullptr)
    std::ranges::move(layer.op->gradient(layer), std::back_inserter(steps));
  return steps;
}

bool gives(const GradientStep& step, const std::string& name) {
  return std::ranges::find(step.outputs, name) != step.outputs.end();
}

// Returns the smallest choice of steps that computes all wanted gradients, the earlier ones first;
// as many of them as there are.
std::vector<GradientStep*> choose_steps(std::vector<GradientStep>& steps,
                                        const std::vector<std::string>& wanted) {
  for (GradientStep& step : steps) {
    if (std::ranges::all_of(wanted, [&](const auto& name) { return gives(step, name); })) {
      return {&step};
    }
  }
  std::vector<GradientStep*> chosen;
  for (const std::string& name : wanted) {
    if (std::ranges::any_of(chosen, [&](const auto* step) { return gives(*step, name); })) continue;
    const auto step =
        std::ranges::find_if(steps, [&](const GradientStep& each) { return gives(each, name); });
    if (step != steps.end()) chosen.push_back(&*step);
  }
  return chosen;
}

bool permutes_axes(const Problem& layer) {
  constexpr std::string_view kPermutation = "permutation";
  return find_parameter(layer.parameters.table(), kPermutation) != nullptr &&
         layer.parameters.has(kPermutation);
}

// Returns for each node whether its result is an image, so that dimension 1 has the channels. That
// of an operator on images is. Other operators keep the axes of the images that they read, unless
// they read them in other sizes or permute them.
std::vector<bool> find_images(std::span<const Node> nodes) {
  std::vector<bool> is_image;
  for (const Node& node : nodes) {
    const std::size_t rank = node.problem.output().dims.size();
    const auto reads_image = [&](std::size_t i) {
      const Source& source = node.sources[i];
      if (source.kind != Source::Kind::node || !is_image[source.index]) return false;
      const Dims& image = nodes[source.index].problem.output(source.output).dims;
      return image.size() == rank && image == node.problem.tensors[i].dims;
    };
    bool is_like_its_input = false;
    for (std::size_t i = 0; i < node.sources.size(); ++i) is_like_its_input |= reads_image(i);
    is_image.push_back(rank > 2 && (takes_images(*node.problem.op) ||
                                    (is_like_its_input && !permutes_axes(node.problem))));
  }
  return is_image;
}

// Adds the nodes behind the forward pass, which stays where it is until all are made.
class TrainingBuilder {
 public:
  TrainingBuilder(std::span<const LayerDefinition> definition, Network& network,
                  std::vector<Tensor>& inputs)
      : definition_(definition),
        network_(network),
        inputs_(inputs),
        is_image_(find_images(network.nodes)) {
    for (const Node& node : network_.nodes) {
      const bool depends = std::ranges::any_of(node.sources, [&](const Source& source) {
        return source.kind == Source::Kind::node && depends_on_learned_[source.index];
      });
      depends_on_learned_.push_back(depends ||
                                    std::ranges::any_of(node.problem.tensors, is_learned));
    }
  }

  Status build(std::vector<std::string>& output_names) {
    BENCH_ASSIGN_OR_RETURN(const std::vector<Source> results,
                           choose_results(std::exchange(network_.outputs, {}), output_names));
    output_names.clear();
    network_.gap = find_loss_gap(results);
    if (network_.gap) {
      for (const Source& result : results) add_part(result, {Source::Kind::unknown, 0, 0});
    } else {
      BENCH_RETURN_IF_ERROR(add_loss(results.front(), output_names));
    }
    for (std::size_t n = network_.nodes.size(); n-- > 0;) BENCH_RETURN_IF_ERROR(add_gradients(n));
    for (std::size_t i = 0; i < network_.parameter_places.size(); ++i) {
      BENCH_RETURN_IF_ERROR(add_optimizer(i, output_names));
    }
    std::ranges::move(added_, std::back_inserter(network_.nodes));
    number_parameters(network_);
    return Done{};
  }

 private:
  // A value of the forward pass or a parameter, as key of its gradients.
  using ValueKey = std::pair<std::size_t, std::size_t>;  // node, output
  using Parts = std::vector<Source>;                     // the gradient is their sum

  // A node of the forward pass.
  const Node& node(std::size_t index) const { return network_.nodes[index]; }

  static std::string_view pass_name(Pass pass) {
    return pass_names()[static_cast<std::size_t>(pass)];
  }

  // Returns the number of the new node.
  std::size_t add_node(const std::string& layer, std::string_view suffix, Pass pass,
                       Problem problem, std::vector<Source> sources) {
    added_.push_back({.name = fmt::format("{}.{}", layer, suffix),
                      .layer = layer,
                      .pass = pass,
                      .problem = std::move(problem),
                      .sources = std::move(sources)});
    return network_.nodes.size() + added_.size() - 1;
  }
  std::size_t add_node(const std::string& layer, Pass pass, Problem problem,
                       std::vector<Source> sources) {
    return add_node(layer, pass_name(pass), pass, std::move(problem), std::move(sources));
  }

  void note_gap(std::string reason) {
    if (!network_.gap) network_.gap = std::move(reason);
  }

  // Returns a request with the parameters that the network file sets for the operator.
  ProblemRequest start_request(std::string_view name, std::string_view function,
                               DataType dtype) const {
    const Operator* op = find_operator(name);
    ProblemRequest request{.op = op, .dtype = dtype, .parameters = ParameterSet(op->parameters)};
    const auto written = std::ranges::find(definition_, name, &LayerDefinition::op);
    if (written != definition_.end()) request.parameters = written->parameters;
    if (!request.parameters.has("function")) {
      request.parameters.set("function", std::string(function));
    }
    return request;
  }

  // Returns the outputs of the network that have a loss: the one that the loss names as its input,
  // or all. The others, such as the keys and values that a later pass reads, are not results of a
  // training step.
  Result<std::vector<Source>> choose_results(std::vector<Source> outputs,
                                             std::span<const std::string> names) const {
    const auto loss = std::ranges::find(definition_, kLoss, &LayerDefinition::op);
    if (loss == definition_.end() || loss->inputs.empty()) return outputs;
    const auto name = std::ranges::find(names, loss->inputs.front());
    if (loss->inputs.size() == 1 && name != names.end()) {
      return std::vector{outputs[static_cast<std::size_t>(name - names.begin())]};
    }
    return Error{.what = fmt::format("the loss reads `{}`, which is not one output of the network",
                                     fmt::join(loss->inputs, ", ")),
                 .where = std::string(kLoss),
                 .next = "name one of the network's outputs"};
  }

  // Returns why there is no loss of these results, nullopt if there is one.
  std::optional<std::string> find_loss_gap(const std::vector<Source>& results) const {
    if (results.size() != 1) {
      return fmt::format(
          "a training step has one output, and the network has {}; `loss` in its file can name one "
          "of them in `inputs`",
          results.size());
    }
    const Source& result = results.front();
    const Tensor& scores = node(result.index).problem.output(result.output);
    if (scores.dims.size() < 2) {
      return fmt::format("the output `{}` has one dimension, so there are no classes for a loss",
                         node(result.index).name);
    }
    return std::nullopt;
  }

  // Whether a result of a network has classes for each point of an image, not for the image.
  bool has_classes_per_point(const Source& result) const {
    const Tensor& scores = node(result.index).problem.output(result.output);
    return is_image_[result.index] && scores.elements() != scores.dims[0] * scores.dims[1];
  }

  // Returns the reorder of an image that makes its channels the last dimension.
  static Result<Problem> make_rows(const Tensor& image) {
    const Operator* op = find_operator("reorder");
    ProblemRequest request{
        .op = op, .dtype = image.dtype, .parameters = ParameterSet(op->parameters)};
    Dims permutation = {0};
    for (std::size_t axis = 2; axis < image.dims.size(); ++axis)
      permutation.push_back(static_cast<std::int64_t>(axis));
    permutation.push_back(1);
    request.parameters.set("shape", image.dims);
    request.parameters.set("permutation", std::move(permutation));
    return make_problem(std::move(request));
  }

  // Adds the loss of a result of the network. A loss reads rows of classes: if the result has
  // classes for each point of an image, they are its channels, so reorders come before the loss and
  // after its gradient.
  Status add_loss(const Source& result, std::vector<std::string>& output_names) {
    if (!has_classes_per_point(result)) {
      BENCH_ASSIGN_OR_RETURN(const Source gradient, add_loss_of_rows(result, result, output_names));
      add_part(result, gradient);
      return Done{};
    }
    const std::string layer = fmt::format("{}.rows", kLoss);
    BENCH_ASSIGN_OR_RETURN(Problem rows,
                           make_rows(node(result.index).problem.output(result.output)));
    std::vector<GradientStep> back = rows.op->gradient(rows);
    const std::size_t forward =
        add_node(layer, pass_name(Pass::forward), Pass::loss, std::move(rows), {result});
    BENCH_ASSIGN_OR_RETURN(const Source gradient,
                           add_loss_of_rows(result, from_node(forward), output_names));
    Problem& inverse = back.front().problems.front().problem;
    add_part(result, from_node(add_node(layer, pass_name(Pass::backward_data), Pass::loss,
                                        std::move(inverse), {gradient})));
    return Done{};
  }

  // Adds the loss of a result that is read as `rows` of classes. Returns the gradient of the rows.
  Result<Source> add_loss_of_rows(const Source& result, const Source& rows,
                                  std::vector<std::string>& output_names) {
    const Tensor& scores = node(result.index).problem.output(result.output);
    ProblemRequest request = start_request(kLoss, "softmax_cross_entropy", scores.dtype);
    // The classes of an image are its channels, as in PyTorch.
    const std::int64_t classes = is_image_[result.index] ? scores.dims[1] : scores.dims.back();
    request.parameters.set("batch", scores.elements() / classes);
    request.parameters.set("classes", classes);
    const std::string layer(kLoss);
    const Source labels =
        add_input(layer + ".labels", scores.dtype, {request.parameters.count("batch")});
    BENCH_ASSIGN_OR_RETURN(Problem forward, make_problem(request));
    request.direction = Direction::backward_data;
    BENCH_ASSIGN_OR_RETURN(Problem backward, make_problem(std::move(request)));
    const Source weights = add_input(layer + ".gradient", scores.dtype, backward.tensors[2].dims);
    network_.outputs.push_back(from_node(
        add_node(layer, pass_name(Pass::forward), Pass::loss, std::move(forward), {rows, labels})));
    output_names.push_back(layer);
    return from_node(add_node(layer, pass_name(Pass::backward_data), Pass::loss,
                              std::move(backward), {rows, labels, weights}));
  }

  Source add_input(std::string name, DataType dtype, Dims dims) {
    inputs_.push_back({.name = std::move(name),
                       .role = TensorRole::input,
                       .dtype = dtype,
                       .dims = std::move(dims),
                       .touched = 0});
    return from_input(inputs_.size() - 1);
  }

  // Returns the gradients of a layer that a step computes: of learned parameters, and of what
  // depends on some. The name of a tensor stands for its gradient's.
  std::vector<std::string> list_wanted(const Node& layer) const {
    std::vector<std::string> wanted;
    for (std::size_t i = 0; i < layer.sources.size(); ++i) {
      const Source& source = layer.sources[i];
      const bool is_wanted = source.kind == Source::Kind::node
                                 ? depends_on_learned_[source.index]
                                 : is_learned(layer.problem.tensors[i]);
      if (is_wanted) wanted.push_back(std::string(kDiff) + layer.problem.tensors[i].name);
    }
    return wanted;
  }

  // Adds the sum of the parts of a gradient, whose tensor is `value`. Returns nullopt if there is
  // none: nothing that the loss depends on reads the value.
  Result<std::optional<Source>> add_sum(const Parts& parts, const Tensor& value,
                                        const std::string& layer, Pass pass) {
    if (parts.empty()) return std::optional<Source>();
    Source sum = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const Operator* op = find_operator("pointwise");
      ProblemRequest request{
          .op = op, .dtype = value.dtype, .parameters = ParameterSet(op->parameters)};
      request.parameters.set("function", std::string("add"));
      request.parameters.set("a", value.dims);
      request.parameters.set("b", value.dims);
      BENCH_ASSIGN_OR_RETURN(Problem problem, make_problem(std::move(request)));
      const std::string name = parts.size() == 2 ? "sum" : fmt::format("sum{}", i);
      sum = from_node(
          add_node(fmt::format("{}.{}", layer, name), pass, std::move(problem), {sum, parts[i]}));
    }
    return std::optional(sum);
  }

  Status add_gradients(std::size_t index) {
    const Node& layer = node(index);
    const std::vector<std::string> wanted = list_wanted(layer);
    BENCH_ASSIGN_OR_RETURN(
        const std::optional<Source> gradient,
        add_sum(values_[{index, 0}], layer.problem.output(), layer.name, Pass::backward_data));
    if (wanted.empty() || !gradient) return Done{};
    std::vector<GradientStep> steps = list_steps(layer.problem);
    const std::vector<GradientStep*> chosen = choose_steps(steps, wanted);
    std::vector<std::string> missing = wanted;
    for (GradientStep* step : chosen) {
      std::erase_if(missing, [&](const std::string& name) { return gives(*step, name); });
      add_step(index, std::move(*step), wanted, *gradient);
    }
    for (const std::string& name : missing) add_unknown(index, name);
    return Done{};
  }

  // Notes a gradient that no operator computes.
  void add_unknown(std::size_t index, const std::string& gradient) {
    Node& layer = network_.nodes[index];
    const std::size_t tensor = find_tensor(layer.problem, gradient.substr(kDiff.size()));
    const Source source = layer.sources[tensor];
    add_part(source, {Source::Kind::unknown, 0, 0});
    const Direction direction = source.kind == Source::Kind::parameter ? Direction::backward_weights
                                                                       : Direction::backward_data;
    if (std::ranges::find(layer.without_gradient, direction) == layer.without_gradient.end()) {
      layer.without_gradient.push_back(direction);
    }
    note_gap(fmt::format("no operator computes the gradient of the layer `{}` ({}, `{}`)",
                         layer.name, layer.problem.op->name, layer.problem.tensors[tensor].name));
  }

  // Returns the index of a tensor that is not an output; input_count() if there is none.
  static std::size_t find_tensor(const Problem& problem, std::string_view name) {
    const auto end = problem.tensors.begin() + static_cast<std::ptrdiff_t>(problem.input_count());
    const auto found = std::find_if(problem.tensors.begin(), end,
                                    [&](const Tensor& tensor) { return tensor.name == name; });
    return static_cast<std::size_t>(found - problem.tensors.begin());
  }

  void add_part(const Source& of, const Source& part) {
    if (of.kind == Source::Kind::node) values_[{of.index, of.output}].push_back(part);
    if (of.kind == Source::Kind::parameter) parameters_[of.index].push_back(part);
  }

  // Returns the source of a step's input `name`: the gradient of the result, or a tensor of the
  // layer.
  Source resolve(std::size_t index, const std::string& name, const Source& gradient) {
    if (name == kDiffDestination) return gradient;
    const Node& layer = node(index);
    const std::size_t inputs = layer.problem.input_count();
    const std::size_t input = find_tensor(layer.problem, name);
    if (input < inputs) return layer.sources[input];
    for (std::size_t i = inputs; i < layer.problem.tensors.size(); ++i) {
      if (layer.problem.tensors[i].name == name) return from_node(index, i - inputs);
    }
    note_gap(fmt::format(
        "the gradient of the layer `{}` ({}) needs `{}`, which its forward pass does not compute",
        layer.name, layer.problem.op->name, name));
    return {Source::Kind::unknown, 0, 0};
  }

  void add_step(std::size_t index, GradientStep step, const std::vector<std::string>& wanted,
                const Source& gradient) {
    const Node& layer = node(index);
    // What the step's outputs are the gradients of.
    std::vector<Source> of;
    for (const std::string& output : step.outputs) {
      of.push_back(layer.sources[find_tensor(layer.problem, output.substr(kDiff.size()))]);
    }
    const bool is_of_weights =
        std::ranges::find(of, Source::Kind::parameter, &Source::kind) != of.end();
    const Pass pass = is_of_weights ? Pass::backward_weights : Pass::backward_data;
    std::vector<Source> results(step.outputs.size(), gradient);
    for (GradientProblem& each : step.problems) {
      std::vector<Source> sources;
      for (const std::string& name : each.inputs) {
        sources.push_back(name == kPartialGradient ? results.front()
                                                   : resolve(index, name, gradient));
      }
      const std::size_t added =
          add_node(layer.name, pass, std::move(each.problem), std::move(sources));
      for (std::size_t i = 0; i < results.size(); ++i) results[i] = from_node(added, i);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool is_wanted = std::ranges::find(wanted, step.outputs[i]) != wanted.end();
      if (is_wanted) add_part(of[i], results[i]);
    }
  }

  Status add_optimizer(std::size_t parameter, std::vector<std::string>& output_names) {
    const Network::ParameterPlace place = network_.parameter_places[parameter];
    const Tensor& tensor = node(place.node).problem.tensors[place.tensor];
    if (!is_learned(tensor)) return Done{};
    const std::string name = fmt::format("{}.{}", node(place.node).layer, tensor.name);
    BENCH_ASSIGN_OR_RETURN(const std::optional<Source> gradient,
                           add_sum(parameters_[parameter], tensor, name, Pass::backward_weights));
    if (!gradient) return Done{};
    ProblemRequest request = start_request("optimizer", "sgd", tensor.dtype);
    request.parameters.set("elements", tensor.elements());
    BENCH_ASSIGN_OR_RETURN(Problem problem, make_problem(std::move(request)));
    std::vector<Source> sources = {from_parameter(parameter), *gradient};
    sources.resize(problem.input_count(), from_parameter(kUnnumbered));
    const std::size_t number = network_.nodes.size() + added_.size();
    for (std::size_t i = 0; i < problem.output_count(); ++i) {
      network_.outputs.push_back(from_node(number, i));
      output_names.push_back(fmt::format("{}.{}", name, problem.output(i).name));
    }
    add_node(name, Pass::optimizer, std::move(problem), std::move(sources));
    return Done{};
  }

  std::span<const LayerDefinition> definition_;
  Network& network_;
  std::vector<Tensor>& inputs_;
  std::vector<Node> added_;
  std::vector<bool> is_image_;  // by node of the forward pass, as are the next
  std::vector<bool> depends_on_learned_;
  std::map<ValueKey, Parts> values_;
  std::map<std::size_t, Parts> parameters_;
};

}  // namespace

std::span<const std::string_view> pass_names() { return kPassNames; }

Status add_training(std::span<const LayerDefinition> definition, Network& network,
                    std::vector<Tensor>& inputs, std::vector<std::string>& output_names) {
  return TrainingBuilder(definition, network, inputs).build(output_names);
}

}  // namespace bench::ops
