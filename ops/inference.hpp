// SPDX-License-Identifier: Apache-2.0
// How the sizes of a network's layer follow from its inputs. Operator::inference contains the rule
// of an operator; ops/network/infer.hpp applies it.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bench::ops {

struct Inference {
  // Returns the number of inputs of a layer with these written parameters.
  std::size_t (*input_count)(const ParameterSet& written) = nullptr;
  // Sets the sizes that follow from as many inputs. Error: a written size contradicts them.
  Status (*infer)(ParameterSet& set, std::span<const Dims> inputs) = nullptr;
};

std::size_t one_input(const ParameterSet& written);
// Sets n, c and the spatial sizes of d, h, w. Error: no spatial dimensions, or more than three.
Status infer_image(ParameterSet& set, std::span<const Dims> inputs);
// Sets `shape`.
Status infer_shape(ParameterSet& set, std::span<const Dims> inputs);

inline constexpr Inference kImageInference = {one_input, infer_image};
inline constexpr Inference kShapeInference = {one_input, infer_shape};

// Sets a parameter. Error: it is written with another value.
Status put_inferred(ParameterSet& set, std::string_view name, Value value);

}  // namespace bench::ops
