// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/availability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using testing::HasSubstr;

RuntimeAnswers answers(int status, int devices, int driver) {
  RuntimeAnswers made;
  made.status = status;
  made.status_name = "cudaErrorSome";
  made.status_text = "some text";
  made.devices = devices;
  made.driver = driver;
  made.runtime = 13000;
  return made;
}

struct AvailabilityRow {
  const char* what;
  RuntimeAnswers answers;
  Availability availability;
  const char* reason;  // a part of it
  const char* remedy;  // a part of it
};

const AvailabilityRow kAvailabilities[] = {
    {"a device", answers(0, 2, 13000), Availability::available, "", ""},
    {"no libcuda", answers(35, 0, 0), Availability::no_driver,
     "no NVIDIA driver: libcuda.so.1 was not found", "install the NVIDIA driver"},
    {"an old driver", answers(35, 0, 12040), Availability::driver_too_old,
     "it supports CUDA 12.4, this build needs 13.0", "a driver for CUDA 13.0 or newer"},
    {"the stub", answers(34, 0, 0), Availability::stub_driver, "the toolkit's stub",
     "LD_LIBRARY_PATH"},
    {"no device", answers(100, 0, 13010), Availability::no_device,
     "a driver for CUDA 13.1, but no device", "--gpus all"},
    {"success without a device", answers(0, 0, 13000), Availability::no_device,
     "a driver for CUDA 13.0, but no device", "nvidia-smi -L"},
    {"a wrong ordinal", answers(101, 0, 13000), Availability::no_device, "do not exist",
     "CUDA_VISIBLE_DEVICES"},
    {"a failing driver", answers(3, 0, 13000), Availability::failed,
     "could not be initialised (cudaErrorSome)", "nvidia-smi"},
    {"an exclusive device", answers(46, 0, 13000), Availability::failed, "busy", "nvidia-smi"},
    {"no fabric manager", answers(802, 0, 13000), Availability::driver_mismatch, "not ready yet",
     "nvidia-fabricmanager"},
    {"module and library differ", answers(803, 0, 13000), Availability::driver_mismatch,
     "different versions", "reboot"},
    {"cuda-compat", answers(804, 0, 13000), Availability::driver_mismatch, "forward-compatibility",
     "newer driver"},
    {"unknown", answers(999, 0, 13000), Availability::failed, "unknown error", "Xid"},
    {"something new", answers(4242, 0, 13000), Availability::failed,
     "fails with cudaErrorSome: some text", "nvidia-smi"},
};

TEST(Availability, IsDecidedFromTheRuntimesAnswers) {
  for (const AvailabilityRow& row : kAvailabilities) {
    SCOPED_TRACE(row.what);
    const Verdict verdict = decide(row.answers);
    EXPECT_EQ(verdict.availability, row.availability);
    EXPECT_THAT(verdict.reason, HasSubstr(row.reason));
    EXPECT_THAT(verdict.remedy, HasSubstr(row.remedy));
    EXPECT_EQ(verdict.reason.empty(), row.availability == Availability::available);
    EXPECT_EQ(verdict.remedy.empty(), row.availability == Availability::available);
  }
}

TEST(Availability, NamesTheVariableThatHidesTheDevices) {
  RuntimeAnswers hidden = answers(100, 0, 13000);
  hidden.visible_devices = "";
  EXPECT_EQ(decide(hidden).reason,
            "a driver for CUDA 13.0, but no device: CUDA_VISIBLE_DEVICES is ``");
  EXPECT_EQ(decide(hidden).remedy, "unset CUDA_VISIBLE_DEVICES");
}

TEST(Availability, WithoutANameShowsTheNumber) {
  RuntimeAnswers bare = answers(4242, 0, 13000);
  bare.status_name.clear();
  bare.status_text.clear();
  EXPECT_EQ(decide(bare).reason, "the CUDA runtime fails with error 4242");
}

TEST(Availability, NamesGoBothWays) {
  for (const AvailabilityRow& row : kAvailabilities) {
    EXPECT_EQ(enumerator_from_name<Availability>(to_string(row.availability)), row.availability);
  }
  EXPECT_FALSE(enumerator_from_name<Availability>("perhaps"));
}

TEST(CudaVersion, AsText) {
  EXPECT_EQ(format_cuda_version(13000), "13.0");
  EXPECT_EQ(format_cuda_version(12040), "12.4");
  EXPECT_EQ(format_cuda_version(0), "n/a");
}

struct Row {
  const char* architectures;
  int major, minor;
  bool has_code;
};

constexpr Row kRows[] = {
    {"75-real;80-real;120-virtual", 7, 5, true},
    {"75-real;80-real;120-virtual", 8, 9, true},   // runs on later minor versions
    {"86-real;120-virtual", 8, 0, false},          // not on earlier ones
    {"75-real;80-real;120-virtual", 9, 0, false},  // not on another major version
    {"90-real;75-virtual", 10, 0, true},           // the driver compiles the PTX
    {"90-real;75-virtual", 7, 0, false},           // Volta: toolkit 13 does not compile for it
    {"75-real;120-virtual", 12, 1, true},
    {"90", 10, 3, true},  // no suffix means real and virtual
    {"", 9, 0, false},
    {"native", 9, 0, false},
};

TEST(Architectures, DecideWhichDevicesThereIsCodeFor) {
  for (const Row& row : kRows) {
    EXPECT_EQ(code_unavailable_reason(row.architectures, row.major, row.minor).empty(),
              row.has_code)
        << row.architectures << " on " << row.major << "." << row.minor;
  }
  EXPECT_EQ(code_unavailable_reason("80-real;80-virtual", 7, 0),
            "compute capability 7.0, for which this build has no code (80-real;80-virtual)");
}

}  // namespace
}  // namespace bench::ops::cuda
