// SPDX-License-Identifier: Apache-2.0
#include "profiler/switches.hpp"

#include <gtest/gtest.h>

#include <map>

namespace bench {
namespace {

Status apply(ProfileSwitches& switches, std::string_view name, std::string_view value) {
  return find_switch(name)->apply(switches, value);
}

TEST(Switches, EveryValueIsRead) {
  ProfileSwitches switches;
  EXPECT_TRUE(apply(switches, "kinds", "api,memory"));
  EXPECT_TRUE(apply(switches, "iterations", "20-25"));
  EXPECT_TRUE(apply(switches, "sample_rate", "3"));
  EXPECT_TRUE(apply(switches, "formats", "trace,memory_flow"));
  EXPECT_TRUE(apply(switches, "dump_period", "250ms"));
  EXPECT_TRUE(apply(switches, "autostart", "1"));
  EXPECT_TRUE(apply(switches, "file", "a.jsonl"));
  EXPECT_EQ(switches.groups, (std::set{RecordGroup::api, RecordGroup::memory}));
  EXPECT_EQ(switches.iterations, (IterationWindow{20, 25}));
  EXPECT_EQ(switches.sample_rate, 3);
  EXPECT_EQ(switches.formats, (std::set{ProfileFormat::trace, ProfileFormat::memory_flow}));
  EXPECT_EQ(switches.dump_period, std::chrono::milliseconds(250));
  EXPECT_EQ(switches.autostart, Autostart::yes);
  EXPECT_EQ(switches.file, "a.jsonl");
  EXPECT_TRUE(apply(switches, "kinds", "all"));
  EXPECT_EQ(switches.groups.size(), enumerator_names<RecordGroup>().size());
}

TEST(Switches, WrittenDefaultsAreTheDefaults) {
  ProfileSwitches switches;
  for (const SwitchRow& row : switch_rows()) {
    if (row.name == "file") continue;  // its default contains the process id
    EXPECT_TRUE(row.apply(switches, row.fallback)) << row.name;
  }
  EXPECT_EQ(switches.iterations, ProfileSwitches().iteration_window());
  switches.iterations.reset();
  EXPECT_EQ(switches, ProfileSwitches());
}

TEST(Switches, AWorkerReadsTheValuesThatItGets) {
  ProfileSwitches given;
  given.groups = {RecordGroup::api, RecordGroup::device};
  given.iterations = IterationWindow{3, 8};
  given.sample_rate = 7;
  given.dump_period = std::chrono::milliseconds(250);
  ProfileSwitches read;
  for (const SwitchRow& row : switch_rows()) {
    if (row.worker_value == nullptr) continue;
    EXPECT_TRUE(row.apply(read, row.worker_value(given))) << row.name;
  }
  EXPECT_EQ(read, given);
}

TEST(Switches, CountersNeedAPassOfTheirOwn) {
  ProfileSwitches switches;
  switches.groups = {RecordGroup::operators, RecordGroup::counters};
  EXPECT_EQ(find_switch("kinds")->worker_value(switches), "operators");
}

TEST(Switches, WrongValuesChangeNothingAndSayWhatIsExpected) {
  const struct {
    const char* name;
    const char* value;
    const char* what;
    const char* next;
  } rows[] = {
      {"kinds", "operator", "unknown word `operator`", "did you mean `operators`?"},
      {"kinds", "", "unknown word ``", "expected one of operators, api, memory, device, counters"},
      {"iterations", "9-5", "`9-5` is not a valid range of iterations, expected N or A-B",
       "for example 5-9"},
      {"iterations", "-1", "`-1` is not a valid range of iterations, expected N or A-B",
       "for example 5-9"},
      {"sample_rate", "x", "`x` is not a valid sample rate, expected an integer >= 0", ""},
      {"formats", "svg", "unknown word `svg`", "expected one of jsonl, trace, memory_flow"},
      {"formats", "jsonl,chrome_timeline.json", "unknown word `chrome_timeline.json`",
       "use `trace`"},
      {"formats", "memory_flow.svg", "unknown word `memory_flow.svg`", "use `memory_flow`"},
      {"dump_period", "0s", "a period must be longer than 0", "for example 1s"},
      {"autostart", "yes", "`yes`, expected 0 or 1", ""},
      {"file", "", "the file name is empty", ""},
  };
  for (const auto& row : rows) {
    ProfileSwitches switches;
    const Status status = apply(switches, row.name, row.value);
    ASSERT_FALSE(status) << row.name;
    EXPECT_EQ(status.error().what, row.what);
    EXPECT_EQ(status.error().next, row.next);
    EXPECT_EQ(switches, ProfileSwitches());
  }
}

TEST(Switches, EnvironmentNamesTheVariableAtFault) {
  std::map<std::string, std::string> variables = {{"BENCH_PROFILE_KINDS", "memory"},
                                                  {"BENCH_PROFILE_SAMPLE_RATE", "2"}};
  const Variables variable = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  ProfileSwitches switches;
  ASSERT_TRUE(apply_environment(variable, switches));
  EXPECT_EQ(switches.groups, std::set{RecordGroup::memory});
  EXPECT_EQ(switches.sample_rate, 2);
  variables["BENCH_PROFILE_ITERATIONS"] = "many";
  EXPECT_EQ(apply_environment(variable, switches).error().where, "BENCH_PROFILE_ITERATIONS");
}

}  // namespace
}  // namespace bench
