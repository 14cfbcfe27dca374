// SPDX-License-Identifier: Apache-2.0
// What a run will measure: the result of the configuration, and the coordinator's only input
// besides the machine.
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
  std::string file;  // as the user named it
  int line = 0;
  int column = 0;
  std::string text() const;  // "configs/resnet.yaml:14", or ":14:3" with a column
};

struct Warmup {
  std::int64_t iterations = 3;
  Nanoseconds time = std::chrono::milliseconds(100);
  friend bool operator==(const Warmup&, const Warmup&) = default;
};

struct Measure {
  int processes = 5;
  std::int64_t min_iterations = 20;
  double precision = 0.02;  // relative half width of the median's interval at which a process stops
  // Total time of a case's timed samples over all its processes
  Nanoseconds max_time = std::chrono::seconds(2);
  // Limit for one step of a worker (setup, warm-up, a round) beyond its own target.
  Nanoseconds timeout = std::chrono::seconds(60);
  // Use the fastest of this many engines or algorithms; 0: the library's choice
  std::int64_t tune = 0;
  ops::SampleMethod sample_method = ops::SampleMethod::any;  // on a device's clock
  friend bool operator==(const Measure&, const Measure&) = default;
};

// One network of a plan; the cases of its layers refer to it by name.
struct PlannedNetwork {
  ops::NetworkDefinition definition;
  std::int64_t batch = 1;
  ops::Mode mode = ops::Mode::inference;
  ops::Fusion fusion = ops::Fusion::fused;
  std::string case_id_prefix;  // "network/forward/resnet50_v1_5-n1/f32"
};

// The layers of a network that a case represents.
struct Membership {
  // The parameter segment of the network's case id: "resnet50_v1_5", "resnet50_v1_5-n8".
  std::string network;
  std::vector<std::string> layers;  // names; their number is the multiplicity
  // For a forward case: gradients that a training step computes for these layers. They have no case
  // because the operator does not support them.
  std::vector<ops::Direction> unmeasured_gradients = {};
};

struct Case {
  CaseKey key;
  std::string id;  // to_id(key)
  // Content hash of everything that decides what is computed, including a network's definition. How
  // long it is measured does not matter.
  std::string hash;
  // What is computed: a problem without its formulas, or a whole network.
  std::variant<ops::Problem, std::shared_ptr<const ops::Network>> work;
  // Only for op `network`: what a worker needs to build it.
  std::shared_ptr<const PlannedNetwork> network;
  std::vector<Membership> memberships;  // empty for cases that are not layers
  // The network of the first membership. The case uses the layouts of that network's first such
  // layer.
  std::shared_ptr<const PlannedNetwork> layer_of;
  // Only for cold_weights of a layer: the size of the weights of its largest network.
  std::optional<Bytes> reuse_distance;
  Warmup warmup;
  Measure measure;
  Place place;
};

// `gate:` of a file: fractions of a case's time (`memory`: of its peak memory).
struct GateSettings {
  double delta = 0.01;   // effects up to this are not regressions
  double detect = 0.02;  // effects from this on must be found
  double memory = 0.05;  // memory growth beyond this is a regression
  friend bool operator==(const GateSettings&, const GateSettings&) = default;
};

struct Plan {
  std::string name;                // `name:` of the first file, or else the stem of its file name
  std::vector<std::string> files;  // as given; includes follow their includer
  std::string hash;                // content hash of all cases and settings
  std::optional<Nanoseconds> budget;
  std::optional<ProfileSwitches> profile;  // nullopt: no profiling pass
  std::optional<GateSettings> gate;
  // Plugin files. Relative paths were resolved against the folder of the file that names them.
  std::vector<std::string> plugins;
  // The registry to which the cases' problems refer; null: the built-in one.
  std::shared_ptr<const ops::OperatorRegistry> registry;
  std::vector<Case> cases;  // in the order of the configuration, ids unique
};

}  // namespace bench
