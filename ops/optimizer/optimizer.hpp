// SPDX-License-Identifier: Apache-2.0
// The numbers of the operator optimizer. They are PyTorch's defaults, except for the learning rate:
// with 0.1, a wrong update is beyond the tolerance of bf16. They do not change the time.
#pragma once

namespace bench::ops {

inline constexpr double kLearningRate = 0.1;
inline constexpr double kWeightDecay = 0.01;
inline constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kOptimizerEpsilon = 1e-8;
// 1 - beta^t of the step t = 1000, by which the moments are divided.
inline constexpr double kBiasCorrection1 = 1.0, kBiasCorrection2 = 0.632304575;

}  // namespace bench::ops
