// SPDX-License-Identifier: Apache-2.0
#include "harness/store/database_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DatabaseUrlTest, TheSchemeChoosesTheKind) {
  const auto file = DatabaseUrl::parse("sqlite:/data/my history.db");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->kind(), DatabaseKind::sqlite);
  EXPECT_EQ(file->target(), "/data/my history.db");
  EXPECT_EQ(file->shown(), "sqlite:/data/my history.db");
  const auto server = DatabaseUrl::parse("postgresql://me@host:5433/bench");
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->kind(), DatabaseKind::postgresql);
  EXPECT_EQ(server->shown(), "postgresql://me@host:5433/bench");
}

TEST(DatabaseUrlTest, PasswordsAreNotShown) {
  for (const auto& [url, shown] : std::vector<std::pair<std::string, std::string>>{
           {"postgresql://me:secret@host/bench", "postgresql://me:***@host/bench"},
           {"postgresql://me:s%40cret@host/bench", "postgresql://me:***@host/bench"},
           {"postgres://me:se:c@ret@host", "postgres://me:***@host"},
           {"postgresql://me@host/bench?password=secret&sslmode=require",
            "postgresql://me@host/bench?password=***&sslmode=require"},
           {"postgresql://host/bench", "postgresql://host/bench"},
           {"postgresql://me@host:5432/bench", "postgresql://me@host:5432/bench"}}) {
    const auto parsed = DatabaseUrl::parse(url);
    ASSERT_TRUE(parsed.ok()) << url;
    EXPECT_EQ(parsed->shown(), shown);
    EXPECT_EQ(parsed->target(), url);
  }
}

TEST(DatabaseUrlTest, PasswordsAreRemovedFromMessagesOfLibraries) {
  const auto parsed = DatabaseUrl::parse("postgresql://me:s%40cret@host/bench");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->redact("cannot use postgresql://me:s%40cret@host/bench, sorry"),
            "cannot use postgresql://me:***@host/bench, sorry");
  EXPECT_EQ(parsed->redact("wrong: \"s@cret\""), "wrong: \"***\"");
}

TEST(DatabaseUrlTest, UnknownSchemesAreRefusedWithoutTheirRest) {
  for (const std::string url :
       {"mysql://me:secret@host/bench", "me:secret@host", "history.db", "sqlite:", ""}) {
    const auto parsed = DatabaseUrl::parse(url);
    ASSERT_FALSE(parsed.ok()) << url;
    EXPECT_THAT(parsed.error().message(), HasSubstr("expected sqlite:FILE or postgresql://"));
    EXPECT_THAT(parsed.error().message(), Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace bench
