// SPDX-License-Identifier: Apache-2.0
// Values within messages, as JSON. Reading throws nlohmann::json's exceptions. Private to the
// protocol.
#pragma once

#include "harness/report/record.hpp"
#include "harness/run/protocol.hpp"
#include "ops/kernel.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace bench {

nlohmann::json to_json(const OutputSample& sample);
OutputSample output_sample(const nlohmann::json& value);
nlohmann::json to_json(const Canaries& canaries);
Canaries canaries(const nlohmann::json& value);
nlohmann::json to_json(const MemoryUse& memory);
MemoryUse memory_use(const nlohmann::json& value);
nlohmann::json to_json(const std::vector<ops::KernelStep>& steps);
std::vector<ops::KernelStep> kernel_steps(const nlohmann::json& list);

}  // namespace bench
