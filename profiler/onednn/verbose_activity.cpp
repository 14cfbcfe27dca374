// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_activity.hpp"

#include "base/text.hpp"
#include "profiler/device_number.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace bench {
namespace {

void set_or_erase(Attributes& attributes, Attribute attribute, std::string_view text) {
  if (text.empty()) {
    attributes.erase(attribute);
  } else {
    attributes.set(attribute, text);
  }
}

std::string_view to_direction(std::string_view propagation) {
  if (propagation.starts_with("forward")) return "forward";
  if (propagation == "undef") return {};
  return propagation;  // "backward_data", "backward_weights", "backward"
}

// "gpu:1" and "gpu" mean devices 1 and 0. The host is not a device, nor is a number that no device
// has.
std::optional<std::int64_t> parse_device(std::string_view engine) {
  if (!engine.starts_with("gpu")) return std::nullopt;
  constexpr std::string_view kPrefix = "gpu:";
  if (!engine.starts_with(kPrefix)) return 0;
  const auto device = parse_number<std::int64_t>(engine.substr(kPrefix.size()));
  return device && is_device_number(*device) ? device : std::nullopt;
}

// Returns whether the primitive writes the tensor. A forward pass writes dst. A backward pass
// writes the gradient: src or diff_*, or wei.
bool is_output(std::string_view argument, std::string_view propagation) {
  if (propagation == "backward_data") return argument == "src" || argument.starts_with("diff");
  if (propagation == "backward_weights") return argument == "wei";
  return argument.starts_with("dst");
}

void append(std::string& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

// Sets the layouts of inputs and outputs: "aBcd16b ABcd16b16a -> aBcd16b". If a tensor is not
// dense, its strides follow in brackets: "ab[40x1]". Those of the bias (bia) and the workspace (ws)
// are not informative.
void put_layouts(const VerboseLine& line, Attributes& attributes) {
  std::string inputs;
  std::string outputs;
  for (const MemoryDescriptor& descriptor : line.memory) {
    const bool is_reported = descriptor.is_defined() && !descriptor.tag.empty() &&
                             descriptor.argument != "bia" && descriptor.argument != "ws";
    if (!is_reported) continue;
    std::string& side = is_output(descriptor.argument, line.propagation) ? outputs : inputs;
    append(side, descriptor.tag);
    if (!descriptor.strides.empty()) side.append("[").append(descriptor.strides).append("]");
  }
  if (!outputs.empty()) inputs.append(inputs.empty() ? "-> " : " -> ").append(outputs);
  set_or_erase(attributes, Attribute::layouts, inputs);
}

void put_memory(const VerboseLine& line, Attributes& attributes) {
  set_or_erase(attributes, Attribute::memory_descriptors, line.memory_text);
  const auto first = std::ranges::find_if(line.memory, &MemoryDescriptor::is_defined);
  set_or_erase(attributes, Attribute::dtype,
               first == line.memory.end() ? std::string_view() : first->dtype);
  put_layouts(line, attributes);
}

}  // namespace

bool fill_activity(const VerboseLine& line, Activity& activity) {
  const std::string_view phase = to_string(line.kind);
  if (phase.empty()) return false;
  activity.kind = line.time ? ActivityKind::primitive : ActivityKind::marker;
  activity.name = line.primitive.empty() ? line.component : line.primitive;
  activity.duration = line.time;
  activity.direction = to_direction(line.propagation);
  activity.track.device = parse_device(line.engine);
  Attributes& attributes = activity.attributes;
  set_or_erase(attributes, Attribute::primitive, line.primitive);
  attributes.set(Attribute::phase, phase);
  set_or_erase(attributes, Attribute::implementation, line.implementation);
  set_or_erase(attributes, Attribute::engine, line.engine);
  set_or_erase(attributes, Attribute::propagation, line.propagation);
  set_or_erase(attributes, Attribute::cache, line.cache);
  put_memory(line, attributes);
  set_or_erase(attributes, Attribute::primitive_attributes, line.attributes);
  set_or_erase(attributes, Attribute::auxiliary, line.auxiliary);
  set_or_erase(attributes, Attribute::problem, line.problem);
  set_or_erase(attributes, Attribute::reason, line.message);
  set_or_erase(attributes, Attribute::source_location, line.location);
  return true;
}

}  // namespace bench
