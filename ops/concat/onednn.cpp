// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <vector>

namespace bench::ops {
namespace {

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  // Without a layout, plain.
  const Layout layout = problem.layout == Layout::any ? Layout::nchw : problem.layout;
  std::vector<dnnl::memory::desc> sources;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    sources.push_back(make_layout_desc(layout, problem.tensors[i].dims, problem.dtype));
  }
  const auto destination = make_layout_desc(layout, problem.tensors.back().dims, problem.dtype);
  const auto description = context.call("dnnl_concat_primitive_desc_create", [&] {
    return dnnl::concat::primitive_desc(context.engine(), destination,
                                        static_cast<int>(problem.parameters.count("axis")), sources,
                                        make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "concat");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    builder.add(problem.tensors[i].name, DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), sources[i]);
  }
  builder.add("destination", DNNL_ARG_DST, destination);
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry concat_onednn_kernel;
const OnednnKernelEntry concat_onednn_kernel = {.op = "concat", .create = create};

}  // namespace bench::ops
