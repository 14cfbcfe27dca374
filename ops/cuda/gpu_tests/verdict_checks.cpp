// SPDX-License-Identifier: Apache-2.0
// Compares the rules for tensor cores with hardware counters, for about a hundred shapes. All
// shapes run in one process, because nothing is timed. `bench run --profile` covers the names of
// kernels.
#include "ops/cuda/gpu_tests/bound_case.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/plugin/backends.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/device_counters.hpp"
#include "ops/operator.hpp"
#include "ops/tensor_core/eligibility.hpp"
#include "profiler/kernel_names/counter_verdict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr const char* kQuestion = "g";

struct Shape {
  std::string op, tokens;
  DataType dtype = DataType::f16;
  Layout layout = Layout::any;
  Math math = Math::standard;
};

// Returns shapes at the limits of the rules: alignment of rows, few rows, channels. They are like
// those in configs/gpu_shapes.yaml.
std::vector<Shape> list_shapes() {
  std::vector<Shape> shapes;
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    for (const int n : {1024, 1000, 1004, 1002, 1001}) {
      for (const int k : {1024, 1000, 1001}) {
        shapes.push_back({"gemm", fmt::format("m1024n{}k{}", n, k), dtype});
      }
    }
    for (const int m : {1, 2, 4, 8, 16, 64}) {
      shapes.push_back({"gemm", fmt::format("m{}n4096k4096", m), dtype});
    }
    for (const int c : {64, 60, 62, 63, 32, 8, 4, 3}) {
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        shapes.push_back({"conv", fmt::format("n8c{}h28w28k64r3s3p1", c), dtype, layout});
      }
    }
  }
  for (const Math math : {Math::standard, Math::tf32}) {
    for (const int n : {1024, 1004, 1001}) {
      shapes.push_back({"gemm", fmt::format("m1024n{}k1024", n), DataType::f32, Layout::any, math});
    }
    for (const int r : {1, 3, 5}) {
      shapes.push_back({"conv", fmt::format("n8c64h28w28k64r{0}s{0}p{1}", r, r / 2), DataType::f32,
                        Layout::nhwc, math});
    }
  }
  for (const DataType dtype : {DataType::f64, DataType::s8, DataType::f8_e4m3}) {
    for (const int m : {16, 256, 1024}) {
      shapes.push_back({"gemm", fmt::format("m{}n1024k1024+tb", m), dtype});
    }
  }
  return shapes;
}

// The backends of the plugin, by name. Opens each backend at its first use.
class Backends {
 public:
  explicit Backends(const CheckRun& run) : offers_(cuda_backends(run.search, process_variable)) {}

  Result<std::shared_ptr<Backend>> find(const std::string& name) {
    if (const auto entry = opened_.find(name); entry != opened_.end()) return entry->second;
    const auto row = std::ranges::find(offers_, name, &OfferedBackend::name);
    if (row == offers_.end()) return Error{"the plugin has no backend " + name, "", ""};
    auto opened = row->open();
    if (!opened) return Error{opened.error().reason, "", ""};
    return opened_.emplace(name, *std::move(opened)).first->second;
  }

 private:
  std::vector<OfferedBackend> offers_;
  std::map<std::string, std::shared_ptr<Backend>> opened_;
};

Result<Figures> measure_verdict(Backends& backends, DeviceCounters& counters,
                                const Platform& platform, const Shape& shape) {
  const Operator* op = find_operator(shape.op);
  BENCH_ASSIGN_OR_RETURN(ProblemTokens parsed, parse_problem_tokens(*op, shape.tokens));
  BENCH_ASSIGN_OR_RETURN(const Problem problem,
                         make_problem({.op = op,
                                       .dtype = shape.dtype,
                                       .layout = shape.layout,
                                       .math = shape.math,
                                       .parameters = std::move(parsed.parameters)}));
  const TensorCoreEligibility rules = ops::assess_tensor_cores(problem, platform);
  Figures figures = {{"eligible", to_string(rules.answer)}, {"rule", rules.rule}};
  BENCH_ASSIGN_OR_RETURN(std::shared_ptr<Backend> backend,
                         backends.find(shape.op == "gemm" ? "cublaslt" : "cudnn"));
  BENCH_ASSIGN_OR_RETURN(const BoundCase bound, bind_case(std::move(backend), problem));
  figures["implementation"] = bound.kernel->implementation();
  Invocation* const rotation[] = {bound.invocation.get()};
  const auto readings = counters.measure(rotation);
  if (!readings) return Error{readings.error().reason, "", ""};
  figures["counted"] = format_verdict(tensor_core_verdict(*readings, problem.work.flops));
  return figures;
}

}  // namespace

// Reports after each shape, so that earlier results remain if the time limit ends the process.
void check_verdicts(CheckRun& run) {
  const DeviceTraits& traits = run.device.runtime->traits();
  const auto platform = parse_platform(fmt::format("{}.{}", traits.major, traits.minor));
  if (!platform) return run.report.add_error("verdicts", kQuestion, platform.error().message());
  const auto counters = make_device_counters(run.search);
  Backends backends(run);
  for (const Shape& shape : list_shapes()) {
    const std::string name =
        fmt::format("tensor cores of {}/{}/{}/{}/{}", shape.op, shape.tokens,
                    info(shape.dtype).name, to_string(shape.layout), to_string(shape.math));
    auto figures = measure_verdict(backends, *counters, *platform, shape);
    run.report.add(name, kQuestion, Outcome::figures,
                   figures ? *figures : Figures{{"reason", figures.error().message()}});
  }
}

}  // namespace bench::ops::cuda
