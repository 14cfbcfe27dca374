// SPDX-License-Identifier: Apache-2.0
// What a plugin may call: the log, named parts of an execution, kernels of built-in operators.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <string>
#include <string_view>

namespace bench::ops {

// The host of one backend. Not movable, because get() exposes its address.
class Host final {
 public:
  // `built_in` must outlive the host. `name` is the backend's, for its log lines.
  Host(std::string name, Backend& built_in);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const bench_host* get() const { return &raw_; }
  Backend& built_in() { return built_in_; }

  // Sets the observer of parts from now on. Null: none.
  void observe(StepObserver* observer) { observer_ = observer; }
  void part_begins(std::string_view name) noexcept {
    if (observer_ != nullptr) observer_->part_begins(name);
  }
  void part_ends() noexcept {
    if (observer_ != nullptr) observer_->part_ends();
  }

 private:
  std::string name_;
  Backend& built_in_;
  StepObserver* observer_ = nullptr;
  bench_host raw_;
};

}  // namespace bench::ops
