// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/backend_set.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bench::ops
