// SPDX-License-Identifier: Apache-2.0
// Engine and stream of the CPU, what is asked of the library once and remembered, and who is told
// about calls of the library.
#pragma once

#include "base/data_type.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"
#include "profiler/api_calls/api_calls.hpp"

#include <dnnl.hpp>

#include <map>
#include <string_view>
#include <utility>

namespace bench::ops {

// Not thread-safe. Outlives everything made with it. Constructors and methods throw dnnl::error.
class OnednnContext {
 public:
  explicit OnednnContext(const Collectors& collectors = {});

  void observe(const Collectors& collectors) { collectors_ = collectors; }
  const Collectors& collectors() const { return collectors_; }
  // Runs `function`, which makes the library's call `name` (as the C interface has it) and returns
  // what it makes. Every call outside of Invocation::run() goes through here.
  template <class Function>
  auto call(std::string_view name, Function function) const {
    const ApiCall call(collectors_.api, name);
    return function();
  }
  // Memory of the caller as the library sees it.
  dnnl::memory view(const dnnl::memory::desc& desc, void* data) const {
    return call("dnnl_memory_create", [&] { return dnnl::memory(desc, engine_, data); });
  }

  const dnnl::engine& engine() const { return engine_; }
  const dnnl::stream& stream() const { return stream_; }
  bool must_wait() const { return must_wait_; }  // after execution, for its end

  // The layout in which a 1x1 convolution over as many channels takes and hands over a tensor of
  // these sizes: what an operator without a preference meets in a network. Plain where there is no
  // such convolution.
  dnnl::memory::desc convolution_layout(const Dims& dims, DataType type);

  // Whether the library computes with this type on this CPU at all (a small convolution).
  bool computes(DataType type);

 private:
  Collectors collectors_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  bool must_wait_;
  std::map<std::pair<Dims, DataType>, dnnl::memory::desc> layouts_;
};

}  // namespace bench::ops
