// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/replay_report.hpp"

#include "harness/cli/profile_source.hpp"
#include "harness/config/case_id.hpp"
#include "harness/import/kind.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace bench {
namespace {

enum class SameDevice { yes, no };

// Returns the id with the defaults of what an import does not set, and of the backend; empty for a
// network or an id of a plugin's operator.
std::string problem_id(const std::string& id, SameDevice same_device) {
  auto key = parse_id(id);
  if (!key.ok()) return {};
  const CaseKey defaults;
  key->backend = defaults.backend;
  if (same_device == SameDevice::no) key->device = defaults.device;
  key->cache = defaults.cache;
  key->threads = defaults.threads;
  key->streams = defaults.streams;
  return to_id(*key);
}

void add_result(const CaseRecord* record, ReplayedCase& row) {
  if (record == nullptr) {
    row.reason = "The result does not have this case.";
    return;
  }
  row.id = record->id;
  row.implementation = record->implementation.value_or("");
  if (record->time) {
    row.replayed = record->time->median;
  } else {
    row.reason = fmt::format("{}: {}", to_string(record->outcome), record->reason.value_or(""));
  }
}

Result<Imported> read_program(const std::string& path) {
  const ImportKind* kind = find_import_kind("profile");
  ImportRequest request;
  request.files = {{path, {}}};
  request.open = open_profile_with_work;
  return kind->read(request);
}

}  // namespace

Replay match_replay(const Report& result, const Imported& program) {
  using Records = std::map<std::string, const CaseRecord*>;
  Records records, on_any_device;
  const auto add = [](std::string id, const CaseRecord& record, Records& to) {
    const CaseRecord*& found = to[std::move(id)];
    if (found == nullptr || (!found->time && record.time)) found = &record;
  };
  for (const CaseRecord& record : result.cases) {
    add(problem_id(record.id, SameDevice::yes), record, records);
    add(problem_id(record.id, SameDevice::no), record, on_any_device);
  }
  // A suite of one device may have been measured on another.
  const auto find = [&](const std::string& id) -> const CaseRecord* {
    const auto found = records.find(problem_id(id, SameDevice::yes));
    if (found != records.end()) return found->second;
    const auto other = on_any_device.find(problem_id(id, SameDevice::no));
    return other == on_any_device.end() ? nullptr : other->second;
  };
  Replay replay;
  replay.primitives = program.time();
  replay.refused = program.refused.size();
  for (const ImportedCase& item : program.cases) {
    ReplayedCase row{.id = item.id,
                     .executions = item.use->count,
                     .original = item.use->time,
                     .original_median = item.use->times.median().value_or(Nanoseconds(0)),
                     .replayed = std::nullopt,
                     .reason = {},
                     .original_implementation = item.use->implementations,
                     .implementation = {}};
    add_result(find(item.id), row);
    replay.cases.push_back(std::move(row));
  }
  return replay;
}

Result<Replay> read_replay(const Arguments& arguments) {
  if (arguments.inputs.size() != 2)
    return Error{"--replay takes a result and a profile", "",
                 "write `bench report --replay RESULT.jsonl PROFILE`"};
  BENCH_ASSIGN_OR_RETURN(const Report result, read_report(arguments.inputs[0]));
  if (result.cases.empty())
    return Error{"contains no cases", arguments.inputs[0],
                 "name the result of the imported suite first, then the profile"};
  BENCH_ASSIGN_OR_RETURN(const Imported program, read_program(arguments.inputs[1]));
  if (program.cases.empty())
    return Error{"contains no execution that a case repeats", arguments.inputs[1],
                 "`bench import profile` says why"};
  return match_replay(result, program);
}

}  // namespace bench
