// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"

#include "base/json_reader.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

struct DevicePlace {
  int device = 0;
  std::optional<int> stream;
  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};
BENCH_FIELDS(DevicePlace, device, stream);

struct TimedSample {
  std::string id;
  Nanoseconds start{0};
  std::vector<Nanoseconds> rounds;
  std::optional<Bytes> size = {};
  DevicePlace place = {};
  std::string note = {};
  bool is_void = false;
  int threads = 1;
  friend bool operator==(const TimedSample&, const TimedSample&) = default;
};
void fields(auto& archive, JsonOf<TimedSample> auto& sample) {
  archive.constant("record", "sample");
  BENCH_MEMBERS(archive, sample, (id, "name"), start, rounds, size, (place, kInlined),
                (note, kOptional), (is_void, kUnlessInitial), (threads, at_least(1)));
}

struct NamedPlace {
  std::optional<DevicePlace> place;
  std::string first, second;
  friend bool operator==(const NamedPlace&, const NamedPlace&) = default;
};
void fields(auto& archive, JsonOf<NamedPlace> auto& pair) {
  BENCH_MEMBERS(archive, pair, (place, inlined_if("device")));
  BENCH_OPTIONAL_MEMBERS(archive, pair, first, (second, "last"));
}

template <class T>
T read_fields(std::string_view text, std::string& problem) {
  T value;
  const JsonDocument document = *parse_json(text);
  JsonReader reader(document.root());
  fields(reader, value);
  problem = reader.problem();
  return value;
}

TEST(JsonFields, KeysAreTheMembersNamesWithTheirUnits) {
  const TimedSample sample{.id = "a", .start = Nanoseconds(3), .rounds = {Nanoseconds(4)}};
  EXPECT_EQ(
      format_json(sample),
      R"({"record":"sample","name":"a","start_ns":3,"rounds_ns":[4],"device":0,"threads":1})");
}

TEST(JsonFields, AllFieldsAreReadAgain) {
  const TimedSample sample{.id = "a",
                           .start = Nanoseconds(3),
                           .rounds = {},
                           .size = Bytes{64},
                           .place = {1, 2},
                           .note = "n",
                           .is_void = true,
                           .threads = 2};
  const std::string text = format_json(sample);
  EXPECT_EQ(
      text,
      R"({"record":"sample","name":"a","start_ns":3,"rounds_ns":[],"size_bytes":64,"device":1,)"
      R"("stream":2,"note":"n","is_void":true,"threads":2})");
  std::string problem;
  EXPECT_EQ(read_fields<TimedSample>(text, problem), sample);
  EXPECT_EQ(problem, "");
}

TEST(JsonFields, AnInlinedOptionalIsAbsentWithItsFirstField) {
  std::string problem;
  EXPECT_EQ(format_json(NamedPlace{}), "{}");
  EXPECT_EQ(read_fields<NamedPlace>("{}", problem), NamedPlace{});
  const NamedPlace pair{DevicePlace{3, std::nullopt}, "", "z"};
  EXPECT_EQ(format_json(pair), R"({"device":3,"last":"z"})");
  EXPECT_EQ(read_fields<NamedPlace>(format_json(pair), problem), pair);
}

TEST(JsonFields, MissingFieldsAndNumbersOutOfRangeAreProblems) {
  std::string problem;
  read_fields<DevicePlace>("{}", problem);
  EXPECT_EQ(problem, "`device` is missing");
  read_fields<TimedSample>(
      R"({"record":"sample","name":"a","start_ns":3,"rounds_ns":[4],"device":0,"threads":0})",
      problem);
  EXPECT_EQ(problem, "`threads` is not at least 1");
}

}  // namespace
}  // namespace bench
