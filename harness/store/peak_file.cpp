// SPDX-License-Identifier: Apache-2.0
#include "harness/store/peak_file.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/lines.hpp"
#include "base/quote.hpp"
#include "base/utc_time.hpp"
#include "harness/store/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kPeakRecord = "peak";

// The JSON fields of a ceiling's value: exactly one of the optionals is set.
struct UnitFields {
  std::optional<FlopsPerSecond> flops;
  std::optional<BytesPerSecond> bytes;
  std::optional<Nanoseconds> time;
  double low = 0, high = 0;
};

template <class Archive, class Peak, class Units>
void peak_fields(Archive& archive, Peak& peak, Units& units) {
  BENCH_MEMBERS(archive, peak.ceiling, name, (level, kOptional), threads);
  BENCH_MEMBERS(archive, units, (flops, "flops_per_s"), (bytes, "bytes_per_s"), (time, "ns"), low,
                high);
  BENCH_MEMBERS(archive, peak, run_id, (time, kOptional), machine_class);
  BENCH_OPTIONAL_MEMBERS(archive, peak, cpu, gpu, tool_version, commit, id, implementation, beside);
}

// Returns the number in the unit of the value.
double to_number(FlopsPerSecond value) { return value.value; }
double to_number(BytesPerSecond value) { return value.value; }
double to_number(Nanoseconds value) { return static_cast<double>(value.count()); }
double to_number(const CeilingValue& value) {
  return std::visit([](auto quantity) { return to_number(quantity); }, value);
}

// Returns `number` as a value in the unit of `like`.
CeilingValue with_unit_of(const CeilingValue& like, double number) {
  return std::visit(
      [&](auto quantity) -> CeilingValue {
        if constexpr (std::is_same_v<decltype(quantity), Nanoseconds>) {
          return Nanoseconds(static_cast<std::int64_t>(std::min(number, 9e18)));
        } else {
          return decltype(quantity){number};
        }
      },
      like);
}

// Returns the first rule that the units of a record violate; empty if there is none.
std::string find_unit_violation(const UnitFields& units) {
  const int values =
      int{units.flops.has_value()} + int{units.bytes.has_value()} + int{units.time.has_value()};
  return values == 1 ? "" : "needs one of `flops_per_s`, `bytes_per_s` and `ns`";
}

// Returns the first rule that the values of a record violate; empty if there is none.
std::string find_value_violation(const UnitFields& units, const PeakRecord& record) {
  if (std::string violation = find_ceiling_violation(record.ceiling); !violation.empty())
    return violation;
  if (units.low <= 0) return "`low` is not above 0";
  if (units.low > units.high) return "`low` is above `high`";
  // The quartiles lie around the median of the processes; a time may be that of an empty kernel.
  constexpr double kMaxRatio = 1000;
  const double value = to_number(record.ceiling.value);
  if (units.high > kMaxRatio * value || value > kMaxRatio * units.low)
    return "`low` and `high` are far from the value";
  if (!record.time.empty() && !is_utc_time(record.time))
    return fmt::format("`time` is {}, not a time such as 2026-11-21T08:00:00Z", quote(record.time));
  return "";
}

// Returns whether `a` is a higher ceiling than `b`, which has the same unit.
bool is_higher(const CeilingValue& a, const CeilingValue& b) {
  return std::holds_alternative<Nanoseconds>(a) ? to_number(a) < to_number(b)
                                                : to_number(a) > to_number(b);
}

// Returns `ceilings` with rows from the records of the GPU `ceilings.gpu`, or of the CPU if empty.
Ceilings collect_ceilings(const std::vector<PeakRecord>& records, Ceilings ceilings) {
  ceilings.source = CeilingSource::stored;
  for (const PeakRecord& record : select_last_values(records)) {
    if (record.gpu != ceilings.gpu) continue;
    const Ceiling& next = record.ceiling;
    const auto existing = std::ranges::find_if(ceilings.rows, [&](const Ceiling& row) {
      return row.name == next.name && row.level == next.level && row.threads == next.threads &&
             row.value.index() == next.value.index();
    });
    if (existing == ceilings.rows.end()) {
      ceilings.rows.push_back(next);
    } else if (is_higher(next.value, existing->value)) {
      existing->value = next.value;
    }
  }
  return ceilings;
}

}  // namespace

std::string to_json_line(const PeakRecord& record) {
  UnitFields units;
  const CeilingValue& value = record.ceiling.value;
  if (const auto* flops = std::get_if<FlopsPerSecond>(&value)) units.flops = *flops;
  if (const auto* bytes = std::get_if<BytesPerSecond>(&value)) units.bytes = *bytes;
  if (const auto* time = std::get_if<Nanoseconds>(&value)) units.time = *time;
  units.low = to_number(record.low);
  units.high = to_number(record.high);
  return json_object([&](JsonWriter& writer) {
    writer.constant("record", kPeakRecord);
    writer.constant("schema", kPeakSchema);
    peak_fields(writer, record, units);
  });
}

Result<PeakRecord> peak_from_json_line(std::string_view line) {
  BENCH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(line));
  if (document.root().value_at("record") && document.root().text_at("record") != kPeakRecord)
    return Error{fmt::format("its field `record` is not `{}`", kPeakRecord), "", ""};
  if (document.root().text_at("schema") != kPeakSchema) {
    return Error{fmt::format("its field `schema` is not `{}`", kPeakSchema), "",
                 "read it with the version of bench that wrote it"};
  }
  PeakRecord record;
  UnitFields units;
  JsonReader reader(document.root());
  peak_fields(reader, record, units);
  if (reader.has("gpu") && record.gpu.empty()) reader.report_field("gpu", "is empty");
  std::string problem = reader.problem();
  if (problem.empty()) problem = find_unit_violation(units);
  if (!problem.empty()) return Error{problem, "", ""};
  if (units.flops) record.ceiling.value = *units.flops;
  if (units.bytes) record.ceiling.value = *units.bytes;
  if (units.time) record.ceiling.value = *units.time;
  problem = find_value_violation(units, record);
  if (!problem.empty()) return Error{problem, "", ""};
  record.low = with_unit_of(record.ceiling.value, units.low);
  record.high = with_unit_of(record.ceiling.value, units.high);
  return record;
}

PeakHistory parse_peaks(std::string_view text, const std::string& path,
                        std::string_view folder_name) {
  PeakHistory history{path, {}, {}};
  for (const NumberedLine& line : Lines(text)) {
    if (is_blank(line.text)) continue;
    auto record = peak_from_json_line(line.text);
    std::string problem = record.ok() ? "" : record.error().message();
    if (record.ok() && store_name(record->machine_class) != folder_name)
      problem = fmt::format("machine_class {} does not belong here", quote(record->machine_class));
    if (problem.empty()) {
      history.records.push_back(*std::move(record));
    } else {
      history.problems.push_back(
          fmt::format("{}:{}: ceiling refused: {}", path, line.number, problem));
    }
  }
  return history;
}

std::vector<PeakRecord> select_last_values(std::vector<PeakRecord> records) {
  std::map<std::tuple<std::string, std::string, std::string, int>, std::size_t> counts;
  std::vector<PeakRecord> kept;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const Ceiling& ceiling = record->ceiling;
    if (++counts[{record->gpu, ceiling.name, ceiling.level, ceiling.threads}] > kMaxPeakValues)
      continue;
    kept.push_back(std::move(*record));
  }
  std::ranges::reverse(kept);
  return kept;
}

Ceilings stored_ceilings(const std::vector<PeakRecord>& records, int threads,
                         std::map<std::string, Bytes, std::less<>> caches) {
  Ceilings cpu;
  cpu.threads = threads;
  cpu.caches = std::move(caches);
  return collect_ceilings(records, std::move(cpu));
}

Ceilings stored_gpu_ceilings(const std::vector<PeakRecord>& records, Ceilings gpu) {
  if (gpu.gpu.empty()) return gpu;
  return collect_ceilings(records, std::move(gpu));
}

}  // namespace bench
