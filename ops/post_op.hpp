// SPDX-License-Identifier: Apache-2.0
// Implements post-ops: their names, their work, and their reference.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// Parses a flag of a case id without its '+': "relu", "add", "clip" (with the defaults 0 and 6),
// "leaky_relu0.1", "clip-1_1" (alpha and beta joined by '_' if they are not the defaults).
Result<PostOp> parse_post_op(std::string_view text);
// The inverse of parse_post_op.
std::string format_post_op(const PostOp& post_op);

// Whether a post-op reads the tensor: it has the name that add_post_ops() gives.
bool is_residual(const Tensor& tensor);
// Adds the post-ops' tensors (before the outputs), work and formulas to an operator's model.
Status add_post_ops(std::span<const PostOp> post_ops, Model& model);

// Computes the full reference of a problem: the operator's reference, then its post-ops. `inputs`
// contains the residual tensors after the operator's inputs. Error: a plugin's reference failed.
Result<std::vector<double>> try_reference(const Problem& problem, ReferenceInputs inputs,
                                          std::size_t output,
                                          std::span<const std::int64_t> positions);
// Like try_reference(), for built-in operators, whose reference cannot fail.
std::vector<double> built_in_reference(const Problem& problem, ReferenceInputs inputs,
                                       std::size_t output, std::span<const std::int64_t> positions);

}  // namespace bench::ops
