// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the profile pass: a server over a fake backend and clock.
#pragma once

#include "base/file.hpp"
#include "harness/worker/command_server.hpp"
#include "harness/worker/profile_pass.hpp"
#include "profiler/activity_json.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace bench {

using namespace std::chrono_literals;
using test::FakeBackend;
using test::FakeClock;
using test::FakeScript;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

inline constexpr const char* kGemm = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";
// A line as oneDNN 3.2 prints it for an execution of 0.02 ms.
inline constexpr const char* kGemmLine =
    "onednn_verbose,exec,cpu,matmul,brg:avx512_core,undef,src_f32::blocked:ab:f0 "
    "wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,4x4:4x4:4x4,0.02\n";

class ProfilePassTest : public testing::Test {
 protected:
  ProfilePassTest() : spool_(testing::TempDir() + "spool-" + std::to_string(getpid()) + ".jsonl") {
    std::remove(spool_.c_str());
    script_.steps = {{matmul(), 30us, 10us, 5us, kGemmLine}};
  }
  ~ProfilePassTest() override { std::remove(spool_.c_str()); }

  static ops::KernelStep matmul() {
    ops::KernelStep step;
    step.kind = "matmul";
    step.implementation = "brg:avx512_core";
    step.layouts = "ab -> ab";
    return step;
  }

  ProfileRequest request(const std::string& id = kGemm) const {
    ProfileRequest request;
    request.prepare.id = id;
    request.prepare.check = CheckKind::none;
    request.spool = spool_;
    request.run_id = "r1";
    request.warmup_iterations = 3;
    return request;
  }

  Reply handle(const ProfileRequest& request) { return server_.handle(request).reply; }
  ProfiledReply profiled(const ProfileRequest& request) {
    Reply reply = handle(request);
    if (const auto* refused = std::get_if<ErrorReply>(&reply)) ADD_FAILURE() << refused->reason;
    auto* profiled_reply = std::get_if<ProfiledReply>(&reply);
    return profiled_reply == nullptr ? ProfiledReply{} : *profiled_reply;
  }

  std::vector<Activity> spooled() const {
    std::vector<Activity> activities;
    const auto text = read_file(spool_, 1 << 26);
    EXPECT_TRUE(text.ok());
    std::istringstream lines(text ? *text : "");
    ActivityLineParser parser;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(parser.parse(line).kind, LineKind::activity) << line;
      EXPECT_THAT(line, testing::HasSubstr("\"run_id\":\"r1\""));
      activities.push_back(parser.activity());
    }
    return activities;
  }
  std::vector<Activity> spooled(ActivityKind kind) const {
    std::vector<Activity> found = spooled();
    std::erase_if(found, [&](const Activity& activity) { return activity.kind != kind; });
    return found;
  }
  static std::vector<Activity> named(std::vector<Activity> from, const std::string& name) {
    std::erase_if(from, [&](const Activity& activity) { return activity.name != name; });
    return from;
  }

  std::string spool_;
  FakeClock clock_;
  FakeScript script_;
  FakeBackend backend_{[this](Nanoseconds time) { clock_.advance(time); },
                       [this](const std::string&) { return script_; }};
  CommandServer server_{backend_, clock_, {Bytes{std::int64_t{64} << 20}}};
};

}  // namespace bench
