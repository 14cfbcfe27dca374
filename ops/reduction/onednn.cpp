// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bench::ops {
namespace {

struct ReductionRow {
  std::string_view function;
  dnnl::algorithm algorithm;
  float power = 0;
};
constexpr std::array<ReductionRow, 7> kReductions = {{
    {"sum", dnnl::algorithm::reduction_sum},
    {"mean", dnnl::algorithm::reduction_mean},
    {"max", dnnl::algorithm::reduction_max},
    {"min", dnnl::algorithm::reduction_min},
    {"prod", dnnl::algorithm::reduction_mul},
    {"l1", dnnl::algorithm::reduction_norm_lp_sum, 1},
    {"l2", dnnl::algorithm::reduction_norm_lp_sum, 2},
}};

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (problem.direction != Direction::forward) {
    return unsupported("oneDNN has no gradient of a reduction; the backend `native` has one");
  }
  const auto& row =
      *std::ranges::find(kReductions, problem.parameters.word("function"), &ReductionRow::function);
  const dnnl::memory::desc source = plain_or_inherited_layout(context, request);
  const auto destination = any_desc(tensor_named(problem, "destination").dims, problem.dtype);
  const auto description = take_implementation(
      context, request, context.call("dnnl_reduction_primitive_desc_create", [&] {
        return dnnl::reduction::primitive_desc(context.engine(), row.algorithm, source, destination,
                                               row.power, 0, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "reduction");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry reduction_onednn_kernel;
const OnednnKernelEntry reduction_onednn_kernel = {.op = "reduction", .create = create};

}  // namespace bench::ops
