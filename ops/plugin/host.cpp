// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/host.hpp"

#include "ops/operator.hpp"
#include "ops/plugin/bench_plugin_kernel.hpp"
#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/c_problem.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

// Return the value of a result, or throw its error as the C++ wrapper of the interface expects it.
template <class T>
T value_or_throw(Result<T> result) {
  if (result) return std::move(result).value();
  throw plugin::Error(BENCH_FAILED, result.error().what, result.error().where, result.error().next);
}
template <class T>
T value_or_throw(Result<T, BackendError> result) {
  if (result) return std::move(result).value();
  throw plugin::Error(to_c_status(result.error()), result.error().reason);
}

// Each execution is a part with the name of the kernel's operator.
class ExportedInvocation final : public plugin::Invocation {
 public:
  ExportedInvocation(std::unique_ptr<ops::Invocation> invocation, std::string_view part, Host& host)
      : invocation_(std::move(invocation)), part_(part), host_(host) {}

  void run() override {
    host_.part_begins(part_);
    const bool has_run = invocation_->run();
    host_.part_ends();
    if (!has_run) throw plugin::Error(BENCH_FAILED, invocation_->error());
  }

 private:
  std::unique_ptr<ops::Invocation> invocation_;
  std::string_view part_;
  Host& host_;
};

// A built-in kernel as a plugin sees it. All its tensors are packed, and the plugin can read the
// problem.
class ExportedKernel final : public plugin::Kernel, plugin::Packing {
 public:
  ExportedKernel(std::unique_ptr<ops::Kernel> kernel, std::unique_ptr<const Problem> problem,
                 Host& host)
      : problem_(std::move(problem)),
        c_problem_(*problem_),
        kernel_(std::move(kernel)),
        implementation_(kernel_->implementation()),
        host_(host) {}

  const bench_problem* c_problem() const { return c_problem_.get(); }

  const char* implementation() const override { return implementation_.c_str(); }
  std::vector<plugin::KernelStep> steps() const override {
    std::vector<plugin::KernelStep> steps;
    for (KernelStep& step : kernel_->steps()) {
      steps.push_back(
          {std::move(step.kind), std::move(step.implementation), std::move(step.layouts)});
    }
    return steps;
  }
  std::vector<plugin::KernelBuffer> buffers() const override {
    std::vector<plugin::KernelBuffer> buffers;
    for (const KernelBuffer& buffer : kernel_->buffers()) {
      // The interface has no role for indices.
      const BufferRole role = buffer.role == BufferRole::index ? BufferRole::input : buffer.role;
      buffers.push_back({static_cast<std::int32_t>(role), buffer.size.count, buffer.layout});
    }
    return buffers;
  }
  plugin::Packing* packing() override { return this; }
  std::int64_t workspace() const override { return kernel_->workspace().count; }
  std::map<std::string, std::string> details() const override { return kernel_->details(); }
  void prepare(void* const* buffers) override {
    throw_if_error(kernel_->prepare({buffers, kernel_->buffers().size()}));
  }
  std::unique_ptr<plugin::Invocation> bind(std::vector<void*> buffers) override {
    return std::make_unique<ExportedInvocation>(value_or_throw(kernel_->bind(buffers)),
                                                problem_->op->name, host_);
  }

 private:
  static void throw_if_error(const Status& status) { static_cast<void>(value_or_throw(status)); }
  void pack(std::size_t tensor, const void* plain, void* packed) override {
    throw_if_error(kernel_->pack(tensor, plain, packed));
  }
  void unpack(std::size_t tensor, const void* packed, void* plain) override {
    throw_if_error(kernel_->unpack(tensor, packed, plain));
  }

  std::unique_ptr<const Problem> problem_;
  CProblem c_problem_;
  std::unique_ptr<ops::Kernel> kernel_;
  std::string implementation_;
  Host& host_;
};

bench_status create(void* self, const bench_request* request, const bench_kernel** kernel,
                    bench_message* message) noexcept {
  auto& host = *static_cast<Host*>(self);
  return plugin::detail::guarded(message, [&] {
    auto problem = std::make_unique<const Problem>(value_or_throw(read_problem(*request)));
    auto created = value_or_throw(host.built_in().create(*problem));
    auto exported = std::make_unique<ExportedKernel>(std::move(created), std::move(problem), host);
    const bench_problem* c_problem = exported->c_problem();
    *kernel = plugin::detail::KernelHolder::release(std::move(exported), {}, c_problem);
  });
}

}  // namespace

Host::Host(std::string name, Backend& built_in)
    : name_(std::move(name)), built_in_(built_in), raw_{} {
  raw_ = {.size = sizeof(bench_host),
          .abi = BENCH_PLUGIN_ABI,
          .self = this,
          .log =
              [](void* self, const char* text) {
                const auto& host = *static_cast<Host*>(self);
                std::fprintf(stderr, "%s: %s\n", host.name_.c_str(), text == nullptr ? "" : text);
              },
          .range_begin =
              [](void* self, const char* part) {
                static_cast<Host*>(self)->part_begins(part == nullptr ? "" : part);
              },
          .range_end = [](void* self) { static_cast<Host*>(self)->part_ends(); },
          .create = create};
}

}  // namespace bench::ops
