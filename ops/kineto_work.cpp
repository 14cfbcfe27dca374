// SPDX-License-Identifier: Apache-2.0
#include "ops/kineto_work.hpp"

#include "base/characters.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "ops/framework_operator.hpp"
#include "profiler/readers/kineto_event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace bench::ops {
namespace {

using KinetoArguments = std::vector<FrameworkArgument>;
using Shapes = std::vector<FrameworkRange::Shape>;

constexpr std::string_view kConvolutionBackward = "aten::convolution_backward";

// This program's names of data types, and those of the framework.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFrameworkTypes = {
    {{"f32", "float32"}, {"f64", "float64"}, {"f16", "float16"}, {"bf16", "bfloat16"}}};

std::string_view framework_type(std::string_view dtype) {
  for (const auto& [name, type] : kFrameworkTypes) {
    if (name == dtype) return type;
  }
  return {};
}

// Functions whose arguments have another order in aten than in torch.nn.functional, which the
// operators know.
struct NamedArguments {
  std::string_view name;
  std::array<std::string_view, 6> arguments;
};
constexpr std::array kNamedArguments = {NamedArguments{
    "aten::batch_norm", {"input", "weight", "bias", "running_mean", "running_var", "training"}}};

// Reads "3", "True" and "[1, 1]". Returns nullopt for other values.
std::optional<std::vector<std::int64_t>> parse_value(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const bool is_list = text.starts_with('[') && text.ends_with(']');
  if (is_list) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    std::string_view item = cut_field(text, ',');
    while (item.starts_with(' ')) item.remove_prefix(1);
    if (item == "True" || item == "False") {
      numbers.push_back(item == "True" ? 1 : 0);
    } else if (const auto number = parse_number<std::int64_t>(item)) {
      numbers.push_back(*number);
    } else {
      return std::nullopt;
    }
  }
  return numbers;
}

// Returns nothing if the trace lacks the values of arguments.
KinetoArguments parse_arguments(std::string_view name, const Shapes& shapes, std::string_view dtype,
                                const std::vector<std::string_view>& values) {
  KinetoArguments arguments;
  if (values.size() != shapes.size()) return arguments;
  const auto* names = std::ranges::find(kNamedArguments, name, &NamedArguments::name);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    FrameworkArgument argument;
    if (names != kNamedArguments.end() && i < names->arguments.size())
      argument.name = names->arguments[i];
    if (!shapes[i].empty()) {
      argument.type = "tensor";
      argument.shape = shapes[i];
      argument.dtype = framework_type(dtype);
    } else if (values[i].empty()) {
      argument.type = "NoneType";
    } else if (auto numbers = parse_value(values[i])) {
      argument.type = "tuple";
      argument.numbers = *std::move(numbers);
    } else {
      argument.type = "str";
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

// Returns how many of the gradients of input and weight the call returns (`output_mask`, the last
// argument). nullopt if the trace does not say.
std::optional<std::int64_t> count_gradients(const std::vector<std::string_view>& values) {
  if (values.empty()) return std::nullopt;
  const auto mask = parse_value(values.back());
  constexpr std::size_t kGradients = 3;  // of input, weight and bias
  if (!mask || mask->size() != kGradients) return std::nullopt;
  return mask->at(0) + mask->at(1);
}

std::optional<FrameworkWork> compute_call(std::string_view name, const Shapes& shapes,
                                          const KinetoArguments& arguments) {
  if (!arguments.empty()) {
    if (auto work = compute_framework_work({name, &shapes, nullptr, &arguments})) return work;
  }
  return compute_framework_work({name, &shapes, nullptr, nullptr});
}

// Multiplies the work of one gradient by the number of gradients.
bool multiply(FrameworkWork& work, std::int64_t count) {
  const auto flops = (Checked(work.flops) * count).value();
  if (!flops || count < 1) return false;
  work.flops = *flops;
  if (work.macs) work.macs = (Checked(*work.macs) * count).value();
  if (work.bytes) work.bytes = (Checked(*work.bytes) * count).value();
  return true;
}

}  // namespace

std::optional<ActivityWork> compute_kineto_work(const Activity& activity) {
  const Attributes& attributes = activity.attributes;
  const bool is_kernel = activity.kind == ActivityKind::kernel;
  if (!is_kernel && activity.kind != ActivityKind::operation) return std::nullopt;
  const std::string_view name =
      is_kernel ? attributes.text(Attribute::op) : std::string_view(activity.name);
  const Shapes shapes = parse_framework_shapes(attributes.text(Attribute::problem));
  if (shapes.empty() || !name.starts_with("aten::")) return std::nullopt;
  const auto values = split_list(attributes.text(Attribute::auxiliary));
  auto work = compute_call(
      name, shapes, parse_arguments(name, shapes, attributes.text(Attribute::dtype), values));
  if (!work) return std::nullopt;
  if (work->extent == GpuOperatorWork::Extent::each_gradient && !is_kernel) {
    const auto count = name == kConvolutionBackward ? count_gradients(values) : std::nullopt;
    if (!count || !multiply(*work, *count)) return std::nullopt;
  }
  ActivityWork result;
  result.op = work->op;
  result.parameters = work->parameters;
  result.macs = work->macs;
  result.flops = work->flops;
  result.bytes = work->bytes;
  return result;
}

std::optional<ActivityWork> KinetoWorkProvider::operator()(const Activity& activity) {
  if (activity.kind != ActivityKind::operation) return compute_kineto_work(activity);
  const Thread thread{activity.track.pid, activity.track.tid};
  const auto last = ends_.find(thread);
  if (last != ends_.end() && activity.start < last->second) return std::nullopt;
  auto work = compute_kineto_work(activity);
  constexpr std::size_t kMaxThreads = 10'000;
  if (ends_.size() > kMaxThreads) ends_.clear();
  if (work && activity.duration) ends_[thread] = activity.start + *activity.duration;
  return work;
}

}  // namespace bench::ops
