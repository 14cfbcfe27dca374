// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/checked.hpp"
#include "ops/kineto_work.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"
#include "ops/pyprof_row.hpp"
#include "ops/verbose_count.hpp"
#include "ops/verbose_post_ops.hpp"
#include "ops/verbose_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

// The descriptors that may contain a tensor's data type; the first one present counts. In backward
// passes, the library may give a gradient the name of its tensor.
struct ArgumentRow {
  std::string_view tensor;
  std::array<std::string_view, 5> arguments;
  std::size_t index = 0;  // among descriptors with the same name
};
constexpr std::array<ArgumentRow, 15> kArguments = {{
    {"source", {"src", "data", "src_layer"}},
    {"a", {"src"}},
    {"b", {"src"}, 1},
    {"weights", {"wei", "wei_layer"}},
    {"recurrent_weights", {"wei_iter"}},
    {"initial_state", {"src_iter"}},
    {"bias", {"bia", "bias"}},
    {"destination", {"dst", "data", "dst_layer"}},
    {"diff_source", {"diff_src", "src", "diff", "data", "diff_src_layer"}},
    {"diff_weights", {"wei", "diff_wei_layer"}},
    {"diff_bias", {"bia", "diff_bias"}},
    {"diff_destination", {"diff_dst", "dst", "diff", "data", "diff_dst_layer"}},
    {"query", {"query"}},
    {"key", {"key"}},
    {"value", {"val"}},
}};

const VerboseMapping* find_mapping(std::string_view primitive) {
  for (const VerboseMapping* mapping : verbose_mappings()) {
    if (std::ranges::find(mapping->primitives, primitive) != mapping->primitives.end()) {
      return mapping;
    }
  }
  return nullptr;
}

// The types that oneDNN has and this program's cases have not.
struct LogType {
  std::string_view name;
  std::int64_t bits;
};
constexpr std::array<LogType, 7> kLogTypes = {{{"s4", 4},
                                               {"u4", 4},
                                               {"f4_e2m1", 4},
                                               {"f4_e3m0", 4},
                                               {"e8m0", 8},
                                               {"boolean", 8},
                                               {"s64", 64}}};
constexpr std::int64_t kBitsPerByte = 8;

// Returns the bits of an element; nullopt for an unknown type.
std::optional<std::int64_t> find_bits(std::string_view type) {
  if (const auto dtype = data_type_from_name(type)) return kBitsPerByte * info(*dtype).bytes;
  const auto* row = std::ranges::find(kLogTypes, type, &LogType::name);
  return row == kLogTypes.end() ? std::nullopt : std::optional(row->bits);
}

const MemoryDescriptor* find_descriptor(const VerbosePrimitive& primitive,
                                        std::string_view tensor) {
  const auto* row = std::ranges::find(kArguments, tensor, &ArgumentRow::tensor);
  if (row == kArguments.end()) return primitive.find(tensor);
  for (const std::string_view argument : row->arguments) {
    const MemoryDescriptor* descriptor =
        argument.empty() ? nullptr : primitive.find(argument, row->index);
    if (descriptor != nullptr) return descriptor;
  }
  return nullptr;
}

// What an execution computes, as far as it is known.
struct CountedWork {
  std::vector<Tensor> tensors;
  std::optional<std::int64_t> macs;
  Checked flops = 0;
  Checked other_bits = 0;  // of tensors of post-ops
  bool has_unknown_bits = false;
};

// Returns the bits of an element of the tensor in the primitive. Tensors without a descriptor, such
// as statistics, have the type of the model. nullopt if the type is unknown.
std::optional<std::int64_t> find_bits(const VerbosePrimitive& primitive, const Tensor& tensor) {
  const MemoryDescriptor* descriptor = find_descriptor(primitive, tensor.name);
  if (descriptor != nullptr) return find_bits(descriptor->dtype);
  const bool has_row =
      std::ranges::find(kArguments, tensor.name, &ArgumentRow::tensor) != kArguments.end();
  return has_row ? std::nullopt : std::optional(kBitsPerByte * info(tensor.dtype).bytes);
}

// Returns the bits of the residuals, in their order.
std::vector<std::optional<std::int64_t>> list_residual_bits(
    const VerbosePrimitive& primitive, std::span<const VerbosePostOp> post_ops) {
  std::vector<std::optional<std::int64_t>> bits;
  const MemoryDescriptor* destination = find_descriptor(primitive, "destination");
  for (const VerbosePostOp& post_op : post_ops) {
    if (!post_op.post_op || post_op.post_op->function != "add") continue;
    const std::string_view of_destination =
        destination == nullptr ? std::string_view() : destination->dtype;
    bits.push_back(find_bits(post_op.dtype.empty() ? of_destination : post_op.dtype));
  }
  return bits;
}

// Returns nullopt if a type is unknown or the number exceeds 64 bits.
std::optional<std::int64_t> compute_bytes(const VerbosePrimitive& primitive,
                                          std::span<const VerbosePostOp> post_ops,
                                          const CountedWork& work) {
  const auto residual_bits = list_residual_bits(primitive, post_ops);
  std::size_t residuals = 0;
  Checked bytes = work.other_bits;
  for (const Tensor& tensor : work.tensors) {
    const bool is_listed = is_residual(tensor) && residuals < residual_bits.size();
    const auto bits = is_listed ? residual_bits[residuals++] : find_bits(primitive, tensor);
    if (!bits) return std::nullopt;
    bytes += Checked(tensor.touched) * *bits;
  }
  const auto sum = bytes.value();
  if (!sum || work.has_unknown_bits) return std::nullopt;
  return *sum / kBitsPerByte + (*sum % kBitsPerByte == 0 ? 0 : 1);
}

std::string format_shapes(std::span<const Tensor> tensors, TensorRole side) {
  std::string text;
  for (const Tensor& tensor : tensors) {
    if ((tensor.role == TensorRole::output) != (side == TensorRole::output)) continue;
    if (!text.empty()) text += ' ';
    text += join_dims(tensor.dims);
  }
  return text;
}

// Adds a depthwise convolution, which follows the convolution `work`. `dims` are the sizes of the
// result, which it changes.
void add_depthwise(const VerbosePrimitive& primitive, const VerboseDepthwise& depthwise, Dims& dims,
                   CountedWork& work) {
  constexpr std::size_t kRank = 4;
  if (dims.size() != kRank) return;
  for (std::size_t axis = 2; axis < kRank; ++axis) {
    const std::int64_t span = dims[axis] + 2 * depthwise.pad - depthwise.kernel;
    dims[axis] = span < 0 ? 1 : span / depthwise.stride + 1;
  }
  const Checked results = element_count(dims).value_or(0);
  const Checked taps = Checked(depthwise.kernel) * depthwise.kernel;
  work.flops += Checked(2) * results * taps;
  const MemoryDescriptor* weights = primitive.find("wei_fused");
  if (weights == nullptr) weights = primitive.find("wei");
  const auto bits = weights == nullptr ? std::nullopt : find_bits(weights->dtype);
  work.has_unknown_bits = work.has_unknown_bits || !bits;
  work.other_bits += taps * dims[1] * bits.value_or(0);
  if (const MemoryDescriptor* bias = primitive.find("bia_fused")) {
    work.flops += results;
    work.other_bits += Checked(dims[1]) * find_bits(bias->dtype).value_or(0);
  }
  for (Tensor& tensor : work.tensors) {
    if (tensor.name != "destination") continue;
    tensor.dims = dims;
    tensor.touched = element_count(dims).value_or(0);
  }
}

// Adds the post-ops that the problem cannot have.
void add_other_post_ops(const VerbosePrimitive& primitive, std::span<const VerbosePostOp> post_ops,
                        Dims dims, CountedWork& work) {
  for (const VerbosePostOp& post_op : post_ops) {
    if (post_op.post_op) continue;
    if (post_op.depthwise) {
      add_depthwise(primitive, *post_op.depthwise, dims, work);
      continue;
    }
    work.flops += element_count(dims).value_or(0);
    if (post_op.elements == 0) continue;
    const MemoryDescriptor* destination = find_descriptor(primitive, "destination");
    const auto bits = !post_op.dtype.empty()   ? find_bits(post_op.dtype)
                      : destination != nullptr ? find_bits(destination->dtype)
                                               : std::nullopt;
    work.has_unknown_bits = work.has_unknown_bits || !bits;
    work.other_bits += Checked(post_op.elements) * bits.value_or(0);
  }
}

std::optional<ActivityWork> make_activity_work(const VerbosePrimitive& primitive,
                                               std::span<const VerbosePostOp> post_ops,
                                               std::string_view op, const CountedWork& counted) {
  const auto flops = counted.flops.value();
  if (!flops) return std::nullopt;
  ActivityWork work;
  work.op = op;
  work.dtype = primitive.memory.front().dtype;
  work.macs = counted.macs;
  work.flops = *flops;
  work.bytes = compute_bytes(primitive, post_ops, counted);
  work.in_shapes = format_shapes(counted.tensors, TensorRole::input);
  work.out_shapes = format_shapes(counted.tensors, TensorRole::output);
  return work;
}

// Moves the post-ops that the problem can have to its request. The others keep no `post_op`.
void fuse_post_ops(std::vector<VerbosePostOp>& post_ops, VerboseProblem& mapped) {
  const bool has_depthwise =
      std::ranges::any_of(post_ops, [](const VerbosePostOp& p) { return p.depthwise.has_value(); });
  const bool can_fuse = mapped.request.op->takes_post_ops && !mapped.adapt && !has_depthwise;
  for (VerbosePostOp& post_op : post_ops) {
    if (!can_fuse) post_op.post_op.reset();
    if (post_op.post_op) mapped.request.post_ops.push_back(*post_op.post_op);
  }
}

// Returns the mapping's request with its operator and data type.
std::optional<VerboseProblem> map_primitive(const VerbosePrimitive& primitive,
                                            const VerboseMapping& mapping) {
  auto mapped = mapping.request(primitive);
  if (!mapped) return std::nullopt;
  if (mapped->request.op == nullptr) mapped->request.op = find_operator(mapping.op);
  // Counts do not depend on the data type. The type of an accumulator, or one of 4 bits, is not a
  // case's data type.
  const auto dtype = data_type_from_name(primitive.memory.front().dtype);
  mapped->request.dtype = dtype && info(*dtype).is_case_type ? *dtype : DataType::f32;
  return mapped;
}

// If the primitive has post-ops, creates the problem twice: post-ops can be parsed only with the
// sizes of the destination.
std::optional<ActivityWork> compute_problem_work(const VerbosePrimitive& primitive,
                                                 const VerboseMapping& mapping) {
  auto mapped = map_primitive(primitive, mapping);
  if (!mapped) return std::nullopt;
  const auto dtype = data_type_from_name(primitive.memory.front().dtype);
  Result<Problem> problem = make_problem(mapped->request);
  if (!problem.ok()) return std::nullopt;
  if (mapped->destination.empty()) mapped->destination = problem->tensors.back().dims;
  auto post_ops = parse_post_ops(primitive.attributes, mapped->destination);
  fuse_post_ops(post_ops, *mapped);
  const auto adapt = mapped->adapt;
  if (!mapped->request.post_ops.empty()) {
    problem = make_problem(std::move(mapped->request));
    if (!problem.ok()) return std::nullopt;
  }
  if (adapt && !adapt(*problem)) return std::nullopt;
  CountedWork counted{problem->tensors, problem->work.macs, problem->work.flops};
  add_other_post_ops(primitive, post_ops, mapped->destination, counted);
  auto work = make_activity_work(primitive, post_ops, problem->op->name, counted);
  if (!work) return std::nullopt;
  const bool is_whole = std::ranges::all_of(
      post_ops, [](const VerbosePostOp& post_op) { return post_op.post_op.has_value(); });
  if (mapped->fidelity == VerboseFidelity::exact && is_whole && dtype) {
    work->parameters = problem_tokens(*problem);
  }
  if (mapped->fidelity == VerboseFidelity::work_only) {
    work->in_shapes.clear();
    work->out_shapes.clear();
  }
  return work;
}

std::optional<ActivityWork> compute_primitive_work(const VerbosePrimitive& primitive) {
  if (primitive.memory.empty()) return std::nullopt;
  if (has_no_elements(primitive.problem)) {
    ActivityWork nothing;
    nothing.op = primitive.primitive;
    nothing.dtype = primitive.memory.front().dtype;
    nothing.bytes = 0;
    return nothing;
  }
  if (const VerboseMapping* mapping = find_mapping(primitive.primitive)) {
    if (auto work = compute_problem_work(primitive, *mapping)) return work;
  }
  auto counted = count_other_primitive(primitive);
  if (!counted) return std::nullopt;
  auto post_ops = parse_post_ops(primitive.attributes, counted->tensors.back().dims);
  for (VerbosePostOp& post_op : post_ops) post_op.post_op.reset();
  CountedWork work{std::move(counted->tensors), counted->macs, counted->flops};
  add_other_post_ops(primitive, post_ops, work.tensors.back().dims, work);
  return make_activity_work(primitive, post_ops, primitive.primitive, work);
}

class CachedWorkProvider {
 public:
  std::optional<ActivityWork> operator()(const Activity& activity) {
    if (activity.kind == ActivityKind::operation) return kineto_work_(activity);
    // Not cached: tables of kernels are short, and each row has its own parameters.
    if (activity.kind == ActivityKind::kernel) {
      auto work = compute_pyprof_work(activity);
      return work ? work : kineto_work_(activity);
    }
    if (!is_onednn_execution(activity)) return std::nullopt;
    make_execution_key(activity, key_);
    const auto cached = works_.find(key_);
    if (cached != works_.end()) return cached->second;
    // Limits the memory for logs in which every line differs.
    constexpr std::size_t kMaxWorks = 16384;
    if (works_.size() >= kMaxWorks) works_.clear();
    return works_.emplace(key_, compute_work(activity)).first->second;
  }

 private:
  std::string key_;
  std::unordered_map<std::string, std::optional<ActivityWork>> works_;
  KinetoWorkProvider kineto_work_;
};

// Sets the type of the result, if the operator lets cases name it and it is not the usual one.
void set_destination_type(const VerbosePrimitive& primitive, const Problem& problem,
                          ProblemRequest& request) {
  const Parameter* parameter = find_parameter(request.op->parameters, "dst_dtype");
  const MemoryDescriptor* destination = find_descriptor(primitive, "destination");
  const bool is_named = parameter != nullptr && destination != nullptr &&
                        !request.parameters.has("dst_dtype") &&
                        destination->dtype != info(problem.tensors.back().dtype).name;
  if (!is_named ||
      std::ranges::find(parameter->words, destination->dtype) == parameter->words.end())
    return;
  ProblemRequest named = request;
  named.parameters.set("dst_dtype", std::string(destination->dtype));
  if (make_problem(named).ok()) request = std::move(named);
}

// Returns an error for the first tensor of the problem that has another type in the primitive.
Status check_types(const VerbosePrimitive& primitive, const Problem& problem) {
  for (const Tensor& tensor : problem.tensors) {
    // A bias has one value per channel: its type changes nothing that can be measured.
    if (tensor.name == "bias" || tensor.name == "diff_bias") continue;
    const MemoryDescriptor* descriptor = find_descriptor(primitive, tensor.name);
    if (descriptor == nullptr || descriptor->dtype == info(tensor.dtype).name) continue;
    return Error{fmt::format("the {} is {}, that of a case {}", tensor.name, descriptor->dtype,
                             info(tensor.dtype).name),
                 {},
                 {}};
  }
  return Done{};
}

// Adds the post-ops of the primitive to the request. Error: a case cannot have one of them.
Status add_exact_post_ops(const VerbosePrimitive& primitive, const VerboseProblem& mapped,
                          const Problem& problem, ProblemRequest& request) {
  const Dims& dims = mapped.destination.empty() ? problem.tensors.back().dims : mapped.destination;
  const std::string_view result = info(problem.tensors.back().dtype).name;
  for (const VerbosePostOp& post_op : parse_post_ops(primitive.attributes, dims)) {
    if (!post_op.post_op) return Error{"a case cannot have one of the post-ops", {}, {}};
    if (!post_op.dtype.empty() && post_op.dtype != result)
      return Error{fmt::format("a post-op reads {}, that of a case the result's type {}",
                               post_op.dtype, result),
                   {},
                   {}};
    request.post_ops.push_back(*post_op.post_op);
  }
  return Done{};
}

}  // namespace

VerbosePrimitive collect_primitive(const Activity& activity,
                                   std::vector<MemoryDescriptor>& descriptors) {
  const Attributes& attributes = activity.attributes;
  parse_memory_descriptors(attributes.text(Attribute::memory_descriptors), descriptors);
  std::erase_if(descriptors, [](const MemoryDescriptor& d) { return !d.is_defined(); });
  return {.primitive = attributes.text(Attribute::primitive),
          .propagation = attributes.text(Attribute::propagation),
          .attributes = attributes.text(Attribute::primitive_attributes),
          .auxiliary = attributes.text(Attribute::auxiliary),
          .problem = attributes.text(Attribute::problem),
          .memory = descriptors};
}

// The separator occurs in none of the texts.
void make_execution_key(const Activity& execution, std::string& key) {
  key.clear();
  for (const Attribute attribute : {Attribute::primitive, Attribute::propagation,
                                    Attribute::memory_descriptors, Attribute::primitive_attributes,
                                    Attribute::auxiliary, Attribute::problem, Attribute::engine}) {
    key += execution.attributes.text(attribute);
    key += '\n';
  }
}

Result<ProblemRequest> find_exact_case(const VerbosePrimitive& primitive) {
  const VerboseMapping* mapping = find_mapping(primitive.primitive);
  if (mapping == nullptr || primitive.memory.empty())
    return Error{fmt::format("no operator computes the primitive {}", primitive.primitive), {}, {}};
  const auto dtype = data_type_from_name(primitive.memory.front().dtype);
  if (!dtype || !info(*dtype).is_case_type)
    return Error{
        fmt::format("{} is not the data type of a case", primitive.memory.front().dtype), {}, {}};
  auto mapped = map_primitive(primitive, *mapping);
  if (!mapped || mapped->fidelity != VerboseFidelity::exact || mapped->adapt) {
    if (mapped && !mapped->obstacle.empty()) return Error{mapped->obstacle, {}, {}};
    std::string what = fmt::format("{} has no such case", mapping->op);
    // The primitive reorder has neither.
    if (primitive.propagation != "undef" || !primitive.auxiliary.empty())
      what += fmt::format(" ({} {})", primitive.propagation, primitive.auxiliary);
    return Error{std::move(what), {}, {}};
  }
  ProblemRequest request = mapped->request;
  BENCH_ASSIGN_OR_RETURN(Problem problem, make_problem(request));
  set_destination_type(primitive, problem, request);
  BENCH_RETURN_IF_ERROR(add_exact_post_ops(primitive, *mapped, problem, request));
  BENCH_ASSIGN_OR_RETURN(problem, make_problem(request));
  BENCH_RETURN_IF_ERROR(check_types(primitive, problem));
  return request;
}

const MemoryDescriptor* VerbosePrimitive::find(std::string_view argument, std::size_t index) const {
  for (const MemoryDescriptor& descriptor : memory) {
    if (descriptor.argument == argument && index-- == 0) return &descriptor;
  }
  return nullptr;
}

std::optional<ActivityWork> compute_work(const Activity& activity) {
  if (!is_onednn_execution(activity)) return std::nullopt;
  std::vector<MemoryDescriptor> descriptors;
  return compute_primitive_work(collect_primitive(activity, descriptors));
}

WorkProvider make_work_provider() { return CachedWorkProvider(); }

}  // namespace bench::ops
