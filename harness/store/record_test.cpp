// SPDX-License-Identifier: Apache-2.0
#include "harness/store/record.hpp"

#include "tests/fakes/baseline_records.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace bench {
namespace {

using nlohmann::json;
using test::baseline;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSchemaFile = "docs/baseline.schema.json";

BaselineRecord full_record() {
  BaselineRecord record = baseline(7, 2, Nanoseconds(501800));
  record.tool_version = "0.1.0";
  record.commit = "0123456789ab-dirty";
  record.config = "quick";
  record.anchor = "release-1.4";
  record.accepted_from = "r.jsonl";
  record.seed = 1;
  record.environment.cpu = "A \"CPU\"";
  record.environment.threads = 2;
  record.environment.libraries = {{"onednn", "3.2.0"}};
  record.environment.details = {{"governor", "performance"}};
  record.measured.exact.implementation = "brg:avx512_core";
  record.measured.flags = {Flag::noisy, Flag::throttled};
  record.measured.processes[1].deviation = std::nullopt;
  record.measured.exact.facts = {{"primitives", "1"}};
  record.measured.exact.peak = Bytes{12288};
  StoredActivity activity{
      "primitive", "matmul", "brg:avx512_core", "net:fc", Nanoseconds(0), Nanoseconds(977),
      8192,        3072};
  record.profile = StoredProfile{Nanoseconds(3759), {activity}, 2};
  return record;
}

std::string error_of(const std::string& line) {
  const auto record = baseline_from_json_line(line);
  EXPECT_FALSE(record.ok()) << line;
  return record.ok() ? "" : record.error().message();
}

std::string changed(const std::function<void(json&)>& change) {
  json object = json::parse(to_json_line(full_record()));
  change(object);
  return object.dump();
}

TEST(BaselineRecordTest, ReadsWhatItWrites) {
  for (const BaselineRecord& record : {full_record(), baseline(1, {Nanoseconds(5)})}) {
    const std::string line = to_json_line(record);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto again = baseline_from_json_line(line);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(*again, record);
  }
}

TEST(BaselineRecordTest, MatchesTheSchema) {
  for (const BaselineRecord& record : {full_record(), baseline(1, {Nanoseconds(5)})}) {
    EXPECT_THAT(test::schema_problems(to_json_line(record), kSchemaFile), IsEmpty());
  }
  const auto without = [](const char* field) {
    return test::schema_problems(changed([&](json& object) { object.erase(field); }), kSchemaFile);
  };
  for (const char* field : {"schema", "id", "run_id", "time", "epoch", "reason", "processes"}) {
    EXPECT_THAT(without(field), testing::Not(IsEmpty())) << field;
  }
}

TEST(BaselineRecordTest, TimesAreOfSamplesAndNamedSo) {
  const json object = json::parse(to_json_line(full_record()));
  EXPECT_EQ(object.at("schema"), "bench.baseline/1");
  EXPECT_EQ(object.at("processes").at(0),
            json::parse(R"({"n": 20, "iterations_per_sample": 1, "med_ns": 501800,
                            "q25_ns": 451620, "p90_ns": 551980, "min_ns": 225810, "sd_ns": 5018})"));
  EXPECT_FALSE(object.at("processes").at(1).contains("sd_ns"));
  EXPECT_EQ(object.at("profile").at("left_out"), 2);
}

TEST(BaselineRecordTest, FieldsOfLaterVersionsAreSkipped) {
  const auto record = baseline_from_json_line(changed([](json& object) {
    object["mood"] = {{"of", {"the", "day"}}};
    object["processes"][0]["skew"] = -1.5;
    object["profile"]["activities"][0]["kind"] = "dream";
  }));
  ASSERT_TRUE(record.ok()) << record.error().message();
  EXPECT_EQ(record->measured.id, test::kStoredCase);
  EXPECT_EQ(record->profile->activities[0].kind, "dream");
}

TEST(BaselineRecordTest, AnotherSchemaIsRefused) {
  EXPECT_THAT(error_of(changed([](json& object) { object["schema"] = "bench.baseline/2"; })),
              HasSubstr("schema `bench.baseline/2`, expected `bench.baseline/1`"));
  EXPECT_THAT(error_of(R"({"record": "case"})"), HasSubstr("no field `schema`"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("no field `schema`"));
  EXPECT_THAT(error_of("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(std::string(100, '[')), HasSubstr("nests too deeply"));
}

TEST(BaselineRecordTest, WhatContradictsItselfIsRefused) {
  const auto with = [](const char* path, const json& value) {
    return error_of(changed([&](json& object) { object[json::json_pointer(path)] = value; }));
  };
  EXPECT_THAT(with("/id", ""), HasSubstr("`id` is empty"));
  EXPECT_THAT(with("/run_id", ""), HasSubstr("`run_id` is empty"));
  EXPECT_THAT(with("/epoch", -1), HasSubstr("`epoch` is not an integer from 0"));
  EXPECT_THAT(with("/environment/machine_class", ""), HasSubstr("`environment.machine_class`"));
  for (const char* time : {"", "garbage", "2026-11-31T08:00:00Z", "2026-11-21"})
    EXPECT_THAT(with("/time", time), HasSubstr("`time` is `"));
  EXPECT_THAT(with("/processes", json::array()), HasSubstr("`processes` is missing"));
  EXPECT_THAT(with("/processes/0/n", 0), HasSubstr("`processes.n`"));
  EXPECT_THAT(with("/processes/0/iterations_per_sample", 0), HasSubstr("iterations_per_sample"));
  EXPECT_THAT(with("/processes/0/min_ns", 600000), HasSubstr("not in the order"));
  EXPECT_THAT(with("/processes/0/min_ns", 0), HasSubstr("`processes.min_ns` is not above 0"));
  EXPECT_THAT(with("/processes/0/med_ns", 1.5), HasSubstr("`processes.med_ns` is not an integer"));
  EXPECT_THAT(with("/exact/primitives", 1), HasSubstr("`exact` is not an object of texts"));
}

TEST(BaselineRecordTest, AnIterationIsTheMedianOverProcesses) {
  BaselineRecord record = baseline(1, {Nanoseconds(100), Nanoseconds(300), Nanoseconds(200)});
  EXPECT_EQ(median_iteration(record.measured), 200.0);
  for (ProcessSummary& process : record.measured.processes) process.iterations_per_sample = 8;
  EXPECT_EQ(median_iteration(record.measured), 25.0);
  record.measured.processes.clear();
  EXPECT_EQ(median_iteration(record.measured), std::nullopt);
}

TEST(BaselineRecordTest, ALongProfileKeepsWhatLastsLongest) {
  StoredProfile profile{Nanoseconds(1'000'000), {}, 0};
  for (int i = 0; i < 1000; ++i) {
    profile.activities.push_back({"primitive", "convolution", "brgconv:avx512_core", "net:layer",
                                  Nanoseconds(1000 * i), Nanoseconds(1 + i % 500), 1 << 20, 4096});
  }
  BaselineRecord record = baseline(1, {Nanoseconds(5)});
  const std::size_t before = to_json_line(record).size();
  record.profile = limit_profile(profile, kMaxProfile);
  const std::size_t size = to_json_line(record).size() - before;
  EXPECT_LE(size, kMaxProfile);
  EXPECT_GT(size, kMaxProfile - 500);
  const auto& kept = record.profile->activities;
  EXPECT_EQ(record.profile->left_out, 1000 - static_cast<std::int64_t>(kept.size()));
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(), [](const auto& left, const auto& right) {
    return left.start < right.start;
  }));
  // Each duration from 500 down occurs twice. One shorter activity may be kept as well, since its
  // line can still fit where a longer line did not.
  const auto shortest = Nanoseconds(501 - static_cast<int>((kept.size() + 1) / 2));
  EXPECT_LE(std::ranges::count_if(
                kept, [&](const StoredActivity& activity) { return activity.duration < shortest; }),
            1);
}

}  // namespace
}  // namespace bench
