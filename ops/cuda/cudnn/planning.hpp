// SPDX-License-Identifier: Apache-2.0
// What cuDNN would run for a problem: its heuristics' choice of engines with their notes and
// workspaces. With a device's properties as JSON it answers without that device, and without any.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/cudnn/descriptor.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Of an engine, in cuDNN's order of numerical notes.
enum class EngineNote : std::uint8_t {
  tensor_core,
  down_convert_inputs,
  reduced_precision_reduction,
  fft,
  nondeterministic,
  winograd,
  winograd_tile_4x4,
  winograd_tile_6x6,
  winograd_tile_13x13,
  strict_nan_propagation,
};
std::string_view name_of(EngineNote note);  // "tensor core"

struct PlannedEngine {
  std::int64_t index = 0;  // cuDNN's number of the engine in its graph
  std::vector<EngineNote> notes;
  bool runtime_compiled = false;
  // Bytes. Absent where the plan cannot be finished without the device (engines that are compiled
  // at run time).
  std::optional<std::int64_t> workspace;

  bool has(EngineNote note) const;
  // "engine 6: tensor core, Winograd; workspace 3208 KiB".
  std::string text() const;
};

// A configuration of an engine that the problem allows.
struct EngineCandidate {
  PlannedEngine engine;  // its workspace is not known yet
  Descriptor configuration;
};

// What the heuristics name first; and what they name where that has nothing.
enum class EngineChoice { first, fallback };

// In the heuristics' order, without those that a problem's data type forbids: for f32 without TF32
// those that use tensor cores, and all that round operands further than asked. For the device that
// is described; null: for that of the target's handle. Refusal: none is left, with cuDNN's reason.
Result<std::vector<EngineCandidate>, Refusal> engine_candidates(const CudnnTarget& target,
                                                                const OperationGraph& graph,
                                                                const Problem& problem,
                                                                const Descriptor* device,
                                                                EngineChoice choice);
// Error: the engine does not serve these sizes after all.
Result<Descriptor> finish_plan(const CudnnTarget& target, const Descriptor& configuration,
                               const Descriptor* device);
std::optional<std::int64_t> workspace_of(const Descriptor& plan);  // bytes
// What the engine is set to: "12=3 8=0", cuDNN's numbers of knobs and their values.
std::string knobs_of(const Descriptor& configuration);

struct PlanningLimits {
  std::int64_t engines = 16;     // the best of those that the problem allows
  std::int64_t workspaces = 16;  // plans that are finished for their workspace: most of the time
};

// Engines for a device that is described, in the order of engine_candidates(). Refusal: no
// operation, or no engine, with cuDNN's reason.
Result<std::vector<PlannedEngine>, Refusal> planned_engines(
    const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
    std::string_view device_json, const PlanningLimits& limits = {});
// The same for another graph than operation_graph() that `problem` needs.
Result<std::vector<PlannedEngine>, Refusal> planned_engines(
    const std::shared_ptr<const CudnnApi>& api, const OperationGraph& graph, const Problem& problem,
    std::string_view device_json, const PlanningLimits& limits);

// Traffic of copies that the library makes in its workspace, where that is what the workspace is
// for: each is written and read once. An estimate; engines that split sums need workspaces too.
std::int64_t estimated_conversion_bytes(const PlannedEngine& engine);

}  // namespace bench::ops::cuda
