// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"
#include "base/quote.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/rank.hpp"
#include "profiler/readers/earlier_releases.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bench {
namespace {

constexpr std::array<std::string_view, 2> kSchemas = {"bench.result/1", kProfileSchema};

// A longer line is not a header; its facts are ignored.
constexpr std::size_t kMaxHeader = 1 << 20;

constexpr std::string_view kBlank = " \t\r";

void flatten_level(JsonValue value, const std::string& name, int depth,
                   std::map<std::string, std::string>& facts) {
  constexpr int kDeepest = 4;
  if (value.is_object() && depth < kDeepest) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string key(value.name(i));
      flatten_level(value.member(i), name.empty() ? key : fmt::format("{}.{}", name, key),
                    depth + 1, facts);
    }
  } else if (const auto text = value.text()) {
    facts[name] = *text;
  } else if (value.number() || value.boolean()) {
    facts[name] = format_json(value);
  }
}

}  // namespace

void flatten_facts(JsonValue value, const std::string& name,
                   std::map<std::string, std::string>& facts) {
  flatten_level(value, name, 0, facts);
}

namespace {

// Takes the facts of a `run` or `profile` record, named as in every reader:
// "library.onednn.version".
void take_facts(std::string_view line, std::map<std::string, std::string>& facts) {
  if (line.size() > kMaxHeader) return;
  const auto document = parse_json(line);
  if (!document.ok() || !document->root().is_object()) return;
  const JsonValue record = document->root();
  if (const auto tool = record.find("tool")) flatten_facts(record.member(*tool), "tool", facts);
  const auto index = record.find("environment");
  if (!index || !record.member(*index).is_object()) return;
  const JsonValue environment = record.member(*index);
  for (std::size_t i = 0; i < environment.size(); ++i) {
    const std::string_view key = environment.name(i);
    const std::string prefix(key == "details" ? "" : key == "libraries" ? "library" : key);
    flatten_facts(environment.member(i), prefix, facts);
  }
}

std::optional<Nanoseconds> find_time(const JsonValue& record, std::string_view name) {
  const auto value = record.value_at(name);
  const auto number = value ? value->signed_integer() : std::nullopt;
  return number ? std::optional(Nanoseconds(*number)) : std::nullopt;
}

std::optional<std::int64_t> find_count(const JsonValue& record, std::string_view name) {
  const auto value = record.value_at(name);
  return value ? value->signed_integer() : std::nullopt;
}

bool has_flag(const JsonValue& record, std::string_view name) {
  const auto flags = record.value_at("flags");
  if (!flags || !flags->is_list()) return false;
  for (std::size_t i = 0; i < flags->size(); ++i) {
    if (flags->item(i).text() == name) return true;
  }
  return false;
}

// Takes what a `case` or `profile_pass` record states about the pass. The record may be malformed.
void take_stated_pass(std::string_view line, std::string_view record, StatedPass& pass) {
  if (line.size() > kMaxHeader) return;
  const auto document = parse_json(line);
  if (!document.ok() || !document->root().is_object()) return;
  const JsonValue root = document->root();
  if (record == "case") {
    if (const auto time = root.value_at("time"); time && time->is_object())
      pass.measured = find_time(*time, "median_ns");
    pass.is_unsteady = has_flag(root, "unsteady");
    return;
  }
  pass.has_ended = true;
  pass.activities = find_count(root, "activities").value_or(0);
  pass.unread = find_count(root, "unread").value_or(0);
  if (root.text_at("outcome") != "ok")
    pass.failure = root.text_at("reason").value_or("the pass failed");
  pass.profiled = find_time(root, "profiled_ns");
  pass.unprofiled = find_time(root, "unprofiled_ns");
  pass.wall = find_time(root, "wall_ns");
  pass.attributed = find_time(root, "attributed_ns");
  pass.unattributed = find_time(root, "unattributed_ns");
  if (const auto details = root.value_at("details"); details && details->is_object())
    pass.kinds = details->text_at(kKindsFact).value_or("");
}

void take_stated_activities(std::string_view line, ReadReport& report) {
  const auto document = parse_json(line);
  if (document.ok() && document->root().is_object())
    // Files may be concatenated.
    if (const auto count = find_count(document->root(), "activities"))
      report.stated_activities = report.stated_activities.value_or(0) + *count;
}

class JsonLinesReading {
 public:
  JsonLinesReading(TextSource& source, ActivitySink& sink) : source_(source), sink_(sink) {}

  Result<ReadReport> read(std::string_view format) {
    report_.format = format;
    TextSource::Line line;
    while (source_.next(line)) {
      ++report_.lines;
      if (line.text.find_first_not_of(kBlank) == std::string_view::npos) continue;
      BENCH_RETURN_IF_ERROR(take(line));
    }
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.malformed;
      report_.note(status.error().message());
    }
    return std::move(report_);
  }

 private:
  Status take(const TextSource::Line& line) {
    const ParsedLine& parsed = parser_.parse(line.text);
    if (parsed.unknown_fields > 0) {
      report_.unknown += parsed.unknown_fields;
      note(line, "unknown attributes or attribute types");
    }
    switch (parsed.kind) {
      case LineKind::activity:
        if (!counts(parsed.run_id, parser_.activity().case_id)) return Done{};
        ++report_.activities;
        if (const std::string* source = find_source(parser_.activity()))
          parser_.activity().attributes.set(Attribute::source_location, *source);
        if (pass_ != nullptr) ++pass_->read;
        if (rank_ && parser_.activity().attributes.find(Attribute::rank) == nullptr)
          parser_.activity().attributes.set(Attribute::rank, *rank_);
        return forward(parser_.activity());
      case LineKind::other:
        return take_other(line, parsed);
      case LineKind::malformed:
        ++report_.malformed;
        note(line, line.cut       ? "longer than any record"
                   : line.has_end ? parsed.problem
                                  : "incomplete last line ignored");  // as in result files
        return Done{};
    }
    return Done{};
  }

  Status forward(const Activity& activity) {
    const auto corrected = without_work_of_node(activity);
    return sink_.consume(corrected ? *corrected : activity);
  }

  // Returns the place in the configuration of the activity's case; nullptr if it is unknown, or if
  // the activity has a place of its own.
  const std::string* find_source(const Activity& activity) {
    if (sources_.empty() || activity.case_id.empty() ||
        activity.attributes.find(Attribute::source_location) != nullptr)
      return nullptr;
    if (last_source_ == nullptr || last_source_->first != activity.case_id) {
      const auto found = sources_.find(activity.case_id);
      last_source_ = found == sources_.end() ? nullptr : &*found;
    }
    return last_source_ == nullptr ? nullptr : &last_source_->second;
  }

  Status take_other(const TextSource::Line& line, const ParsedLine& parsed) {
    if (!parsed.schema.empty() &&
        std::find(kSchemas.begin(), kSchemas.end(), parsed.schema) == kSchemas.end()) {
      return Error{fmt::format("unknown schema {}", quote(parsed.schema)),
                   fmt::format("{}:{}", source_.name(), line.number),
                   "a newer `bench` may read it"};
    }
    // A run writes the records of its cases before it profiles them.
    // The source of a case from the command line is its id.
    const std::string& case_id = parser_.activity().case_id;
    if (parsed.record == "case" && !parsed.source.empty() && parsed.source != case_id)
      sources_.insert_or_assign(case_id, parsed.source);
    if (parsed.record == "profile_end") take_stated_activities(line.text, report_);
    if (parsed.record == "case" || parsed.record == "profile_pass") {
      if (source_.passes().counts(parsed.run_id, case_id))
        take_stated_pass(line.text, parsed.record, report_.passes[case_id]);
    }
    if (parsed.record == "profile_pass") finish(parsed.run_id, parser_.activity().case_id);
    if (parsed.record == "end") finish(parsed.run_id, "");
    constexpr std::array<std::string_view, 3> kWithFacts = {"run", "profile", "profile_end"};
    if (std::ranges::find(kWithFacts, parsed.record) == kWithFacts.end()) return Done{};
    std::map<std::string, std::string> facts;
    take_facts(line.text, facts);
    // Files may be concatenated: the rank is that of the activities which follow.
    if (parsed.record == "profile") {
      const auto rank = facts.find(kRankDetail);
      rank_ = rank == facts.end() ? std::nullopt : parse_rank(rank->second);
    }
    // `bench profile` writes this if a program could not write all of its records.
    const auto incomplete = facts.find("incomplete");
    if (incomplete != facts.end()) {
      note(line, fmt::format("the profile is incomplete: {}", incomplete->second));
    }
    for (auto& [name, fact] : facts) report_.facts[name] = std::move(fact);
    return Done{};
  }

  // Activities of one pass follow one another, so the last answer usually holds.
  bool counts(const std::string& run_id, const std::string& case_id) {
    if (!answer_ || run_id != last_run_ || case_id != last_case_) {
      last_run_ = run_id;
      last_case_ = case_id;
      answer_ = source_.passes().counts(run_id, case_id);
      pass_ = *answer_ && !run_id.empty() ? &report_.passes[case_id] : nullptr;
    }
    return *answer_;
  }
  void finish(const std::string& run_id, const std::string& case_id) {
    source_.passes().finish(run_id, case_id);
    answer_.reset();
  }

  void note(const TextSource::Line& line, std::string_view what) {
    report_.note(fmt::format("{}:{}: {}", source_.name(), line.number, what));
  }

  TextSource& source_;
  ActivitySink& sink_;
  ActivityLineParser parser_;
  ReadReport report_;
  std::map<std::string, std::string, std::less<>> sources_;  // by case id
  const std::pair<const std::string, std::string>* last_source_ = nullptr;
  std::string last_run_, last_case_;
  std::optional<std::int64_t> rank_;  // rank of the profiled process; nullopt if unknown
  std::optional<bool> answer_;        // whether activities of the last run and case count
  StatedPass* pass_ = nullptr;        // the last case; nullptr if its activities do not count
};

}  // namespace

std::map<std::string, std::string> head_facts(TextSource& source) {
  std::map<std::string, std::string> facts;
  const std::string_view head = source.head();
  const std::size_t end = head.find('\n');
  if (end != std::string_view::npos) take_facts(head.substr(0, end), facts);
  if (facts.empty()) {
    if (const std::string gpu = find_kineto_gpu(head); !gpu.empty()) facts["gpu.name"] = gpu;
  }
  return facts;
}

// Whether `head` names a schema of `family`, with or without spaces around the colon. Searches all
// of `head`, because its first line may be incomplete.
bool names_schema(std::string_view head, std::string_view family) {
  const std::string wanted = fmt::format("\"{}/", family);
  constexpr std::string_view kKey = "\"schema\"";
  for (std::size_t at = head.find(kKey); at != std::string_view::npos;
       at = head.find(kKey, at + 1)) {
    std::string_view rest = head.substr(at + kKey.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t:"), rest.size()));
    if (rest.starts_with(wanted)) return true;
  }
  return false;
}

Result<ReadReport> read_json_lines(std::string_view format, TextSource& source,
                                   ActivitySink& sink) {
  return JsonLinesReading(source, sink).read(format);
}

// Reads the profiles of `bench profile` and of the profiler's library.
namespace {

bool recognises_profile(std::string_view head) { return names_schema(head, "bench.profile"); }

Result<ReadReport> read_profile(TextSource& source, ActivitySink& sink) {
  return read_json_lines("profile", source, sink);
}

}  // namespace

const ActivityReader profile_reader = {"profile", "profile of `bench profile`", recognises_profile,
                                       read_profile};

// Reads the `activity` records of result files of `bench run`.
namespace {

// Also accepts a file whose first record is incomplete or missing, if another record follows.
bool recognises_result(std::string_view head) {
  return names_schema(head, "bench.result") || head.starts_with("{\"record\":") ||
         head.find("\n{\"record\":") != std::string_view::npos;
}

Result<ReadReport> read_result(TextSource& source, ActivitySink& sink) {
  return read_json_lines("result", source, sink);
}

}  // namespace

const ActivityReader result_reader = {"result", "result file of `bench run`", recognises_result,
                                      read_result, ComparedBy::cases};

}  // namespace bench
