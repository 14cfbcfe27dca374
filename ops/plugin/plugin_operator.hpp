// SPDX-License-Identifier: Apache-2.0
// Adapts a plugin's operator to this program's interface.
#pragma once

#include "base/result.hpp"
#include "ops/described_operator.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/bench_plugin.h"

#include <memory>

namespace bench::ops {

// Error: its parameters are unusable (described_operator.hpp).
Status check_operator_description(const bench_operator& op);
// `op` must live as long as the process and must have been checked.
std::shared_ptr<const Operator> make_plugin_operator(const bench_operator& op);

}  // namespace bench::ops
