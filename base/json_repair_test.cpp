// SPDX-License-Identifier: Apache-2.0
#include "base/json_repair.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

std::string repaired(const std::string& text) {
  const auto parts = find_json_objects(text, "\"k\"");
  return parts.size() == 1 ? parts[0].text : std::to_string(parts.size()) + " objects";
}

TEST(JsonRepair, FaultsOfReportsAreRepaired) {
  struct RepairRow {
    const char* written;
    const char* valid;
  };
  for (const RepairRow& row : {
           RepairRow{R"({"k":[1,2.5e+02,-3],"t":true})", R"({"k":[1,2.5e+02,-3],"t":true})"},
           {R"({"k":nan,"a":-inf,"b":Infinity})", R"({"k":null,"a":null,"b":null})"},
           {R"({"k":1.#INF,"a":-1.#IND00})", R"({"k":null,"a":null})"},
           {R"({"k":12%})", R"({"k":12})"},
           {R"({"k":100,25,"a":1,5e+02})", R"({"k":100.25,"a":1.5e+02})"},
           {R"({"k":[0.5,1.25]})", R"({"k":[0.5,1.25]})"},  // no decimal comma
           {"{\"k\":\"a\"\n\"b\":1}", "{\"k\":\"a\"\n,\"b\":1}"},
           {R"({"k":[{"a":1},]})", R"({"k":[{"a":1}]})"},
           {R"({"k":"nan, 1,5 \" } 2%"})", R"({"k":"nan, 1,5 \" } 2%"})"},
           {"{\"k\":\"h\xe9\"}", "{\"k\":\"h\xef\xbf\xbd\"}"},
       }) {
    EXPECT_EQ(repaired(row.written), row.valid);
  }
}

TEST(JsonRepair, TheObjectIsFoundAmongOtherText) {
  const std::string object = "{\n  \"k\": 1\n}";
  EXPECT_EQ(repaired("Run on (8 X 4000 MHz CPU s)\n" + object + "\ndone\n"), object);
  EXPECT_EQ(repaired("```json\n" + object + "\n```\n"), object);
  EXPECT_EQ(repaired("{\"other\":1}\n" + object), object);
  EXPECT_EQ(repaired("58: ---\n58: {\n58:   \"k\": 1\n58: }\n"), object);
  EXPECT_EQ(repaired(object + object), "2 objects");
  EXPECT_EQ(repaired("no object"), "0 objects");
}

TEST(JsonRepair, OfACutObjectTheCompleteMembersRemain) {
  const auto parts =
      find_json_objects(R"({"a":{"b":1},"k":[{"c":1},{"c":{"d":[2]}},{"c")", "\"k\"");
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_TRUE(parts[0].is_cut);
  EXPECT_EQ(parts[0].text, R"({"a":{"b":1},"k":[{"c":1},{"c":{"d":[2]}}]})");
  const auto none = find_json_objects(R"({"k":[{"c")", "\"k\"");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_TRUE(none[0].is_cut);
  EXPECT_EQ(none[0].text, "");
}

}  // namespace
}  // namespace bench
