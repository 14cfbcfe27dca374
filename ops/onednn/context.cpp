// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/context.hpp"

#include "ops/onednn/layout.hpp"
#include "ops/onednn/library.hpp"

namespace bench::ops {
namespace {

using dnnl::memory;

// Returns an empty descriptor if the library has no such convolution.
dnnl::convolution_forward::primitive_desc pointwise_convolution(const OnednnContext& context,
                                                                const Dims& dims, DataType type) {
  const std::size_t spatial_rank = dims.size() - 2;
  Dims kernel_dims(dims.size(), 1);
  kernel_dims[0] = kernel_dims[1] = dims[1];
  const DataType weights = type == DataType::u8 ? DataType::s8 : type;
  const memory::dims ones(spatial_rank, 1);
  const memory::dims zeros(spatial_rank, 0);
  constexpr bool kAllowEmpty = true;
  return context.call("dnnl_convolution_forward_primitive_desc_create", [&] {
    return dnnl::convolution_forward::primitive_desc(
        context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        any_desc(dims, type), any_desc(kernel_dims, weights), any_desc(dims, type), ones, zeros,
        zeros, dnnl::primitive_attr(), kAllowEmpty);
  });
}

}  // namespace

OnednnContext::OnednnContext(const Collectors& collectors, CreationExtent extent)
    : extent_(extent),
      collectors_(collectors),
      engine_(call("dnnl_engine_create", [] { return dnnl::engine(dnnl::engine::kind::cpu, 0); })),
      stream_(call("dnnl_stream_create", [&] { return dnnl::stream(engine_); })),
      must_wait_(!onednn_is_synchronous()) {}

dnnl::primitive OnednnContext::create(const dnnl::primitive_desc_base& description) const {
  if (!creates_primitives()) return {};
  return call("dnnl_primitive_create", [&] { return dnnl::primitive(description.get()); });
}

memory::desc OnednnContext::convolution_layout(const Dims& dims, DataType type) {
  constexpr std::size_t kMaxDimensions = 5;  // maximum of a convolution
  if (!is_spatial(dims) || dims.size() > kMaxDimensions) return plain_desc(dims, type);
  const auto [entry, is_new] = layouts_.try_emplace({dims, type}, plain_desc(dims, type));
  if (is_new) {
    const auto convolution = pointwise_convolution(*this, dims, type);
    if (convolution.get(true) != nullptr) entry->second = convolution.dst_desc();
  }
  return entry->second;
}

bool OnednnContext::computes(DataType type) {
  if (!find_onednn_type(type)) return false;
  const Dims small_dims{1, 16, 4, 4};
  return pointwise_convolution(*this, small_dims, type).get(true) != nullptr;
}

}  // namespace bench::ops
