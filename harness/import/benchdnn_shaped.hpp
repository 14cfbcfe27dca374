// SPDX-License-Identifier: Apache-2.0
// The drivers whose descriptors are the sizes of tensors: "8x16:16x32".
#pragma once

#include "harness/import/benchdnn_driver.hpp"

namespace bench {

Result<ops::ProblemRequest> request_benchdnn_matmul(std::string_view descriptor,
                                                    const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_softmax(std::string_view descriptor,
                                                     const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_lnorm(std::string_view descriptor,
                                                   const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_eltwise(std::string_view descriptor,
                                                     const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_binary(std::string_view descriptor,
                                                    const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_reduction(std::string_view descriptor,
                                                       const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_reorder(std::string_view descriptor,
                                                     const BenchdnnValues& values);
Result<ops::ProblemRequest> request_benchdnn_concat(std::string_view descriptor,
                                                    const BenchdnnValues& values);

}  // namespace bench
