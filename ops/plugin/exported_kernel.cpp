// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_kernel.hpp"

#include "ops/plugin/c_call.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/c_text.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

// Texts that rows point to. Their addresses are stable.
class Texts {
 public:
  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

 private:
  std::deque<std::string> texts_;
};

struct HeldKernel {
  explicit HeldKernel(KernelExport with) : held(std::move(with)) {
    if (held.problem) view.emplace(*held.problem);
  }

  KernelExport held;
  std::optional<CProblem> view;
  Texts texts;
  CList<bench_buffer> buffers;
  CList<bench_step> steps;
  CList<bench_detail> details;
  std::map<std::string, std::string> reported;  // the reported details
  std::vector<Invocation*> rotation;            // rotation of the current sample
  std::uint64_t samples = 0;                    // samples taken so far
  bench_kernel raw{};
};

struct HeldInvocation {
  HeldKernel* of;
  std::unique_ptr<Invocation> invocation;
  std::string error;
  bench_invocation raw;
};

HeldKernel& kernel_at(void* self) { return *static_cast<HeldKernel*>(self); }
HeldInvocation& invocation_at(void* self) { return *static_cast<HeldInvocation*>(self); }

// During its lifetime the whole execution is one part, if requested.
class WholePart {
 public:
  explicit WholePart(const KernelExport& with) : parts_(with.whole.empty() ? nullptr : with.parts) {
    if (parts_ != nullptr) parts_->part_begins(with.whole);
  }
  ~WholePart() {
    if (parts_ != nullptr) parts_->part_ends();
  }
  WholePart(const WholePart&) = delete;
  WholePart& operator=(const WholePart&) = delete;

 private:
  PartListener* parts_;
};

// Adapts an observer of the interface to this program's.
class ReportedObserver final : public StepObserver {
 public:
  ReportedObserver(const bench_observer& raw, PartListener* parts) : raw_(raw), parts_(parts) {}

  void begins(std::size_t step) noexcept override { raw_.begins(raw_.self, step); }
  void enqueued(std::size_t step) noexcept override { raw_.enqueued(raw_.self, step); }
  void done(std::size_t step) noexcept override { raw_.done(raw_.self, step); }
  void part_begins(std::string_view name) noexcept override {
    if (parts_ != nullptr) parts_->part_begins(name);
  }
  void part_ends() noexcept override {
    if (parts_ != nullptr) parts_->part_ends();
  }

 private:
  const bench_observer& raw_;
  PartListener* parts_;
};

bench_status run(void* self) {
  HeldInvocation& bound = invocation_at(self);
  const WholePart part(bound.of->held);
  return bound.invocation->run() ? BENCH_OK : BENCH_FAILED;
}

bench_status run_observed(void* self, const bench_observer* observer) {
  HeldInvocation& bound = invocation_at(self);
  const WholePart part(bound.of->held);
  ReportedObserver reported(*observer, bound.of->held.parts);
  return bound.invocation->run_observed(reported) ? BENCH_OK : BENCH_FAILED;
}

const char* error_of(void* self) {
  HeldInvocation& bound = invocation_at(self);
  guarded_call(nullptr, [&]() -> Status {
    bound.error.clear();
    bound.error = bound.invocation->error();
    return Done{};
  });
  return bound.error.c_str();
}

bench_status pack(void* self, std::size_t tensor, const void* plain, void* packed,
                  bench_message* message) {
  return guarded_call(message,
                      [&] { return kernel_at(self).held.kernel->pack(tensor, plain, packed); });
}

bench_status unpack(void* self, std::size_t tensor, const void* packed, void* plain,
                    bench_message* message) {
  return guarded_call(message,
                      [&] { return kernel_at(self).held.kernel->unpack(tensor, packed, plain); });
}

// Returns all of the kernel's buffers as a span.
std::span<void* const> all(const HeldKernel& kernel, void* const* buffers) {
  return {buffers, kernel.buffers.size()};
}

bench_status prepare(void* self, void* const* buffers, bench_message* message) {
  HeldKernel& kernel = kernel_at(self);
  return guarded_call(message, [&] { return kernel.held.kernel->prepare(all(kernel, buffers)); });
}

bench_status bind(void* self, void* const* buffers, const bench_invocation** invocation,
                  bench_message* message) {
  HeldKernel& kernel = kernel_at(self);
  return guarded_call(message, [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(auto bound, kernel.held.kernel->bind(all(kernel, buffers)));
    auto made = std::make_unique<HeldInvocation>(HeldInvocation{&kernel, std::move(bound), "", {}});
    made->raw = {.size = sizeof(bench_invocation),
                 .self = made.get(),
                 .run = run,
                 .error = error_of,
                 .run_observed = run_observed,
                 .destroy = [](void* held) { delete static_cast<HeldInvocation*>(held); }};
    *invocation = &made.release()->raw;
    return Done{};
  });
}

struct VerdictFlag {
  SampleVerdict verdict;
  std::uint32_t flag;
};
constexpr std::array<VerdictFlag, 3> kExportedFlags = {
    {{SampleVerdict::voided, BENCH_SAMPLE_VOID},
     {SampleVerdict::throttled, BENCH_SAMPLE_THROTTLED},
     {SampleVerdict::unsteady, BENCH_SAMPLE_UNSTEADY}}};

// Omits fields that the host's struct has no room for.
void write_sample(const DeviceSample& taken, bench_sample* sample, bench_message* message) {
  sample->device_ns = taken.device.count();
  sample->host_ns = taken.host ? taken.host->count() : -1;
  sample->clock_hz = taken.clock_hz.value_or(-1);
  sample->flags = 0;
  for (const VerdictFlag& row : kExportedFlags) {
    if (row.verdict == taken.verdict) sample->flags = row.flag;
  }
  sample->how = static_cast<std::int32_t>(taken.method);
  if (taken.verdict != SampleVerdict::counted) write_message({taken.reason, "", ""}, message);
}

// A kernel has more details after it was sampled, so this is called after samples 1, 2, 4, 8, ...
// Rows that were exported keep their addresses.
void fill_details(HeldKernel& made) {
  auto now = made.held.kernel->details();
  if (now == made.reported) return;
  for (const auto& [name, value] : now) {
    const auto before = made.reported.find(name);
    if (before != made.reported.end() && before->second == value) continue;
    bench_detail& row = made.details.add();
    row.name = made.texts.keep(name);
    row.value = made.texts.keep(value);
  }
  made.reported = std::move(now);
  made.raw.details = made.details.data();
  made.raw.detail_count = made.details.size();
}

bench_status sample(void* self, const bench_sample_request* request, bench_sample* taken,
                    bench_message* message) {
  HeldKernel& kernel = kernel_at(self);
  return guarded_call(message, [&]() -> Status {
    kernel.rotation.clear();
    for (std::size_t i = 0; i < request->rotation_count; ++i) {
      kernel.rotation.push_back(invocation_at(request->rotation[i]->self).invocation.get());
    }
    const bool known = request->how >= BENCH_SAMPLE_ANY && request->how <= BENCH_SAMPLE_GRAPH;
    const SampleRequest asked{kernel.rotation, request->first, request->iterations,
                              known ? static_cast<SampleMethod>(request->how) : SampleMethod::any};
    BENCH_ASSIGN_OR_RETURN(const DeviceSample made, kernel.held.kernel->sample(asked));
    write_sample(made, taken, message);
    // Details settle with the first samples, and reading them between samples costs time.
    if (std::has_single_bit(++kernel.samples)) fill_details(kernel);
    return Done{};
  });
}

void fill_rows(HeldKernel& made) {
  const Kernel& kernel = *made.held.kernel;
  for (const KernelBuffer& buffer : kernel.buffers()) {
    bench_buffer& row = made.buffers.add();
    row.role = static_cast<std::int32_t>(buffer.role);
    row.bytes = buffer.size.count;
    row.layout = made.texts.keep(buffer.layout);
  }
  for (const KernelStep& step : kernel.steps()) {
    bench_step& row = made.steps.add();
    row.node = made.texts.keep(step.node);
    row.kind = made.texts.keep(step.kind);
    row.implementation = made.texts.keep(step.implementation);
    row.layouts = made.texts.keep(step.layouts);
  }
}

}  // namespace

Invocation& exported_invocation(const bench_invocation& invocation) {
  return *invocation_at(invocation.self).invocation;
}

const bench_kernel* export_kernel(KernelExport with) {
  auto made = std::make_unique<HeldKernel>(std::move(with));
  fill_rows(*made);
  const Kernel& kernel = *made->held.kernel;
  const bool packs = made->held.packing == KernelExport::Packing::always || !kernel.takes_plain();
  made->raw = {.size = sizeof(bench_kernel),
               .self = made.get(),
               .implementation = made->texts.keep(kernel.implementation()),
               .steps = made->steps.data(),
               .step_count = made->steps.size(),
               .buffers = made->buffers.data(),
               .buffer_count = made->buffers.size(),
               .workspace = kernel.workspace().count,
               .pack = packs ? pack : nullptr,
               .unpack = packs ? unpack : nullptr,
               .prepare = prepare,
               .bind = bind,
               .destroy = [](void* self) { delete static_cast<HeldKernel*>(self); },
               .sample = kernel.has_device_clock() ? sample : nullptr,
               .problem = made->view ? made->view->get() : nullptr,
               .details = nullptr,
               .detail_count = 0};
  fill_details(*made);
  return &made.release()->raw;
}

}  // namespace bench::ops
