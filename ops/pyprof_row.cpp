// SPDX-License-Identifier: Apache-2.0
#include "ops/pyprof_row.hpp"

#include "base/checked.hpp"
#include "base/data_type.hpp"
#include "ops/framework_operator.hpp"
#include "ops/framework_row.hpp"
#include "profiler/gpu/kernel_work.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using Numbers = std::vector<std::int64_t>;
using Shapes = std::vector<FrameworkRange::Shape>;

// Names of data types: PyProf's name and the framework's name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypes = {
    {{"fp16", "float16"},
     {"fp32", "float32"},
     {"fp64", "float64"},
     {"bf16", "bfloat16"},
     {"float16", "float16"},
     {"float32", "float32"},
     {"bfloat16", "bfloat16"}}};

// Returns the framework's name; empty if the type is unknown.
std::string_view find_type(std::string_view pyprof_name) {
  for (const auto& [name, type] : kTypes) {
    if (name == pyprof_name) return type;
  }
  return {};
}

// Parses "64", "(8,16)", "(1,)": integers >= 0. Returns nullopt for other forms.
std::optional<Numbers> parse_numbers(std::string_view text) {
  if (text.starts_with('(') || text.starts_with('[')) {
    if (!text.ends_with(text.front() == '(' ? ')' : ']')) return std::nullopt;
    text = text.substr(1, text.size() - 2);
  }
  Numbers numbers;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && text.front() != ',') return std::nullopt;
    numbers.push_back(number);
    if (!text.empty()) text.remove_prefix(1);
  }
  return numbers;
}

// Removes the text up to the next `separator` outside of brackets, and the separator. Returns false
// if there is no separator; `item` is then the whole text and may have been truncated.
bool cut_item(std::string_view& text, char separator, std::string_view& item) {
  std::int64_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth != 0 || text[i] != separator) continue;
    item = text.substr(0, i);
    text.remove_prefix(i + 1);
    return true;
  }
  item = std::exchange(text, {});
  return false;
}

// Parameters of a row: "N=32,C=3,...,fp16,", "A=(2,3),B=(3,4),fp16,", "T=[(2,3),(3,)],fp16,".
struct RowParameters {
  std::map<std::string_view, Numbers> values;
  Shapes tensors;         // those of T, A and B
  std::string_view type;  // the framework's name; empty if unknown

  bool has(std::string_view key) const { return values.contains(key); }
  // Returns a single number, or 0 if there is none.
  std::int64_t at(std::string_view key) const {
    const auto entry = values.find(key);
    return entry != values.end() && entry->second.size() == 1 ? entry->second.front() : 0;
  }
  // Returns the product of a tuple's numbers, or nullopt if there is none or it overflows.
  std::optional<std::int64_t> product(std::string_view key) const {
    const auto entry = values.find(key);
    if (entry == values.end() || entry->second.empty()) return std::nullopt;
    Checked product = 1;
    for (const std::int64_t number : entry->second) product *= number;
    return product.value();
  }
};

// Parses "[(2,3),(3,)]" or "(2,3)". Returns false for other forms and truncated text.
bool parse_tensor_list(std::string_view text, Shapes& tensors) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return false;
    text = text.substr(1, text.size() - 2);
  }
  while (!text.empty()) {
    std::string_view item;
    cut_item(text, ',', item);
    auto shape = parse_numbers(item);
    if (!shape || !item.starts_with('(')) return false;
    tensors.push_back(*std::move(shape));
  }
  return true;
}

bool is_tensor_key(std::string_view key) { return key == "T" || key == "A" || key == "B"; }

// Parses "N=32,C=3,...,fp16,". Skips a truncated last parameter; all parameters before it are
// complete.
RowParameters parse_named(std::string_view text) {
  RowParameters row;
  const bool is_batched = text.starts_with("B=") && !text.starts_with("B=(");
  while (!text.empty()) {
    std::string_view item;
    const bool is_complete = cut_item(text, ',', item);
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (equals == std::string_view::npos) {
      if (const auto type = find_type(item); !type.empty()) row.type = type;
    } else if (is_tensor_key(key) && !is_batched) {
      if (!parse_tensor_list(item.substr(equals + 1), row.tensors)) row.tensors.clear();
    } else if (auto numbers = parse_numbers(item.substr(equals + 1)); numbers && is_complete) {
      row.values.emplace(key, *std::move(numbers));
    }
  }
  return row;
}

// Parses "[32,64]fp16;[64]fp16", of PyProf's later versions. All tensors must have the same type.
RowParameters parse_tensors(std::string_view text) {
  RowParameters row;
  while (!text.empty()) {
    std::string_view item;
    cut_item(text, ';', item);
    const std::size_t end = item.find(']');
    const auto shape = parse_numbers(item.substr(0, end == std::string_view::npos ? 0 : end + 1));
    if (end == std::string_view::npos || !shape) return {};
    const std::string_view type = find_type(item.substr(end + 1));
    if (!row.tensors.empty() && type != row.type) return {};
    row.type = type;
    row.tensors.push_back(*shape);
  }
  return row;
}

RowParameters parse_parameters(std::string_view text) {
  return text.starts_with('[') ? parse_tensors(text) : parse_named(text);
}

FrameworkArgument make_number_argument(std::string_view name, Numbers numbers) {
  return {name, "tuple", {}, {}, std::move(numbers)};
}

// Computes the work of a framework's call. Uses the row's type for all tensors, if known.
// `other_arguments` are the arguments that are not tensors.
std::optional<FrameworkWork> compute_call_work(std::string_view name, const RowParameters& row,
                                               const Shapes& tensors,
                                               std::vector<FrameworkArgument> other_arguments = {},
                                               const FrameworkRange::Shape* output = nullptr) {
  std::vector<FrameworkArgument> arguments;
  for (const auto& shape : tensors) arguments.push_back({{}, "tensor", shape, row.type, {}});
  arguments.insert(arguments.end(), other_arguments.begin(), other_arguments.end());
  const bool passes_arguments =
      !row.type.empty() && (output == nullptr || !other_arguments.empty());
  return compute_framework_work({name, &tensors, output, passes_arguments ? &arguments : nullptr});
}

using RowWorkFunction = std::optional<FrameworkWork>(std::string_view name,
                                                     const RowParameters& row);

// Returns nullopt for several groups, because the kernel may compute one group or all of them.
std::optional<FrameworkWork> compute_convolution_work(std::string_view name,
                                                      const RowParameters& row) {
  for (const std::string_view key : {"N", "C", "H", "W", "K", "P", "Q", "R", "S"}) {
    if (row.at(key) < 1) return std::nullopt;
  }
  if (row.has("g") && row.at("g") != 1) return std::nullopt;
  const bool is_1d = name == "conv1d";
  if (is_1d && (row.at("H") != 1 || row.at("R") != 1)) return std::nullopt;
  const auto sizes = [&](Numbers front, std::string_view height, std::string_view width) {
    if (!is_1d) front.push_back(row.at(height));
    front.push_back(row.at(width));
    return front;
  };
  const Shapes tensors = {sizes({row.at("N"), row.at("C")}, "H", "W"),
                          sizes({row.at("K"), row.at("C")}, "R", "S")};
  const FrameworkRange::Shape output = sizes({row.at("N"), row.at("K")}, "P", "Q");
  std::vector<FrameworkArgument> other_arguments;
  const std::array<std::string_view, 7> strides = {"ph", "pw", "U", "V", "dh", "dw", "g"};
  if (std::ranges::all_of(strides, [&](std::string_view key) { return row.has(key); })) {
    other_arguments = {make_number_argument("stride", sizes({}, "U", "V")),
                       make_number_argument("padding", sizes({}, "ph", "pw")),
                       make_number_argument("dilation", sizes({}, "dh", "dw"))};
  }
  return compute_call_work(name, row, tensors, std::move(other_arguments), &output);
}

// Reads M, N and K of a product; one of them may be a tuple of leading sizes. Omits the bias, which
// a separate kernel adds.
std::optional<FrameworkWork> compute_product_work(std::string_view name, const RowParameters& row) {
  const auto m = row.product("M");
  const auto n = row.product("N");
  const auto k = row.product("K");
  if (!m || !n || !k) return std::nullopt;
  if (name == "addmm") return compute_call_work(name, row, {{*m, *n}, {*m, *k}, {*k, *n}});
  if (name != "bmm") return compute_call_work("mm", row, {{*m, *k}, {*k, *n}});
  const auto batch = row.product("B");
  if (!batch) return std::nullopt;
  return compute_call_work(name, row, {{*batch, *m, *k}, {*batch, *k, *n}});
}

std::optional<FrameworkWork> compute_tensor_work(std::string_view name, const RowParameters& row) {
  if (row.tensors.empty()) return std::nullopt;
  return compute_call_work(name, row, row.tensors);
}

std::optional<FrameworkWork> compute_matmul_work(std::string_view name, const RowParameters& row) {
  return row.tensors.size() == 2 ? compute_tensor_work(name, row) : std::nullopt;
}

// A kernel that computes a batch norm in training or a part of it, and its share of the operator's
// FLOPs and traffic. Forward: the statistics read the source (4 FLOPs per element), the transform
// reads it again, applies scale and shift, and writes the destination (4). Backward: the sums read
// source and incoming gradient (5), the other kernel reads them again and writes the result (5).
struct BatchNormKernel {
  std::string_view direction;
  std::string_view name_part;
  std::int64_t flops_per_element;
  std::int64_t passes;  // over a tensor of the size of the source
};
constexpr std::array<BatchNormKernel, 7> kBatchNormKernels = {
    {{"forward", "batch_norm_collect_statistics", 4, 1},
     {"forward", "batch_norm_transform_input", 4, 2},
     {"forward", "bn_fw_tr_", 8, 2},
     {"backward", "batch_norm_backward_reduce", 5, 2},
     {"backward", "batch_norm_backward_elemt", 5, 3},
     {"backward", "batch_norm_backward_kernel", 10, 3},
     {"backward", "bn_bw_", 10, 3}}};

// PyProf gives all FLOPs of the operator to each of its kernels, and 4 passes to the first one.
std::optional<FrameworkWork> compute_batch_norm_work(const Activity& activity,
                                                     const RowParameters& row) {
  const auto* part = std::ranges::find_if(kBatchNormKernels, [&](const BatchNormKernel& candidate) {
    return activity.direction == candidate.direction &&
           activity.name.find(candidate.name_part) != std::string::npos;
  });
  if (part == kBatchNormKernels.end() || row.tensors.empty()) return std::nullopt;
  Checked elements = 1;
  for (const std::int64_t size : row.tensors.front()) elements *= size;
  const auto flops = (elements * part->flops_per_element).value();
  if (!flops) return std::nullopt;
  FrameworkWork work;
  work.op = "batch_norm";
  work.flops = *flops;
  const auto dtype =
      framework::find_argument_type({{{}, "tensor", row.tensors.front(), row.type, {}}});
  if (dtype) work.bytes = (elements * part->passes * info(*dtype).bytes).value();
  return work;
}

// Computes the work of the call that a kernel of net.dict has as its problem.
std::optional<FrameworkWork> compute_marker_work(const FrameworkRange& marker) {
  return compute_framework_work({marker.name, &marker.inputs, nullptr, &marker.arguments});
}

enum class PyprofKernel { product, elementwise };

struct OperatorRow {
  std::string_view op;  // without the '_' of in-place operators
  RowWorkFunction* work;
};
constexpr std::array<OperatorRow, 8> kProducts = {{{"conv1d", compute_convolution_work},
                                                   {"conv2d", compute_convolution_work},
                                                   {"linear", compute_product_work},
                                                   {"mm", compute_product_work},
                                                   {"addmm", compute_product_work},
                                                   {"bmm", compute_product_work},
                                                   {"matmul", compute_matmul_work},
                                                   {"__matmul__", compute_matmul_work}}};

constexpr std::array<std::string_view, 2> kElementwiseNames = {"elementwise", "PointwiseApply"};

// Returns whether the row's kernel does the operator's arithmetic: if PyProf states FLOPs, whether
// they are above 0; otherwise, whether the kernel's name is that of such a kernel.
bool does_arithmetic(const Activity& activity, PyprofKernel kernel) {
  const auto flops = activity.attributes.integer(Attribute::given_flops);
  if (flops) return *flops > 0;
  if (kernel == PyprofKernel::product) return names_product(activity.name);
  return std::ranges::any_of(kElementwiseNames, [&](std::string_view part) {
    return activity.name.find(part) != std::string::npos;
  });
}

// Returns the name of an operator in the table. Removes the '_' of in-place operators. Restores the
// underscores of `__iadd__`, which the talk that introduced PyProf prints as `iadd`.
std::string normalise_op(std::string_view op) {
  constexpr std::array<std::string_view, 4> kShortened = {"iadd", "isub", "imul", "itruediv"};
  if (std::ranges::find(kShortened, op) != kShortened.end()) {
    return "__" + std::string(op) + "__";
  }
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  return std::string(op);
}

ActivityWork to_activity_work(FrameworkWork work, std::string_view op) {
  ActivityWork result;
  result.op = op;
  result.macs = work.macs;
  result.flops = work.flops;
  result.bytes = work.bytes;
  return result;
}

}  // namespace

std::optional<FrameworkWork> find_pyprof_work(const Activity& activity) {
  const std::string_view parameters = activity.attributes.text(Attribute::parameters);
  const std::string op = normalise_op(activity.attributes.text(Attribute::op));
  if (activity.kind != ActivityKind::kernel || parameters.empty() || op.empty()) {
    return std::nullopt;
  }
  const auto marker = parse_pyprof_marker(activity.attributes.text(Attribute::problem));
  if (op == "batch_norm") {
    return compute_batch_norm_work(activity, parse_parameters(parameters));
  }
  const auto* row = std::ranges::find(kProducts, op, &OperatorRow::op);
  const bool is_product = row != kProducts.end();
  if (!is_product && activity.direction != "forward") return std::nullopt;
  if (!does_arithmetic(activity, is_product ? PyprofKernel::product : PyprofKernel::elementwise))
    return std::nullopt;
  const RowParameters row_parameters = parse_parameters(parameters);
  auto work = marker       ? compute_marker_work(*marker)
              : is_product ? row->work(op, row_parameters)
                           : compute_tensor_work(op, row_parameters);
  if (!work || (!is_product && work->op != "pointwise")) return std::nullopt;
  return work;
}

std::optional<ActivityWork> compute_pyprof_work(const Activity& activity) {
  auto work = find_pyprof_work(activity);
  if (!work) return std::nullopt;
  return to_activity_work(*std::move(work), activity.attributes.text(Attribute::op));
}

}  // namespace bench::ops
