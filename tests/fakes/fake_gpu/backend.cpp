// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_gpu/backend.hpp"

#include "base/data_type.hpp"
#include "ops/backend/buffer_role.hpp"
#include "ops/operator.hpp"
#include "ops/operator_registry.hpp"
#include "tests/fakes/fake_backend.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace bench::fake_gpu {
namespace {

using Values = std::vector<std::vector<double>>;
using CreatedKernel = Result<std::unique_ptr<ops::Kernel>, ops::BackendError>;

constexpr std::array<BackendRow, 3> kBackends = {{
    {"cudnn", "cuDNN", "libcudnn.so.9"},
    {"cublaslt", "cuBLASLt", "libcublasLt.so.13"},
    {"cublas", "cuBLAS", "libcublas.so.13"},
}};
constexpr std::string_view kDnn = "cudnn";
constexpr std::string_view kGemm = "gemm";
constexpr std::string_view kVersion = "9.13.0";

// Number of executions that compute values. A second execution reveals data left by the first one.
// Later ones would compute the same again.
constexpr int kComputingRuns = 2;
constexpr double kError = 0.5;  // added to the element that the script makes wrong

// The steps of one kernel: one for a problem, one per node for a network.
struct Plan {
  std::vector<ops::Tensor> tensors;
  test::FakeCompute compute;
  std::vector<ops::KernelStep> steps;
  std::vector<CaseScript> rows;  // one per step
  std::vector<std::string> subjects;
};

Bytes workspace_size(const Plan& plan) {
  Bytes largest{0};
  for (const CaseScript& row : plan.rows) largest = std::max(largest, row.workspace);
  return largest;
}

class Kernel;

class Invocation final : public ops::Invocation {
 public:
  Invocation(Kernel& kernel, std::vector<void*> buffers)
      : kernel_(kernel), buffers_(std::move(buffers)) {}

  bool run() noexcept override { return store_error(execute(nullptr)); }
  bool run_observed(ops::StepObserver& observer) noexcept override {
    return store_error(execute(&observer));
  }
  std::string error() const override { return error_; }

 private:
  bool store_error(const Status& status) {
    error_ = status.ok() ? "" : status.error().message();
    return status.ok();
  }
  Status execute(ops::StepObserver* observer);
  Status compute();
  Status load(Values& inputs) const;
  Status store(const Values& outputs) const;

  Kernel& kernel_;
  std::vector<void*> buffers_;
  int runs_ = 0;
  std::string error_;
};

class Kernel final : public ops::Kernel {
 public:
  // `fixed`: the choices that the backend repeats; empty if it has measured. `caches`: those of the
  // measurement.
  Kernel(Plan plan, std::shared_ptr<FakeGpu> gpu, void* workspace, std::int64_t tuned,
         std::string fixed, const ops::TunedCaches& caches)
      : plan_(std::move(plan)),
        gpu_(std::move(gpu)),
        workspace_(workspace),
        tuned_(tuned),
        fixed_(std::move(fixed)),
        caches_(caches) {
    for (const ops::Tensor& tensor : plan_.tensors) {
      buffers_.push_back({ops::buffer_role(tensor), tensor.size(), "plain"});
    }
  }
  ~Kernel() override { gpu_->memory().release(workspace_); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  std::string implementation() const override {
    return plan_.rows.front().implementation + (fixed_.empty() ? "" : " as " + fixed_);
  }
  std::vector<ops::KernelStep> steps() const override { return plan_.steps; }
  std::span<const ops::KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return workspace_size(plan_); }
  bool converts_layout(std::size_t) const override { return false; }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    return gpu_->memory().copy_in(packed, plain, plan_.tensors[index].size());
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    return gpu_->memory().copy_out(plain, packed, plan_.tensors[index].size());
  }
  Status prepare(std::span<void* const>) override { return gpu_->check_usable(); }
  Result<std::unique_ptr<ops::Invocation>> bind(std::span<void* const> buffers) override {
    return std::unique_ptr<ops::Invocation>(
        std::make_unique<Invocation>(*this, std::vector<void*>(buffers.begin(), buffers.end())));
  }
  std::map<std::string, std::string> details() const override {
    std::map<std::string, std::string> details = plan_.rows.front().details;
    if (tuned_ > 0) details["tuned"] = std::to_string(tuned_);
    if (tuned_ > 0 && caches_.state != ops::CacheState::hot)
      details["tuned_caches"] =
          fmt::format("{} over {}", static_cast<int>(caches_.state), caches_.rotation.count);
    if (samples_ > 0) details["sample_method"] = "as the fake is asked to";
    return details;
  }
  bool has_device_clock() const override { return true; }
  Result<ops::DeviceSample> sample(const ops::SampleRequest& request) override;

  const Plan& plan() const { return plan_; }
  FakeGpu& gpu() { return *gpu_; }

 private:
  Nanoseconds time_of_sample(std::int64_t number) const;
  void apply_script(std::int64_t number, ops::DeviceSample& sample) const;

  Plan plan_;
  std::shared_ptr<FakeGpu> gpu_;
  void* workspace_;
  std::int64_t tuned_;
  std::string fixed_;
  ops::TunedCaches caches_;
  std::vector<ops::KernelBuffer> buffers_;
  std::int64_t samples_ = 0;
};

Status Invocation::execute(ops::StepObserver* observer) {
  const Plan& plan = kernel_.plan();
  if (runs_++ < kComputingRuns) BENCH_RETURN_IF_ERROR(compute());
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    if (observer != nullptr) observer->begins(i);
    kernel_.gpu().launch(plan.rows[i]);
    if (observer != nullptr) observer->enqueued(i);
    // A kernel's failure appears where the caller waits for it.
    BENCH_RETURN_IF_ERROR(kernel_.gpu().trigger_faults(Moment::execution, plan.subjects[i]));
    if (kernel_.gpu().tracer().recording()) {
      BENCH_RETURN_IF_ERROR(kernel_.gpu().trigger_faults(Moment::traced, plan.subjects[i]));
    }
    if (observer == nullptr || observer->wait() == ops::StepWait::end) continue;
    kernel_.gpu().wait();
    observer->done(i);
  }
  kernel_.gpu().wait();
  return Done{};
}

Status Invocation::compute() {
  Values inputs;
  BENCH_RETURN_IF_ERROR(load(inputs));
  Values outputs = kernel_.plan().compute(inputs);
  const std::optional<std::int64_t> wrong = kernel_.plan().rows.back().wrong_element;
  if (wrong) outputs.front().at(static_cast<std::size_t>(*wrong)) += kError;
  return store(outputs);
}

Status Invocation::load(Values& inputs) const {
  const std::vector<ops::Tensor>& tensors = kernel_.plan().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role == ops::TensorRole::output) continue;
    BENCH_ASSIGN_OR_RETURN(const std::byte* content,
                           kernel_.gpu().memory().content(buffers_[i], tensors[i].size()));
    std::vector<double>& values =
        inputs.emplace_back(static_cast<std::size_t>(tensors[i].elements()));
    for (std::size_t j = 0; j < values.size(); ++j) {
      values[j] = load_element(tensors[i].dtype, content, j);
    }
  }
  return Done{};
}

Status Invocation::store(const Values& outputs) const {
  const std::vector<ops::Tensor>& tensors = kernel_.plan().tensors;
  auto values = outputs.begin();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role != ops::TensorRole::output) continue;
    BENCH_ASSIGN_OR_RETURN(std::byte * content,
                           kernel_.gpu().memory().content(buffers_[i], tensors[i].size()));
    const auto unwritten = kernel_.plan().rows.back().unwritten_element;
    const bool is_first = values == outputs.begin();
    for (std::size_t j = 0; j < values->size(); ++j) {
      if (is_first && unwritten == static_cast<std::int64_t>(j)) continue;
      store_element(tensors[i].dtype, content, j, (*values)[j]);
    }
    ++values;
  }
  return Done{};
}

// Returns the time of a sample, which varies around the script's time. Steps of 7 modulo 11 make
// consecutive samples differ.
Nanoseconds Kernel::time_of_sample(std::int64_t number) const {
  double time = 0;
  for (const CaseScript& row : plan_.rows) {
    const double position = static_cast<double>(number * 7 % 11) / 5 - 1;  // -1 .. 1
    time += static_cast<double>(row.time().count()) * (1 + row.spread * position);
  }
  return Nanoseconds(std::llround(time));
}

void Kernel::apply_script(std::int64_t number, ops::DeviceSample& sample) const {
  sample.clock_hz = gpu_->device().clock_hz;
  for (const SampleScript& script : plan_.rows.front().samples) {
    if (number < script.first || (script.last && number > *script.last)) continue;
    const double time = static_cast<double>(sample.device.count()) * script.factor;
    sample.device = Nanoseconds(std::llround(time));
    sample.verdict = script.verdict;
    sample.reason = script.reason;
    if (script.clock_hz) sample.clock_hz = script.clock_hz;
    return;
  }
}

Result<ops::DeviceSample> Kernel::sample(const ops::SampleRequest& request) {
  for (const std::string& subject : plan_.subjects) {
    BENCH_RETURN_IF_ERROR(gpu_->trigger_faults(Moment::sample, subject));
    BENCH_RETURN_IF_ERROR(gpu_->trigger_faults(Moment::execution, subject, request.iterations));
  }
  const std::int64_t number = samples_++;
  ops::DeviceSample sample;
  sample.device = time_of_sample(number) * request.iterations;
  sample.host = Nanoseconds(0);
  for (const CaseScript& row : plan_.rows) {
    *sample.host += row.launch * static_cast<std::int64_t>(row.kernels.size()) * request.iterations;
  }
  sample.method =
      request.method == ops::SampleMethod::any ? ops::SampleMethod::stream : request.method;
  apply_script(number, sample);
  return sample;
}

class Backend final : public ops::Backend {
 public:
  Backend(const BackendRow& row, std::shared_ptr<FakeGpu> gpu) : row_(row), gpu_(std::move(gpu)) {}

  std::string_view name() const override { return row_.name; }
  std::string_view device() const override { return "cuda"; }
  ops::LibraryInfo library() const override {
    return {std::string(row_.name), std::string(kVersion), fmt::format("/opt/fake/{}", row_.file),
            "fake"};
  }
  std::vector<ops::LibraryInfo> further_libraries() const override {
    return {{"cuda_driver", "13.0", "/opt/fake/libcuda.so.1", ""}};
  }
  ops::DeviceMemory* memory() override { return &gpu_->memory(); }
  ops::DeviceTracer* tracer() override { return &gpu_->tracer(); }
  ops::DeviceCounters* counters() override { return &gpu_->counters(); }
  void set_tuning(std::int64_t candidates) override { tuning_ = candidates; }
  void set_tuned_caches(const ops::TunedCaches& caches) override { caches_ = caches; }
  std::string choices() const override {
    if (tuning_ == 0) return "";
    return fixed_.empty() ? fmt::format("best of {}", tuning_) : fixed_;
  }
  void set_choices(std::string_view choices) override { fixed_ = choices; }
  CreatedKernel create(const ops::Problem& problem) override;
  CreatedKernel create(const ops::Network& network) override;

 private:
  // Returns an error if the script refuses the step.
  Result<Done, ops::BackendError> add_step(const ops::Problem& problem, const std::string& node,
                                           Plan& plan);
  CreatedKernel make(Plan plan);

  const BackendRow& row_;
  std::shared_ptr<FakeGpu> gpu_;
  std::int64_t tuning_ = 0;
  ops::TunedCaches caches_;
  std::string fixed_;
};

Result<Done, ops::BackendError> Backend::add_step(const ops::Problem& problem,
                                                  const std::string& node, Plan& plan) {
  const std::string subject = fmt::format("{}/{}", problem.op->name, ops::problem_tokens(problem));
  CaseScript row = gpu_->script().find_case(subject, node);
  if (row.refused) return *row.refused;
  ops::KernelStep step;
  step.node = node;
  step.kind = problem.op->name;
  step.implementation = row.implementation;
  plan.steps.push_back(std::move(step));
  plan.rows.push_back(std::move(row));
  plan.subjects.push_back(subject);
  return Done{};
}

CreatedKernel Backend::create(const ops::Problem& problem) {
  Plan plan;
  BENCH_RETURN_IF_ERROR(add_step(problem, "", plan));
  plan.tensors = problem.tensors;
  plan.compute = test::compute_problem(problem);
  return make(std::move(plan));
}

CreatedKernel Backend::create(const ops::Network& network) {
  if (network.gap) return ops::unsupported(*network.gap);
  Plan plan;
  for (const ops::Node& node : network.nodes) {
    BENCH_RETURN_IF_ERROR(add_step(node.problem, node.name, plan));
  }
  plan.tensors = network.tensors;
  plan.compute = test::compute_network(network);
  return make(std::move(plan));
}

CreatedKernel Backend::make(Plan plan) {
  gpu_->make_context();
  for (const std::string& subject : plan.subjects) {
    if (const Status passed = gpu_->trigger_faults(Moment::create, subject); !passed) {
      return ops::BackendError{ops::BackendError::Kind::failed, passed.error().message()};
    }
  }
  void* workspace = nullptr;
  if (const Bytes size = workspace_size(plan); size.count > 0) {
    const auto allocated = gpu_->memory().allocate_for(size, "workspace");
    if (!allocated) {
      return ops::BackendError{ops::BackendError::Kind::skipped, allocated.error().message()};
    }
    workspace = *allocated;
  }
  return std::unique_ptr<ops::Kernel>(
      std::make_unique<Kernel>(std::move(plan), gpu_, workspace, tuning_, fixed_, caches_));
}

}  // namespace

std::span<const BackendRow> backend_rows() { return kBackends; }

std::vector<std::string> list_operators(const BackendRow& row) {
  const bool is_cudnn = row.name == kDnn;
  std::vector<std::string> names;
  for (const ops::Operator* op : ops::all_operators()) {
    if ((op->name == kGemm) != is_cudnn) names.emplace_back(op->name);
  }
  if (is_cudnn) names.emplace_back(ops::kNetworkOperator);
  return names;
}

std::optional<std::string> unavailable_reason(const Script& script, const BackendRow& row) {
  if (!script.device) return script.verdict.reason;
  const auto absent = script.absent.find(std::string(row.library));
  if (absent == script.absent.end()) return std::nullopt;
  return fmt::format("{} cannot be used: {}", row.library, absent->second);
}

std::unique_ptr<ops::Backend> make_backend(const BackendRow& row, std::shared_ptr<FakeGpu> gpu) {
  return std::make_unique<Backend>(row, std::move(gpu));
}

}  // namespace bench::fake_gpu
