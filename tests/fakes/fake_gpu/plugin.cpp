// SPDX-License-Identifier: Apache-2.0
// The fake GPU as a plugin that replaces libbench_cuda.so, through $BENCH_CUDA_PLUGIN. script.hpp
// describes what it can simulate.
#include "base/file.hpp"
#include "ops/cuda/plugin/handover.hpp"
#include "ops/cuda/probe.hpp"
#include "tests/fakes/fake_gpu/backend.hpp"
#include "tests/fakes/fake_gpu/script.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::fake_gpu {
namespace {

constexpr const char* kScriptVariable = "FAKE_GPU_SCRIPT";
constexpr std::size_t kMaxScript = 1 << 20;
constexpr int kCuda = 13000;

Result<Script> load_script() {
  const char* path = std::getenv(kScriptVariable);
  if (path == nullptr) return Script();
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxScript));
  return parse_script(text);
}

ops::cuda::OfferedBackend offer(const BackendRow& row, const std::shared_ptr<FakeGpu>& gpu) {
  using Opened = Result<std::unique_ptr<ops::Backend>, ops::BackendError>;
  return {std::string(row.name), list_operators(row),
          [&row, gpu] { return unavailable_reason(gpu->script(), row); },
          [&row, gpu]() -> Opened {
            const Script& script = gpu->script();
            if (script.open) return *script.open;
            if (auto reason = unavailable_reason(script, row)) {
              return ops::BackendError{ops::BackendError::Kind::skipped, *std::move(reason)};
            }
            if (const Status passed = gpu->trigger_faults(Moment::open, row.name); !passed) {
              return ops::BackendError{ops::BackendError::Kind::failed, passed.error().message()};
            }
            return make_backend(row, gpu);
          }};
}

// ---- The probe ---------------------------------------------------------------------------------

ops::cuda::DeviceProperties make_device_properties(const DeviceScript& device) {
  ops::cuda::DeviceProperties facts;
  facts.name = device.name;
  facts.major = device.major;
  facts.minor = device.minor;
  facts.multiprocessors = device.multiprocessors;
  facts.memory_bytes = device.memory.count;
  facts.l2_bytes = device.cache.count;
  facts.clock_khz = device.clock_hz / 1000;
  facts.memory_clock_khz = device.memory_clock_khz;
  facts.memory_bus_bits = device.memory_bus_bits;
  facts.bus_id = "0000:01:00.0";
  facts.uuid = "GPU-fake";
  facts.nvml_reason = "a fake has no NVML";
  return facts;
}

ops::LibraryReport make_library_report(const ops::cuda::LibrarySpec& spec, const Script& script) {
  ops::LibraryReport report{std::string(spec.name), std::string(spec.consequence),
                            std::string(spec.remedy)};
  const auto absent = script.absent.find(report.name);
  if (absent != script.absent.end()) {
    report.reason = absent->second;
    return report;
  }
  report.path = "/opt/fake/" + std::string(spec.files.front());
  report.origin = "fake";
  report.version = "13.0.1";
  return report;
}

ops::cuda::ProbeReport probe(const Script& script, ops::cuda::ProbeExtent extent) {
  ops::cuda::ProbeReport report;
  report.verdict = script.verdict;
  report.answers.status_name = script.device ? "cudaSuccess" : "cudaErrorNoDevice";
  report.answers.status = script.device ? 0 : 100;
  report.answers.devices = script.device ? 1 : 0;
  report.answers.driver = report.answers.runtime = kCuda;
  report.architectures = "90-real";
  if (script.device) report.devices = {make_device_properties(*script.device)};
  std::set<std::string> operators;
  for (const BackendRow& row : backend_rows()) {
    if (unavailable_reason(script, row)) continue;
    for (std::string& name : list_operators(row)) operators.insert(std::move(name));
  }
  report.operators.assign(operators.begin(), operators.end());
  if (extent == ops::cuda::ProbeExtent::libraries) {
    for (const ops::cuda::LibrarySpec& spec : ops::cuda::library_specs()) {
      report.libraries.push_back(make_library_report(spec, script));
    }
  }
  return report;
}

// ---- The services ------------------------------------------------------------------------------

class Services final : public ops::cuda::PluginServices {
 public:
  explicit Services(std::shared_ptr<FakeGpu> gpu) : gpu_(std::move(gpu)) {
    for (const BackendRow& row : backend_rows()) backends_.push_back(offer(row, gpu_));
  }
  std::span<const ops::cuda::OfferedBackend> backends() const override { return backends_; }
  Result<ops::cuda::ProbeReport> probe(ops::cuda::ProbeExtent extent) override {
    return fake_gpu::probe(gpu_->script(), extent);
  }
  // No answers: a fake plans nothing.
  std::string support(const ops::Problem&, std::string_view, std::string_view) override {
    return "";
  }
  std::string plan(const ops::Network&, std::string_view) override { return ""; }

 private:
  std::shared_ptr<FakeGpu> gpu_;
  std::vector<ops::cuda::OfferedBackend> backends_;
};

std::unique_ptr<Services> make_services() {
  auto script = load_script();
  if (!script) {
    std::fprintf(stderr, "fake GPU: %s\n", script.error().message().c_str());
    return nullptr;
  }
  auto gpu = std::make_shared<FakeGpu>(std::move(script).value());
  if (!gpu->trigger_faults(Moment::load, "plugin")) return nullptr;
  return std::make_unique<Services>(std::move(gpu));
}

}  // namespace
}  // namespace bench::fake_gpu

bench::ops::cuda::Handover bench_cuda_handover(const char* build) {
  static const auto kServices = bench::fake_gpu::make_services();
  return bench::ops::cuda::hand_over(build, kServices.get());
}
