// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity_json.hpp"

#include "base/json_writer.hpp"

#include <type_traits>
#include <variant>

namespace bench {
namespace {

void attribute_fields(JsonWriter& writer, const Attributes& attributes) {
  for (const auto& [attribute, value] : attributes) {
    const std::string_view name = info(attribute).name;
    const auto put = [&](const auto& alternative) {
      if constexpr (std::is_same_v<decltype(alternative), const double&>) {
        writer.optional(name, alternative);
      } else {
        writer.required(name, alternative);
      }
    };
    std::visit(put, value);
  }
}

}  // namespace

void append_json(const Activity& activity, std::string_view run_id, std::string& out) {
  JsonWriter(out).add_object([&](JsonWriter& writer) {
    writer.constant("record", "activity");
    writer.optional("run_id", run_id);
    writer.optional("id", activity.case_id);
    writer.required("kind", to_string(activity.kind));
    writer.required("name", activity.name);
    writer.required("start_ns", activity.start);
    writer.optional("duration_ns", activity.duration);
    writer.required("pid", activity.track.pid);
    writer.required("tid", activity.track.tid);
    writer.optional("device", activity.track.device);
    writer.optional("stream", activity.track.stream);
    writer.optional("scope", activity.scope);
    writer.optional("direction", activity.direction);
    writer.optional("correlation", activity.correlation);
    if (activity.attributes.empty()) return;
    writer.required_object(
        "attributes", [&](JsonWriter& inner) { attribute_fields(inner, activity.attributes); });
  });
}

std::string to_json_line(const Activity& activity, std::string_view run_id) {
  std::string line;
  append_json(activity, run_id, line);
  return line;
}

}  // namespace bench
