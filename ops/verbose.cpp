// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/checked.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/pyprof_row.hpp"
#include "ops/verbose_post_ops.hpp"

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
  std::array<std::string_view, 4> arguments;
  std::size_t index = 0;  // among descriptors with the same name
};
constexpr std::array<ArgumentRow, 10> kArguments = {{
    {"source", {"src", "data"}},
    {"a", {"src"}},
    {"b", {"src"}, 1},
    {"weights", {"wei"}},
    {"bias", {"bia"}},
    {"destination", {"dst", "data"}},
    {"diff_source", {"diff_src", "src", "diff", "data"}},
    {"diff_weights", {"wei"}},
    {"diff_bias", {"bia"}},
    {"diff_destination", {"diff_dst", "dst", "diff", "data"}},
}};

// Returns the attributes of an activity that compute_work needs.
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

const VerboseMapping* find_mapping(std::string_view primitive) {
  for (const VerboseMapping* mapping : verbose_mappings()) {
    if (std::ranges::find(mapping->primitives, primitive) != mapping->primitives.end()) {
      return mapping;
    }
  }
  return nullptr;
}

// Returns the data type of the row's tensor; nullopt if it has no descriptor or an unsupported
// type.
std::optional<DataType> find_data_type(const VerbosePrimitive& primitive, const ArgumentRow& row) {
  for (const std::string_view argument : row.arguments) {
    const MemoryDescriptor* descriptor =
        argument.empty() ? nullptr : primitive.find(argument, row.index);
    if (descriptor != nullptr) return data_type_from_name(descriptor->dtype);
  }
  return std::nullopt;
}

// Sets the tensors' data types as the primitive has them. Returns false if one is unknown. Tensors
// without a descriptor, such as statistics, keep the model's type.
bool set_data_types(const VerbosePrimitive& primitive, std::span<const VerbosePostOp> post_ops,
                    Problem& problem) {
  std::optional<DataType> destination;
  for (Tensor& tensor : problem.tensors) {
    const auto* row = std::ranges::find(kArguments, tensor.name, &ArgumentRow::tensor);
    if (row == kArguments.end()) continue;
    const auto dtype = find_data_type(primitive, *row);
    if (!dtype) return false;
    tensor.dtype = *dtype;
    if (tensor.name == "destination") destination = dtype;
  }
  auto residual = problem.tensors.begin();
  for (const VerbosePostOp& post_op : post_ops) {
    if (post_op.post_op.function != "add") continue;
    residual = std::find_if(residual, problem.tensors.end(), [](const Tensor& tensor) {
      return tensor.name.starts_with("residual");
    });
    if (residual == problem.tensors.end() || !destination) return false;
    residual->dtype = post_op.dtype.value_or(*destination);
    ++residual;
  }
  return true;
}

std::optional<std::int64_t> compute_bytes(const Problem& problem) {
  Checked bytes = 0;
  for (const Tensor& tensor : problem.tensors) {
    bytes += Checked(tensor.touched) * info(tensor.dtype).bytes;
  }
  return bytes.value();
}

std::string format_shapes(const Problem& problem, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    if (!text.empty()) text += ' ';
    text += join_dims(problem.tensors[i].dims);
  }
  return text;
}

std::optional<ActivityWork> make_activity_work(const VerbosePrimitive& primitive,
                                               const Problem& problem, VerboseFidelity fidelity) {
  const std::optional<std::int64_t> bytes = compute_bytes(problem);
  if (!bytes) return std::nullopt;
  ActivityWork work;
  work.op = problem.op->name;
  work.dtype = primitive.memory.front().dtype;
  work.macs = problem.work.macs;
  work.flops = problem.work.flops;
  work.bytes = *bytes;
  if (fidelity == VerboseFidelity::work_only) return work;
  if (fidelity == VerboseFidelity::exact) work.parameters = problem_tokens(problem);
  work.in_shapes = format_shapes(problem, 0, problem.input_count());
  work.out_shapes = format_shapes(problem, problem.input_count(), problem.tensors.size());
  return work;
}

// If the primitive has post-ops, creates the problem twice, because parsing them requires the sizes
// of the destination.
std::optional<ActivityWork> compute_primitive_work(const VerbosePrimitive& primitive) {
  const VerboseMapping* mapping = find_mapping(primitive.primitive);
  if (mapping == nullptr || primitive.memory.empty()) return std::nullopt;
  auto mapped = mapping->request(primitive);
  if (!mapped) return std::nullopt;
  const auto dtype = data_type_from_name(primitive.memory.front().dtype);
  if (!dtype) return std::nullopt;
  mapped->request.op = find_operator(mapping->op);
  // Counts do not depend on the data type. An accumulator's type is not a case's data type.
  mapped->request.dtype = info(*dtype).is_case_type ? *dtype : DataType::f32;
  Result<Problem> problem = make_problem(mapped->request);
  if (!problem.ok()) return std::nullopt;
  if (mapped->destination.empty()) mapped->destination = problem->tensors.back().dims;
  const auto post_ops = parse_post_ops(primitive.attributes, mapped->destination);
  if (!post_ops) return std::nullopt;
  if (!post_ops->empty()) {
    for (const VerbosePostOp& post_op : *post_ops) {
      mapped->request.post_ops.push_back(post_op.post_op);
    }
    problem = make_problem(std::move(mapped->request));
    if (!problem.ok()) return std::nullopt;
  }
  if (mapped->adapt && (!post_ops->empty() || !mapped->adapt(*problem))) return std::nullopt;
  if (!set_data_types(primitive, *post_ops, *problem)) return std::nullopt;
  return make_activity_work(primitive, *problem, mapped->fidelity);
}

bool is_execution(const Activity& activity) {
  return activity.kind == ActivityKind::primitive &&
         activity.attributes.text(Attribute::phase) == "exec";
}

// Sets `key` to all texts on which the work depends. The separator occurs in none of the texts.
void make_key(const Activity& activity, std::string& key) {
  key.clear();
  for (const Attribute attribute :
       {Attribute::primitive, Attribute::propagation, Attribute::memory_descriptors,
        Attribute::primitive_attributes, Attribute::auxiliary, Attribute::problem}) {
    key += activity.attributes.text(attribute);
    key += '\n';
  }
}

class CachedWorkProvider {
 public:
  std::optional<ActivityWork> operator()(const Activity& activity) {
    // Not cached: tables of kernels are short, and each row has its own parameters.
    if (activity.kind == ActivityKind::kernel) return compute_pyprof_work(activity);
    if (!is_execution(activity)) return std::nullopt;
    make_key(activity, key_);
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
};

}  // namespace

const MemoryDescriptor* VerbosePrimitive::find(std::string_view argument, std::size_t index) const {
  for (const MemoryDescriptor& descriptor : memory) {
    if (descriptor.argument == argument && index-- == 0) return &descriptor;
  }
  return nullptr;
}

std::optional<ActivityWork> compute_work(const Activity& activity) {
  if (!is_execution(activity)) return std::nullopt;
  std::vector<MemoryDescriptor> descriptors;
  return compute_primitive_work(collect_primitive(activity, descriptors));
}

WorkProvider make_work_provider() { return CachedWorkProvider(); }

}  // namespace bench::ops
