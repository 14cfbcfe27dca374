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

// A node, which is the head of the group, and the layers that joined it. `inputs` are layers: the
// node's own inputs, then the residuals.
struct Group {
  std::vector<std::string> joined;
  ParameterSet parameters{{}};
  std::vector<PostOp> post_ops;
  std::vector<int> inputs;
};

class Fuser {
 public:
  Fuser(const std::vector<Node>& nodes, std::span<const int> outputs)
      : nodes_(nodes), reader_counts_(nodes.size(), 0) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      heads_.push_back(static_cast<int>(i));
      Group group;
      group.parameters = nodes[i].problem.parameters;
      for (const int source : nodes[i].sources) {
        if (source == kParameter) continue;
        group.inputs.push_back(source);
        if (source >= 0) ++reader_counts_[static_cast<std::size_t>(source)];
      }
      groups_.push_back(std::move(group));
    }
    // Each output of the network has a reader outside.
    for (const int output : outputs) ++reader_counts_[static_cast<std::size_t>(output)];
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
    std::vector<int> positions(nodes_.size(), 0);
    std::vector<Node> result;
    for (const int layer : order) {
      if (!is_head(layer)) continue;
      BENCH_ASSIGN_OR_RETURN(Node node, make_node(layer, positions));
      positions[static_cast<std::size_t>(layer)] = static_cast<int>(result.size());
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
  std::optional<int> find_joinable_group(int input, const Dims& dims) const {
    if (input < 0 || reader_counts_[static_cast<std::size_t>(input)] != 1) return std::nullopt;
    const int head = heads_[static_cast<std::size_t>(input)];
    if (!problem(head).op->takes_post_ops) return std::nullopt;
    const Problem& producer = problem(input);
    if (producer.tensors[producer.input_count()].dims != dims) return std::nullopt;
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
    const std::vector<int> inputs = group(layer).inputs;
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
    for (const int input : group(head).inputs) {
      if (input >= 0) heads.push_back(heads_[static_cast<std::size_t>(input)]);
    }
    return heads;
  }

  // `positions`: positions in the result of the heads that are done.
  Result<Node> make_node(int head, const std::vector<int>& positions) {
    const Problem& layer_problem = problem(head);
    Group& members = group(head);
    Node node{.name = nodes_[static_cast<std::size_t>(head)].name,
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
        node.sources.push_back(kParameter);
        continue;
      }
      const int input = *next_input++;
      node.sources.push_back(
          input < 0 ? input
                    : positions[static_cast<std::size_t>(heads_[static_cast<std::size_t>(input)])]);
    }
    return node;
  }

  const std::vector<Node>& nodes_;
  std::vector<int> reader_counts_;  // number of readers of each layer's output
  std::vector<int> heads_;          // the head of each layer's group
  std::vector<Group> groups_;
};

}  // namespace

Result<std::vector<Node>> fuse(const std::vector<Node>& nodes, std::span<const int> outputs) {
  return Fuser(nodes, outputs).run();
}

}  // namespace bench::ops
