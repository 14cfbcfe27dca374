// SPDX-License-Identifier: Apache-2.0
// The drivers whose descriptors name their sizes: "mb2ic64ih56oc64oh56kh3ph1".
#pragma once

#include "harness/import/benchdnn_driver.hpp"

namespace bench {

BenchdnnRequest request_benchdnn_conv;
BenchdnnRequest request_benchdnn_deconv;
BenchdnnRequest request_benchdnn_ip;
BenchdnnRequest request_benchdnn_pool;
BenchdnnRequest request_benchdnn_bnorm;
BenchdnnRequest request_benchdnn_gnorm;

}  // namespace bench
