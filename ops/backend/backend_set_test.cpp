// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/backend_set.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

class NamedBackend final : public Backend {
 public:
  explicit NamedBackend(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view device() const override { return "cpu"; }
  LibraryInfo library() const override { return {}; }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem&) override { return error(); }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network&) override { return error(); }

 private:
  static BackendError error() { return {BackendError::Kind::unsupported, "for a test"}; }
  std::string name_;
};

TEST(BackendSetTest, MakesABackendWhenItIsFirstAskedForAndOnce) {
  NamedBackend first("first");
  BackendSet set(first);
  int made = 0;
  set.add(
      "other", "cpu",
      [&]() -> Result<std::unique_ptr<Backend>, BackendError> {
        ++made;
        return std::unique_ptr<Backend>(std::make_unique<NamedBackend>("other"));
      },
      []() -> Result<std::optional<LibraryInfo>, std::string> {
        return std::optional(LibraryInfo{"other", "1.2", "/lib/other.so", ""});
      });
  EXPECT_EQ(made, 0);
  EXPECT_EQ((*set.find("other"))->name(), "other");
  EXPECT_EQ((*set.find("other"))->name(), "other");
  EXPECT_EQ(made, 1);
  // The first backend refuses unknown names with its own message.
  EXPECT_EQ(*set.find("unknown"), &first);
  ASSERT_EQ(set.others().size(), 1U);
  EXPECT_EQ(set.others()[0].missing, std::nullopt);
  EXPECT_EQ(set.others()[0].library->version, "1.2");
}

// `bench list` loaded all libraries of matrix products, whichever its cases used.
TEST(BackendSetTest, ProbesOnlyTheNamedBackends) {
  NamedBackend first("first");
  BackendSet set(first);
  std::vector<std::string> probed;
  for (const std::string name : {"one", "two"}) {
    set.add(
        name, "cpu",
        []() -> Result<std::unique_ptr<Backend>, BackendError> {
          return BackendError{BackendError::Kind::skipped, "not used in this test"};
        },
        [&probed, name]() -> Result<std::optional<LibraryInfo>, std::string> {
          probed.push_back(name);
          return std::optional<LibraryInfo>();
        });
  }
  const std::vector<std::string> names = {"first", "two", "unknown"};
  const auto two = set.others(names);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(two[0].name, "two");
  EXPECT_TRUE(set.others(std::vector<std::string>()).empty());
  EXPECT_EQ(probed, std::vector<std::string>{"two"});
  EXPECT_EQ(set.others().size(), 2U);
}

TEST(BackendSetTest, RemembersARefusal) {
  NamedBackend first("first");
  BackendSet set(first);
  int asked = 0;
  set.add(
      "other", "cuda",
      [&]() -> Result<std::unique_ptr<Backend>, BackendError> {
        ++asked;
        return BackendError{BackendError::Kind::skipped, "no device"};
      },
      []() -> Result<std::optional<LibraryInfo>, std::string> { return std::string("no device"); });
  EXPECT_EQ(set.find("other").error().reason, "no device");
  EXPECT_EQ(set.find("other").error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(set.others().size(), 1U);
  EXPECT_EQ(set.others()[0].missing, "no device");
}

TEST(BackendSetTest, WhatAMakerOrAProbeThrowsIsTheErrorOfItsBackend) {
  NamedBackend first("first");
  BackendSet set(first);
  set.add(
      "broken", "cuda",
      []() -> Result<std::unique_ptr<Backend>, BackendError> {
        throw std::runtime_error("no context");
      },
      []() -> Result<std::optional<LibraryInfo>, std::string> {
        throw std::runtime_error("no driver");
      });
  set.add(
      "large", "cuda",
      []() -> Result<std::unique_ptr<Backend>, BackendError> { throw std::bad_alloc(); },
      []() -> Result<std::optional<LibraryInfo>, std::string> { return std::string("none"); });
  const auto broken = set.find("broken");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().kind, BackendError::Kind::failed);
  EXPECT_EQ(broken.error().reason, "backend `broken` did not open: it threw `no context`");
  EXPECT_EQ(set.find("large").error().kind, BackendError::Kind::skipped);
  ASSERT_EQ(set.others().size(), 2U);
  EXPECT_EQ(set.others().front().missing, "backend `broken` was not found: it threw `no driver`");
}

}  // namespace
}  // namespace bench::ops
