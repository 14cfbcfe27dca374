// SPDX-License-Identifier: Apache-2.0
// An ONNX model as decoded from its file: the graph, the types of its tensors, and the content of
// small tensors. Weights are only shapes, so their data may be missing.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench::onnx {

// TensorProto.DataType, as far as an import distinguishes them.
inline constexpr int kFloat = 1;
inline constexpr int kUint8 = 2;
inline constexpr int kInt8 = 3;
inline constexpr int kInt32 = 6;
inline constexpr int kInt64 = 7;
inline constexpr int kString = 8;
inline constexpr int kBool = 9;
inline constexpr int kFloat16 = 10;
inline constexpr int kDouble = 11;
inline constexpr int kBfloat16 = 16;
bool is_floating(int type);
std::string_view type_name(int type);  // "float", "int64"; "unknown" for others

// Limits of a model. Larger ones are refused with an error.
inline constexpr std::size_t kMaxNodes = 100'000;
inline constexpr std::size_t kMaxRank = 16;
// Tensors with more elements are only shapes.
inline constexpr std::int64_t kMaxContent = 4096;

// The elements of a tensor. A double represents sizes and indices exactly; the ends of slices
// beyond 2^53 are only compared.
using Content = std::vector<double>;

struct Tensor {
  std::string name;
  int type = 0;
  ops::Dims dims;                                 // sizes may be 0
  std::optional<Content> content = std::nullopt;  // nullopt: large, external or not a number
};

struct Attribute {
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::optional<Tensor> tensor = std::nullopt;
  bool has_graph = false;
};

struct Node {
  std::string name;
  std::string op;                   // "Conv"
  std::string domain;               // "" for the default one
  std::vector<std::string> inputs;  // "": omitted
  std::vector<std::string> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  std::size_t offset = 0;   // place of its record in the file
  std::size_t covered = 1;  // nodes of the file that this one stands for (onnx_patterns.hpp)
};

struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;  // "batch"; may be empty
};

struct ValueInfo {
  std::string name;
  int type = 0;
  std::optional<std::vector<Dimension>> dims;  // nullopt: not known
};

struct Model {
  std::string producer;                        // "pytorch 2.15.0"
  std::map<std::string, std::int64_t> opsets;  // by domain, "" for the default one
  std::vector<Node> nodes;
  std::vector<Tensor> tensors;    // initialisers
  std::vector<ValueInfo> inputs;  // also those that initialisers set
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;    // what the exporter knew about intermediate results
  std::set<std::string> functions;  // names of functions that the model defines
};

// Decodes a model. `path` is for messages. Error: the bytes are not a ModelProto, are truncated, or
// exceed a limit; `where` is the path and the offset of the byte: "net.onnx: byte 1234".
Result<Model> parse_model(const std::string& path, std::string_view bytes);

}  // namespace bench::onnx
