// SPDX-License-Identifier: Apache-2.0
// Functions of a framework (PyTorch) that an operator computes: one `extern const FrameworkMapping
// <op>_framework` in ops/<op>/framework.cpp. ops/CMakeLists.txt generates framework_mappings() from
// the operators whose folder has that file.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"
#include "ops/spatial.hpp"
#include "profiler/nvtx/framework_range.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

namespace framework {

// How closely an Equivalent matches its call. exact: it has the parameters of the call. dense: it
// has them if the tensors of the call are dense and row-major, which shapes do not show. work_only:
// only the FLOPs are the same.
enum class Fidelity { exact, dense, work_only };
// same: the tensors of an Equivalent are those of its call, so it has the same bytes.
enum class Tensors { same, others };
// A problem that represents a call of the framework. Its FLOPs plus `more_flops` are those of the
// call.
struct Equivalent {
  ProblemRequest request;
  Fidelity fidelity = Fidelity::work_only;
  std::int64_t more_flops = 0;  // FLOPs of the call that the problem does not have
  Tensors tensors = Tensors::same;
  // Sum of the elements of the call's tensors. A tensor that the problem broadcasts counts with its
  // size in the call. nullopt: use the elements of the problem's tensors.
  std::optional<std::int64_t> elements = {};
  // each_gradient: the problem represents each gradient of a backward call.
  GpuOperatorWork::Extent extent = GpuOperatorWork::Extent::whole_operator;
};

}  // namespace framework

struct FrameworkRow {
  std::string_view name;  // without "aten::" and the '_' of in-place operators
  // Finds the equivalent from the shapes of the inputs, and of the result if it is known. Returns
  // nullopt if the shapes do not fit together or do not determine the work. nullptr: shapes never
  // determine the work of this function.
  std::optional<framework::Equivalent> (*by_shapes)(const FrameworkCall& call,
                                                    const FrameworkRow& row) = nullptr;
  // Finds the problem from all arguments, as PyProf's markers record them. Returns nullopt for
  // missing or malformed arguments, and for options that the operator does not have (rounding up,
  // dilated pooling).
  std::optional<ProblemRequest> (*by_arguments)(const std::vector<FrameworkArgument>& arguments,
                                                const FrameworkRow& row) = nullptr;
  std::string_view function = {};  // the operator's parameter `function`
  std::size_t spatial_rank = 0;    // 0: any
};

struct FrameworkMapping {
  std::string_view op;
  std::span<const FrameworkRow> rows;
  // Names of functions that only copy their argument, in an unknown layout. They have no FLOPs.
  std::span<const std::string_view> copies = {};
};
std::span<const FrameworkMapping* const> framework_mappings();

// Functions that the mappings of the operators share.
namespace framework {

using Arguments = std::vector<FrameworkArgument>;
using Numbers = std::vector<std::int64_t>;

// Returns the shape of argument `index`; empty if it is not a tensor or has no dimensions.
std::span<const std::int64_t> tensor_shape(const FrameworkCall& call, std::size_t index);
std::optional<Equivalent> equivalent(std::string_view op, ParameterSet parameters,
                                     Fidelity fidelity = Fidelity::work_only);
std::optional<Equivalent> with_other_tensors(std::optional<Equivalent> result);
ParameterSet default_parameters(std::string_view op);
bool is_image(std::span<const std::int64_t> shape);

// Finds an argument by its name, else by its position.
const FrameworkArgument* find_argument(const Arguments& arguments, std::string_view name,
                                       std::size_t position);
bool is_none(const FrameworkArgument* argument);
// Returns `rank` numbers; a single number applies to all dimensions. Returns `default_value` if the
// argument is missing. Returns nullopt for other forms.
std::optional<Numbers> argument_numbers(const Arguments& arguments, std::string_view name,
                                        std::size_t position, std::size_t rank,
                                        Numbers default_value);
std::optional<bool> argument_flag(const Arguments& arguments, std::string_view name,
                                  std::size_t position, bool default_value);
std::vector<PadPair> to_pad_pairs(const Numbers& pads);
// Returns n, c and sizes of an image with `rank` spatial dimensions; empty for others.
std::span<const std::int64_t> image_argument(const Arguments& arguments, std::size_t rank);
std::optional<ProblemRequest> make_request(std::string_view op, ParameterSet parameters);
ParameterSet image_parameters(std::string_view op, std::span<const std::int64_t> source);
// Returns the data type of all tensors, or nullopt if they differ or it is not a supported
// floating-point type.
std::optional<DataType> find_argument_type(const std::vector<FrameworkArgument>& arguments);

}  // namespace framework

}  // namespace bench::ops
