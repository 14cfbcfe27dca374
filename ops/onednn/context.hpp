// SPDX-License-Identifier: Apache-2.0
// Engine and stream of the CPU, cached answers of the library, and the collectors that observe
// library calls.
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

// What a context creates: primitives, for which the library compiles code, or only their
// descriptors, which suffice to know whether the library supports a problem on this CPU.
enum class CreationExtent { primitives, descriptors };

// Not thread-safe. Must outlive everything created with it. Constructors and methods throw
// dnnl::error.
class OnednnContext {
 public:
  explicit OnednnContext(const Collectors& collectors = {},
                         CreationExtent extent = CreationExtent::primitives);

  bool creates_primitives() const { return extent_ == CreationExtent::primitives; }
  // Creates the primitive that was described, or returns an empty one if this context only
  // describes.
  dnnl::primitive create(const dnnl::primitive_desc_base& description) const;

  void observe(const Collectors& collectors) { collectors_ = collectors; }
  const Collectors& collectors() const { return collectors_; }
  // Runs `function`, which makes the library's call `name` (its name in the C interface), and
  // returns its result. Every call outside of Invocation::run() goes through here.
  template <class Function>
  auto call(std::string_view name, Function function) const {
    const ApiCall call(collectors_.api, name);
    return function();
  }
  // Wraps the caller's memory as a oneDNN memory object.
  dnnl::memory view(const dnnl::memory::desc& desc, void* data) const {
    return call("dnnl_memory_create", [&] { return dnnl::memory(desc, engine_, data); });
  }

  const dnnl::engine& engine() const { return engine_; }
  const dnnl::stream& stream() const { return stream_; }
  bool must_wait() const { return must_wait_; }  // whether to wait for the end after an execution

  // Returns the layout in which a 1x1 convolution with this number of channels takes and produces a
  // tensor of these sizes. An operator without a preference gets this layout in a network. Plain if
  // there is no such convolution.
  dnnl::memory::desc convolution_layout(const Dims& dims, DataType type);

  // Whether the library supports this type on this CPU at all. Tried with a small convolution.
  bool computes(DataType type);

 private:
  CreationExtent extent_;
  Collectors collectors_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  bool must_wait_;
  std::map<std::pair<Dims, DataType>, dnnl::memory::desc> layouts_;
};

}  // namespace bench::ops
