// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/kineto_row.hpp"

#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "profiler/device_number.hpp"
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/onednn/milliseconds.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

using Finish = void (*)(const KinetoEvent& event, KinetoRow& row);

void copy_text(const KinetoEvent& event, std::string_view name, Attribute attribute,
               Activity& activity) {
  const std::string_view text = event.argument_text(name);
  if (!text.empty()) activity.attributes.set(attribute, text);
}

void copy_count(const KinetoEvent& event, std::string_view name, Attribute attribute,
                Activity& activity) {
  const auto number = event.argument_integer(name);
  if (number && *number >= 0) activity.attributes.set(attribute, *number);
}

// The type names of PyTorch (`Input type`) and those of this program.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kTensorTypes = {
    {{"float", "f32"},
     {"double", "f64"},
     {"c10::Half", "f16"},
     {"c10::BFloat16", "bf16"},
     {"c10::Float8_e4m3fn", "f8_e4m3"},
     {"c10::Float8_e5m2", "f8_e5m2"},
     {"long int", "s64"},
     {"long", "s64"},
     {"int", "s32"},
     {"short int", "s16"},
     {"signed char", "s8"},
     {"unsigned char", "u8"},
     {"bool", "bool"},
     {"at::Half", "f16"}}};

// Returns the type that all tensors have; empty if they differ or one is unknown.
std::string_view common_type(const std::vector<FrameworkRange::Shape>& shapes,
                             const std::vector<std::string_view>& types) {
  std::string_view common;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].empty()) continue;
    const auto* row = std::ranges::find(kTensorTypes, i < types.size() ? types[i] : "",
                                        &std::pair<std::string_view, std::string_view>::first);
    if (row == kTensorTypes.end() || (!common.empty() && common != row->second)) return {};
    common = row->second;
  }
  return common;
}

// Returns the layers of TorchScript's "top(Net)::forward.layer1(Block)::forward" as a path. SELF is
// a call of a method of the same module.
std::string module_path(std::string_view hierarchy) {
  std::string path;
  while (!hierarchy.empty()) {
    const std::string_view part = cut_field(hierarchy, '.');
    const std::string_view name = part.substr(0, part.find('('));
    if (!name.empty() && name != "SELF") path = append_scope(path, name);
  }
  return path;
}

void finish_operator(const KinetoEvent& event, KinetoRow& row) {
  Activity& activity = row.activity;
  Attributes& attributes = activity.attributes;
  const auto shapes = parse_framework_shapes(event.argument_text("Input Dims"));
  const std::string in_shapes = format_framework_shapes(shapes);
  if (!in_shapes.empty()) {
    attributes.set(Attribute::in_shapes, in_shapes);
    copy_text(event, "Input Dims", Attribute::problem, activity);
    copy_text(event, "Concrete Inputs", Attribute::auxiliary, activity);
    const std::string_view dtype =
        common_type(shapes, split_list(event.argument_text("Input type")));
    if (!dtype.empty()) attributes.set(Attribute::dtype, dtype);
  }
  copy_count(event, "Sequence number", Attribute::sequence, activity);
  copy_text(event, "Call stack", Attribute::backtrace, activity);
  const bool is_backward = is_framework_backward(activity.name) ||
                           event.argument_integer("Fwd thread id").value_or(0) > 0;
  if (is_backward) activity.direction = "backward";
  activity.scope = module_path(event.argument_text("Module Hierarchy"));
}

void finish_python(const KinetoEvent& event, KinetoRow& row) {
  if (row.activity.name.starts_with(kKinetoModulePrefix)) row.role = KinetoRow::Role::module;
  copy_text(event, "CallFrom", Attribute::source_location, row.activity);
}

// Formats "[32, 4, 1]" as "32,4,1".
void copy_size(const KinetoEvent& event, std::string_view name, Attribute attribute,
               Activity& activity) {
  const KinetoField* field = event.argument(name);
  if (field == nullptr || field->type != KinetoField::Type::list) return;
  std::string text;
  for (const std::string_view item : split_list(field->text)) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", item);
  }
  activity.attributes.set(attribute, text);
}

void finish_kernel(const KinetoEvent& event, KinetoRow& row) {
  Activity& activity = row.activity;
  KernelName name = demangled_kernel_name(activity.name);
  if (name.short_name != name.long_name)
    activity.attributes.set(Attribute::long_name, name.long_name);
  activity.name = std::move(name.short_name);
  copy_size(event, "grid", Attribute::grid, activity);
  copy_size(event, "block", Attribute::block, activity);
  copy_count(event, "registers per thread", Attribute::registers, activity);
  copy_count(event, "shared memory", Attribute::shared_bytes, activity);
  constexpr std::string_view kOccupancy = "est. achieved occupancy %";
  const auto percent = parse_number<double>(event.argument_text(kOccupancy));
  if (percent && *percent >= 0 && *percent <= 100)
    activity.attributes.set(Attribute::occupancy, *percent / 100);
}

// A copy within a device touches its memory twice.
void finish_transfer(const KinetoEvent& event, KinetoRow& row) {
  const auto size = event.argument_integer("bytes");
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 60;
  if (!size || *size < 0 || *size > kMaxSize) return;
  const bool is_within = row.activity.name.find("DtoD") != std::string::npos;
  row.activity.attributes.set(Attribute::size_bytes, *size);
  row.activity.attributes.set(Attribute::bytes, *size * (is_within ? 2 : 1));
}

void finish_window(const KinetoEvent&, KinetoRow& row) { row.role = KinetoRow::Role::window; }
void finish_overhead(const KinetoEvent&, KinetoRow& row) { row.role = KinetoRow::Role::whole; }
void finish_nothing(const KinetoEvent&, KinetoRow&) {}

// main: on a track of the main process that is not a thread.
enum class KinetoPlace { host, device, main };

struct Category {
  std::string_view name;  // in lower case; PyTorch before 1.12 wrote some in upper case
  ActivityKind kind;
  KinetoPlace place;
  Finish finish;
};
constexpr std::array kCategories = {
    Category{"cpu_op", ActivityKind::operation, KinetoPlace::host, finish_operator},
    Category{"operator", ActivityKind::operation, KinetoPlace::host, finish_operator},
    Category{"python_function", ActivityKind::range, KinetoPlace::host, finish_python},
    Category{"user_annotation", ActivityKind::range, KinetoPlace::host, finish_nothing},
    Category{"gpu_user_annotation", ActivityKind::range, KinetoPlace::device, finish_nothing},
    Category{"kernel", ActivityKind::kernel, KinetoPlace::device, finish_kernel},
    Category{"gpu_memcpy", ActivityKind::memcpy, KinetoPlace::device, finish_transfer},
    Category{"memcpy", ActivityKind::memcpy, KinetoPlace::device, finish_transfer},
    Category{"gpu_memset", ActivityKind::memset, KinetoPlace::device, finish_transfer},
    Category{"memset", ActivityKind::memset, KinetoPlace::device, finish_transfer},
    Category{"cuda_runtime", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"runtime", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"cuda_driver", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"xpu_runtime", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"xpu_driver", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"privateuse1_runtime", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"privateuse1_driver", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"mtia_runtime", ActivityKind::api, KinetoPlace::host, finish_nothing},
    Category{"cuda_sync", ActivityKind::synchronisation, KinetoPlace::device, finish_nothing},
    Category{"cuda_event", ActivityKind::marker, KinetoPlace::device, finish_nothing},
    Category{"overhead", ActivityKind::overhead, KinetoPlace::main, finish_overhead},
    Category{"trace", ActivityKind::process, KinetoPlace::main, finish_window},
};

// Returns the device that an argument states; `unstated` if it states none, for which Kineto writes
// -1.
Result<std::int64_t> device_argument(const KinetoEvent& event, std::string_view name,
                                     std::int64_t unstated) {
  const std::int64_t device = event.argument_integer(name).value_or(-1);
  if (device == -1) return unstated;
  if (is_device_number(device)) return device;
  return Error{fmt::format("`{}` is not the number of a device", name), "", ""};
}

Status place_on_device(const KinetoEvent& event, const KinetoField* pid, const KinetoField* tid,
                       Activity& activity) {
  const auto number_of = [](const KinetoField* field) {
    return field == nullptr ? std::nullopt : parse_number<std::int64_t>(field->text);
  };
  // The process of a row of a device is its number.
  const std::int64_t process = number_of(pid).value_or(0);
  BENCH_ASSIGN_OR_RETURN(activity.track.device,
                         device_argument(event, "device", is_device_number(process) ? process : 0));
  // A wait has a row beside the one of its stream, which its tid states.
  const auto stream = event.argument_integer("stream");
  const bool is_wait = activity.kind == ActivityKind::synchronisation;
  activity.track.stream = stream && !is_wait ? stream : number_of(tid);
  return Done{};
}

constexpr std::string_view kNoTime = "`ts` is not a number of microseconds from 0 to 73 years";

// Reads what the events of all phases have.
Status read_start(const KinetoEvent& event, KinetoRow& row) {
  const KinetoField* name = event.find("name");
  if (name == nullptr || name->type != KinetoField::Type::text) return Error{"no `name`", "", ""};
  row.activity.name = name->text;
  const auto start = parse_decimal_microseconds(event.text("ts"));
  if (!start) return Error{std::string(kNoTime), "", ""};
  row.activity.start = *start;
  const auto correlation = event.argument_integer("correlation");
  if (correlation && *correlation > 0)
    row.activity.correlation = static_cast<std::uint64_t>(*correlation);
  const auto id = event.argument_integer("External id");
  row.external_id = id ? *id : event.argument_integer("external id").value_or(0);
  return Done{};
}

std::string_view unit_of_counter(std::string_view counter, std::string_view value) {
  for (const std::string_view name : {counter, value}) {
    const std::string lower = lower_case(name);
    if (lower.find("byte") != std::string::npos || lower.find("memory") != std::string::npos ||
        lower.find("allocated") != std::string::npos || lower.find("reserved") != std::string::npos)
      return "bytes";
  }
  return "1";
}

}  // namespace

std::int64_t KinetoDecoder::number_of(const KinetoField* field) {
  if (field == nullptr) return 0;
  if (field->type != KinetoField::Type::text)
    return std::max<std::int64_t>(parse_number<std::int64_t>(field->text).value_or(0), 0);
  const auto next = -1 - static_cast<std::int64_t>(texts_.size());
  return texts_.emplace(field->text, next).first->second;
}

void KinetoDecoder::place_on_host(const KinetoEvent& event, Activity& activity) {
  const KinetoField* pid = event.find("pid");
  const KinetoField* tid = event.find("tid");
  activity.track = {number_of(pid), number_of(tid), std::nullopt, std::nullopt};
  if (activity.track.pid > 0 && !names_.first_host) names_.first_host = activity.track.pid;
  const auto is_text = [](const KinetoField* field) {
    return field != nullptr && field->type == KinetoField::Type::text;
  };
  if (is_text(pid)) names_.processes.emplace(activity.track.pid, pid->text);
  if (is_text(tid))
    names_.threads.emplace(std::pair(activity.track.pid, activity.track.tid), tid->text);
}

Result<KinetoDecoder::Outcome> KinetoDecoder::decode_slice(const KinetoEvent& event,
                                                           KinetoRow& row) {
  BENCH_RETURN_IF_ERROR(read_start(event, row));
  row.activity.duration = parse_decimal_microseconds(event.text("dur"));
  if (!row.activity.duration)
    return Error{"`dur` is not a number of microseconds from 0 to 73 years", "", ""};
  const std::string name = lower_case(event.text("cat"));
  const auto* category = std::ranges::find(kCategories, name, &Category::name);
  if (category == kCategories.end()) {
    row.activity.kind = ActivityKind::range;
    if (!name.empty()) row.activity.attributes.set(Attribute::domain, event.text("cat"));
    place_on_host(event, row.activity);
    return Outcome::rows;
  }
  row.activity.kind = category->kind;
  if (category->place == KinetoPlace::host) place_on_host(event, row.activity);
  if (category->place == KinetoPlace::device)
    BENCH_RETURN_IF_ERROR(
        place_on_device(event, event.find("pid"), event.find("tid"), row.activity));
  category->finish(event, row);
  if (row.activity.kind == ActivityKind::marker) row.activity.duration.reset();
  return Outcome::rows;
}

Result<KinetoDecoder::Outcome> KinetoDecoder::decode_instant(const KinetoEvent& event,
                                                             KinetoRow& row) {
  BENCH_RETURN_IF_ERROR(read_start(event, row));
  row.activity.kind = ActivityKind::marker;
  const KinetoField* pid = event.find("pid");
  if (pid != nullptr && pid->type == KinetoField::Type::text) {
    row.role = KinetoRow::Role::whole;  // "Traces"
  } else {
    place_on_host(event, row.activity);
  }
  if (event.text("s") == "g") row.activity.attributes.set(Attribute::marker_scope, "global");
  if (row.activity.name != "[memory]" || row.role != KinetoRow::Role::plain) return Outcome::rows;
  const auto size = event.argument_integer("Bytes");
  if (!size) return Error{"a change of memory without `Bytes`", "", ""};
  row.activity.kind = ActivityKind::allocation;
  row.role = KinetoRow::Role::memory;
  row.activity.attributes.set(Attribute::size_bytes, *size);
  row.activity.attributes.set(Attribute::address, event.argument_integer("Addr").value_or(0));
  copy_count(event, "Total Allocated", Attribute::live_bytes, row.activity);
  const bool is_on_device = event.argument_integer("Device Type").value_or(0) > 0;
  row.activity.attributes.set(Attribute::role, is_on_device ? "device" : "host");
  if (is_on_device) {
    BENCH_ASSIGN_OR_RETURN(row.activity.track.device, device_argument(event, "Device Id", 0));
  }
  return Outcome::rows;
}

Result<KinetoDecoder::Outcome> KinetoDecoder::decode_counter(const KinetoEvent& event,
                                                             std::vector<KinetoRow>& rows) const {
  KinetoRow base;
  BENCH_RETURN_IF_ERROR(read_start(event, base));
  for (std::size_t i = 0; i < event.argument_count(); ++i) {
    const KinetoField& value = event.argument(i);
    const auto number =
        value.type == KinetoField::Type::number ? parse_number<double>(value.text) : std::nullopt;
    if (!number) continue;
    KinetoRow row;
    row.activity =
        make_counter(fmt::format("{} {}", base.activity.name, value.name), base.activity.start,
                     *number, unit_of_counter(base.activity.name, value.name));
    row.role = KinetoRow::Role::whole;
    rows.push_back(std::move(row));
  }
  return Outcome::rows;
}

void KinetoDecoder::take_names(const KinetoEvent& event) {
  Activity place;
  const auto first = names_.first_host;
  place_on_host(event, place);
  names_.first_host = first;  // metadata also name devices
  const std::string_view name = event.text("name");
  if (name == "process_name" && !event.argument_text("name").empty())
    names_.processes[place.track.pid] = event.argument_text("name");
  if (name == "thread_name" && !event.argument_text("name").empty())
    names_.threads[{place.track.pid, place.track.tid}] = event.argument_text("name");
  if (name == "process_labels" && event.argument_text("labels") == "CPU" && place.track.pid > 0 &&
      !names_.labelled_host)
    names_.labelled_host = place.track.pid;
}

Result<KinetoDecoder::Outcome> KinetoDecoder::decode(const KinetoEvent& event,
                                                     std::vector<KinetoRow>& rows) {
  rows.clear();
  const std::string_view phase = event.text("ph");
  // Arrows, asynchronous events, objects and samples add nothing to the activities.
  constexpr std::string_view kSkipped = "stfbneSTpFNODPvVRc()";
  if (phase.size() != 1) return Error{phase.empty() ? "no `ph`" : "unknown phase", "", ""};
  if (phase == "M") {
    take_names(event);
    return Outcome::skipped;
  }
  if (phase == "X") return decode_slice(event, rows.emplace_back());
  if (phase == "i" || phase == "I") return decode_instant(event, rows.emplace_back());
  if (phase == "C") return decode_counter(event, rows);
  return kSkipped.find(phase[0]) != std::string_view::npos ? Outcome::skipped : Outcome::unknown;
}

}  // namespace bench
