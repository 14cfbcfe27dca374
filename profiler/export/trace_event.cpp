// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

namespace bench {
namespace {

static_assert(std::is_trivially_copyable_v<TraceEventHead>);

struct KindRow {
  TraceEventType type;
  FlowRole role;
};
// In the order of ActivityKind.
constexpr std::array<KindRow, 14> kKinds = {{
    {TraceEventType::slice, FlowRole::launch},     // operator
    {TraceEventType::slice, FlowRole::execution},  // primitive
    {TraceEventType::slice, FlowRole::execution},  // kernel
    {TraceEventType::slice, FlowRole::execution},  // memcpy
    {TraceEventType::slice, FlowRole::execution},  // memset
    {TraceEventType::allocation, FlowRole::none},  // allocation
    {TraceEventType::slice, FlowRole::execution},  // synchronisation
    {TraceEventType::slice, FlowRole::launch},     // api
    {TraceEventType::slice, FlowRole::none},       // overhead
    {TraceEventType::slice, FlowRole::launch},     // range
    {TraceEventType::instant, FlowRole::none},     // marker
    {TraceEventType::counter, FlowRole::none},     // counter
    {TraceEventType::slice, FlowRole::none},       // process
    {TraceEventType::instant, FlowRole::none},     // sample
}};

struct MarkerScope {
  std::string_view name;
  char letter;
};
constexpr std::array<MarkerScope, 2> kMarkerScopes = {{{"global", 'g'}, {"process", 'p'}}};

char instant_scope(const Activity& activity) {
  const std::string_view scope = activity.attributes.text(Attribute::marker_scope);
  for (const MarkerScope& row : kMarkerScopes) {
    if (row.name == scope) return row.letter;
  }
  return 't';
}

// Attributes shown elsewhere: as names of tracks, as categories, or as the event's own fields.
constexpr std::array kNotInArgs = {Attribute::thread_name,  Attribute::process_name,
                                   Attribute::rank,         Attribute::domain,
                                   Attribute::marker_scope, Attribute::unfinished};

bool is_in_args(Attribute attribute) {
  return std::find(kNotInArgs.begin(), kNotInArgs.end(), attribute) == kNotInArgs.end();
}

void append_key(std::string& out, std::string_view key) {
  if (!out.empty()) out += ',';
  out += '"';
  out += key;  // no escaping: all keys are names that this program defines
  out += "\":";
}

void append_field(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  append_key(out, key);
  append_json_text(out, text);
}

void append_attribute(std::string& out, Attribute attribute, const AttributeValue& value) {
  const std::string_view key = info(attribute).name;
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_field(out, key, *text);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    append_key(out, key);
    // Viewers read numbers as doubles, which cannot represent each 64-bit address.
    if (attribute == Attribute::address) {
      out += fmt::format("\"0x{:x}\"", static_cast<std::uint64_t>(*number));
    } else {
      append_json_integer(out, *number);
    }
  } else if (const double real = std::get<double>(value); std::isfinite(real)) {
    append_key(out, key);
    append_json_real(out, real);
  }
}

// Appends `key` with the attribute `amount` per second. Appends nothing if the amount or the
// duration is unknown.
void append_rate(std::string& out, const Activity& activity, Attribute amount,
                 std::string_view key) {
  const auto count = activity.attributes.integer(amount);
  if (!count || *count < 0 || !activity.duration) return;
  const auto rate = Flops{*count} / *activity.duration;
  if (!rate) return;
  append_key(out, key);
  append_json_real(out, std::round(rate->value));
}

std::uint64_t compute_identity(const Activity& activity, std::uint32_t track) {
  const std::hash<std::string_view> hash;
  return hash(activity.name) ^ std::rotl(static_cast<std::uint64_t>(track), 40) ^
         std::rotl(static_cast<std::uint64_t>(activity.kind), 56) ^
         static_cast<std::uint64_t>(activity.start.count()) * 0x9e3779b97f4a7c15u;
}

}  // namespace

const TraceEvent* TraceEventMaker::make(const Activity& activity, std::uint32_t track) {
  const KindRow& kind = kKinds[static_cast<std::size_t>(activity.kind)];
  const auto value = activity.attributes.real(Attribute::value);
  if (kind.type == TraceEventType::counter && (!value || !std::isfinite(*value))) return nullptr;
  TraceEventHead& head = event_.head;
  head = {};
  head.type = kind.type;
  head.role = activity.correlation ? kind.role : FlowRole::none;
  head.correlation = activity.correlation.value_or(0);
  head.process = activity.track.pid;
  head.track = track;
  head.start = std::clamp(activity.start.count(), -kLatestTime, kLatestTime);
  const std::int64_t duration = std::clamp<std::int64_t>(
      activity.duration.value_or(Nanoseconds(0)).count(), 0, kLatestTime - head.start);
  head.end = head.start + duration;
  head.identity = compute_identity(activity, track);
  head.instant_scope = instant_scope(activity);
  set_end(activity);
  write_text(activity);
  write_args(activity);
  head.text_size = static_cast<std::uint32_t>(text_.size());
  event_.text = text_;
  event_.args = args_;
  return &event_;
}

void TraceEventMaker::set_end(const Activity& activity) {
  TraceEventHead& head = event_.head;
  const bool unfinished = activity.attributes.integer(Attribute::unfinished).value_or(0) != 0;
  if (activity.duration) {
    head.end_kind = unfinished ? EventEnd::unfinished : EventEnd::known;
  } else if (head.type == TraceEventType::allocation || unfinished) {
    head.end_kind = EventEnd::open;  // an allocation that was never released
  } else if (head.type == TraceEventType::slice) {
    head.type = TraceEventType::instant;
  }
}

void TraceEventMaker::write_text(const Activity& activity) {
  text_ = "\"name\":";
  const std::string_view unit = activity.attributes.text(Attribute::value_unit);
  if (activity.kind == ActivityKind::counter && !unit.empty() && unit != "1") {
    append_json_text(text_, fmt::format("{} ({})", activity.name, unit));
  } else {
    append_json_text(text_, activity.name);
  }
  text_ += ",\"cat\":";
  const std::string_view domain = activity.attributes.text(Attribute::domain);
  append_json_text(text_, domain.empty() ? to_string(activity.kind) : domain);
}

void TraceEventMaker::write_args(const Activity& activity) {
  args_.clear();
  if (activity.kind == ActivityKind::counter) {  // only numbers: each field is a series
    append_key(args_, "value");
    append_json_real(args_, *activity.attributes.real(Attribute::value));
    return;
  }
  if (!activity.attributes.text(Attribute::domain).empty()) {
    append_field(args_, "kind", to_string(activity.kind));
  }
  append_field(args_, "case", activity.case_id);
  append_field(args_, "layer", activity.scope);
  append_field(args_, "direction", activity.direction);
  for (const auto& [attribute, value] : activity.attributes) {
    if (is_in_args(attribute)) append_attribute(args_, attribute, value);
  }
  append_rate(args_, activity, Attribute::flops, "flops_per_s");
  append_rate(args_, activity, Attribute::bytes, "bytes_per_s");
  if (activity.correlation) {
    append_key(args_, "correlation");
    args_ += fmt::format("{}", *activity.correlation);
  }
}

void pack(const TraceEvent& event, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&event.head), sizeof event.head);
  bytes += event.text;
  bytes += event.args;
}

TraceEvent unpack(std::string_view bytes) {
  TraceEvent event;
  std::memcpy(&event.head, bytes.data(), sizeof event.head);
  bytes.remove_prefix(sizeof event.head);
  event.text = bytes.substr(0, event.head.text_size);
  event.args = bytes.substr(event.head.text_size);
  return event;
}

void begin_event(std::string& out, std::string_view text, char phase, std::int64_t time,
                 const TracePlace& place) {
  out += '{';
  out += text;
  out += ",\"ph\":\"";
  out += phase;
  out += "\",\"ts\":";
  append_microseconds(out, time);
  out += ",\"pid\":";
  append_json_integer(out, place.pid);
  out += ",\"tid\":";
  append_json_integer(out, place.tid);
}

void append_json_integer(std::string& out, std::int64_t number) {
  char digits[24];
  const auto [end, code] = std::to_chars(digits, digits + sizeof digits, number);
  assert(code == std::errc());
  out.append(digits, end);
}

void append_json_real(std::string& out, double number) {
  assert(std::isfinite(number));
  fmt::format_to(std::back_inserter(out), "{}", number);
}

void append_microseconds(std::string& out, std::int64_t nanoseconds) {
  assert(nanoseconds != std::numeric_limits<std::int64_t>::min());
  if (nanoseconds < 0) out += '-';
  const std::int64_t magnitude = std::abs(nanoseconds);
  append_json_integer(out, magnitude / 1000);
  const int decimals = static_cast<int>(magnitude % 1000);
  if (decimals == 0) return;
  out += '.';
  out += static_cast<char>('0' + decimals / 100);
  out += static_cast<char>('0' + decimals / 10 % 10);
  out += static_cast<char>('0' + decimals % 10);
}

}  // namespace bench
