// SPDX-License-Identifier: Apache-2.0
#include "ops/network/graph.hpp"
#include "ops/network/network_steps.hpp"
#include "ops/operator.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

// A node, which is the head of the group, and the layers that joined it. `inputs` are results of
// layers or the network's inputs: the node's own inputs, then the residuals.
struct Group {
  std::vector<std::string> joined;
  ParameterSet parameters{{}};
  std::vector<PostOp> post_ops;
  std::vector<Source> inputs;
};

// Returns the layer whose result it is; nullopt for an input of the network.
std::optional<std::size_t> producing_layer(const Source& source) {
  if (source.kind != Source::Kind::node) return std::nullopt;
  return source.index;
}

class Fuser {
 public:
  Fuser(const std::vector<Node>& nodes, std::span<const Source> outputs)
      : nodes_(nodes), reader_counts_(nodes.size(), 0) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      heads_.push_back(static_cast<int>(i));
      Group group;
      group.parameters = nodes[i].problem.parameters;
      for (const Source& source : nodes[i].sources) {
        if (source.kind == Source::Kind::parameter) continue;
        group.inputs.push_back(source);
        if (const auto layer = producing_layer(source)) ++reader_counts_[*layer];
      }
      groups_.push_back(std::move(group));
    }
    // Each output of the network has a reader outside.
    for (const Source& output : outputs) ++reader_counts_[output.index];
  }

  Result<std::vector<Node>> run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) join(static_cast<int>(i));
    const auto is_head = [&](int layer) {
      return heads_[static_cast<std::size_t>(layer)] == layer;
    };
    // Members that are not heads get no predecessors and are skipped below.
    const std::vector<int> order = topological_order(nodes_.size(), [&](int layer) {
      return is_head(layer) ? predecessors(layer) : std::vector<int>{};
    });
    std::vector<std::size_t> positions(nodes_.size(), 0);
    std::vector<Node> result;
    for (const int layer : order) {
      if (!is_head(layer)) continue;
      BENCH_ASSIGN_OR_RETURN(Node node, make_node(layer, positions));
      positions[static_cast<std::size_t>(layer)] = result.size();
      result.push_back(std::move(node));
    }
    return result;
  }

 private:
  const Problem& problem(int layer) const {
    return nodes_[static_cast<std::size_t>(layer)].problem;
  }
  Group& group(int head) { return groups_[static_cast<std::size_t>(head)]; }

  // Returns the group that a layer can join through `input`, which it reads in sizes `dims`: the
  // producer's, if that takes post-ops and has no other reader. Returns nullopt if there is none,
  // or if the layer sees the result in other sizes, since channels may then differ.
  std::optional<int> find_joinable_group(const Source& input, const Dims& dims) const {
    const std::optional<std::size_t> layer = producing_layer(input);
    if (!layer || reader_counts_[*layer] != 1) return std::nullopt;
    const int head = heads_[*layer];
    if (!problem(head).op->takes_post_ops) return std::nullopt;
    const Problem& producer = nodes_[*layer].problem;
    if (producer.output().dims != dims) return std::nullopt;
    return head;
  }

  void join(int layer) {
    const Problem& layer_problem = problem(layer);
    if (layer_problem.op->joining.join == nullptr) return;
    const std::optional<Join> join = layer_problem.op->joining.join(layer_problem);
    if (!join) return;
    switch (join->kind) {
      case Join::Kind::into_weights:
        return join_weights(layer);
      case Join::Kind::post_op:
        return join_post_op(layer, join->post_op);
      case Join::Kind::residual:
        return join_residual(layer, join->post_op);
    }
  }

  void add_member(int head, int layer) {
    group(head).joined.push_back(nodes_[static_cast<std::size_t>(layer)].name);
    heads_[static_cast<std::size_t>(layer)] = head;
  }

  // Returns the group that a layer can join through the first or the second of its tensors.
  std::optional<int> find_joinable_group_of(int layer, std::size_t tensor) {
    return find_joinable_group(group(layer).inputs[tensor], problem(layer).tensors[tensor].dims);
  }

  void join_weights(int layer) {
    const std::optional<int> head = find_joinable_group_of(layer, 0);
    if (!head || !problem(*head).op->joining.takes_affine || !group(*head).post_ops.empty()) return;
    group(*head).parameters.set("bias", true);
    add_member(*head, layer);
  }

  void join_post_op(int layer, const PostOp& post_op) {
    const std::optional<int> head = find_joinable_group_of(layer, 0);
    if (!head) return;
    group(*head).post_ops.push_back(post_op);
    add_member(*head, layer);
  }

  void join_residual(int layer, const PostOp& post_op) {
    const std::vector<Source> inputs = group(layer).inputs;
    const std::optional<int> first = find_joinable_group_of(layer, 0);
    const std::optional<int> second = find_joinable_group_of(layer, 1);
    if (!first && !second) return;
    const bool joins_second = second && (!first || *second > *first);
    const int head = joins_second ? *second : *first;
    group(head).post_ops.push_back(post_op);
    group(head).inputs.push_back(joins_second ? inputs[0] : inputs[1]);
    add_member(head, layer);
  }

  std::vector<int> predecessors(int head) {
    std::vector<int> heads;
    for (const Source& input : group(head).inputs) {
      if (const auto layer = producing_layer(input)) heads.push_back(heads_[*layer]);
    }
    return heads;
  }

  // `positions`: positions in the result of the heads that are done.
  Result<Node> make_node(int head, const std::vector<std::size_t>& positions) {
    const Problem& layer_problem = problem(head);
    Group& members = group(head);
    const std::string& name = nodes_[static_cast<std::size_t>(head)].name;
    Node node{.name = name,
              .layer = name,
              .fused = std::move(members.joined),
              .problem = {},
              .sources = {}};
    BENCH_ASSIGN_OR_RETURN(node.problem, make_problem({.op = layer_problem.op,
                                                       .direction = layer_problem.direction,
                                                       .dtype = layer_problem.dtype,
                                                       .layout = layer_problem.layout,
                                                       .math = layer_problem.math,
                                                       .parameters = members.parameters,
                                                       .post_ops = members.post_ops}));
    auto next_input = members.inputs.begin();
    for (std::size_t i = 0; i < node.problem.input_count(); ++i) {
      if (node.problem.tensors[i].role == TensorRole::weights) {
        node.sources.push_back(from_parameter(kUnnumbered));
        continue;
      }
      const Source input = *next_input++;
      const std::optional<std::size_t> producer = producing_layer(input);
      node.sources.push_back(
          producer ? from_node(positions[static_cast<std::size_t>(heads_[*producer])]) : input);
    }
    return node;
  }

  const std::vector<Node>& nodes_;
  std::vector<int> reader_counts_;  // number of readers of each layer's output
  std::vector<int> heads_;          // the head of each layer's group
  std::vector<Group> groups_;
};

}  // namespace

Result<std::vector<Node>> fuse(const std::vector<Node>& nodes, std::span<const Source> outputs) {
  return Fuser(nodes, outputs).run();
}

}  // namespace bench::ops
