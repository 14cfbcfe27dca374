// SPDX-License-Identifier: Apache-2.0
// Engine and stream of the CPU, and what is asked of the library once and remembered.
#pragma once

#include "base/data_type.hpp"
#include "ops/problem.hpp"

#include <dnnl.hpp>

#include <map>
#include <utility>

namespace bench::ops {

// Not thread-safe. Outlives everything made with it. Constructors and methods throw dnnl::error.
class OnednnContext {
 public:
  OnednnContext();

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
  dnnl::engine engine_;
  dnnl::stream stream_;
  bool must_wait_;
  std::map<std::pair<Dims, DataType>, dnnl::memory::desc> layouts_;
};

}  // namespace bench::ops
