// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/primitive.hpp"

#include "ops/onednn/layout.hpp"
#include "ops/post_op.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace bench::ops {

namespace {

using dnnl::algorithm;

// The source of the library's coefficients.
enum class Coefficients { of_function, gate };

struct UnaryRow {
  std::string_view function;
  algorithm eltwise;
  Coefficients coefficients = Coefficients::of_function;
};

constexpr std::array<UnaryRow, 17> kUnary = {{
    {"relu", algorithm::eltwise_relu},
    {"leaky_relu", algorithm::eltwise_relu},
    {"elu", algorithm::eltwise_elu},
    {"gelu_erf", algorithm::eltwise_gelu_erf},
    {"gelu_tanh", algorithm::eltwise_gelu_tanh},
    {"sigmoid", algorithm::eltwise_logistic},
    {"tanh", algorithm::eltwise_tanh},
    {"swish", algorithm::eltwise_swish},
    {"hardswish", algorithm::eltwise_hardswish, Coefficients::gate},
    {"hardsigmoid", algorithm::eltwise_hardsigmoid, Coefficients::gate},
    {"exp", algorithm::eltwise_exp},
    {"log", algorithm::eltwise_log},
    {"sqrt", algorithm::eltwise_sqrt},
    {"abs", algorithm::eltwise_abs},
    {"clip", algorithm::eltwise_clip},
    {"square", algorithm::eltwise_square},
    {"scale", algorithm::eltwise_linear},
}};

struct BinaryRow {
  std::string_view function;
  algorithm binary;
};

constexpr std::array<BinaryRow, 6> kBinary = {{
    {"add", algorithm::binary_add},
    {"sub", algorithm::binary_sub},
    {"mul", algorithm::binary_mul},
    {"div", algorithm::binary_div},
    {"max", algorithm::binary_max},
    {"min", algorithm::binary_min},
}};

// The gate of hardswish and hardsigmoid: clamp(x/6 + 1/2, 0, 1)
constexpr float kGateAlpha = 1.0F / 6;
constexpr float kGateBeta = 0.5F;

}  // namespace

std::optional<EltwiseAlgorithm> find_eltwise(std::string_view function, double alpha, double beta) {
  const auto* row = std::ranges::find(kUnary, function, &UnaryRow::function);
  if (row == kUnary.end()) return std::nullopt;
  if (row->coefficients == Coefficients::gate) {
    return EltwiseAlgorithm{row->eltwise, kGateAlpha, kGateBeta};
  }
  return EltwiseAlgorithm{row->eltwise, static_cast<float>(alpha), static_cast<float>(beta)};
}

std::optional<algorithm> find_binary(std::string_view function) {
  const auto* row = std::ranges::find(kBinary, function, &BinaryRow::function);
  if (row == kBinary.end()) return std::nullopt;
  return row->binary;
}

namespace {

using dnnl::memory;

std::vector<std::size_t> residual_tensors(const Problem& problem) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    if (is_residual(problem.tensors[i])) indexes.push_back(i);
  }
  return indexes;
}

void append_add(const OnednnRequest& request, const Dims& dims, dnnl::post_ops& post_ops) {
  if (request.residual == ResidualAdd::in_place) {
    post_ops.append_sum(1.0F);
  } else {
    // `any`: the primitive uses the destination's layout.
    post_ops.append_binary(dnnl::algorithm::binary_add,
                           any_desc(dims, request.problem.output().dtype));
  }
}

constexpr const char* kNoFurtherImplementation = "the library has no further implementation";

memory::desc plain_like(const memory::desc& desc, DataType type) {
  return plain_desc(desc.get_dims(), type);
}

}  // namespace

std::size_t tensor_index(const Problem& problem, std::string_view name) {
  const auto tensor = std::ranges::find(problem.tensors, name, &Tensor::name);
  assert(tensor != problem.tensors.end());
  return static_cast<std::size_t>(tensor - problem.tensors.begin());
}

bool has_tensor(const Problem& problem, std::string_view name) {
  return std::ranges::find(problem.tensors, name, &Tensor::name) != problem.tensors.end();
}

const Tensor& tensor_named(const Problem& problem, std::string_view name) {
  return problem.tensors[tensor_index(problem, name)];
}

memory::desc free_layout(const Problem& problem, std::string_view name) {
  const Tensor& tensor = tensor_named(problem, name);
  return make_layout_desc(problem.layout, tensor.dims, tensor.dtype);
}

memory::desc inherited_layout(OnednnContext& context, const OnednnRequest& request,
                              std::string_view name, Nature nature) {
  // Most tensors with 3 dimensions are (batch, sequence, features).
  constexpr std::size_t kMinSpatialRank = 4;
  const std::size_t index = tensor_index(request.problem, name);
  const Tensor& tensor = request.problem.tensors[index];
  if (request.problem.layout != Layout::any) return free_layout(request.problem, name);
  if (index < request.producer_layouts.size() && !request.producer_layouts[index].is_zero())
    return request.producer_layouts[index];
  const bool uses_convolution_layout =
      nature == Nature::spatial || tensor.dims.size() >= kMinSpatialRank;
  return uses_convolution_layout ? context.convolution_layout(tensor.dims, tensor.dtype)
                                 : plain_desc(tensor.dims, tensor.dtype);
}

memory::desc plain_or_inherited_layout(OnednnContext& context, const OnednnRequest& request) {
  const Tensor& first = request.problem.tensors[0];
  const bool has_producer =
      !request.producer_layouts.empty() && !request.producer_layouts.front().is_zero();
  return request.problem.layout == Layout::any && !has_producer
             ? plain_desc(first.dims, first.dtype)
             : inherited_layout(context, request, first.name, Nature::shaped);
}

dnnl::primitive_attr make_attributes(const OnednnRequest& request) {
  return make_attributes(request, request.problem.output().dims);
}

dnnl::primitive_attr make_attributes(const OnednnRequest& request, const Dims& output_dims) {
  dnnl::post_ops post_ops;
  for (const PostOp& post_op : request.problem.post_ops) {
    if (post_op.function == kAddPostOp) {
      append_add(request, output_dims, post_ops);
      continue;
    }
    const auto eltwise = find_eltwise(post_op.function, post_op.alpha, post_op.beta);
    assert(eltwise.has_value());
    post_ops.append_eltwise(eltwise->algorithm, eltwise->alpha, eltwise->beta);
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void skip_implementations(const OnednnContext& context, int count,
                          dnnl::primitive_desc& description) {
  for (int skipped = 0; skipped < count; ++skipped) {
    const bool has_next =
        context.call("dnnl_primitive_desc_next_impl", [&] { return description.next_impl(); });
    if (!has_next) throw dnnl::error(dnnl_unimplemented, kNoFurtherImplementation);
  }
}

void skip_implementations(const OnednnContext& /*context*/, int count,
                          const dnnl::primitive_desc_base& /*description*/) {
  if (count > 0) throw dnnl::error(dnnl_unimplemented, kNoFurtherImplementation);
}

PrimitiveBuilder::PrimitiveBuilder(const OnednnContext& context, const OnednnRequest& request,
                                   std::string_view kind)
    : context_(context), request_(request), primitive_(std::make_unique<OnednnPrimitive>()) {
  primitive_->kind = kind;
  primitive_->tensors.resize(request.problem.tensors.size());
}

void PrimitiveBuilder::add(std::string_view name, int argument, const memory::desc& desc) {
  const std::size_t index = tensor_index(request_.problem, name);
  primitive_->tensors[index] = {argument, plain_like(desc, request_.problem.tensors[index].dtype),
                                desc};
}

void PrimitiveBuilder::add(std::string_view name, int argument, const memory::desc& desc,
                           const memory::desc& plain) {
  primitive_->tensors[tensor_index(request_.problem, name)] = {argument, plain, desc};
}

void PrimitiveBuilder::add_demanded(std::string_view name, int argument) {
  primitive_->demanded.emplace_back(tensor_index(request_.problem, name), argument);
}

void PrimitiveBuilder::add_discarded(int argument, const memory::desc& desc) {
  primitive_->discarded.emplace_back(argument, desc);
}

void PrimitiveBuilder::add_unused(std::string_view name, const memory::desc& desc) {
  const std::size_t index = tensor_index(request_.problem, name);
  primitive_->tensors[index] = {std::nullopt,
                                plain_like(desc, request_.problem.tensors[index].dtype), desc};
}

void PrimitiveBuilder::add_residuals(const dnnl::primitive_desc_base& description) {
  const std::vector<std::size_t> residuals = residual_tensors(request_.problem);
  std::size_t next_residual = 0;
  for (std::size_t i = 0; i < request_.problem.post_ops.size(); ++i) {
    if (request_.problem.post_ops[i].function != kAddPostOp) continue;
    OnednnTensor& tensor = primitive_->tensors[residuals[next_residual]];
    if (request_.residual == ResidualAdd::in_place) {
      tensor.desc = description.dst_desc();
    } else {
      tensor.argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
      tensor.desc = description.query_md(dnnl::query::exec_arg_md, *tensor.argument);
    }
    tensor.plain =
        plain_like(tensor.desc, request_.problem.tensors[residuals[next_residual]].dtype);
    ++next_residual;
  }
}

std::unique_ptr<OnednnPrimitive> PrimitiveBuilder::finish(
    const dnnl::primitive_desc_base& description) {
  add_residuals(description);
  assert(std::ranges::none_of(primitive_->tensors,
                              [](const OnednnTensor& tensor) { return tensor.desc.is_zero(); }));
  primitive_->implementation = description.impl_info_str();
  primitive_->scratchpad = description.scratchpad_desc();
  primitive_->workspace = description.workspace_desc();
  primitive_->primitive = context_.create(description);
  return std::move(primitive_);
}

}  // namespace bench::ops
