// SPDX-License-Identifier: Apache-2.0
// A plugin's operator as one of this program's.
#pragma once

#include "base/result.hpp"
#include "ops/described_operator.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/bench_plugin.h"

#include <memory>

namespace bench::ops {

// Error: its parameters cannot be used (described_operator.hpp).
Status check_operator_description(const bench_operator& op);
// `op` lives as long as the process, and has been checked.
std::shared_ptr<const Operator> make_plugin_operator(const bench_operator& op);

}  // namespace bench::ops
