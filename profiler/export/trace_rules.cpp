// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_rules.hpp"

#include "base/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace bench {
namespace {

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
  if (code != std::errc() || std::abs(number) >= static_cast<double>(kLimit)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(number * 1000));
}

constexpr std::array<std::string_view, 2> kNameMetadata = {"process_name", "thread_name"};
constexpr std::array<std::string_view, 2> kOrderMetadata = {"process_sort_index",
                                                            "thread_sort_index"};

}  // namespace

const JsonScalar* RawEvent::find(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

struct TraceRules::PhaseRule {
  char phase;
  void (TraceRules::*check)(const Event& event, const RawEvent& raw);
};

const TraceRules::PhaseRule* TraceRules::find_rule(char phase) {
  // The last rows are samples, objects, marks, clocks, memory dumps, contexts and the async events
  // of earlier versions of the format, which the viewers show or skip.
  static constexpr std::array<PhaseRule, 28> kRules = {
      {{'X', &TraceRules::slice},    {'B', &TraceRules::bracket}, {'E', &TraceRules::bracket},
       {'i', &TraceRules::instant},  {'I', &TraceRules::instant}, {'C', &TraceRules::counter},
       {'M', &TraceRules::metadata}, {'s', &TraceRules::flow},    {'t', &TraceRules::flow},
       {'f', &TraceRules::flow},     {'b', &TraceRules::async},   {'n', &TraceRules::async},
       {'e', &TraceRules::async},    {'P', &TraceRules::other},   {'N', &TraceRules::other},
       {'O', &TraceRules::other},    {'D', &TraceRules::other},   {'R', &TraceRules::other},
       {'c', &TraceRules::other},    {'v', &TraceRules::other},   {'V', &TraceRules::other},
       {'(', &TraceRules::other},    {')', &TraceRules::other},   {'a', &TraceRules::other},
       {'S', &TraceRules::other},    {'T', &TraceRules::other},   {'p', &TraceRules::other},
       {'F', &TraceRules::other}}};
  const auto found = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const PhaseRule& rule) { return rule.phase == phase; });
  return found == kRules.end() ? nullptr : &*found;
}

void TraceRules::problem(std::string text) {
  file_problem(fmt::format("event {}: {}", number_, text));
}

void TraceRules::file_problem(std::string text) {
  ++check_.problem_count;
  if (check_.problems.size() < kMaxProblems) check_.problems.push_back(std::move(text));
}

void TraceRules::event(const RawEvent& raw) {
  ++number_;
  if (raw.fields.empty()) return;  // programs end a list of events, which end in commas, with {}
  const auto event = common_fields(raw);
  if (!event) return;
  ++check_.events[event->phase];
  (this->*find_rule(event->phase)->check)(*event, raw);
}

std::optional<TraceRules::Event> TraceRules::common_fields(const RawEvent& raw) {
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
std::optional<std::int64_t> TraceRules::number_or_text(const RawEvent& raw, std::string_view name) {
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

std::string TraceRules::describe(const TrackKey& track) const {
  const auto written = [this](std::int64_t number) {
    if (number >= 0) return std::to_string(number);
    return fmt::format("\"{}\"", texts_[static_cast<std::size_t>(-1 - number)]);
  };
  return fmt::format("pid {} tid {}", written(track.first), written(track.second));
}

// Perfetto leaves out events before 0, and with them the names of processes and threads.
void TraceRules::check_start(const JsonScalar* name_time, std::int64_t time) {
  const auto start = name_time == nullptr ? time : parse_microseconds(name_time->text).value_or(0);
  if (start < 0) problem("`ts` is negative: Perfetto leaves out the event");
}

// Both viewers take numbers written as texts as well.
std::optional<std::int64_t> TraceRules::microseconds(const RawEvent& raw, std::string_view name) {
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
std::string TraceRules::read_id(const Event& event, const RawEvent& raw) {
  const JsonScalar* id = raw.find("id");
  if (id == nullptr) id = raw.find("id2");
  if (id == nullptr || id->type == JsonType::other) {
    problem("no `id`");
    return {};
  }
  const bool is_local = id->text.starts_with("local:");
  return is_local ? fmt::format("{} of pid {}", id->text, event.track.first) : id->text;
}

void TraceRules::slice(const Event& event, const RawEvent& raw) {
  const auto duration = microseconds(raw, "dur");
  if (duration && *duration < 0) return problem("`dur` is negative");
  if (duration) slices_[event.track].push_back({event.time, event.time + *duration});
}

void TraceRules::bracket(const Event& event, const RawEvent&) {
  brackets_[event.track].push_back({event.time, event.phase, event.name});
}

void TraceRules::instant(const Event&, const RawEvent& raw) {
  const JsonScalar* scope = raw.find("s");
  if (scope == nullptr) return;  // that of its thread
  const bool is_valid = scope->text.size() == 1 &&
                        std::string_view("gpt").find(scope->text[0]) != std::string_view::npos;
  if (!is_valid) problem("`s` of an instant must be g, p or t");
}

void TraceRules::counter(const Event& event, const RawEvent& raw) {
  std::set<std::string> keys;
  for (const auto& [key, value] : raw.args) {
    keys.insert(key);
    if (value.type != JsonType::number)
      problem(fmt::format("counter {} is not a number", quote(key)));
  }
  if (keys.empty()) problem("a counter without values");
  const auto [entry, added] = counters_.emplace(std::pair(event.track.first, event.name), keys);
  if (!added && entry->second != keys) problem("the keys of the counter differ from before");
}

void TraceRules::metadata(const Event& event, const RawEvent& raw) {
  const auto has = [&](std::string_view key, JsonType type) {
    const auto found = raw.args.find(key);
    return found != raw.args.end() && found->second.type == type;
  };
  const auto is_one_of = [&](const auto& names) {
    return std::find(names.begin(), names.end(), event.name) != names.end();
  };
  if (is_one_of(kNameMetadata)) {
    if (!has("name", JsonType::text)) problem("metadata without args.name");
  } else if (is_one_of(kOrderMetadata)) {
    if (!has("sort_index", JsonType::number)) problem("metadata without args.sort_index");
  }
}

void TraceRules::flow(const Event& event, const RawEvent& raw) {
  const JsonScalar* binding = raw.find("bp");
  const bool is_enclosed = event.phase != 'f' || (binding != nullptr && binding->text == "e");
  flows_[fmt::format("{}\n{}\n{}", event.category, event.name, read_id(event, raw))].push_back(
      {event.time, event.track, event.phase, is_enclosed});
}

void TraceRules::async(const Event& event, const RawEvent& raw) {
  std::vector<Bracket>& brackets =
      async_[fmt::format("{}\n{}", event.category, read_id(event, raw))];
  if (event.phase != 'n') brackets.push_back({event.time, event.phase, event.name});
}

// Async events of one id nest like slices: an `e` ends the event that began last.
void TraceRules::check_async(const std::string& id, std::vector<Bracket>& brackets) {
  std::ranges::stable_sort(brackets, {}, &Bracket::time);
  std::vector<const Bracket*> open;
  for (const Bracket& bracket : brackets) {
    if (bracket.phase == 'b') {
      open.push_back(&bracket);
    } else if (open.empty()) {
      return file_problem(fmt::format("async event {}: the end of {} at {} ns did not begin", id,
                                      quote(bracket.name), bracket.time));
    } else if (open.back()->name != bracket.name) {
      return file_problem(
          fmt::format("async event {}: the end of {} at {} ns would end {}, which began last", id,
                      quote(bracket.name), bracket.time, quote(open.back()->name)));
    } else {
      open.pop_back();
    }
  }
  if (!open.empty()) file_problem(fmt::format("async event {} never ends", id));
}

void TraceRules::finish() {
  close_brackets();
  check_nesting();
  for (auto& [id, ends] : flows_) check_flow(id, ends);
  for (auto& [id, brackets] : async_) check_async(id.substr(id.find('\n') + 1), brackets);
  check_.tracks = static_cast<std::int64_t>(slices_.size());
}

void TraceRules::close_brackets() {
  for (auto& [track, brackets] : brackets_) {
    const bool are_ends_named = std::ranges::any_of(brackets, [](const Bracket& bracket) {
      return bracket.phase == 'E' && !bracket.name.empty();
    });
    if (!are_ends_named) check_written_pairs(track, brackets);
    std::stable_sort(brackets.begin(), brackets.end(),
                     [](const Bracket& a, const Bracket& b) { return a.time < b.time; });
    close_by_time(track, brackets);
  }
}

// Pairs the brackets as both viewers do: an E ends the slice that began last.
void TraceRules::close_by_time(const TrackKey& track, const std::vector<Bracket>& brackets) {
  std::vector<const Bracket*> open;
  std::int64_t unbegun = 0;
  bool is_reported = false;  // one end at the wrong place displaces the ends after it
  for (const Bracket& bracket : brackets) {
    if (bracket.phase == 'B') {
      open.push_back(&bracket);
    } else if (open.empty()) {
      ++unbegun;
    } else {
      const Bracket& begin = *open.back();
      if (!is_reported && !bracket.name.empty() && bracket.name != begin.name) {
        is_reported = true;
        file_problem(fmt::format("{}: the end of {} at {} ns would end {}, which began last",
                                 describe(track), quote(bracket.name), bracket.time,
                                 quote(begin.name)));
      }
      slices_[track].push_back({begin.time, bracket.time});
      open.pop_back();
    }
  }
  if (unbegun + static_cast<std::int64_t>(open.size()) == 0) return;
  file_problem(
      fmt::format("{}: {} B without E, {} E without B", describe(track), open.size(), unbegun));
}

// A program that writes the E of a slice directly after its B means this pair, but the viewers sort
// the events by time. Reports a slice that is pairwise in the file and not by time. A file may also
// be in the order of time, or in any other; then its pairs mean nothing.
void TraceRules::check_written_pairs(const TrackKey& track, const std::vector<Bracket>& brackets) {
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

void TraceRules::check_nesting() {
  for (auto& [track, slices] : slices_) {
    std::sort(slices.begin(), slices.end(), [](const Interval& a, const Interval& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<std::int64_t> open;
    std::vector<std::int64_t>& furthest = furthest_[track];
    furthest.reserve(slices.size());
    for (const Interval& slice : slices) {
      while (!open.empty() && open.back() <= slice.start) open.pop_back();
      if (!open.empty() && open.back() < slice.end) {
        file_problem(fmt::format("{}: the slice from {} to {} ns overlaps one that ends at {} ns",
                                 describe(track), slice.start, slice.end, open.back()));
      }
      open.push_back(slice.end);
      furthest.push_back(std::max(slice.end, furthest.empty() ? slice.end : furthest.back()));
    }
  }
}

bool TraceRules::inside_a_slice(const FlowEnd& end) const {
  const auto slices = slices_.find(end.track);
  if (slices == slices_.end()) return false;
  const auto after =
      std::upper_bound(slices->second.begin(), slices->second.end(), end.time,
                       [](std::int64_t time, const Interval& slice) { return time < slice.start; });
  const auto started_slices = static_cast<std::size_t>(after - slices->second.begin());
  return started_slices > 0 && furthest_.at(end.track)[started_slices - 1] >= end.time;
}

bool TraceRules::begins_a_slice(const FlowEnd& end) const {
  const auto slices = slices_.find(end.track);
  return slices != slices_.end() &&
         std::ranges::binary_search(slices->second, end.time, {}, &Interval::start);
}

void TraceRules::check_flow(const std::string& id, std::vector<FlowEnd>& ends) {
  // Both viewers join the ends of one category, name and id.
  const std::size_t name = id.find('\n') + 1;
  const std::size_t name_end = id.rfind('\n');
  const std::string number =
      fmt::format("{} ({})", id.substr(name_end + 1), quote(id.substr(name, name_end - name)));
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

}  // namespace bench
