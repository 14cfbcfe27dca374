// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/gpu_record_lines.hpp"

#include "base/lines.hpp"
#include "profiler/gpu/gpu_record_fields.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

namespace bench {
namespace {

// The limit of times ensures that sums of them stay in range.
constexpr JsonRules kGpuRules{
    .numbers = JsonRules::Numbers::any,
    .unknown = JsonRules::UnknownFields::refuse,
    .max_time = Nanoseconds(std::numeric_limits<std::int64_t>::max() / 4)};

// Record names in the order of GpuRecord's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<GpuRecord>> kRecordNames = {
    "kernel",          "memcpy",     "memset", "allocation", "api",     "external_id", "overhead",
    "synchronisation", "graph_node", "device", "context",    "reading", "note"};

// Appends to `text` instead of returning a new string, for speed: the traced program waits while
// its tracer writes 100,000 lines per second.
template <class Declare>
void append_line(std::string& text, Declare declare) {
  JsonWriter(text).add_object(declare);
  text += '\n';
}

template <class Record>
std::string named_line(std::string_view name, const Record& record) {
  std::string text;
  append_line(text, [&](JsonWriter& writer) {
    writer.constant("record", name);
    fields(writer, record);
  });
  return text;
}

template <class Record>
std::string read_named(JsonReader& reader, std::string_view name, Record& record) {
  reader.constant("record", name);
  fields(reader, record);
  return reader.problem();
}

std::string take_record(JsonReader& reader, GpuSession& session) {
  GpuRecord record;
  tagged_fields(reader, "record", kRecordNames, record,
                [](auto& archive, auto& alternative) { fields(archive, alternative); });
  std::string problem = reader.problem();
  if (problem.empty()) session.records.push_back(std::move(record));
  return problem;
}

std::string take_owner(JsonReader& reader, GpuSession& session) {
  OwnerLine line;
  std::string problem = read_named(reader, "owner", line);
  if (problem.empty() && !session.executions.emplace(line.id, std::move(line.owner)).second)
    problem = fmt::format("a second owner of id {}", line.id);
  return problem;
}

std::string take_session(JsonReader& reader, GpuSession& session) {
  GpuSession parsed_session = session;
  std::string problem = read_named(reader, "session", parsed_session);
  if (problem.empty()) session = std::move(parsed_session);
  return problem;
}

std::string take_end(JsonReader& reader, GpuSession& session) {
  GpuSessionEnd end;
  std::string problem = read_named(reader, "session_end", end);
  if (!problem.empty()) return problem;
  session.dropped += end.dropped;
  session.faults.insert(session.faults.end(), end.faults.begin(), end.faults.end());
  return {};
}

// How to read the line of a record. A record whose name has no row is an alternative of GpuRecord.
struct LineRow {
  std::string_view name;
  GpuLine kind;
  std::string (*take)(JsonReader&, GpuSession&);
};
constexpr LineRow kSessionRow{"session", GpuLine::session, take_session};
constexpr LineRow kOwnerRow{"owner", GpuLine::owner, take_owner};
constexpr LineRow kEndRow{"session_end", GpuLine::session_end, take_end};
constexpr LineRow kRecordRow{"", GpuLine::record, take_record};

const LineRow& line_row(std::string_view name) {
  for (const LineRow* row : {&kOwnerRow, &kEndRow}) {
    if (row->name == name) return *row;
  }
  return kRecordRow;
}

}  // namespace

std::string gpu_session_line(const GpuSession& session) { return named_line("session", session); }

std::string format_gpu_records(std::span<const GpuRecord> records) {
  std::string text;
  for (const GpuRecord& record : records) {
    append_line(text, [&](JsonWriter& writer) {
      tagged_fields(writer, "record", kRecordNames, record,
                    [](auto& archive, auto& alternative) { fields(archive, alternative); });
    });
  }
  return text;
}

std::string gpu_session_end_line(const GpuSessionEnd& end) {
  return named_line("session_end", end);
}

std::string format_gpu_session(const GpuSession& session) {
  std::string text = gpu_session_line(session);
  for (const auto& [id, owner] : session.executions)
    text += named_line("owner", OwnerLine{id, owner});
  return text + format_gpu_records(session.records);
}

Result<GpuLine> parse_gpu_line(std::string_view text, std::size_t number, GpuSession& session) {
  const auto document = parse_json(text);
  if (!document.ok() || !document->root().is_object())
    return Error{"it is not a JSON object", "", ""};
  const auto name = document->root().text_at("record");
  if (!name) return Error{"it has no field `record`", "", ""};
  const bool is_first = number == 1;
  if (is_first && *name != kSessionRow.name)
    return Error{"the first record must be `session`", "", ""};
  const LineRow& row = is_first ? kSessionRow : line_row(*name);
  JsonReader reader(document->root(), kGpuRules);
  if (std::string problem = row.take(reader, session); !problem.empty())
    return Error{std::move(problem), "", ""};
  return row.kind;
}

Result<GpuSession> read_gpu_session(std::string_view text, const std::string& name) {
  GpuSession session;
  if (text.empty()) return Error{"the file is empty and contains no recorded session", name, ""};
  for (const NumberedLine& line : Lines(text)) {
    const std::string place = fmt::format("{}:{}", name, line.number);
    if (line.incomplete_line)
      return Error{"the line is incomplete: it does not end in a newline", place, ""};
    const auto added = parse_gpu_line(line.text, line.number, session);
    if (!added.ok()) return Error{added.error().what, place, ""};
  }
  return session;
}

}  // namespace bench
