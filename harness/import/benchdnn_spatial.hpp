// SPDX-License-Identifier: Apache-2.0
// The drivers whose descriptors name their sizes: "mb2ic64ih56oc64oh56kh3ph1".
#pragma once

#include "harness/import/benchdnn_driver.hpp"

namespace bench {

Result<ops::ProblemRequest> request_benchdnn_conv(std::string_view descriptor,
                                                  const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_deconv(std::string_view descriptor,
                                                    const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_ip(std::string_view descriptor,
                                                const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_pool(std::string_view descriptor,
                                                  const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_bnorm(std::string_view descriptor,
                                                   const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_gnorm(std::string_view descriptor,
                                                   const BenchdnnValues& values);

}  // namespace bench
