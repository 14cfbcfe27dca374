// SPDX-License-Identifier: Apache-2.0
#include "base/json_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

using testing::StartsWith;

Result<int> number_in(std::string_view text) {
  return read_json_document(text, "a/1",
                            [](const nlohmann::json& object) { return object.at("n").get<int>(); });
}

TEST(JsonDocument, is_read_by_its_reader) {
  EXPECT_EQ(number_in(R"({"schema":"a/1","n":7})").value(), 7);
}

TEST(JsonDocument, of_another_schema_or_none_is_refused) {
  for (const char* text : {R"({"schema":"a/2","n":7})", R"({"n":7})", "[7]", "7", "", "{"}) {
    const auto number = number_in(text);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_EQ(number.error().what, "not a document of schema a/1") << text;
  }
}

TEST(JsonDocument, damage_is_an_error) {
  for (const char* text : {R"({"schema":"a/1"})", R"({"schema":"a/1","n":"7"})"}) {
    const auto number = number_in(text);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_THAT(number.error().what, StartsWith("malformed document of schema a/1: ")) << text;
  }
}

// This used to end the program.
TEST(JsonDocument, a_schema_that_is_no_text_is_damage) {
  const auto number = number_in(R"({"schema":1,"n":7})");
  ASSERT_FALSE(number.ok());
  EXPECT_THAT(number.error().what, StartsWith("malformed document of schema a/1: "));
}

}  // namespace
}  // namespace bench
