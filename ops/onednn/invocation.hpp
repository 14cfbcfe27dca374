// SPDX-License-Identifier: Apache-2.0
// Calls of primitives with everything prepared: what the timed region executes.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/onednn/context.hpp"

#include <dnnl.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {

// Primitives, and kernels that are none, in order, with the memories that they read and write.
class OnednnInvocation final : public Invocation {
 public:
  // `context` and the added primitives must outlive this.
  explicit OnednnInvocation(const OnednnContext& context);

  // DNNL_ARG_* -> memory. `name` is for errors.
  void add_call(std::string name, const dnnl::primitive& primitive,
                std::vector<std::pair<int, dnnl::memory>> arguments);
  // What is no primitive.
  void add_call(std::string name, std::unique_ptr<Invocation> foreign);

  bool run() noexcept override;
  bool run_observed(StepObserver& observer) noexcept override;
  std::string error() const override;

 private:
  struct Call {
    const_dnnl_primitive_t primitive;
    std::vector<dnnl_exec_arg_t> arguments;
    std::unique_ptr<Invocation> foreign = nullptr;  // in the primitive's place
  };
  bool run_foreign(Call& call) noexcept;
  bool observe_foreign(std::size_t index, StepObserver& observer) noexcept;

  dnnl_stream_t stream_;
  bool must_wait_;
  std::vector<Call> calls_;
  std::size_t failed_call_ = 0;
  dnnl_status_t status_ = dnnl_success;
  bool foreign_failed_ = false;
  std::vector<std::string> names_;      // by call
  std::vector<dnnl::memory> memories_;  // keeps what the calls point to
};

}  // namespace bench::ops
