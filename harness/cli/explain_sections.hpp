// SPDX-License-Identifier: Apache-2.0
// Sections of `explain`: the plan of a network on a GPU that is not in this machine, the verdict of
// the tensor-core rules (ops/tensor_core/) on a case, what the library's choice costs, and the
// ideal time by the stored ceilings of this machine.
#pragma once

#include "base/json_writer.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"
#include "harness/wire/cuda_support.hpp"
#include "harness/wire/messages.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Formats the plan of a network on the GPU `gpu`: how many steps, kernels and transposes it has,
// what the answer rests on, then a table with one row per step, and the command that measures the
// network there. Layouts of weights are left out. Lines have at most `width` columns, the command
// excepted.
std::string format_network_plan(const CudaSupport& support, std::string_view gpu,
                                std::string_view command, std::size_t width);

// Writes "basis" and "steps" of a network's plan; nothing for an operator.
void write_network_plan(JsonWriter& writer, const CudaSupport& support);

// Formats the section, which begins with "tensor cores" and ends in a newline. For an operator, it
// contains each part of the verdict with its reason and rule. For a network, it contains one line
// per convolution or product.
std::string format_tensor_cores(const Case& spec, const ops::Platform& platform);

// Writes {"arch", "libraries", "verdict", "reason", "rule", "parts": {...}, ...}. For a network,
// "nodes" lists one verdict per node.
void write_tensor_cores(JsonWriter& writer, const Case& spec, const ops::Platform& platform);

// Formats what the library's own choice costs, by the candidates that the worker has measured for a
// case with `tune`: a section that begins with an empty line and "choice". If there is no candidate
// to compare with, states why, and what to do. For a case without `tune` whose library offers a
// choice, names the option that measures the candidates. Empty for other cases.
std::string format_choice(const Case& spec, const PreparedReply& prepared);
// Writes "regret" (docs/result_file.md); nothing if no candidates were measured.
void write_choice(JsonWriter& writer, const PreparedReply& prepared);

// Computes the shortest time that the ceilings permit for a case. Returns nullopt if there are no
// ceilings for the case's device. `prepared` is what a worker prepared for the case; nullopt if it
// could not be prepared.
std::optional<Roofline> compute_ideal(const Case& spec,
                                      const std::optional<PreparedReply>& prepared,
                                      const Ceilings& ceilings);

// Formats the section, which begins with "ceilings". Does not show the efficiency, which needs a
// measured time.
std::string format_ideal(const Roofline& ideal);

}  // namespace bench
