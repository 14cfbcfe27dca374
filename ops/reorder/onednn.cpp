// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/reorder/reorder.hpp"

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

using dnnl::memory;

// nChw16c, and its equivalents for 1 and 3 spatial dimensions.
memory::desc blocked16_desc(const Dims& dims, DataType type) {
  constexpr std::array<memory::format_tag, 3> kTags = {
      memory::format_tag::aBc16b, memory::format_tag::aBcd16b, memory::format_tag::aBcde16b};
  return {dims, onednn_type(type), kTags[dims.size() - 3]};
}

struct DescRow {
  std::string_view layout;
  memory::desc (*desc)(const Dims& dims, DataType type);
};

constexpr std::array<DescRow, 3> kDescs = {{
    {"nchw", plain_desc},
    {"nhwc", channels_last_desc},
    {"blocked16", blocked16_desc},
}};

memory::desc make_desc(const Problem& problem, std::string_view parameter,
                       std::string_view tensor_name) {
  const Tensor& tensor = tensor_named(problem, tensor_name);
  if (!problem.parameters.has(parameter)) return plain_desc(tensor.dims, tensor.dtype);
  const std::string& layout = problem.parameters.word(parameter);
  return std::ranges::find(kDescs, layout, &DescRow::layout)->desc(tensor.dims, tensor.dtype);
}

// The source with its axes in the order of the destination's.
memory::desc make_source(const Problem& problem) {
  if (!problem.parameters.has("permutation")) return make_desc(problem, "from", "source");
  return {problem.tensors.back().dims, onednn_type(problem.tensors[0].dtype),
          permuted_strides(problem)};
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const auto description =
      take_implementation(context, request, context.call("dnnl_reorder_primitive_desc_create", [&] {
        return dnnl::reorder::primitive_desc(
            context.engine(), make_source(request.problem), context.engine(),
            make_desc(request.problem, "to", "destination"), make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "reorder");
  if (request.problem.parameters.has("permutation")) {
    builder.add("source", DNNL_ARG_FROM, description.src_desc(), description.src_desc());
  } else {
    builder.add("source", DNNL_ARG_FROM, description.src_desc());
  }
  builder.add("destination", DNNL_ARG_TO, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry reorder_onednn_kernel;
const OnednnKernelEntry reorder_onednn_kernel = {.op = "reorder", .create = create};

}  // namespace bench::ops
