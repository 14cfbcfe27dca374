// SPDX-License-Identifier: Apache-2.0
// Prepared calls of primitives: what the timed region executes.
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

// Primitives and foreign kernels in order, with the memory objects that they read and write.
class OnednnInvocation final : public Invocation {
 public:
  // `context` and the added primitives must outlive this object.
  explicit OnednnInvocation(const OnednnContext& context);

  // Adds a primitive; `arguments` maps DNNL_ARG_* to memory. `name` is for errors.
  void add_call(std::string name, const dnnl::primitive& primitive,
                std::vector<std::pair<int, dnnl::memory>> arguments);
  // Adds a kernel that is not a oneDNN primitive.
  void add_call(std::string name, std::unique_ptr<Invocation> foreign);

  bool run() noexcept override;
  bool run_observed(StepObserver& observer) noexcept override;
  std::string error() const override;

 private:
  struct Call {
    const_dnnl_primitive_t primitive;
    std::vector<dnnl_exec_arg_t> arguments;
    std::unique_ptr<Invocation> foreign = nullptr;  // runs instead of the primitive
  };
  void clear_failure() noexcept;
  // Records the failure of `call`, or of the wait for the primitives if it is nullptr. Returns
  // false.
  bool record_failure(dnnl_status_t status, const Call* call) noexcept;
  bool wait() noexcept;
  bool run_foreign(Call& call) noexcept;
  bool observe_foreign(std::size_t index, StepObserver& observer) noexcept;

  dnnl_stream_t stream_;
  bool must_wait_;
  std::vector<Call> calls_;
  // The result of the last run.
  const Call* failed_call_ = nullptr;  // nullptr: the wait for the primitives failed
  dnnl_status_t status_ = dnnl_success;
  bool has_foreign_failed_ = false;
  std::vector<std::string> names_;      // by call
  std::vector<dnnl::memory> memories_;  // keeps the memory alive that the calls refer to
};

}  // namespace bench::ops
