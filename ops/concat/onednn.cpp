// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <cstddef>
#include <vector>

namespace bench::ops {
namespace {

// Returns the layout of each source. Within a network it is that of its producer: oneDNN joins
// blocks, and converts where layouts differ. Alone, and with a fixed layout, it is that of the
// problem, plain without one.
std::vector<dnnl::memory::desc> choose_source_layouts(const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const Layout layout = problem.layout == Layout::any ? Layout::nchw : problem.layout;
  std::vector<dnnl::memory::desc> sources;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    const bool has_producer = problem.layout == Layout::any &&
                              i < request.producer_layouts.size() &&
                              !request.producer_layouts[i].is_zero();
    sources.push_back(has_producer
                          ? request.producer_layouts[i]
                          : make_layout_desc(layout, problem.tensors[i].dims, problem.dtype));
  }
  return sources;
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const std::vector<dnnl::memory::desc> sources = choose_source_layouts(request);
  const dnnl::memory::desc destination =
      request.producer_layouts.empty()
          ? make_layout_desc(problem.layout == Layout::any ? Layout::nchw : problem.layout,
                             problem.tensors.back().dims, problem.dtype)
          : free_layout(problem, "destination");
  const auto description =
      take_implementation(context, request, context.call("dnnl_concat_primitive_desc_create", [&] {
        return dnnl::concat::primitive_desc(context.engine(), destination,
                                            static_cast<int>(problem.parameters.count("axis")),
                                            sources, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "concat");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    builder.add(problem.tensors[i].name, DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), sources[i]);
  }
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry concat_onednn_kernel;
const OnednnKernelEntry concat_onednn_kernel = {.op = "concat", .create = create};

}  // namespace bench::ops
