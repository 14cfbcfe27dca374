// SPDX-License-Identifier: Apache-2.0
// The plan of a run: all cases to measure with their settings. load_plan() creates it from the
// configuration. The coordinator has no other input than the plan and the machine.
#pragma once

#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/network/network.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bench {

// A location in a YAML file; line and column count from 1.
struct Place {
  std::string file;          // path of the file, or text of a command-line argument
  int line = 0;              // 0: unknown
  int column = 0;            // 0: unknown
  std::string text() const;  // "configs/resnet.yaml:14:3"; omits an unknown line or column
  friend bool operator==(const Place&, const Place&) = default;
};

// Minimum iterations and time before the timed samples.
struct Warmup {
  std::int64_t iterations = 3;
  Nanoseconds time = std::chrono::milliseconds(100);
  friend bool operator==(const Warmup&, const Warmup&) = default;
};

struct Measure {
  int processes = 5;
  std::int64_t min_iterations = 20;
  double precision = 0.02;  // a process stops at this relative half width of its median's interval
  // Maximum time of a case's timed samples, summed over all its processes.
  Nanoseconds max_time = std::chrono::seconds(2);
  // Maximum time of one step of a worker (setup, warm-up, a round) beyond its target time.
  Nanoseconds timeout = std::chrono::seconds(60);
  // Number of engines or algorithms of which the fastest is used. 0: the library chooses.
  std::int64_t tune = 0;
  ops::SampleMethod sample_method = ops::SampleMethod::any;  // only for cases on a GPU
  friend bool operator==(const Measure&, const Measure&) = default;
};

// A network of a plan. The cases of its layers name it in Membership::network.
struct PlannedNetwork {
  ops::NetworkDefinition definition;
  std::int64_t batch = 1;
  ops::Mode mode = ops::Mode::inference;
  ops::Fusion fusion = ops::Fusion::fused;
  std::string case_id_prefix;  // "network/forward/resnet50_v1_5-n1/f32"
};

// The layers of one network that a case represents.
struct Membership {
  // The parameter segment of the network's case id: "resnet50_v1_5", "resnet50_v1_5-n8".
  std::string network;
  std::vector<std::string> layers;  // names; their number is the multiplicity
  // For a forward case: gradients that a training step computes for these layers. They have no case
  // because the operator does not support them.
  std::vector<ops::Direction> unmeasured_gradients = {};
};

// Maximum of Case::count.
inline constexpr std::int64_t kMaxCaseCount = 1'000'000'000;

struct Case {
  CaseKey key;
  std::string id;  // to_id(key)
  // Hash of everything that decides what is computed, including a network's definition. Excludes
  // how long the case is measured.
  std::string hash;
  // The computation: a problem without its formulas, or a whole network.
  std::variant<ops::Problem, std::shared_ptr<const ops::Network>> work;
  // Only for op `network`: the definition from which a worker builds the network.
  std::shared_ptr<const PlannedNetwork> network;
  std::vector<Membership> memberships;  // empty for cases that are not layers
  // How often a program executes the case: its weight in sums. Not a part of the id or of a hash,
  // because it changes neither what is computed nor how it is measured.
  std::optional<int> count;
  // Only for forward cases of layers: the network of the first membership. The case uses the tensor
  // layouts of the first layer that it represents in this network.
  std::shared_ptr<const PlannedNetwork> layer_of;
  // Only for layers with cache mode cold_weights: the weight size of the largest of their networks.
  // A network reads this much between two uses of a layer's weights.
  std::optional<Bytes> reuse_distance;
  Warmup warmup;
  Measure measure;
  Place place;  // the entry of `cases:`, or the case id
};

// The values of `gate:`, as fractions of a case's time. `memory` is a fraction of its peak memory.
struct GateSettings {
  double delta = 0.01;   // slowdowns up to this are not regressions
  double detect = 0.02;  // slowdowns from this on must be found
  double memory = 0.05;  // memory growth beyond this is a regression
  friend bool operator==(const GateSettings&, const GateSettings&) = default;
};

// What the keys of a file set for the whole run.
struct RunSettings {
  std::optional<Nanoseconds> budget;       // maximum time of the run
  std::optional<ProfileSwitches> profile;  // nullopt: no profiling pass
  std::optional<GateSettings> gate;
};

struct Plan : RunSettings {
  std::string name;  // `name:` of the first file or its file stem; or the operator of a case id
  std::vector<std::string> files;  // all files read; an included file follows the including file
  std::string hash;                // hash of all cases and their settings
  // Paths of plugins, each absolute or relative to the current folder.
  std::vector<std::string> plugins;
  // The registry to which the cases' problems point. nullptr: the built-in registry.
  std::shared_ptr<const ops::OperatorRegistry> registry;
  std::vector<Case> cases;  // in the order of the configuration, ids unique
};

}  // namespace bench
