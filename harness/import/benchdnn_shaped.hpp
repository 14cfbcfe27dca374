// SPDX-License-Identifier: Apache-2.0
// The drivers whose descriptors are the sizes of tensors: "8x16:16x32".
#pragma once

#include "harness/import/benchdnn_driver.hpp"

namespace bench {

BenchdnnRequest request_benchdnn_matmul;
BenchdnnRequest request_benchdnn_softmax;
BenchdnnRequest request_benchdnn_lnorm;
BenchdnnRequest request_benchdnn_eltwise;
BenchdnnRequest request_benchdnn_binary;
BenchdnnRequest request_benchdnn_reduction;
BenchdnnRequest request_benchdnn_reorder;
BenchdnnRequest request_benchdnn_concat;

}  // namespace bench
