// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/json_lines.hpp"

#include "profiler/activity_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 2> kSchemas = {"bench.result/1", kProfileSchema};

// A longer line is not a header; its facts are ignored.
constexpr std::size_t kMaxHeader = 1 << 20;

constexpr std::string_view kBlank = " \t\r";

// Stores numbers and texts of nested objects under their joined names. Ignores levels deeper than
// any header of this tool.
void flatten(const nlohmann::json& value, const std::string& name, int depth,
             std::map<std::string, std::string>& facts) {
  constexpr int kDeepest = 4;
  if (value.is_object() && depth < kDeepest) {
    for (const auto& [key, member] : value.items()) {
      flatten(member, name.empty() ? key : fmt::format("{}.{}", name, key), depth + 1, facts);
    }
  } else if (value.is_string()) {
    facts[name] = value.get<std::string>();
  } else if (value.is_number() || value.is_boolean()) {
    facts[name] = value.dump();
  }
}

// Takes the facts of a `run` or `profile` record, named as in every reader:
// "library.onednn.version".
void take_facts(std::string_view line, std::map<std::string, std::string>& facts) {
  if (line.size() > kMaxHeader) return;
  const auto record = nlohmann::json::parse(line, nullptr, false);
  if (!record.is_object()) return;
  if (const auto tool = record.find("tool"); tool != record.end()) {
    flatten(*tool, "tool", 0, facts);
  }
  const auto environment = record.find("environment");
  if (environment == record.end() || !environment->is_object()) return;
  for (const auto& [key, value] : environment->items()) {
    if (key == "details") {
      flatten(value, "", 0, facts);
    } else {
      flatten(value, key == "libraries" ? "library" : key, 0, facts);
    }
  }
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
        ++report_.activities;
        return sink_.take(parser_.activity());
      case LineKind::other:
        return take_other(line, parsed);
      case LineKind::malformed:
        ++report_.malformed;
        note(line, line.cut ? "longer than any record" : parsed.problem);
        return Done{};
    }
    return Done{};
  }

  Status take_other(const TextSource::Line& line, const ParsedLine& parsed) {
    if (!parsed.schema.empty() &&
        std::find(kSchemas.begin(), kSchemas.end(), parsed.schema) == kSchemas.end()) {
      return Error{fmt::format("unknown schema `{}`", parsed.schema),
                   fmt::format("{}:{}", source_.name(), line.number),
                   "a newer `bench` may read it"};
    }
    if (parsed.record != "run" && parsed.record != "profile") return Done{};
    take_facts(line.text, report_.facts);
    // `bench profile` writes this if a program could not write all of its records.
    const auto incomplete = report_.facts.find("incomplete");
    if (incomplete != report_.facts.end()) {
      note(line, fmt::format("the profile is incomplete: {}", incomplete->second));
    }
    return Done{};
  }

  void note(const TextSource::Line& line, std::string_view what) {
    report_.note(fmt::format("{}:{}: {}", source_.name(), line.number, what));
  }

  TextSource& source_;
  ActivitySink& sink_;
  ActivityLineParser parser_;
  ReadReport report_;
};

}  // namespace

// There may be spaces around the colon. An incomplete first line must not hide the schema.
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

}  // namespace bench
