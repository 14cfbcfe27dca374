// SPDX-License-Identifier: Apache-2.0
// What is to be known of kernels and their libraries by those who never call them: what a worker
// tells the coordinator, and what records keep.
#pragma once

#include "ops/problem.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

// The layouts in which a network hands a layer's inputs over, by tensor name, in KernelBuffer's
// words. Decides for operators that have no preference of their own (pooling, pointwise, ...).
using MetLayouts = std::map<std::string, std::string>;

// What a reorder between two nodes moves; no node's problem describes it.
struct MovedTensor {
  Dims dims;
  DataType dtype = DataType::f32;
  friend bool operator==(const MovedTensor&, const MovedTensor&) = default;
};

// One primitive of what a kernel executes, for people (`explain`, a network's layer table).
struct KernelStep {
  std::string node;            // of the network's node that it stands for; empty for a problem
  std::string kind;            // "convolution", "reorder"
  std::string implementation;  // "brgconv:avx512_core"
  std::string layouts;         // "abcd -> acdb, weights Acdb16a"
  MetLayouts met;              // in a network; empty for a reorder
  std::optional<MovedTensor> moved = std::nullopt;  // of a reorder in a network
};

struct LibraryInfo {
  std::string name;     // "onednn"
  std::string version;  // "3.2.0"
  std::string path;     // of the loaded file
  std::string detail;   // "OpenMP (libgomp.so.1), AVX512_CORE, build 40112196"; no thread count
};

// How a device's time is taken. stream: launches queued behind a blocking kernel, between two
// events; graph: replay of a recorded graph, for kernels that are shorter than their launches.
enum class SampleMethod { any, stream, graph };
inline constexpr std::array<std::string_view, 3> kSampleMethodNames = {"any", "stream", "graph"};
constexpr std::string_view name_of(SampleMethod method) {
  return kSampleMethodNames[static_cast<std::size_t>(method)];
}

}  // namespace bench::ops
