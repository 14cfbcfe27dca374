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

class StartedWorker : public testing::Test {
 protected:
  // Starts a shell script instead of a worker, and returns why it is not one.
  std::string refuse(const std::string& script, std::map<std::string, std::string> environment) {
    const std::string path = folder_->file("worker");
    EXPECT_TRUE(write_file(path, "#!/bin/sh\n" + script, Existing::replace).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const auto worker = start_process_link({path, std::move(environment), {{0}}}, 1, clock_,
                                           [this](const std::string& text) { forwarded_ += text; });
    EXPECT_TRUE(worker.ok());
    const auto reply = request_hello(**worker, {}, nullptr);
    (*worker)->finish();
    return reply.ok() ? "" : reply.error().message();
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("worker-start");
  SteppingClock clock_;
  std::string forwarded_;
};

// A bench of oneDNN 3.2 with a library 3.1 only quoted the loader.
TEST_F(StartedWorker, WhoseLibraryLacksAFunctionSaysAgainstWhatToBuild) {
  EXPECT_THAT(
      refuse("echo 'bench: undefined symbol: dnnl_memory_desc_query_v2' >&2\nexit 127\n", {}),
      testing::EndsWith("undefined symbol: dnnl_memory_desc_query_v2; this bench needs functions "
                        "that the loaded oneDNN lacks: build bench against the older oneDNN"));
  EXPECT_THAT(refuse("echo 'bench: undefined symbol: other' >&2\nexit 127\n", {}),
              testing::EndsWith("undefined symbol: other"));
}

// Lines of a library that failed were mixed into the output of a gate.
TEST_F(StartedWorker, ForwardsTheLinesOfItsLibraryOnlyIfTheUserAsksForThem) {
  const std::string script =
      "printf 'first\\nonednn_verbose,v1,primitive,error,cpu\\nonednn_ver' >&2\n"
      "sleep 0.2\nprintf 'bose,v1,other\\nsecond' >&2\nexit 1\n";
  refuse(script, {});
  EXPECT_EQ(forwarded_, "first\nsecond");
  forwarded_.clear();
  refuse(script, {{"ONEDNN_VERBOSE", "1"}});
  EXPECT_EQ(forwarded_,
            "first\nonednn_verbose,v1,primitive,error,cpu\nonednn_verbose,v1,other\nsecond");
}

}  // namespace
}  // namespace bench
