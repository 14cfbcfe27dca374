// SPDX-License-Identifier: Apache-2.0
// What an import found in the files of another program: the cases that compute the same, and what
// no case can express.
#pragma once

#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "ops/network/network.hpp"
#include "ops/problem.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/group.hpp"
#include "profiler/analysis/saturating.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Maximum number of problems of one import, the same as the limit of a configuration's cases.
inline constexpr std::size_t kMaxImportedProblems = 100'000;

// A line of a file. `file` is an index into Imported::files; lines count from 1.
struct ImportPlace {
  std::size_t file = 0;
  int line = 0;
  friend bool operator==(const ImportPlace&, const ImportPlace&) = default;
};

// An entry's key and its value in YAML. The keys of all cases of an operator are the same, in the
// same order: its parameters, then the axes, then the post-ops.
struct SuiteField {
  std::string value;        // "64", "[1, 2]"; empty if the parameter has no value
  bool is_default = false;  // an entry without the key means the same
  friend bool operator==(const SuiteField&, const SuiteField&) = default;
};

// The durations of executions, in bounded memory.
class ExecutionTimes {
 public:
  void add(Nanoseconds time);
  // Exact up to kMaxExactTimes durations, else within 1 %; nullopt without durations.
  std::optional<Nanoseconds> median() const;

 private:
  static constexpr std::size_t kMaxExactTimes = 1024;
  std::vector<Nanoseconds> exact_;  // empty once there are more
  QuantileSketch all_;              // empty until there are more
};

// What the executions of a program are: primitives of oneDNN, or operators of a framework on a GPU.
enum class ExecutionSource { primitives, gpu };

// How often a program executed something, and how long all executions took together.
struct ProgramUse {
  ProgramUse() = default;
  explicit ProgramUse(ExecutionSource from) : source(from) {}

  ExecutionSource source = ExecutionSource::primitives;
  std::int64_t count = 0;
  Nanoseconds time{0};
  ExecutionTimes times = {};
  std::string implementations = {};  // different ones are separated by blanks
};

// How often a model has an operator, and what all its nodes compute together.
struct ModelUse {
  std::int64_t count = 0;
  std::int64_t flops = 0;
};

// A case as text. It takes a tenth of the memory of its problem.
struct ImportedCase {
  const ops::Operator* op = nullptr;
  std::vector<SuiteField> fields;
  ImportPlace place;
  std::string text;                       // what the file says: the descriptor of a problem
  std::optional<ProgramUse> use = {};     // only of a profile
  std::string id = {};                    // only of a profile; with the default backend
  std::optional<ModelUse> in_model = {};  // only of a model
  CacheMode cache = CacheMode::hot;
};

struct RefusedProblem {
  ImportPlace place;
  std::string text;
  std::string reason;     // a clause: "the result is s32, that of a case f32"
  std::size_t count = 1;  // combinations of options of this line that have the same reason
  std::optional<ProgramUse> use = {};      // only of a profile
  std::optional<std::int64_t> flops = {};  // only of a model, if it is known
};

// A size that a model leaves open.
struct ModelDimension {
  std::string name;  // "batch", or "INPUT.AXIS" if it has none
  std::int64_t size = 1;
  bool is_given = false;  // by the user
};

// What an import found in a graph of a framework. Its nodes became a network, or cases of its
// distinct operators.
struct ImportedModel {
  std::optional<ops::NetworkDefinition> network;
  std::string suite_reason;   // why it is not a network: a clause
  std::string producer;       // "pytorch 2.15.0"
  std::string dtype = "f32";  // the type of its floating-point tensors
  std::int64_t nodes = 0;
  std::int64_t expressed = 0;
  // Expressed nodes that need no layer, by what they are: "constants and shapes".
  std::vector<std::pair<std::string, std::int64_t>> without_layer = {};
  std::int64_t layers = 0;  // nodes of the network, before fusion
  std::int64_t macs = 0;
  std::int64_t parameters = 0;         // sum over the layers; each has its own
  std::int64_t shared_parameters = 0;  // sum over those that earlier layers have too
  std::int64_t flops = 0;              // sum over the expressed nodes
  std::int64_t refused_flops = 0;      // sum over the others, as far as they are known
  std::int64_t without_flops = 0;      // nodes whose FLOPs are not known
  std::vector<ModelDimension> dimensions = {};
  bool scales_with_batch = false;  // `batch: 2` works
  bool states_types = false;       // cases compute with integers and say so

  // Whether what computes with `dtype` is measured in f32: an option would contradict the cases
  // that state a type, and no CPU has f64.
  bool is_measured_in_f32() const { return dtype == "f64" || (states_types && dtype != "f32"); }

  // What shares of FLOPs are of: those of all nodes, as far as they are known.
  std::int64_t all_flops() const;
};

// Work of a GPU that belongs to no operator of a framework, as far as the file shows.
struct UnattributedWork {
  std::int64_t count = 0;  // kernels, copies and memsets
  Nanoseconds time{0};
};

struct Imported {
  std::vector<std::string> files;  // all files that were read, in the order of their first lines
  std::vector<ImportedCase> cases;
  std::vector<RefusedProblem> refused;
  std::optional<WallCoverage> coverage;  // time of the program, if it is a profile
  UnattributedWork unattributed = {};    // only of a profile
  std::optional<ImportedModel> model = {};

  bool has_content() const { return !cases.empty() || (model && model->network); }

  // "inputs/conv/mine:4"; the file alone if it does not consist of lines
  std::string place_text(const ImportPlace& place) const {
    return place.line == 0 ? files[place.file]
                           : files[place.file] + ':' + std::to_string(place.line);
  }
  // The time of all executions, of cases and of what is refused. 0 without a profile.
  Nanoseconds time() const {
    return saturating_sum(time(ExecutionSource::primitives), time(ExecutionSource::gpu));
  }
  Nanoseconds cases_time() const {
    return saturating_sum(cases_time(ExecutionSource::primitives),
                          cases_time(ExecutionSource::gpu));
  }
  // The same of one source. That of a GPU includes the work that belongs to no operator.
  Nanoseconds time(ExecutionSource source) const {
    Nanoseconds sum = saturating_sum(cases_time(source), refused_time(source));
    return source == ExecutionSource::gpu ? saturating_sum(sum, unattributed.time) : sum;
  }
  Nanoseconds cases_time(ExecutionSource source) const { return sum_uses(cases, source); }
  Nanoseconds refused_time(ExecutionSource source) const { return sum_uses(refused, source); }
  std::size_t refused_count() const {
    std::size_t count = 0;
    for (const RefusedProblem& problem : refused) count += problem.count;
    return count;
  }

 private:
  template <class Item>
  static Nanoseconds sum_uses(const std::vector<Item>& items, ExecutionSource source) {
    Nanoseconds sum{0};
    for (const Item& item : items) {
      if (item.use && item.use->source == source) sum = saturating_sum(sum, item.use->time);
    }
    return sum;
  }
};

}  // namespace bench
