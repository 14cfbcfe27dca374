// SPDX-License-Identifier: Apache-2.0
// The drivers of benchdnn: one row each, with its options and how it describes a problem. A problem
// becomes the primitive that benchdnn would create, in the words of oneDNN's verbose lines; the
// operators then map it as they map a line of a log (ops/verbose.hpp).
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// An option with several values makes one problem per combination. An option of all drivers has the
// same meaning everywhere.
struct BenchdnnOption {
  std::string_view name;      // without the dashes
  std::string_view fallback;  // the driver's default
  // If cases have only the default: another text of it, or the same text.
  std::optional<std::string_view> neutral = {};
};

// One value for each option of a driver.
class BenchdnnValues {
 public:
  void set(std::string_view name, std::string_view value) { values_.emplace_back(name, value); }
  std::string_view operator[](std::string_view name) const;  // asserts that there is one

 private:
  std::vector<std::pair<std::string_view, std::string_view>> values_;
};

// A function that returns the case of a problem. Error: `what` states what a case cannot express.
using BenchdnnRequest = Result<ops::ProblemRequest>(std::string_view descriptor,
                                                    const BenchdnnValues& values);

struct BenchdnnDriver {
  std::string_view name;                    // "conv"
  std::span<const BenchdnnOption> options;  // besides common_benchdnn_options()
  BenchdnnRequest* request;
  bool takes_scales = false;  // cases have --attr-scales and --attr-zero-points
};

std::span<const BenchdnnDriver> benchdnn_drivers();
const BenchdnnDriver* find_benchdnn_driver(std::string_view name);  // nullptr if there is none

// The drivers without an operator, whose problems are all refused.
std::span<const std::string_view> other_benchdnn_drivers();

// Options that all drivers share, and that decide what is computed.
std::span<const BenchdnnOption> common_benchdnn_options();
// Returns an error if an option of common_benchdnn_options() has a value that no case of the driver
// has.
Status check_common_benchdnn_options(const BenchdnnDriver& driver, const BenchdnnValues& values);
// Whether an option only says how a problem is run, measured or checked.
bool is_benchdnn_run_option(std::string_view name);

// The drivers whose descriptors are the sizes of tensors: "8x16:16x32".
BenchdnnRequest request_benchdnn_matmul;
BenchdnnRequest request_benchdnn_softmax;
BenchdnnRequest request_benchdnn_lnorm;
BenchdnnRequest request_benchdnn_eltwise;
BenchdnnRequest request_benchdnn_binary;
BenchdnnRequest request_benchdnn_reduction;
BenchdnnRequest request_benchdnn_reorder;
BenchdnnRequest request_benchdnn_concat;
BenchdnnRequest request_benchdnn_prelu;
BenchdnnRequest request_benchdnn_shuffle;

// The drivers whose descriptors name their sizes: "mb2ic64ih56oc64oh56kh3ph1".
BenchdnnRequest request_benchdnn_conv;
BenchdnnRequest request_benchdnn_deconv;
BenchdnnRequest request_benchdnn_ip;
BenchdnnRequest request_benchdnn_pool;
BenchdnnRequest request_benchdnn_bnorm;
BenchdnnRequest request_benchdnn_gnorm;
BenchdnnRequest request_benchdnn_lrn;
BenchdnnRequest request_benchdnn_resampling;
BenchdnnRequest request_benchdnn_rnn;

}  // namespace bench
