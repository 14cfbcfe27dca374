// SPDX-License-Identifier: Apache-2.0
// What a run will measure: the product of configuration, the only input of the coordinator besides
// the machine.
#pragma once

#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "ops/catalogue.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/network/network.hpp"
#include "ops/problem.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bench {

// A place in a YAML file; line and column count from 1.
struct Place {
  std::string file;  // as the user named it
  int line = 0;
  int column = 0;
  std::string text() const;  // "configs/resnet.yaml:14" (":14:3" with a column)
};

struct Warmup {
  std::int64_t iterations = 3;
  Nanoseconds time = std::chrono::milliseconds(100);
  friend bool operator==(const Warmup&, const Warmup&) = default;
};

struct Measure {
  int processes = 5;
  std::int64_t min_iterations = 20;
  double precision = 0.02;  // relative half width of the median's interval that ends a process
  Nanoseconds max_time = std::chrono::seconds(2);  // timed time of a case over all its processes
  Nanoseconds timeout = std::chrono::seconds(
      60);  // limit of one step of a worker (setup, warm-up, a round) beyond its own target
  std::int64_t tune = 0;  // the fastest of so many engines or algorithms; 0: the library's choice
  ops::SampleMethod sample_method = ops::SampleMethod::any;  // on a device's clock
  friend bool operator==(const Measure&, const Measure&) = default;
};

// One network of a plan; its layers' cases refer to it by name.
struct PlannedNetwork {
  ops::NetworkDefinition definition;
  std::int64_t batch = 1;
  ops::Mode mode = ops::Mode::inference;
  ops::Fusion fusion = ops::Fusion::fused;
  std::string case_id_prefix;  // "network/forward/resnet50_v1_5-n1/f32"
};

// A case stands for these layers of a network.
struct Membership {
  // The parameter segment of the network's case id: "resnet50_v1_5", "resnet50_v1_5-n8".
  std::string network;
  std::vector<std::string> layers;  // names; multiplicity = size
  // Of a forward case: gradients that a training step computes for these layers and that are no
  // cases, since the operator does not have them.
  std::vector<ops::Direction> unmeasured_gradients = {};
};

struct Case {
  CaseKey key;
  std::string id;    // to_id(key)
  std::string hash;  // content_hash of everything that decides what is computed (not how long it is
                     // measured), network definition included
  // What is computed: a problem, without its formulas, or a whole network.
  std::variant<ops::Problem, std::shared_ptr<const ops::Network>> work;
  std::shared_ptr<const PlannedNetwork>
      network;                          // set for op `network`: what a worker needs to build it
  std::vector<Membership> memberships;  // empty for cases that are no layer
  // The network of the first membership: its first layer's layouts are those that the case meets.
  std::shared_ptr<const PlannedNetwork> layer_of;
  std::optional<Bytes>
      reuse_distance;  // cold_weights of a layer: the weights of its largest network
  Warmup warmup;
  Measure measure;
  Place place;
};

// `gate:` of a file: shares of a case's time (memory: of its peak).
struct GateSettings {
  double delta = 0.01;   // effects up to this are no regression
  double detect = 0.02;  // effects from this on must be found
  double memory = 0.05;  // growth of memory that is a regression
  friend bool operator==(const GateSettings&, const GateSettings&) = default;
};

struct Plan {
  std::string name;                // `name:` of the first file, else its stem
  std::vector<std::string> files;  // as given, includes after their includer
  std::string hash;                // content_hash over all cases and settings
  std::optional<Nanoseconds> budget;
  std::optional<ProfileSwitches> profile;  // absent: no profiling pass
  std::optional<GateSettings> gate;
  std::vector<std::string>
      plugins;  // files, relative ones resolved against the naming file's folder
  // What the cases' problems refer to; null: the built-in one.
  std::shared_ptr<const ops::Catalogue> catalogue;
  std::vector<Case> cases;  // order of the configuration, ids unique
};

}  // namespace bench
