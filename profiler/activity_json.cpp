// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity_json.hpp"

#include "base/utf8.hpp"
#include "profiler/json_string_stream.hpp"

#include <rapidjson/writer.h>

#include <cmath>

namespace bench {
namespace {

using Writer = rapidjson::Writer<JsonStringStream>;

void write_text(Writer& writer, std::string_view text) {
  if (is_utf8(text)) {
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  } else {
    const std::string valid = with_valid_utf8(text);
    writer.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
}

void write_key(Writer& writer, std::string_view key) {
  writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}

void write_field(Writer& writer, std::string_view key, std::string_view text) {
  write_key(writer, key);
  write_text(writer, text);
}

void write_field(Writer& writer, std::string_view key, std::int64_t number) {
  write_key(writer, key);
  writer.Int64(number);
}

// Writes integral values as integers.
void write_real(Writer& writer, double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) <= kExact && std::trunc(value) == value) {
    writer.Int64(static_cast<std::int64_t>(value));
  } else {
    writer.Double(value);
  }
}

void write_attributes(Writer& writer, const Attributes& attributes) {
  write_key(writer, "attributes");
  writer.StartObject();
  for (const auto& [attribute, value] : attributes) {
    if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real)) continue;
    write_key(writer, info(attribute).name);
    if (const auto* text = std::get_if<std::string>(&value)) write_text(writer, *text);
    if (const auto* number = std::get_if<std::int64_t>(&value)) writer.Int64(*number);
    if (const auto* real = std::get_if<double>(&value)) write_real(writer, *real);
  }
  writer.EndObject();
}

}  // namespace

void append_json(const Activity& activity, std::string_view run_id, std::string& out) {
  JsonStringStream stream{out};
  Writer writer(stream);
  writer.StartObject();
  write_field(writer, "record", "activity");
  if (!run_id.empty()) write_field(writer, "run_id", run_id);
  if (!activity.case_id.empty()) write_field(writer, "id", activity.case_id);
  write_field(writer, "kind", name_of(activity.kind));
  write_field(writer, "name", activity.name);
  write_field(writer, "start_ns", activity.start.count());
  if (activity.duration) write_field(writer, "duration_ns", activity.duration->count());
  write_field(writer, "pid", activity.track.pid);
  write_field(writer, "tid", activity.track.tid);
  if (activity.track.device) write_field(writer, "device", *activity.track.device);
  if (activity.track.stream) write_field(writer, "stream", *activity.track.stream);
  if (!activity.scope.empty()) write_field(writer, "scope", activity.scope);
  if (!activity.direction.empty()) write_field(writer, "direction", activity.direction);
  if (activity.correlation) {
    write_key(writer, "correlation");
    writer.Uint64(*activity.correlation);
  }
  if (!activity.attributes.empty()) write_attributes(writer, activity.attributes);
  writer.EndObject();
}

std::string to_json_line(const Activity& activity, std::string_view run_id) {
  std::string line;
  append_json(activity, run_id, line);
  return line;
}

}  // namespace bench
