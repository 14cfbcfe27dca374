// SPDX-License-Identifier: Apache-2.0
// Parses the text that PyTorch writes into its NVTX ranges (torch.autograd.profiler.emit_nvtx) as
// an operator:
//   aten::conv2d, seq = 0, op_id = 42, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [4], []],
//     input_op_ids = [(1,0), (10,0), (11,0), (0,-1)]
//   ConvolutionBackward0, seq = 0, op_id = 163, sizes = [[2, 4, 8, 8]], input_op_ids = [(147,0)]
//   conv2d, seq = 5, sizes = [[2, 3, 8, 8], ...]       before 1.5
// Sequence and operator numbers are per process. The text contains no data type.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// unknown: an operator without a sequence number, which autograd does not track.
enum class FrameworkDirection { unknown, forward, backward };

// An argument. Only PyProf's markers contain arguments (pyprof_marker.hpp).
struct FrameworkArgument {
  std::string_view name;              // name of a keyword argument, else empty
  std::string_view type;              // "tensor", "tuple", "int", "NoneType", ...
  std::vector<std::int64_t> shape;    // shape of a tensor
  std::string_view dtype;             // data type of a tensor: "float16"
  std::vector<std::int64_t> numbers;  // value of an integer or Boolean, or of a sequence of them
};

// The views refer to the parsed text.
struct FrameworkRange {
  // The source of a tensor: output `output` of the operator `op_id`.
  struct Origin {
    std::int64_t op_id = 0;
    std::int64_t output = 0;
    friend bool operator==(const Origin&, const Origin&) = default;
  };
  using Shape = std::vector<std::int64_t>;  // {} for a non-tensor or a tensor without dimensions

  std::string_view name;  // "aten::conv2d"
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> op_id;
  FrameworkDirection direction = FrameworkDirection::unknown;
  std::string_view sizes;                    // "[[2, 3, 8, 8], ...]"; empty if not recorded
  std::vector<Shape> inputs;                 // one per argument; empty if `sizes` has another form
  std::vector<Origin> origins;               // one per argument, if recorded
  std::string_view module;                   // "torch.nn.functional"; PyProf only
  std::vector<FrameworkArgument> arguments;  // one per input; PyProf only
};

// Returns nullopt if the text has another form, because then the range is not the framework's.
// Never reads beyond the text. A number out of range also gives nullopt.
std::optional<FrameworkRange> parse_framework_range(std::string_view text);
// Parses the shapes of arguments, "[[2, 3, 8, 8], [4], []]". Empty if the text has another form.
std::vector<FrameworkRange::Shape> parse_framework_shapes(std::string_view text);
// Returns "2x3x8x8 4x3x3x3": the arguments that have a shape.
std::string format_framework_shapes(const std::vector<FrameworkRange::Shape>& shapes);
// Whether autograd names the gradient of an operator so: "AddmmBackward0".
bool is_framework_backward(std::string_view name);

// What a framework's operator computes, as far as its ranges show it.
struct FrameworkCall {
  std::string_view name;
  const std::vector<FrameworkRange::Shape>* inputs = nullptr;
  const FrameworkRange::Shape* output = nullptr;              // nullptr if unknown
  const std::vector<FrameworkArgument>* arguments = nullptr;  // nullptr if not recorded
};
// The work of such a call according to the model of its operator. Bytes need a data type, which
// only arguments contain.
struct FrameworkWork {
  std::string op;               // "conv"
  std::string parameters = {};  // as in a case id; empty if the call does not give all of them
  std::optional<std::int64_t> macs = {};
  std::int64_t flops = 0;
  std::optional<std::int64_t> bytes = {};
  // each_gradient: FLOPs and bytes are those of each gradient that the call computes. The shapes do
  // not show how many these are.
  GpuOperatorWork::Extent extent = GpuOperatorWork::Extent::whole_operator;
  std::string dtype = {};  // "f16"; empty if unknown
  // Whether the present device may use tensor cores for it: "eligible (gemm_f16)". Empty if unknown
  // or if the operator is not a product.
  std::string tensor_cores = {};
  // As `parameters`, and also if they are those of the call only as long as its tensors are dense
  // and row-major: a product of matrices. Strides are not recorded.
  std::string case_parameters = {};
};
// Computes the work of a call. Returns nullopt if the call is not understood or lacks information.
// The caller passes this function in, because this folder does not know the operators.
using FrameworkWorkProvider = std::function<std::optional<FrameworkWork>(const FrameworkCall&)>;

// Parses the markers that PyProf puts around calls of PyTorch (pyprof.init()). They contain all
// arguments:
//   {'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape':
//    (32, 3, 224, 224), 'dtype': 'float16'}, ..., {'name': '', 'type': 'tuple', 'value': (2, 2)}]}
// They are printed Python values. The parser reads them and never evaluates them.

// Returns the operator's name, module, arguments and inputs; an input that is not a tensor is {}.
// Returns nullopt for other texts, including PyProf's markers of call stacks and of modules.
std::optional<FrameworkRange> parse_pyprof_marker(std::string_view text);

// Returns the call stack of PyProf's marker {'traceMarker': ['net.py:21', 'train.py:3'], ...} in
// the form of PyProf's table, "net.py:21,train.py:3". Returns nullopt for other texts, and without
// a stack.
std::optional<std::string> parse_trace_marker(std::string_view text);

// Finds the output shape of an operator if the framework's range of the operator does not contain
// it. Two other ranges contain the shape. One is the next operator, which takes the output as its
// input. The other is the backward pass, which begins with a gradient of the same shape. Only
// covers operators whose output shape cannot be computed from their input shapes.
class FrameworkOutputs {
 public:
  // Whether the range is nested in another one of these operators on its thread.
  enum class Level { outermost, nested };

  // Call this for the ranges of a process in the order in which they begin.
  void note(std::int64_t pid, const FrameworkRange& range, Level level);
  // Returns nullptr if the shape is unknown or ambiguous.
  const FrameworkRange::Shape* find(std::int64_t pid, const FrameworkRange& range) const;
  // Returns whether the range is one of these operators in the forward pass.
  static bool concerns(const FrameworkRange& range);

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, number
  struct Gradient {
    std::int64_t forward = 0;  // number of operators with this sequence number
    std::int64_t backward = 0;
    FrameworkRange::Shape shape;
  };
  // nullopt while the consumer has not been seen
  std::map<Key, std::optional<FrameworkRange::Shape>> by_op_id_;
  std::map<Key, Gradient> by_sequence_;
};

}  // namespace bench
