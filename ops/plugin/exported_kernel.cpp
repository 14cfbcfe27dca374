// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_kernel.hpp"

#include "ops/operator.hpp"
#include "ops/plugin/c_problem.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

// Reports the whole execution as one part with this name. Does nothing if the name is empty.
class ExecutionPart {
 public:
  ExecutionPart(std::string_view name, PartListener& parts)
      : parts_(name.empty() ? nullptr : &parts) {
    if (parts_ != nullptr) parts_->part_begins(name);
  }
  ~ExecutionPart() {
    if (parts_ != nullptr) parts_->part_ends();
  }
  ExecutionPart(const ExecutionPart&) = delete;
  ExecutionPart& operator=(const ExecutionPart&) = delete;

 private:
  PartListener* parts_;
};

// Adapts an observer of the interface to this program's.
class ObserverAdapter final : public StepObserver {
 public:
  ObserverAdapter(const plugin::Observer& observer, PartListener& parts)
      : observer_(observer), parts_(parts) {}

  StepWait wait() const noexcept override {
    return observer_.waits_only_at_end() ? StepWait::end : StepWait::each_step;
  }
  void begins(std::size_t step) noexcept override { observer_.begins(step); }
  void enqueued(std::size_t step) noexcept override { observer_.enqueued(step); }
  void done(std::size_t step) noexcept override { observer_.done(step); }
  void part_begins(std::string_view name) noexcept override { parts_.part_begins(name); }
  void part_ends() noexcept override { parts_.part_ends(); }

 private:
  const plugin::Observer& observer_;
  PartListener& parts_;
};

class ExportedInvocation final : public plugin::SteppedInvocation {
 public:
  ExportedInvocation(std::unique_ptr<ops::Invocation> invocation, std::string_view part_name,
                     PartListener& parts)
      : invocation_(std::move(invocation)), part_name_(part_name), parts_(parts) {}

  void run() override {
    const ExecutionPart part(part_name_, parts_);
    check(invocation_->run());
  }
  void run_observed(const plugin::Observer& observer) override {
    const ExecutionPart part(part_name_, parts_);
    ObserverAdapter adapter(observer, parts_);
    check(invocation_->run_observed(adapter));
  }
  ops::Invocation& wrapped() const { return *invocation_; }

 private:
  void check(bool has_run) const {
    if (!has_run) throw plugin::Error(BENCH_FAILED, invocation_->error());
  }

  std::unique_ptr<ops::Invocation> invocation_;
  std::string_view part_name_;
  PartListener& parts_;
};

struct VerdictFlag {
  SampleVerdict verdict;
  std::uint32_t flag;
};
constexpr std::array<VerdictFlag, 3> kExportedFlags = {
    {{SampleVerdict::voided, BENCH_SAMPLE_VOID},
     {SampleVerdict::throttled, BENCH_SAMPLE_THROTTLED},
     {SampleVerdict::unsteady, BENCH_SAMPLE_UNSTEADY}}};

plugin::Sample to_plugin_sample(DeviceSample device_sample) {
  plugin::Sample sample;
  sample.device = device_sample.device;
  sample.host = device_sample.host;
  sample.clock_hz = device_sample.clock_hz;
  for (const VerdictFlag& row : kExportedFlags) {
    if (row.verdict == device_sample.verdict) sample.flags = row.flag;
  }
  sample.how = static_cast<std::int32_t>(device_sample.method);
  sample.reason = std::move(device_sample.reason);
  return sample;
}

std::optional<plugin::MovedTensor> to_plugin_tensor(std::optional<MovedTensor> moved) {
  if (!moved) return std::nullopt;
  return plugin::MovedTensor{std::move(moved->dims), static_cast<std::int32_t>(moved->dtype)};
}

// Which tensors are packed.
enum class PackedTensors { all, those_not_plain };

class ExportedKernel final : public plugin::Kernel, plugin::Packing, plugin::Sampler {
 public:
  // `problem`: the problem that the kernel was created from, if each execution is a part named
  // after its operator; else null.
  ExportedKernel(std::unique_ptr<ops::Kernel> kernel, PartListener& parts, PackedTensors packed,
                 std::unique_ptr<const Problem> problem)
      : problem_(std::move(problem)),
        c_problem_(problem_ ? std::make_unique<CProblem>(*problem_) : nullptr),
        kernel_(std::move(kernel)),
        implementation_(kernel_->implementation()),
        part_name_(problem_ ? std::string_view(problem_->op->name) : std::string_view()),
        parts_(parts),
        has_packing_(packed == PackedTensors::all || !kernel_->takes_plain()) {}

  const bench_problem* c_problem() const { return c_problem_->get(); }

  const char* implementation() const override { return implementation_.c_str(); }
  std::vector<plugin::KernelStep> steps() const override {
    std::vector<plugin::KernelStep> steps;
    for (KernelStep& step : kernel_->steps()) {
      steps.push_back({std::move(step.node), std::move(step.kind), std::move(step.implementation),
                       std::move(step.layouts), to_plugin_tensor(std::move(step.moved))});
    }
    return steps;
  }
  std::vector<plugin::KernelBuffer> buffers() const override {
    std::vector<plugin::KernelBuffer> buffers;
    for (const KernelBuffer& buffer : kernel_->buffers()) {
      // The host knows which inputs are indices.
      const BufferRole role = buffer.role == BufferRole::index ? BufferRole::input : buffer.role;
      buffers.push_back({static_cast<std::int32_t>(role), buffer.size.count, buffer.layout});
    }
    return buffers;
  }
  plugin::Packing* packing() override { return has_packing_ ? this : nullptr; }
  plugin::Sampler* sampler() override { return kernel_->has_device_clock() ? this : nullptr; }
  std::int64_t workspace() const override { return kernel_->workspace().count; }
  bool has_reduced_sums() const override { return kernel_->summation() == Summation::reduced; }
  std::map<std::string, std::string> details() const override { return kernel_->details(); }
  void prepare(void* const* buffers) override {
    throw_if_error(kernel_->prepare({buffers, kernel_->buffers().size()}));
  }
  std::unique_ptr<plugin::Invocation> bind(std::vector<void*> buffers) override {
    return std::make_unique<ExportedInvocation>(value_or_throw(kernel_->bind(buffers)), part_name_,
                                                parts_);
  }

 private:
  void pack(std::size_t tensor, const void* plain, void* packed) override {
    throw_if_error(kernel_->pack(tensor, plain, packed));
  }
  void unpack(std::size_t tensor, const void* packed, void* plain) override {
    throw_if_error(kernel_->unpack(tensor, packed, plain));
  }
  plugin::Sample sample(const plugin::SampleRequest& request) override {
    rotation_.clear();
    for (std::size_t i = 0; i < request.rotation_size(); ++i) {
      rotation_.push_back(&exported_invocation(request.rotated(i)));
    }
    const bool is_known = request.how() >= BENCH_SAMPLE_ANY && request.how() <= BENCH_SAMPLE_GRAPH;
    const auto method = is_known ? static_cast<SampleMethod>(request.how()) : SampleMethod::any;
    return to_plugin_sample(value_or_throw(
        kernel_->sample({rotation_, request.first(), request.iterations(), method})));
  }

  std::unique_ptr<const Problem> problem_;
  std::unique_ptr<CProblem> c_problem_;
  std::unique_ptr<ops::Kernel> kernel_;
  std::string implementation_;
  std::string_view part_name_;
  PartListener& parts_;
  bool has_packing_;
  std::vector<Invocation*> rotation_;  // rotation of the current sample
};

}  // namespace

std::unique_ptr<plugin::Kernel> export_kernel(std::unique_ptr<Kernel> kernel, PartListener& parts) {
  return std::make_unique<ExportedKernel>(std::move(kernel), parts, PackedTensors::those_not_plain,
                                          nullptr);
}

const bench_kernel* export_built_in(std::unique_ptr<Kernel> kernel,
                                    std::unique_ptr<const Problem> problem, PartListener& parts) {
  auto exported_kernel = std::make_unique<ExportedKernel>(std::move(kernel), parts,
                                                          PackedTensors::all, std::move(problem));
  const bench_problem* c_problem = exported_kernel->c_problem();
  return plugin::detail::KernelHolder::release(std::move(exported_kernel), {}, c_problem);
}

Invocation& exported_invocation(plugin::Invocation& invocation) {
  return static_cast<ExportedInvocation&>(invocation).wrapped();
}

}  // namespace bench::ops
