// SPDX-License-Identifier: Apache-2.0
// Finds what cuDNN would run for a problem: the engines that its heuristics choose, with their
// notes and workspaces. Given a device's properties as JSON, cuDNN needs no device to answer.
#pragma once

#include "base/enumerators.hpp"
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

// Notes on an engine, in the order of cuDNN's numerical notes.
BENCH_ENUM(EngineNote, (tensor_core, "tensor core"), (down_convert_inputs, "rounds its inputs"),
           (reduced_precision_reduction, "sums in reduced precision"), (fft, "FFT"),
           (nondeterministic, "not deterministic"), (winograd, "Winograd"),
           (winograd_tile_4x4, "Winograd 4x4"), (winograd_tile_6x6, "Winograd 6x6"),
           (winograd_tile_13x13, "Winograd 13x13"), (strict_nan_propagation, "keeps NaN"));

struct PlannedEngine {
  std::int64_t index = 0;  // cuDNN's index of the engine in its graph
  std::vector<EngineNote> notes;
  bool is_runtime_compiled = false;
  // Bytes. nullopt if the plan cannot be finished without the device (engines that are compiled at
  // run time).
  std::optional<std::int64_t> workspace;

  bool has(EngineNote note) const;
  // Formats the engine: "engine 6: tensor core, Winograd; workspace 3208 KiB".
  std::string text() const;
};

// The lists that cuDNN's heuristics return. instant: from a table or a small model. precise: from a
// larger model; it often equals the first list. fallback: for the case that no engine of the other
// lists can be used.
BENCH_ENUM(EngineList, (instant, "A"), (precise, "B"), fallback);

// One configuration of an engine that the heuristics offer.
struct EngineCandidate {
  PlannedEngine engine;  // `workspace` is not set yet
  Descriptor configuration;
  EngineList list = EngineList::instant;
  std::int64_t position = 1;  // in its list, counted from 1
  std::string knobs;          // format_knobs()
  // Why the problem may not use the engine; empty if it may.
  std::string_view exclusion;
  // Whether both are the same engine with the same settings.
  bool is_same(const EngineCandidate& other) const {
    return engine.index == other.engine.index && knobs == other.knobs;
  }
};

// Returns all configurations of a list, in its order, also those that the problem may not use.
// `device` describes the device; null selects the device of the target's handle. BackendError:
// cuDNN cannot answer for this graph.
Result<std::vector<EngineCandidate>, BackendError> listed_engines(const CudnnTarget& target,
                                                                  const OperationGraph& graph,
                                                                  const Problem& problem,
                                                                  const Descriptor* device,
                                                                  EngineList list);

// Which lists provide the candidates. first: the list `instant`, or `fallback` if it has no usable
// engine. all: the lists `instant` and `precise` by turns, then `fallback`, without doubles, for a
// choice by measurement.
enum class EngineChoice { first, all };

struct EngineCandidates {
  std::vector<EngineCandidate> usable;    // not empty
  std::vector<EngineCandidate> excluded;  // engines of the same lists
};

// Returns candidates, best first: the first one is the same for each choice. Excludes engines that
// round operands more than requested, engines that round sums more than the data type of the
// operands does and, for f32 without TF32, engines that use tensor cores. BackendError: no
// candidate remains, with the reason.
Result<EngineCandidates, BackendError> engine_candidates(const CudnnTarget& target,
                                                         const OperationGraph& graph,
                                                         const Problem& problem,
                                                         const Descriptor* device,
                                                         EngineChoice choice);
// Creates the plan of an engine's configuration. Error: the engine does not support these sizes
// although the heuristics listed it.
Result<Descriptor> finish_plan(const CudnnTarget& target, const Descriptor& configuration,
                               const Descriptor* device);
std::optional<std::int64_t> read_workspace(const Descriptor& plan);  // bytes
// Formats the engine's settings as cuDNN's knob numbers and their values: "12=3 8=0". "none" if the
// engine has no settings, and "not readable: REASON" if cuDNN does not return them.
std::string format_knobs(const Descriptor& configuration);

// Whether a driver, or the toolkit's stub of one, is loaded. Without either, cuDNN leaves out the
// engines that it compiles at run time. Only meaningful after a question to cuDNN, which loads the
// driver.
enum class DriverPresence { absent, stub, present };
DriverPresence find_driver();

struct PlanningLimits {
  std::int64_t engines = 16;  // maximum number of engines that are returned, best first
  // Maximum number of plans that are created to read their workspaces. Creating plans takes most of
  // the time.
  std::int64_t workspaces = 16;
};

// Returns the engines for a described device, in the order of engine_candidates(). BackendError: no
// operation or no engine exists, with cuDNN's reason.
Result<std::vector<PlannedEngine>, BackendError> planned_engines(
    const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
    std::string_view device_json, const PlanningLimits& limits = {});
// Returns the engines for another graph that `problem` needs, such as maxima_graph().
Result<std::vector<PlannedEngine>, BackendError> planned_engines(
    const std::shared_ptr<const CudnnApi>& api, const OperationGraph& graph, const Problem& problem,
    std::string_view device_json, const PlanningLimits& limits);

// One line of the list of all configurations: "A 2: engine 47: tensor core; workspace 0 KiB; knobs
// 2=2 6=0".
struct ListedEngine {
  EngineList list = EngineList::instant;
  std::int64_t position = 1;
  PlannedEngine engine;
  std::string knobs;
  // Why the engine is not used: what cuDNN says about the plan, or the problem's rule; empty if it
  // may be used.
  std::string exclusion;
  std::string text() const;
};

// Returns every configuration of every list for a described device, without doubles. Creates plans
// for all engines except those that are compiled at run time. BackendError: as planned_engines().
Result<std::vector<ListedEngine>, BackendError> all_listed_engines(
    const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
    std::string_view device_json);

// Estimates the memory traffic of conversion copies in bytes. Assumes that the whole workspace is
// for such copies, and that each of its bytes is written and read once. This is only an estimate,
// because engines that split sums also need workspaces.
std::int64_t estimated_conversion_bytes(const PlannedEngine& engine);

}  // namespace bench::ops::cuda
