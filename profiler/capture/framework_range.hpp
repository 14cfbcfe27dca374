// SPDX-License-Identifier: Apache-2.0
// What PyTorch writes into its NVTX ranges (torch.autograd.profiler.emit_nvtx), read as an
// operator:
//   aten::conv2d, seq = 0, op_id = 42, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [4], []],
//     input_op_ids = [(1,0), (10,0), (11,0), (0,-1)]
//   ConvolutionBackward0, seq = 0, op_id = 163, sizes = [[2, 4, 8, 8]], input_op_ids = [(147,0)]
//   conv2d, seq = 5, sizes = [[2, 3, 8, 8], ...]       before 1.5
// Numbers of sequences and operators are those of one process; a data type is not written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// unknown: an operator without a sequence number, which autograd knows nothing of.
enum class FrameworkDirection { unknown, forward, backward };

// As only PyProf's markers tell them (pyprof_marker.hpp).
struct FrameworkArgument {
  std::string_view name;              // of an argument given by name, else empty
  std::string_view type;              // "tensor", "tuple", "int", "NoneType", ...
  std::vector<std::int64_t> shape;    // of a tensor
  std::string_view dtype;             // of a tensor: "float16"
  std::vector<std::int64_t> numbers;  // of a whole number, a truth value or several of them
};

// The views are of the parsed text.
struct FrameworkRange {
  // Where a tensor comes from: output `output` of the operator `op_id`.
  struct Origin {
    std::int64_t op_id = 0;
    std::int64_t output = 0;
    friend bool operator==(const Origin&, const Origin&) = default;
  };
  using Shape = std::vector<std::int64_t>;  // {}: no tensor, or one of no dimension

  std::string_view name;  // "aten::conv2d"
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> op_id;
  FrameworkDirection direction = FrameworkDirection::unknown;
  std::string_view sizes;       // "[[2, 3, 8, 8], ...]"; empty: not recorded
  std::vector<Shape> inputs;    // one an argument; empty where `sizes` are not of that form
  std::vector<Origin> origins;  // one an argument where they are written
  std::string_view module;      // "torch.nn.functional"; PyProf only
  std::vector<FrameworkArgument> arguments;  // one an input; PyProf only
};

// Absent where the text is not of the form: somebody else's range. Never reads beyond the text;
// numbers out of range make a text somebody else's.
std::optional<FrameworkRange> parse_framework_range(std::string_view text);

// What a framework's operator is asked to do, as far as its ranges tell.
struct FrameworkCall {
  std::string_view name;
  const std::vector<FrameworkRange::Shape>* inputs = nullptr;
  const FrameworkRange::Shape* output = nullptr;              // nullptr: not known
  const std::vector<FrameworkArgument>* arguments = nullptr;  // nullptr: not told
};
// Its work by the operators' own model. Bytes need a data type, which only arguments tell.
struct FrameworkWork {
  std::string op;               // "conv"
  std::string parameters = {};  // as in a case id; empty where the call does not tell all of them
  std::optional<std::int64_t> macs = {};
  std::int64_t flops = 0;
  std::optional<std::int64_t> bytes = {};
  std::string dtype = {};  // "f16"; empty: not known
  // Whether tensor cores may be used for it on the device that there is: "eligible (gemm_f16)";
  // empty: not known, or it is no product.
  std::string tensor_cores = {};
};
// The operators' knowledge is handed in; absent: not understood, or not told.
using FrameworkWorkOf = std::function<std::optional<FrameworkWork>(const FrameworkCall&)>;

}  // namespace bench
