// SPDX-License-Identifier: Apache-2.0
// Builds the layers of a network from the nodes of a model. Each layer is checked and counted when
// it is added, so a node that an operator cannot compute is refused with that operator's reason.
#pragma once

#include "base/result.hpp"
#include "harness/import/onnx_fold.hpp"
#include "ops/network/network.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::onnx {

// Parameters of an operator as a network file writes them.
using LayerParameters = std::vector<std::pair<std::string_view, ops::Value>>;

// A product of integers, whose result the rest of the model dequantises. A network has one data
// type, so such layers are cases.
struct IntegerProduct {
  Quantised source;
  Quantised weights;
  bool has_scales = false;  // the model states scales
  int destination = 0;  // type of the result after quantisation; 0: it stays a floating-point one
};

struct BuiltLayer {
  ops::LayerDefinition definition;
  std::int64_t flops = 0;
  std::size_t node = 0;  // number of the node that it belongs to
  bool has_parameters = false;
  std::optional<IntegerProduct> integers = std::nullopt;
};

class NetworkBuilder {
 public:
  // The layers that follow belong to a node. Their names come from the name of the node, or of its
  // first result.
  void begin_node(std::size_t number, const Node& node);
  // Removes the layers and inputs that were added since begin_node().
  void discard_node();
  // FLOPs of the layers since begin_node().
  std::int64_t node_flops() const;
  bool has_layers_of_node() const { return layers_.size() > first_layer_; }
  // Whether a layer since begin_node() has parameters of its own, as a product has weights.
  bool has_parameters_of_node() const;
  // Whether the network reads a value of the model as one of its inputs.
  bool is_input(const Value& value) const { return input_numbers_.contains(value.source); }

  // Adds a layer. Its inputs become layers, views, or inputs of the network. Error: the operator
  // cannot have these parameters or inputs.
  Result<Value> add(std::string_view op, const LayerParameters& parameters,
                    const std::vector<Value>& inputs);
  Result<Value> add_unary(std::string_view function, const Value& input,
                          LayerParameters coefficients = {});
  // Broadcasts. The larger operand comes first if the function permits it.
  Result<Value> add_binary(std::string_view function, const Value& a, const Value& b);
  // Moves the axes; a view if only axes of size 1 move.
  Result<Value> add_permutation(const Value& input, const std::vector<std::int64_t>& axes);

  // Says that the layer with this result multiplies integers.
  void mark_integers(const Value& result, IntegerProduct integers);
  std::optional<IntegerProduct>* integers_of_layer(const Value& value);

  // Whether a hole is between layers, so that the layers are not one network.
  bool has_gap() const { return has_gap_; }
  const std::vector<BuiltLayer>& layers() const { return layers_; }
  // The network: its inputs are those that layers read, its outputs the results of `results` and of
  // all layers that no other reads.
  ops::NetworkDefinition take(std::string name, std::span<const Value> results) const;

 private:
  Result<std::string> find_source(const Value& value);
  Result<std::string> add_view(const std::string& source, const ops::Dims& dims);
  std::string make_name(std::string_view wanted);

  std::vector<BuiltLayer> layers_;
  std::vector<ops::InputDefinition> inputs_;
  using ViewKey = std::pair<std::string, ops::Dims>;  // source and sizes
  std::map<std::string, std::size_t> input_numbers_;  // by name of the value in the model
  std::map<ViewKey, std::string> views_;
  std::map<std::string, int, std::less<>> last_numbers_;  // by wanted name
  std::vector<ViewKey> new_views_;                        // those of the node
  std::vector<std::string> new_inputs_;                   // those of the node, by name of the value
  std::map<std::string, std::size_t, std::less<>> layer_numbers_;
  std::set<std::string, std::less<>> names_;
  std::string node_name_;
  std::size_t node_ = 0;
  std::size_t first_layer_ = 0;
  std::size_t first_input_ = 0;
  bool has_gap_ = false;
  bool had_gap_ = false;  // before the node
};

// Returns the same elements in other sizes.
Value with_dims(Value value, ops::Dims dims);

// Returns the shortest decimal number of an attribute, which the file stores as a float: 1e-05.
double as_written(double attribute);

// Expresses a node by layers. Returns its results; fewer than the node has: the last ones cannot be
// read. Error: `what` says why it cannot be expressed, as a clause.
struct LoweringRow {
  std::string_view domain;
  std::string_view op;
  Result<std::vector<Value>> (*lower)(const NodeView& view, NetworkBuilder& builder);
};

std::span<const LoweringRow> product_rows();      // convolutions, products, pooling
std::span<const LoweringRow> elementwise_rows();  // functions of elements, norms, reductions
std::span<const LoweringRow> layout_rows();       // what moves elements
std::span<const LoweringRow> fused_rows();        // operators of com.microsoft, attention
std::span<const LoweringRow> quantised_rows();    // operators on integers
std::span<const LoweringRow> recurrent_rows();    // LSTM, GRU, RNN

// Adds the product of two matrices or batches of them, with their storage. `bias`: nullptr or a
// constant with a value per column.
enum class Transposed { neither, left, right, both };
Result<Value> add_product(NetworkBuilder& builder, const Value& left, const Value& right,
                          Transposed transposed, const Value* bias);
// Adds a convolution, without marking integers. `weights` and `bias` (nullptr: none) are constants.
Result<Value> add_convolution(NetworkBuilder& builder, const NodeView& view, const Value& source,
                              const Value& weights, const Value* bias);

}  // namespace bench::onnx
