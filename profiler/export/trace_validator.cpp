// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_validator.hpp"

#include "base/quote.hpp"
#include "profiler/byte_stream.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {
namespace {

enum class JsonType { text, number, other };
struct JsonScalar {
  JsonType type = JsonType::other;
  std::string text;
};

// The fields that the rules check, as written in the file.
struct RawEvent {
  std::map<std::string, JsonScalar, std::less<>> fields;
  std::map<std::string, JsonScalar, std::less<>> args;
  const JsonScalar* find(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  }
};

constexpr std::int64_t kLimit = std::int64_t{1} << 53;  // limit of exact integers in JavaScript
// Perfetto keeps 32 bits of the number of a process or a thread.
constexpr std::int64_t kMaxNumber = (std::int64_t{1} << 32) - 1;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Returns the value as the file has it: `"1"` is a text, `1` is a number.
std::string as_written(const JsonScalar* field) {
  if (field == nullptr) return "missing";
  return field->type == JsonType::text ? fmt::format("\"{}\"", field->text) : field->text;
}

// Microseconds with at most three decimals are exact. Other notations are converted through a
// double.
std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  const bool is_decimal = text.find_first_of("eE") == text.npos;
  if (is_decimal && (point == text.npos || text.size() - point <= 4)) {
    const std::string digits =
        point == text.npos ? std::string("000") : fmt::format("{:0<3}", text.substr(point + 1));
    const auto integer_part = parse_integer(text.substr(0, point));
    if (!integer_part || *integer_part >= kLimit || *integer_part <= -kLimit) return std::nullopt;
    return parse_integer(fmt::format("{}{}", text.substr(0, point), digits));
  }
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = code == std::errc() && end == text.data() + text.size();
  if (!is_whole || !(std::abs(number) < static_cast<double>(kLimit))) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(number * 1000));
}

// Metadata and the argument that it needs.
struct MetadataRule {
  std::string_view name, argument;
  JsonType type;
};
constexpr std::array<MetadataRule, 4> kMetadataRules = {
    {{"process_name", "name", JsonType::text},
     {"thread_name", "name", JsonType::text},
     {"process_sort_index", "sort_index", JsonType::number},
     {"thread_sort_index", "sort_index", JsonType::number}}};

// The rules, applied to parsed events.
class TraceRules {
 public:
  explicit TraceRules(TraceCheck& check) : check_(check) {}

  void event(const RawEvent& raw) {
    ++number_;
    if (raw.fields.empty()) return;  // programs end a list of events, which end in commas, with {}
    const auto event = common_fields(raw);
    if (!event) return;
    ++check_.events[event->phase];
    (this->*find_rule(event->phase)->check)(*event, raw);
  }

  // Concerns the current event.
  void problem(std::string text) { file_problem(fmt::format("event {}: {}", number_, text)); }

  void file_problem(std::string text) {
    ++check_.problem_count;
    if (check_.problems.size() < kMaxProblems) check_.problems.push_back(std::move(text));
  }

  std::int64_t complete_events() const { return number_; }

  // Checks the rules that concern several events.
  void finish() {
    close_brackets();
    check_nesting();
    for (const auto& [key, ends] : flows_) check_flow(key, ends);
    for (auto& [key, brackets] : async_) check_async(key.second, brackets);
    check_.tracks = static_cast<std::int64_t>(slices_.size());
  }

 private:
  using TrackKey = std::pair<std::int64_t, std::int64_t>;
  // A slice. After check_nesting(), `end` is the latest among it and the slices before it.
  struct Interval {
    std::int64_t start, end;  // ns
  };
  struct Bracket {  // a B or E event, or a b or e event
    std::int64_t time;
    char phase;
    std::string name;  // may be empty for an E
  };
  // Category, name and id: both viewers join the ends that share them.
  using FlowKey = std::array<std::string, 3>;
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
  struct PhaseRule {
    std::string_view phases;  // one letter each
    void (TraceRules::*check)(const Event& event, const RawEvent& raw);
  };

  static const PhaseRule* find_rule(char phase) {
    // The last row has samples, objects, marks, clocks, memory dumps, contexts and the async events
    // of earlier versions of the format, which the viewers show or skip.
    static constexpr std::array<PhaseRule, 8> kRules = {{{"X", &TraceRules::slice},
                                                         {"BE", &TraceRules::bracket},
                                                         {"iI", &TraceRules::instant},
                                                         {"C", &TraceRules::counter},
                                                         {"M", &TraceRules::metadata},
                                                         {"stf", &TraceRules::flow},
                                                         {"bne", &TraceRules::async},
                                                         {"PNODRcvV()aSTpF", &TraceRules::other}}};
    const auto found = std::ranges::find_if(kRules, [&](const PhaseRule& rule) {
      return rule.phases.find(phase) != std::string_view::npos;
    });
    return found == kRules.end() ? nullptr : &*found;
  }

  std::optional<Event> common_fields(const RawEvent& raw) {
    const JsonScalar* phase = raw.find("ph");
    if (phase == nullptr || phase->type != JsonType::text || phase->text.size() != 1 ||
        find_rule(phase->text[0]) == nullptr) {
      problem(phase == nullptr ? "no `ph`" : fmt::format("unknown phase {}", quote(phase->text)));
      return std::nullopt;
    }
    Event event;
    event.phase = phase->text[0];
    const auto pid = number_or_text(raw, "pid");
    // Perfetto takes the process' number for that of the thread; the other viewer shows a thread
    // without a number.
    const auto tid = raw.find("tid") == nullptr ? pid : number_or_text(raw, "tid");
    const auto time = event.phase == 'M' ? std::optional<std::int64_t>(0) : microseconds(raw, "ts");
    if (!pid || !tid || !time) return std::nullopt;
    check_start(event.phase == 'M' ? raw.find("ts") : nullptr, *time);
    event.track = {*pid, *tid};
    event.time = *time;
    const JsonScalar* name = raw.find("name");
    if (event.phase != 'E' && (name == nullptr || name->type != JsonType::text)) {
      problem("no `name`");
    }
    if (name != nullptr) event.name = name->text;
    if (const JsonScalar* category = raw.find("cat")) event.category = category->text;
    return event;
  }

  // Both viewers take texts as well: each text is a process or a thread of its own.
  std::optional<std::int64_t> number_or_text(const RawEvent& raw, std::string_view name) {
    const JsonScalar* field = raw.find(name);
    if (field != nullptr && field->type == JsonType::text) {
      const auto next = -1 - static_cast<std::int64_t>(texts_.size());
      const auto [entry, is_new] = text_numbers_.emplace(field->text, next);
      if (is_new) texts_.push_back(field->text);
      return entry->second;
    }
    const auto number = field != nullptr && field->type == JsonType::number
                            ? parse_integer(field->text)
                            : std::nullopt;
    if (number && *number >= 0 && *number <= kMaxNumber) return number;
    problem(fmt::format("`{}` is {}, expected a text or an integer from 0 to 2^32 - 1{}", name,
                        as_written(field),
                        number && *number > kMaxNumber ? ": Perfetto keeps 32 bits" : ""));
    return std::nullopt;
  }

  std::string describe(std::int64_t number) const {
    if (number >= 0) return std::to_string(number);
    return fmt::format("\"{}\"", texts_[static_cast<std::size_t>(-1 - number)]);
  }
  std::string describe(const TrackKey& track) const {
    return fmt::format("pid {} tid {}", describe(track.first), describe(track.second));
  }

  // Perfetto leaves out events before 0, and with them the names of processes and threads.
  void check_start(const JsonScalar* name_time, std::int64_t time) {
    const auto start =
        name_time == nullptr ? time : parse_microseconds(name_time->text).value_or(0);
    if (start < 0) problem("`ts` is negative: Perfetto leaves out the event");
  }

  // Both viewers take numbers written as texts as well.
  std::optional<std::int64_t> microseconds(const RawEvent& raw, std::string_view name) {
    const JsonScalar* field = raw.find(name);
    const auto time = field != nullptr && field->type != JsonType::other
                          ? parse_microseconds(field->text)
                          : std::nullopt;
    if (!time) {
      problem(fmt::format("`{}` is {}, expected a number of microseconds below 2^53", name,
                          as_written(field)));
    }
    return time;
  }

  // Returns the text that both viewers compare to join the events of one flow or async event. An
  // `id2` with the key `local` counts within its process.
  std::string read_id(const Event& event, const RawEvent& raw) {
    const JsonScalar* id = raw.find("id");
    if (id == nullptr) id = raw.find("id2");
    if (id == nullptr || id->type == JsonType::other) {
      problem("no `id`");
      return {};
    }
    const bool is_local = id->text.starts_with("local:");
    return is_local ? fmt::format("{} of pid {}", id->text, describe(event.track.first)) : id->text;
  }

  void slice(const Event& event, const RawEvent& raw) {
    const auto duration = microseconds(raw, "dur");
    if (duration && *duration < 0) return problem("`dur` is negative");
    if (!duration) return;
    std::int64_t end = 0;
    if (__builtin_add_overflow(event.time, *duration, &end))
      return problem("`ts` and `dur` add up to more than the viewers can represent");
    slices_[event.track].push_back({event.time, end});
  }

  void bracket(const Event& event, const RawEvent&) {
    brackets_[event.track].push_back({event.time, event.phase, event.name});
  }

  void instant(const Event&, const RawEvent& raw) {
    const JsonScalar* scope = raw.find("s");
    if (scope == nullptr) return;  // that of its thread
    const bool is_valid = scope->text.size() == 1 &&
                          std::string_view("gpt").find(scope->text[0]) != std::string_view::npos;
    if (!is_valid) problem("`s` of an instant must be g, p or t");
  }

  void counter(const Event& event, const RawEvent& raw) {
    std::set<std::string> keys;
    for (const auto& [key, value] : raw.args) {
      keys.insert(key);
      if (value.type != JsonType::number)
        problem(fmt::format("counter {} is not a number", quote(key)));
    }
    if (keys.empty()) problem("a counter without values");
    const JsonScalar* id = raw.find("id");  // name and id together are the counter's name
    const auto [entry, added] = counters_.emplace(
        std::tuple(event.track.first, event.name, id == nullptr ? std::string() : id->text), keys);
    if (!added && entry->second != keys) problem("the keys of the counter differ from before");
  }

  void metadata(const Event& event, const RawEvent& raw) {
    const auto* rule = std::ranges::find(kMetadataRules, event.name, &MetadataRule::name);
    if (rule == kMetadataRules.end()) return;
    const auto found = raw.args.find(rule->argument);
    if (found == raw.args.end() || found->second.type != rule->type) {
      problem(fmt::format("metadata without args.{}", rule->argument));
    }
  }

  void other(const Event&, const RawEvent&) {}

  void flow(const Event& event, const RawEvent& raw) {
    const JsonScalar* binding = raw.find("bp");
    const bool is_enclosed = event.phase != 'f' || (binding != nullptr && binding->text == "e");
    flows_[FlowKey{event.category, event.name, read_id(event, raw)}].push_back(
        {event.time, event.track, event.phase, is_enclosed});
  }

  void async(const Event& event, const RawEvent& raw) {
    std::vector<Bracket>& brackets = async_[{event.category, read_id(event, raw)}];
    if (event.phase != 'n') brackets.push_back({event.time, event.phase, event.name});
  }

  // Pairs brackets by time, as both viewers do: an end ends what began last. Calls `end_one` with
  // each end and its begin, which is nullptr if nothing is open. Returns how many never end.
  template <class EndOne>
  static std::size_t pair_brackets(std::vector<Bracket>& brackets, EndOne end_one) {
    std::ranges::stable_sort(brackets, {}, &Bracket::time);
    std::vector<const Bracket*> open;
    for (const Bracket& bracket : brackets) {
      if (bracket.phase == 'B' || bracket.phase == 'b') {
        open.push_back(&bracket);
        continue;
      }
      end_one(open.empty() ? nullptr : open.back(), bracket);
      if (!open.empty()) open.pop_back();
    }
    return open.size();
  }

  void report_wrong_end(std::string_view place, const Bracket& begin, const Bracket& end) {
    file_problem(fmt::format("{}: the end of {} at {} ns would end {}, which began last", place,
                             quote(end.name), end.time, quote(begin.name)));
  }

  // Async events of one id nest like slices. Reports the first problem, which may cause the others.
  void check_async(const std::string& id, std::vector<Bracket>& brackets) {
    const std::string place = fmt::format("async event {}", id);
    bool is_reported = false;
    const auto left_open = pair_brackets(brackets, [&](const Bracket* begin, const Bracket& end) {
      if (is_reported || (begin != nullptr && begin->name == end.name)) return;
      is_reported = true;
      if (begin != nullptr) return report_wrong_end(place, *begin, end);
      file_problem(fmt::format("{}: the end of {} at {} ns did not begin", place, quote(end.name),
                               end.time));
    });
    if (left_open > 0 && !is_reported) file_problem(fmt::format("{} never ends", place));
  }

  void close_brackets() {
    for (auto& [track, brackets] : brackets_) {
      const bool are_ends_named = std::ranges::any_of(brackets, [](const Bracket& bracket) {
        return bracket.phase == 'E' && !bracket.name.empty();
      });
      if (!are_ends_named) check_written_pairs(track, brackets);
      close_by_time(track, brackets);
    }
  }

  void close_by_time(const TrackKey& track, std::vector<Bracket>& brackets) {
    std::size_t unbegun = 0;
    bool is_reported = false;  // one end at the wrong place displaces the ends after it
    const auto left_open = pair_brackets(brackets, [&](const Bracket* begin, const Bracket& end) {
      if (begin == nullptr) {
        ++unbegun;
        return;
      }
      if (!is_reported && !end.name.empty() && end.name != begin->name) {
        is_reported = true;
        report_wrong_end(describe(track), *begin, end);
      }
      slices_[track].push_back({begin->time, end.time});
    });
    if (unbegun + left_open == 0) return;
    file_problem(
        fmt::format("{}: {} B without E, {} E without B", describe(track), left_open, unbegun));
  }

  // A program that writes the E of a slice directly after its B means this pair, but the viewers
  // sort the events by time. Reports a slice that is pairwise in the file and not by time. A file
  // may also be in the order of time, or in any other; then its pairs mean nothing.
  void check_written_pairs(const TrackKey& track, const std::vector<Bracket>& brackets) {
    struct Pair {
      const Bracket* begin;
      const Bracket* end;
    };
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i + 1 < brackets.size(); i += 2) {
      const bool is_pair = brackets[i].phase == 'B' && brackets[i + 1].phase == 'E' &&
                           brackets[i].time <= brackets[i + 1].time;
      if (!is_pair) return;
      pairs.push_back({&brackets[i], &brackets[i + 1]});
    }
    std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) {
      return a.begin->time != b.begin->time ? a.begin->time < b.begin->time
                                            : a.end->time > b.end->time;
    });
    std::vector<Pair> open;
    for (const Pair& pair : pairs) {
      while (!open.empty() && open.back().end->time <= pair.begin->time) open.pop_back();
      if (!open.empty() && open.back().end->time < pair.end->time) {
        file_problem(fmt::format(
            "{}: {} from {} to {} ns and {} from {} to {} ns overlap: each E ends the slice that "
            "began last",
            describe(track), quote(open.back().begin->name), open.back().begin->time,
            open.back().end->time, quote(pair.begin->name), pair.begin->time, pair.end->time));
      }
      open.push_back(pair);
    }
  }

  void check_nesting() {
    for (auto& [track, slices] : slices_) {
      std::sort(slices.begin(), slices.end(), [](const Interval& a, const Interval& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
      });
      std::vector<std::int64_t> open;
      std::int64_t latest_end = std::numeric_limits<std::int64_t>::min();
      for (Interval& slice : slices) {
        while (!open.empty() && open.back() <= slice.start) open.pop_back();
        if (!open.empty() && open.back() < slice.end) {
          file_problem(fmt::format("{}: the slice from {} to {} ns overlaps one that ends at {} ns",
                                   describe(track), slice.start, slice.end, open.back()));
        }
        open.push_back(slice.end);
        slice.end = latest_end = std::max(latest_end, slice.end);
      }
    }
  }

  bool inside_a_slice(const FlowEnd& end) const {
    const auto slices = slices_.find(end.track);
    if (slices == slices_.end()) return false;
    const auto after = std::ranges::upper_bound(slices->second, end.time, {}, &Interval::start);
    return after != slices->second.begin() && std::prev(after)->end >= end.time;
  }

  bool begins_a_slice(const FlowEnd& end) const {
    const auto slices = slices_.find(end.track);
    return slices != slices_.end() &&
           std::ranges::binary_search(slices->second, end.time, {}, &Interval::start);
  }

  void check_flow(const FlowKey& key, const std::vector<FlowEnd>& ends) {
    const std::string number = fmt::format("{} ({})", key[2], quote(key[1]));
    const auto count = [&](char phase) {
      return std::count_if(ends.begin(), ends.end(),
                           [&](const FlowEnd& end) { return end.phase == phase; });
    };
    if (count('s') != 1 || count('f') == 0) {
      return file_problem(fmt::format("flow {}: {} s and {} f", number, count('s'), count('f')));
    }
    const auto start =
        std::find_if(ends.begin(), ends.end(), [](const FlowEnd& end) { return end.phase == 's'; });
    for (const FlowEnd& end : ends) {
      if (end.time < start->time) {
        return file_problem(fmt::format("flow {} arrives before it leaves", number));
      }
      if (!end.is_enclosed && !begins_a_slice(end)) {
        return file_problem(
            fmt::format("flow {}: its end needs \"bp\":\"e\", or would belong to "
                        "the next slice that begins",
                        number));
      }
      if (!inside_a_slice(end)) {
        return file_problem(fmt::format("flow {}: no slice around its `{}`", number, end.phase));
      }
    }
    ++check_.flows;
  }

  TraceCheck& check_;
  std::int64_t number_ = 0;
  // Texts that identify processes and threads. They have the numbers -1, -2, ... here.
  std::vector<std::string> texts_;
  std::map<std::string, std::int64_t, std::less<>> text_numbers_;
  std::map<TrackKey, std::vector<Interval>> slices_;
  std::map<TrackKey, std::vector<Bracket>> brackets_;
  std::map<FlowKey, std::vector<FlowEnd>> flows_;
  // By category and id.
  std::map<std::pair<std::string, std::string>, std::vector<Bracket>> async_;
  std::map<std::tuple<std::int64_t, std::string, std::string>, std::set<std::string>> counters_;
};

using Refill = std::function<std::string_view()>;  // returns the next piece; empty at the end

// Input stream for rapidjson::Reader.
class PieceStream {
 public:
  using Ch = char;
  explicit PieceStream(Refill refill) : refill_(std::move(refill)) { fill(); }
  char Peek() const { return position_ < piece_.size() ? piece_[position_] : '\0'; }
  char Take() {
    const char c = Peek();
    if (position_ < piece_.size()) {
      ++position_;
      ++consumed_;
      if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) last_ = c;
      if (position_ == piece_.size()) fill();
    }
    return c;
  }
  std::size_t Tell() const { return consumed_; }
  bool at_end() const { return position_ >= piece_.size(); }
  // Returns the last character that was taken and is not a blank; NUL if there is none.
  char last() const { return last_; }
  // Required for output streams; never called.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  void fill() {
    piece_ = refill_();
    position_ = 0;
  }
  Refill refill_;
  std::string_view piece_;
  std::size_t position_ = 0, consumed_ = 0;
  char last_ = '\0';
};

// Finds the events in a document of either form: an object with `traceEvents`, or a bare array.
class TraceHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TraceHandler> {
 public:
  explicit TraceHandler(TraceRules& rules) : rules_(rules) {}

  bool StartObject() { return open(Scope::object); }
  bool StartArray() { return open(Scope::array); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (depth_ == 1) root_key_.assign(text, size);
    if (depth_ == event_depth_) key_.assign(text, size);
    if (depth_ == event_depth_ + 1) argument_.assign(text, size);
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return scalar(JsonType::text, {text, size});
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return scalar(JsonType::number, {text, size});
  }
  bool Bool(bool value) { return scalar(JsonType::other, value ? "true" : "false"); }
  bool Null() { return scalar(JsonType::other, "null"); }

  // Returns whether the text may end here: between two events of a bare array.
  bool between_events() const { return root_ == Scope::array && depth_ == 1; }
  bool within_event() const { return in_events_ && depth_ >= event_depth_; }
  bool in_events() const { return in_events_; }
  bool has_events() const { return has_events_; }

 private:
  enum class Scope { object, array };

  bool open(Scope scope) {
    ++depth_;
    if (depth_ == event_depth_ + 1) is_list_ = scope == Scope::array;
    if (depth_ == 1) {
      root_ = scope;
      event_depth_ = scope == Scope::array ? 2 : 3;
      has_events_ = in_events_ = scope == Scope::array;
    } else if (depth_ == 2 && root_ == Scope::object) {
      in_events_ = root_key_ == "traceEvents" && scope == Scope::array;
      has_events_ = has_events_ || in_events_;
    } else if (in_events_ && depth_ == event_depth_ + 1 &&
               (scope == Scope::array || (key_ != "args" && key_ != "id2"))) {
      store(raw_.fields, key_, JsonType::other, "");
    } else if (in_events_ && depth_ == event_depth_ + 2 && key_ == "args" && !is_list_) {
      store(raw_.args, argument_, JsonType::other, "");
    }
    if (in_events_ && depth_ == event_depth_) {
      raw_.fields.clear();
      raw_.args.clear();
      if (scope == Scope::array) rules_.file_problem("an event that is not an object");
    }
    return true;
  }

  bool close() {
    if (in_events_ && depth_ == event_depth_) rules_.event(raw_);
    if (in_events_ && depth_ == event_depth_ - 1) in_events_ = false;
    --depth_;
    return true;
  }

  bool scalar(JsonType type, std::string_view text) {
    if (depth_ == 0) rules_.file_problem("neither an object nor an array");
    if (depth_ == 1 && root_ == Scope::object && root_key_ == "displayTimeUnit" && text != "ns" &&
        text != "ms") {
      rules_.file_problem(fmt::format("displayTimeUnit is {}, expected ns or ms", quote(text)));
    }
    if (!in_events_) return true;
    if (depth_ == event_depth_ - 1) rules_.file_problem("an event that is not an object");
    if (depth_ == event_depth_) store(raw_.fields, key_, type, text);
    const bool is_member = depth_ == event_depth_ + 1 && !is_list_;
    if (is_member && key_ == "args") store(raw_.args, argument_, type, text);
    if (is_member && key_ == "id2") {
      store(raw_.fields, key_, type, fmt::format("{}:{}", argument_, text));
    }
    return true;
  }

  template <class Map>
  static void store(Map& map, const std::string& key, JsonType type, std::string_view text) {
    map[key] = JsonScalar{type, std::string(text)};
  }

  TraceRules& rules_;
  int depth_ = 0;
  int event_depth_ = 0;
  Scope root_ = Scope::object;
  bool in_events_ = false;
  bool has_events_ = false;
  bool is_list_ = false;  // the member of the event is an array, whose values have no keys
  std::string root_key_, key_, argument_;
  RawEvent raw_;
};

// Whether a bare array ends between two events, and not within a word or a text at their depth.
bool ends_between_events(rapidjson::ParseErrorCode code, const PieceStream& stream,
                         const TraceHandler& handler) {
  const bool expects_event = code == rapidjson::kParseErrorValueInvalid ||
                             code == rapidjson::kParseErrorArrayMissCommaOrSquareBracket;
  const bool is_after_event = std::string_view("[,}").find(stream.last()) != std::string_view::npos;
  return handler.between_events() && expects_event && is_after_event;
}

std::string describe_cut(const TraceRules& rules, const TraceHandler& handler) {
  if (!handler.within_event() && !handler.between_events())
    return fmt::format("the trace ends after event {}, before its list does",
                       rules.complete_events());
  return fmt::format("the trace ends within event {}: viewers drop this event or refuse the trace",
                     rules.complete_events() + 1);
}

TraceCheck check_pieces(Refill refill) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseValidateEncodingFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  TraceCheck check;
  TraceRules rules(check);
  TraceHandler handler(rules);
  PieceStream stream(std::move(refill));
  const rapidjson::ParseResult result = rapidjson::Reader().Parse<kFlags>(stream, handler);
  if (!result && stream.at_end() && ends_between_events(result.Code(), stream, handler)) {
    check.ending = TraceEnding::unterminated;
  } else if (!result) {
    const bool is_cut = stream.at_end() && handler.in_events();
    if (is_cut) check.ending = TraceEnding::cut;
    const std::string reason = is_cut ? describe_cut(rules, handler)
                                      : fmt::format("the file is not valid JSON: {}",
                                                    rapidjson::GetParseError_En(result.Code()));
    rules.file_problem(fmt::format("byte {}: {}", result.Offset() + 1, reason));
  } else if (!stream.at_end()) {  // the parser takes a NUL for the end
    rules.file_problem(fmt::format("byte {}: text after the end of the trace", stream.Tell() + 1));
  } else if (!handler.has_events()) {
    rules.file_problem("the file is not a Chrome trace: it has no `traceEvents`");
  }
  rules.finish();
  return check;
}

}  // namespace

std::int64_t TraceCheck::total() const {
  return std::accumulate(events.begin(), events.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

TraceCheck check_trace(std::string_view text) {
  return check_pieces([&]() { return std::exchange(text, {}); });
}

Result<TraceCheck> check_trace_file(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, open_bytes(path));
  bytes = as_utf8(std::move(bytes));
  std::array<char, 65536> block;
  Status status = Done{};
  TraceCheck check = check_pieces([&]() -> std::string_view {
    const Result<std::size_t> count = bytes->read(block.data(), block.size());
    if (!count.ok()) status = count.error();
    return {block.data(), count.ok() ? *count : 0};
  });
  BENCH_RETURN_IF_ERROR(status);
  return check;
}

}  // namespace bench
