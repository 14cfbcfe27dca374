// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_link.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"
#include "harness/host/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;

// Time that passes with each read, so that every wait ends.
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
    return read_worker_document({path, {}, {}, 1h, interrupted_}, env);
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("worker-document");
  SteppingClock clock_;
  std::function<bool()> interrupted_;
};

// On a busy machine a worker took more than a second to unload its libraries. It was killed, and
// `bench list` lost what its answer said about GPUs ("there: ...").
TEST_F(WorkerDocument, AnAnswerCountsEvenIfItsWorkerHadToBeKilled) {
  const auto document = ask("echo '{\"a\":1}'\nexec tail -f /dev/null\n");
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(*document, "{\"a\":1}");
}

// The probe of a silent GPU ran on for a minute after Ctrl-C or the end of the budget.
TEST_F(WorkerDocument, AnInterruptionEndsTheWaitForAnAnswer) {
  interrupted_ = [] { return true; };
  const auto document = ask("exec tail -f /dev/null\n");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().message(), "interrupted");
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

// A worker that a shell script plays.
class ScriptedWorker : public testing::Test {
 protected:
  std::unique_ptr<WorkerLink> start(const std::string& script,
                                    std::map<std::string, std::string> environment = {}) {
    const std::string path = folder_->file("worker");
    EXPECT_TRUE(write_file(path, "#!/bin/sh\n" + script, Existing::replace).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    auto link = start_process_link({path, std::move(environment), allowed_cores()}, {1}, clock_,
                                   [this](const std::string& text) { forwarded_ += text; });
    EXPECT_TRUE(link.ok()) << link.error().message();
    return link ? std::move(*link) : nullptr;
  }
  // Starts a script that is not a worker, and returns why it is not one.
  std::string refuse(const std::string& script, std::map<std::string, std::string> environment) {
    const auto worker = start(script, std::move(environment));
    const auto reply = request_hello(*worker, {}, nullptr);
    worker->finish();
    return reply.ok() ? "" : reply.error().message();
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("scripted-worker");
  MonotonicClock clock_;
  std::string forwarded_;  // what the worker wrote to its standard error
};

// Answers which oneDNN it loads, and fails otherwise because that lacks a function.
constexpr const char* kOldLibrary =
    "if [ \"$2\" = --probe ]; then\n"
    "  echo '{\"operators\":[],\"backends\":[],\"devices\":[{\"name\":\"cpu\",\"backend\":"
    "\"onednn\",\"library\":{\"name\":\"onednn\",\"version\":\"3.1.0\",\"path\":"
    "\"/opt/libdnnl.so.3\",\"detail\":\"\"}}]}'\n  exit\nfi\n"
    "echo 'bench: undefined symbol: dnnl_memory_desc_query_v2' >&2\nexit 127\n";

// A bench of oneDNN 3.2 with a library 3.1 only quoted the loader, then did not name the library.
TEST_F(ScriptedWorker, WhoseLibraryLacksAFunctionSaysWhichItIsAndAgainstWhatToBuild) {
  EXPECT_THAT(refuse(kOldLibrary, {}),
              testing::EndsWith("undefined symbol: dnnl_memory_desc_query_v2; this bench needs "
                                "functions that the loaded oneDNN 3.1.0 (/opt/libdnnl.so.3) lacks: "
                                "build bench against the older oneDNN"));
  EXPECT_THAT(
      refuse("echo 'bench: undefined symbol: dnnl_memory_desc_query_v2' >&2\nexit 127\n", {}),
      testing::EndsWith("undefined symbol: dnnl_memory_desc_query_v2; this bench needs functions "
                        "that the loaded oneDNN lacks: build bench against the older oneDNN"))
      << "an older bench does not know the question";
  EXPECT_THAT(refuse("echo 'bench: undefined symbol: other' >&2\nexit 127\n", {}),
              testing::EndsWith("undefined symbol: other"));
}

TEST_F(WorkerDocument, OfALibraryThatLacksAFunctionSaysWhichItIs) {
  const auto document = ask(kOldLibrary);
  ASSERT_FALSE(document.ok());
  EXPECT_THAT(document.error().message(),
              testing::HasSubstr("the loaded oneDNN 3.1.0 (/opt/libdnnl.so.3) lacks"));
}

// Lines of a library that failed were mixed into the output of a gate.
TEST_F(ScriptedWorker, ForwardsTheLinesOfItsLibraryOnlyIfTheUserAsksForThem) {
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

constexpr const char* kDone =
    R"({"reply":"done","spent":{"timed_ns":0,"warmup_ns":0,"setup_ns":0,"check_ns":0,)"
    R"("profile_ns":0}})";

// A gate took the repeated reply for the answer to the next request, and was green.
TEST_F(ScriptedWorker, ASecondAnswerToARequestIsAFailure) {
  const auto worker = start("read x\nprintf '%s\\n%s\\n' '" + std::string(kDone) + "' '" + kDone +
                            "'\nread x\necho '" + kDone + "'\nread x\n");
  ASSERT_NE(worker, nullptr);
  ASSERT_TRUE(worker->call(ReleaseRequest{}, 1h, nullptr).ok());
  const auto second = worker->call(ReleaseRequest{}, 1h, nullptr);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, WorkerFailure::Kind::failed);
  EXPECT_THAT(second.error().reason, testing::HasSubstr("more than one answer"));
}

// `run --under` waited ten minutes for a profiler that did not start the worker.
TEST_F(ScriptedWorker, AnInterruptionEndsTheWaitForACommandThatStartsNoWorker) {
  WorkerProgram program{"/bin/true", {}, allowed_cores(), "tail -f /dev/null #"};
  program.interrupted = [] { return true; };
  const auto link = start_process_link(program, {1}, clock_, nullptr);
  ASSERT_FALSE(link.ok());
  EXPECT_EQ(link.error().message(), "interrupted");
}

TEST_F(ScriptedWorker, AnAnswerOfAnotherKindIsAFailure) {
  const auto worker = start("read x\necho '" + std::string(kDone) + "'\nread x\n");
  ASSERT_NE(worker, nullptr);
  const auto reply = worker->call(RoundRequest{1}, 1h, nullptr);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().kind, WorkerFailure::Kind::failed);
  EXPECT_THAT(reply.error().reason,
              testing::AllOf(testing::HasSubstr("the worker's answer while measuring is not a "),
                             testing::HasSubstr("`done` does not answer `round`")));
}

}  // namespace
}  // namespace bench
