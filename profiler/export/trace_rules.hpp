// SPDX-License-Identifier: Apache-2.0
// The rules of trace_validator.hpp, applied to parsed events. The validator does the parsing.
#pragma once

#include "profiler/export/trace_validator.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

enum class JsonType { text, number, other };
struct JsonScalar {
  JsonType type = JsonType::other;
  std::string text;
};

// The fields that the rules check, as written in the file.
struct RawEvent {
  std::map<std::string, JsonScalar, std::less<>> fields;
  std::map<std::string, JsonScalar, std::less<>> args;
  const JsonScalar* find(std::string_view name) const;
};

class TraceRules {
 public:
  explicit TraceRules(TraceCheck& check) : check_(check) {}

  void event(const RawEvent& raw);
  void problem(std::string text);  // concerns the current event
  void file_problem(std::string text);
  void finish();  // checks rules that concern several events

 private:
  using TrackKey = std::pair<std::int64_t, std::int64_t>;
  struct Interval {
    std::int64_t start, end;  // ns
  };
  struct Bracket {  // a B or E event, or a b or e event
    std::int64_t time;
    char phase;
    std::string name;  // may be empty for an E
  };
  struct FlowEnd {
    std::int64_t time;
    TrackKey track;
    char phase;
    // Whether it belongs to the slice around it. Otherwise it belongs to the next one that begins.
    bool is_enclosed;
  };
  struct Event {
    char phase = '\0';
    std::int64_t time = 0;
    TrackKey track;
    std::string name, category;
  };

  std::optional<Event> common_fields(const RawEvent& raw);
  std::optional<std::int64_t> number_or_text(const RawEvent& raw, std::string_view name);
  std::string describe(const TrackKey& track) const;
  std::optional<std::int64_t> microseconds(const RawEvent& raw, std::string_view name);
  void check_start(const JsonScalar* name_time, std::int64_t time);
  std::string read_id(const Event& event, const RawEvent& raw);

  void slice(const Event& event, const RawEvent& raw);
  void bracket(const Event& event, const RawEvent& raw);
  void instant(const Event& event, const RawEvent& raw);
  void counter(const Event& event, const RawEvent& raw);
  void metadata(const Event& event, const RawEvent& raw);
  void other(const Event&, const RawEvent&) {}
  void flow(const Event& event, const RawEvent& raw);
  void async(const Event& event, const RawEvent& raw);
  struct PhaseRule;
  static const PhaseRule* find_rule(char phase);

  void close_brackets();
  void close_by_time(const TrackKey& track, const std::vector<Bracket>& brackets);
  void check_written_pairs(const TrackKey& track, const std::vector<Bracket>& brackets);
  void check_async(const std::string& id, std::vector<Bracket>& brackets);
  void check_nesting();
  void check_flow(const std::string& id, std::vector<FlowEnd>& ends);
  bool inside_a_slice(const FlowEnd& end) const;
  bool begins_a_slice(const FlowEnd& end) const;

  TraceCheck& check_;
  std::int64_t number_ = 0;
  // Texts that identify processes and threads. They have the numbers -1, -2, ... here.
  std::vector<std::string> texts_;
  std::map<std::string, std::int64_t, std::less<>> text_numbers_;
  std::map<TrackKey, std::vector<Interval>> slices_;
  // Per slice, in order of starts: the latest end among it and the slices before it.
  std::map<TrackKey, std::vector<std::int64_t>> furthest_;
  std::map<TrackKey, std::vector<Bracket>> brackets_;
  std::map<std::string, std::vector<FlowEnd>> flows_;
  std::map<std::string, std::vector<Bracket>> async_;  // by category and id
  std::map<std::pair<std::int64_t, std::string>, std::set<std::string>> counters_;
};

}  // namespace bench
