// SPDX-License-Identifier: Apache-2.0
// Facts about kernels and libraries for code that never calls the kernels. A worker sends these
// facts to the coordinator, and records store them.
#pragma once

#include "base/enumerators.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

// Layout of each layer input inside its network, by tensor name, as in KernelBuffer::layout.
// Operators without a preferred layout (pooling, pointwise, ...) adopt the layout of their input.
using InputLayouts = std::map<std::string, std::string>;

// The tensor that a reorder between two nodes moves. No node's problem describes it.
struct MovedTensor {
  Dims dims;
  DataType dtype = DataType::f32;
  friend bool operator==(const MovedTensor&, const MovedTensor&) = default;
};

// Returns whether the text names the plain row-major layout: "ab", "abcd", "nchw", "plain".
bool is_row_major(std::string_view layout);

// One primitive that a kernel executes, human-readable (`explain`, a network's layer table).
struct KernelStep {
  std::string node;            // the network node that it belongs to; empty for a problem
  std::string kind;            // "convolution", "reorder"
  std::string implementation;  // "brgconv:avx512_core"
  std::string layouts;         // "abcd -> acdb, weights Acdb16a"
  InputLayouts input_layouts;  // in a network; empty for a reorder
  std::optional<MovedTensor> moved = std::nullopt;  // for a reorder in a network
};

struct LibraryInfo {
  std::string name;     // "onednn"
  std::string version;  // "3.2.0"
  std::string path;     // path of the loaded file
  // "OpenMP (libgomp.so.1), AVX512_CORE, build 40112196"; without a thread count
  std::string detail;
};

// How a device's time is measured.
// stream: launches queued behind a blocking kernel, between two events.
// graph: replays a recorded graph, for kernels that are shorter than their launches.
BENCH_ENUM(SampleMethod, any, stream, graph);

// Returns why a backend cannot run a case with more than one stream (Backend::runs_streams()).
std::string streams_unsupported_reason(std::string_view backend);

}  // namespace bench::ops
