// SPDX-License-Identifier: Apache-2.0
// Derives the sizes of a network's layer from the sizes of its inputs. Operator::inference contains
// the rule of an operator, and ops/network/network_steps.hpp applies the rule. This is not the
// inference mode of a network.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bench::ops {

struct Inference {
  // Returns the number of inputs of a layer. `written` contains the parameters that the network
  // file sets. nullptr: the layer takes any number of inputs, from 1 on.
  std::size_t (*input_count)(const ParameterSet& written) = nullptr;
  // Sets the sizes that follow from the inputs; input_count() gives their number. Error: a size in
  // the network file contradicts them.
  Status (*infer)(ParameterSet& set, std::span<const Dims> inputs) = nullptr;
  // A flag that two inputs set before input_count() is asked. Empty: there is none.
  std::string_view set_by_two_inputs = {};
};

// Implements input_count for layers with one input: returns 1.
std::size_t one_input(const ParameterSet& written);
// Sets n, c and the spatial sizes (d, h, w, as far as the input has them). Error: the input does
// not have 1 to 3 spatial dimensions.
Status infer_image(ParameterSet& set, std::span<const Dims> inputs);
// Sets `shape` to the shape of the input.
Status infer_shape(ParameterSet& set, std::span<const Dims> inputs);

inline constexpr Inference kImageInference = {one_input, infer_image};
inline constexpr Inference kShapeInference = {one_input, infer_shape};

// Sets a parameter. Error: the parameter is already set to another value.
Status put_inferred(ParameterSet& set, std::string_view name, Value value);

}  // namespace bench::ops
