// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_link.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

namespace bench {
namespace {

using namespace std::chrono_literals;

// Time that passes with each look at it, so that every wait ends.
class SteppingClock final : public Clock {
 public:
  Nanoseconds now() override { return time_ += 20ms; }

 private:
  Nanoseconds time_{0};
};

class WorkerDocument : public testing::Test {
 protected:
  // Asks a shell script instead of a worker.
  Result<std::string> ask(const std::string& script) {
    const std::string path = folder_->file("worker");
    EXPECT_TRUE(write_file(path, "#!/bin/sh\n" + script, Existing::replace).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    Env env = real_env(clock_);
    return read_worker_document({path, {}, {}, 1h}, env);
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("worker-document");
  SteppingClock clock_;
};

// On a busy machine a worker took more than a second to unload its libraries. It was killed, and
// `bench list` lost what its answer said about GPUs ("there: ...").
TEST_F(WorkerDocument, AnAnswerCountsEvenIfItsWorkerHadToBeKilled) {
  const auto document = ask("echo '{\"a\":1}'\nexec tail -f /dev/null\n");
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(*document, "{\"a\":1}");
}

TEST_F(WorkerDocument, AFailureAfterAnAnswerIsAnError) {
  const auto document = ask("echo '{}'\nexit 3\n");
  ASSERT_FALSE(document.ok());
  EXPECT_THAT(document.error().message(), testing::HasSubstr("exit status 3"));
}

TEST_F(WorkerDocument, AWorkerThatDiesInTheMiddleOfItsAnswerHasNone) {
  const auto document = ask("printf '{\"a\"'\nkill -KILL $$\n");
  ASSERT_FALSE(document.ok());
  EXPECT_THAT(document.error().message(), testing::HasSubstr("SIGKILL"));
}

}  // namespace
}  // namespace bench
