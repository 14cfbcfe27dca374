// SPDX-License-Identifier: Apache-2.0
// The operator batch_norm (Ioffe and Szegedy, arXiv 1502.03167), per channel:
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Mode `inference`: mean and variance are given, as weights. Mode `training`: they are those of the
// batch (the variance is mean((source - mean)^2)). The forward pass writes them, and the gradients
// read them; a running average of them is not updated.
//
// Gradients, with x the normalised source:
//   diff_scale = sum(diff_destination*x), diff_shift = sum(diff_destination)
//   diff_source = scale/sqrt(variance + epsilon)*(diff_destination - m), where m is 0 in inference.
//   In training, m = mean(diff_destination) + x*mean(diff_destination*x): the gradient also goes
//   through the statistics.
// Direction backward_data computes diff_source, backward_weights all three, as libraries do in one
// pass. The statistics and coefficients are f32 (f64 for f64), as libraries keep them.
#pragma once

#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

// Whether the problem's mode is training.
bool is_in_training(const Problem& batch_norm);

// The values of a problem's inputs by name; empty for those that it does not have.
struct BatchNormInputs {
  BatchNormInputs(const Problem& problem, ReferenceInputs inputs);
  double scale_of(std::size_t channel) const { return scale.empty() ? 1 : scale[channel]; }
  double shift_of(std::size_t channel) const { return shift.empty() ? 0 : shift[channel]; }
  std::span<const double> source, diff_destination, mean, variance, scale, shift;
};

std::vector<double> batch_norm_reference(const Problem& problem, ReferenceInputs inputs,
                                         std::size_t output,
                                         std::span<const std::int64_t> positions);

}  // namespace bench::ops
