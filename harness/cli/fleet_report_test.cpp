// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/fleet_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kFleetCase = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";

// Returns a result file of one machine with one case.
std::string node_text(const std::string& name) {
  Report report;
  RunRecord run;
  run.run_id = "run-" + name;
  run.environment.machine_class = "class";
  run.environment.details["node"] = name;
  ProcessRecord process;
  process.run_id = run.run_id;
  process.id = kFleetCase;
  process.samples = {Nanoseconds(100)};
  CaseRecord record;
  record.run_id = run.run_id;
  record.id = kFleetCase;
  return to_json_line(run) + "\n" + to_json_line(process) + "\n" + to_json_line(record) + "\n";
}

TEST(FleetReport, AFileMayContainSeveralMachines) {
  Fleet fleet;
  const Status status = add_result_file(node_text("a") + node_text("b"), "all.jsonl", {}, fleet);
  ASSERT_TRUE(status.ok()) << status.error().what;
  EXPECT_THAT(fleet.machines(), SizeIs(2));
  EXPECT_THAT(fleet.machines().at("b").cases.at(kFleetCase).processes, SizeIs(1));
}

// A document has each case once, so the other machines' times are lost.
TEST(FleetReport, ADocumentOfSeveralMachinesIsRefused) {
  const auto report = parse_report(node_text("a") + node_text("b"), "all.jsonl");
  ASSERT_TRUE(report.ok());
  Fleet fleet;
  const Status status = add_result_file(to_json_document(*report), "all.json", {}, fleet);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().what, HasSubstr("several machines"));
}

TEST(FleetReport, TheFilterSelectsCases) {
  Fleet fleet;
  ASSERT_TRUE(add_result_file(node_text("a"), "a.jsonl", {"conv/*"}, fleet).ok());
  EXPECT_THAT(fleet.machines(), SizeIs(0));
}

TEST(FleetReport, TheStatusFollowsTheWorstMachine) {
  Arguments arguments;
  FleetVerdict verdict;
  verdict.groups.resize(1);
  verdict.groups[0].machines.resize(1);
  verdict.groups[0].machines[0].verdict = MachineVerdict::slow;
  EXPECT_EQ(fleet_status(verdict, arguments), ExitStatus::success);
  arguments.fail_on = FailOn::regression;
  EXPECT_EQ(fleet_status(verdict, arguments), ExitStatus::regression);
  verdict.groups[0].machines[0].verdict = MachineVerdict::failed;
  EXPECT_EQ(fleet_status(verdict, arguments), ExitStatus::not_measured);
  verdict.groups[0].machines[0].verdict = MachineVerdict::not_judged;
  verdict.groups[0].not_judged_reason = "few";
  EXPECT_EQ(fleet_status(verdict, arguments), ExitStatus::undecided);
}

TEST(FleetReport, AFormatWithoutMachinesIsRefused) {
  EXPECT_FALSE(choose_fleet_format("xml").ok());
  EXPECT_TRUE(choose_fleet_format("md").ok());
}

}  // namespace
}  // namespace bench
