// SPDX-License-Identifier: Apache-2.0
// Changes every field of the lines of a store to a value that cannot be, one after the other. Each
// change is refused with its place, or the field is listed below as one that may have this value.
#include "harness/store/baseline_file.hpp"
#include "harness/store/peak_file.hpp"
#include "harness/store/store.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/speed_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace bench {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

enum class Mutation { negative, zero, huge, wrong_type, empty, missing };
constexpr const char* kMutationNames[] = {"negative",   "zero",  "huge",
                                          "wrong type", "empty", "missing"};

// The fields that may have a value that others may not have, by the last name of their path.
using Names = std::set<std::string>;
struct Permitted {
  Names zero, huge, empty, missing;
};

bool is_permitted(const Permitted& permitted, const std::string& name, Mutation mutation) {
  switch (mutation) {
    case Mutation::zero:
      return permitted.zero.contains(name);
    case Mutation::huge:
      return permitted.huge.contains(name);
    case Mutation::empty:
      return permitted.empty.contains(name);
    case Mutation::missing:
      return permitted.missing.contains(name);
    case Mutation::negative:
    case Mutation::wrong_type:
      break;
  }
  return false;
}

std::vector<Mutation> possible_mutations(const json& value, bool is_member) {
  std::vector<Mutation> mutations = {Mutation::wrong_type};
  if (value.is_number())
    mutations = {Mutation::negative, Mutation::zero, Mutation::huge, Mutation::wrong_type};
  if (value.is_string()) mutations.push_back(Mutation::empty);
  if (is_member) mutations.push_back(Mutation::missing);
  return mutations;
}

json mutated_value(const json& value, Mutation mutation) {
  switch (mutation) {
    case Mutation::negative:
      return -1;
    case Mutation::zero:
      return 0;
    case Mutation::huge:
      return std::int64_t{9'000'000'000'000'000'000};
    case Mutation::empty:
      return "";
    case Mutation::wrong_type:
      return value.is_string() ? json(7) : json("seven");
    case Mutation::missing:
      break;
  }
  return {};
}

// Calls `visit` with each changed copy of the object, the path of the change and its last name.
// Names of data (libraries, details, exact) are replaced by that of the object that has them.
class Mutator {
 public:
  using Visit = std::function<void(const std::string& line, const std::string& path,
                                   const std::string& name, Mutation mutation)>;
  Mutator(json whole, Visit visit) : whole_(std::move(whole)), visit_(std::move(visit)) {}
  void run() { descend(whole_, "", ""); }

 private:
  void descend(const json& value, const std::string& path, const std::string& name) {
    const bool has_data = name == "libraries" || name == "details" || name == "exact";
    for (const auto& [key, member] : value.items()) {
      const std::string next_path = path + "/" + json_escaped(key);
      const std::string next_name = value.is_array() || has_data ? name + "[]" : key;
      for (const Mutation mutation : possible_mutations(member, value.is_object()))
        apply(member, next_path, next_name, mutation);
      if (member.is_structured()) descend(member, next_path, next_name);
    }
  }
  static std::string json_escaped(std::string key) {
    for (std::size_t at = 0; (at = key.find('/', at)) != std::string::npos; at += 2)
      key.replace(at, 1, "~1");
    return key;
  }
  void apply(const json& value, const std::string& path, const std::string& name,
             Mutation mutation) {
    json copy = whole_;
    const json::json_pointer pointer(path);
    if (mutation == Mutation::missing) {
      copy.at(pointer.parent_pointer()).erase(pointer.back());
    } else {
      copy.at(pointer) = mutated_value(value, mutation);
    }
    visit_(copy.dump(), path, name, mutation);
  }

  json whole_;
  Visit visit_;
};

BaselineRecord complete_record() {
  BaselineRecord record = test::baseline(7, 2, Nanoseconds(500'000));
  test::set_by_speed(record.measured,
                     test::times_at(500'000, test::kFakeCanary, Nanoseconds(2000)));
  record.tool_version = "0.1.0";
  record.commit = "0123456789ab";
  record.config = "quick";
  record.anchor = "release-1.4";
  record.accepted_from = "r.jsonl";
  record.adopted_from = "former-2c-11111111";
  record.seed = 1;
  record.environment.cpu = "a processor";
  record.environment.threads = 2;
  record.environment.libraries = {{"onednn", "3.2.0"}};
  record.environment.details = {{"governor", "performance"}};
  record.measured.exact.implementation = "brg:avx512_core";
  record.measured.exact.facts = {{"primitives", "1"}};
  record.measured.flags = {Flag::noisy};
  record.measured.clock_hz = 1'500'000'000;
  record.measured.sample_method = "stream";
  record.profile = StoredProfile{Nanoseconds(3759),
                                 {{"primitive", "matmul", "brg:avx512_core", "net:fc",
                                   Nanoseconds(10), Nanoseconds(977), 8192, 3072}},
                                 2};
  return record;
}

// Unknown texts and absent fields are unknown facts, which no comparison uses.
const Permitted kOfBaselines = {
    .zero = {"epoch", "seed", "sd_ns", "scatter", "process_scatter", "duration_ns", "start_ns",
             "flops", "bytes", "left_out"},
    .huge = {"seed"},
    .empty = {"case_hash", "config", "version", "commit", "reason", "anchor", "accepted_from",
              "adopted_from", "cpu", "libraries[]", "details[]", "implementation", "sample_method",
              "exact[]", "kind", "name", "scope"},
    .missing = {"case_hash",      "config",        "tool",         "version",       "commit",
                "anchor",         "accepted_from", "adopted_from", "seed",          "cpu",
                "threads",        "libraries",     "libraries[]",  "details",       "details[]",
                "implementation", "flags",         "clock_hz",     "sample_method", "at_canary_ns",
                "canary_threads", "by_speed",      "sd_ns",        "exact",         "exact[]",
                "profile",        "activities",    "scope",        "flops",         "bytes"}};

TEST(MalformedLineTest, EveryFieldOfABaselineIsCheckedOrMayHaveTheValue) {
  const BaselineRecord record = complete_record();
  const std::string good = to_json_line(test::baseline(6, 2, Nanoseconds(500'000)));
  const StoreFile location = BaselineStore::case_file(test::kStoredMachine, test::kStoredCase);
  ASSERT_THAT(parse_baseline_file(to_json_line(record), "x.jsonl", location).problems, IsEmpty());
  int mutations = 0;
  Mutator(json::parse(to_json_line(record)), [&](const std::string& line, const std::string& path,
                                                 const std::string& name, Mutation mutation) {
    ++mutations;
    const std::string what = path + ": " + kMutationNames[static_cast<std::size_t>(mutation)];
    const BaselineHistory history =
        parse_baseline_file(good + "\n" + line + "\n", "x.jsonl", location);
    if (is_permitted(kOfBaselines, name, mutation)) {
      EXPECT_THAT(history.problems, IsEmpty()) << what;
      EXPECT_THAT(history.records, SizeIs(2)) << what;
    } else {
      EXPECT_THAT(history.problems, ElementsAre(StartsWith("x.jsonl:2: record refused: "))) << what;
      EXPECT_THAT(history.records, SizeIs(1)) << what;
    }
  }).run();
  EXPECT_GT(mutations, 200);
}

// `time`, `id` and the like of a ceiling only say where it comes from.
const Permitted kOfCeilings = {
    .zero = {},
    .huge = {},
    .empty = {"run_id", "time", "cpu", "tool_version", "commit", "id", "implementation"},
    .missing = {"record", "time", "cpu", "gpu", "tool_version", "commit", "id", "implementation"}};

TEST(MalformedLineTest, EveryFieldOfACeilingIsCheckedOrMayHaveTheValue) {
  PeakRecord record;
  record.run_id = "run-01";
  record.time = "2026-11-21T08:00:00Z";
  record.machine_class = std::string(test::kStoredMachine);
  record.cpu = "a processor";
  record.gpu = "Fake GPU";
  record.tool_version = "0.1.0";
  record.commit = "0123456789ab";
  record.id = "peak/forward/read-b512/f32/cudnn/cuda/hot";
  record.implementation = "read";
  record.ceiling = {"read", "dram", 1, BytesPerSecond{4e12}};
  record.low = BytesPerSecond{3.9e12};
  record.high = BytesPerSecond{4.1e12};
  int mutations = 0;
  Mutator(json::parse(to_json_line(record)), [&](const std::string& line, const std::string& path,
                                                 const std::string& name, Mutation mutation) {
    ++mutations;
    const std::string what = path + ": " + kMutationNames[static_cast<std::size_t>(mutation)];
    const PeakHistory history = parse_peaks(line, "peak.jsonl", store_name(test::kStoredMachine));
    if (is_permitted(kOfCeilings, name, mutation)) {
      EXPECT_THAT(history.problems, IsEmpty()) << what;
    } else {
      EXPECT_THAT(history.problems, ElementsAre(StartsWith("peak.jsonl:1: ceiling refused: ")))
          << what;
      EXPECT_THAT(history.records, IsEmpty()) << what;
    }
  }).run();
  EXPECT_GT(mutations, 40);
}

}  // namespace
}  // namespace bench
