// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/spool_reader.hpp"

#include "base/quote.hpp"
#include "profiler/capture/caller_frames.hpp"
#include "profiler/capture/code_names.hpp"
#include "profiler/capture/process_spans.hpp"
#include "profiler/capture/sample_join.hpp"
#include "profiler/onednn/verbose_activity.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench {
namespace {

std::optional<std::int64_t> integer(const rapidjson::Document& record, const char* name) {
  const auto found = record.FindMember(name);
  if (found == record.MemberEnd() || !found->value.IsInt64()) return std::nullopt;
  return found->value.GetInt64();
}

// Returns 0 if the field is missing.
std::uint64_t number(const rapidjson::Document& record, const char* name) {
  const auto found = record.FindMember(name);
  return found == record.MemberEnd() || !found->value.IsUint64() ? 0 : found->value.GetUint64();
}

std::string_view text(const rapidjson::Document& record, const char* name) {
  const auto found = record.FindMember(name);
  if (found == record.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

// 73 years of uptime. Sums and differences with a duration stay in range.
constexpr std::int64_t kLatest = (std::int64_t{1} << 61) - 2;

// More than a year of periods; products with a period stay in range.
constexpr std::int64_t kMaxPeriods = 1'000'000'000;

struct NvtxRecord {
  std::string_view name;
  Status (NvtxTracker::*take)(const NvtxCall& call);
};
constexpr std::array<NvtxRecord, 12> kNvtxRecords = {{
    {"nvtx_push", &NvtxTracker::push},
    {"nvtx_pop", &NvtxTracker::pop},
    {"nvtx_start", &NvtxTracker::start},
    {"nvtx_end", &NvtxTracker::end},
    {"nvtx_mark", &NvtxTracker::mark},
    {"nvtx_domain", &NvtxTracker::name_domain},
    {"nvtx_string", &NvtxTracker::name_string},
    {"nvtx_category", &NvtxTracker::name_category},
    {"nvtx_thread", &NvtxTracker::name_thread},
    {"thread_end", &NvtxTracker::end_thread},
    {"profiler_start", &NvtxTracker::start_profiler},
    {"profiler_stop", &NvtxTracker::stop_profiler},
}};

class SpoolReader {
 public:
  SpoolReader(TextSource& source, ActivitySink& sink, const SpoolOptions& options)
      : source_(source),
        sink_(sink),
        spans_(options.program),
        frame_name_(options.frame_name),
        sample_rate_(options.sample_rate),
        samples_(options.facts.own_threads, sink),
        names_(options.frame_name, options.function_begin),
        nvtx_(options.window, options.compute_work, options.facts, options.launches, samples_) {
    report_.read.format = "capture";
  }

  Result<SpoolReport> read() {
    TextSource::Line line;
    while (source_.next(line)) {
      ++report_.read.lines;
      number_ = line.number;
      BENCH_RETURN_IF_ERROR(take(line.text));
    }
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.read.malformed;
      report_.read.note(status.error().message());
    }
    for (const auto& [pid, decoder] : decoders_) add_facts(decoder);
    for (Activity& span : spans_.finish()) BENCH_RETURN_IF_ERROR(forward_span(span));
    BENCH_RETURN_IF_ERROR(nvtx_.finish());
    BENCH_RETURN_IF_ERROR(samples_.finish());
    note_unbalanced();
    report_.read.activities = nvtx_.taken() + forwarded_spans_;
    report_.ranges = nvtx_.taken_ranges();
    report_.ranges_seen = nvtx_.ranges();
    report_.window_was_open = nvtx_.window_was_open();
    report_.facts = nvtx_.facts();
    return std::move(report_);
  }

 private:
  struct Moment {
    std::int64_t pid, tid;
    Nanoseconds end;
  };

  Status take(std::string_view line) {
    rapidjson::Document record;
    // Parses iteratively, so that the depth of a hostile line does not become the depth of the
    // stack.
    record.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
    if (record.HasParseError() || !record.IsObject()) return malformed("is not a JSON object");
    const auto pid = integer(record, "pid");
    const auto tid = integer(record, "tid");
    const auto end = integer(record, "ns");
    if (!pid || !tid || !end) return malformed("lacks pid, tid or ns");
    if (*end < 0 || *end > kLatest) return malformed("has a time out of range");
    const Moment moment{*pid, *tid, Nanoseconds(*end)};
    nvtx_.advance(*pid, *tid, moment.end);
    const std::string_view kind = text(record, "record");
    if (kind != "process") spans_.see(*pid, moment.end);
    if (kind == "verbose") return take_verbose(record, moment);
    if (kind == "samples") return take_samples(record, moment);
    const auto nvtx = std::ranges::find(kNvtxRecords, kind, &NvtxRecord::name);
    if (nvtx != kNvtxRecords.end()) return (nvtx_.*nvtx->take)(read_call(record, moment));
    if (kind == "process") return begin_process(record, moment);
    if (kind == "fork") {
      begin_child(record, moment);
    } else if (kind == "process_end") {
      const auto cpu = integer(record, "cpu_ns");
      spans_.end(*pid, cpu ? std::optional(Nanoseconds(*cpu)) : std::nullopt);
      report_.sampling.lost += integer(record, "lost").value_or(0);
      if (!text(record, "onednn").empty()) report_.onednn.emplace(text(record, "onednn"));
      if (!text(record, "cuda").empty()) report_.cuda.emplace(text(record, "cuda"));
    } else if (kind == "sampling") {
      begin_sampling(record, moment);
    } else {
      ++report_.read.unknown;
      report_.read.note(fmt::format("{}: unknown record {}", place(), quote(kind)));
    }
    return Done{};
  }

  // A new program has a new library, perhaps of another version.
  Status begin_process(const rapidjson::Document& record, const Moment& moment) {
    const std::int64_t pid = moment.pid;
    ++report_.processes;
    // A new process with the number of an earlier one has another window.
    if (auto earlier = spans_.begin(pid, text(record, "program"), moment.end)) {
      BENCH_RETURN_IF_ERROR(forward_span(*earlier));
    }
    if (const auto before = decoders_.find(pid); before != decoders_.end()) {
      add_facts(before->second);
      decoders_.erase(before);
    }
    executed_.erase(pid);
    return nvtx_.begin_process(pid, moment.end);
  }

  void begin_child(const rapidjson::Document& record, const Moment& moment) {
    const std::int64_t parent = integer(record, "parent").value_or(0);
    spans_.fork(moment.pid, parent);
    const auto found = decoders_.find(parent);
    if (found != decoders_.end()) {
      decoders_.insert_or_assign(moment.pid, VerboseDecoder(found->second));
    }
    nvtx_.fork(moment.pid, moment.tid, parent, integer(record, "parent_tid"), moment.end);
  }

  static NvtxCall read_call(const rapidjson::Document& record, const Moment& moment) {
    return {.pid = moment.pid,
            .tid = moment.tid,
            .at = moment.end,
            .domain = number(record, "domain"),
            .category = number(record, "category"),
            .id = number(record, "id"),
            .string = number(record, "string"),
            .payload_type = number(record, "payload_type"),
            .payload = number(record, "payload"),
            .text = std::string(text(record, "text"))};
  }

  // Forwards the parts of a process's time for which its window was open.
  Status forward_span(Activity& span) {
    const Nanoseconds begin = span.start;
    const Nanoseconds end = begin + *span.duration;
    for (const auto& [open, close] : nvtx_.open_times(span.track.pid, begin, end)) {
      span.start = open;
      span.duration = close - open;
      if (open != begin || close != end) {
        // These are of the whole process.
        span.attributes.erase(Attribute::cpu_ns);
        span.attributes.erase(Attribute::loaded_ns);
      }
      ++forwarded_spans_;
      BENCH_RETURN_IF_ERROR(sink_.consume(span));
    }
    return Done{};
  }

  void note_unbalanced() {
    if (nvtx_.unbalanced() == 0) return;
    report_.read.note(fmt::format("{} NVTX range{} ended that had not begun", nvtx_.unbalanced(),
                                  nvtx_.unbalanced() == 1 ? "" : "s"));
  }

  Status take_verbose(const rapidjson::Document& record, const Moment& moment) {
    ++report_.lines_of_onednn;
    const VerboseLine& line = decoders_[moment.pid].decode(text(record, "text"));
    if (line.kind == VerboseKind::info) {
      if (!line.fault.empty()) return unknown(line.fault);
      return Done{};
    }
    if (line.kind == VerboseKind::unknown) return unknown(line.fault);
    if (!fill_activity(line, activity_)) return malformed(line.fault);
    activity_.track.pid = moment.pid;
    activity_.track.tid = moment.tid;
    activity_.start = moment.end - activity_.duration.value_or(Nanoseconds(0));
    add_backtrace(record);
    const std::int64_t before = nvtx_.taken();
    BENCH_RETURN_IF_ERROR(nvtx_.consume(activity_));
    const bool is_kept = nvtx_.taken() > before;
    if (!is_kept || line.kind != VerboseKind::exec || !activity_.duration) return Done{};
    ++report_.executed;
    report_.executed_time += *activity_.duration;
    return take_sample(record, moment);
  }

  void begin_sampling(const rapidjson::Document& record, const Moment& moment) {
    const std::string_view error = text(record, "error");
    if (!error.empty()) {
      report_.read.note(fmt::format("process {} was not sampled: {}", moment.pid, error));
    }
    const auto period = integer(record, "period");
    if (period && *period > 0) report_.sampling.period = Nanoseconds(*period);
  }

  // Each sample is an array: time, index of the object, address in it, number of periods.
  Status take_samples(const rapidjson::Document& record, const Moment& moment) {
    const auto objects = record.FindMember("objects");
    const auto samples = record.FindMember("samples");
    const bool is_complete = objects != record.MemberEnd() && objects->value.IsArray() &&
                             samples != record.MemberEnd() && samples->value.IsArray();
    if (!is_complete) return malformed("lacks objects or samples");
    const std::int64_t thread = integer(record, "thread").value_or(moment.tid);
    for (const auto& values : samples->value.GetArray()) {
      if (!values.IsArray() || values.Size() != 4 || !values[0].IsInt64() || !values[1].IsInt64() ||
          !values[2].IsUint64() || !values[3].IsInt64()) {
        return malformed("has a sample that is not four numbers");
      }
      const std::int64_t index = values[1].GetInt64();
      std::string_view object;
      if (index >= 0 && index < static_cast<std::int64_t>(objects->value.Size())) {
        const auto& path = objects->value[static_cast<rapidjson::SizeType>(index)];
        if (path.IsString()) object = {path.GetString(), path.GetStringLength()};
      }
      const auto [code, function] =
          index == -1 ? CodeName{"[jit]", "[jit]"} : names_.name(object, values[2].GetUint64());
      Activity sample;
      sample.kind = ActivityKind::sample;
      sample.name = function;
      sample.start = Nanoseconds(std::clamp<std::int64_t>(values[0].GetInt64(), 0, kLatest));
      sample.track.pid = moment.pid;
      sample.track.tid = thread;
      sample.attributes.set(Attribute::object, code);
      sample.attributes.set(Attribute::cpu_ns,
                            std::clamp<std::int64_t>(values[3].GetInt64(), 1, kMaxPeriods) *
                                report_.sampling.period.count());
      BENCH_RETURN_IF_ERROR(nvtx_.consume(sample));
    }
    return Done{};
  }

  Status take_sample(const rapidjson::Document& record, const Moment& moment) {
    const std::int64_t executed = ++executed_[moment.pid];
    const auto resident = integer(record, "resident");
    if (!resident || sample_rate_ == 0 || executed % sample_rate_ != 0) return Done{};
    Activity counter =
        make_counter("resident_bytes", moment.end, static_cast<double>(*resident), "bytes");
    counter.track = activity_.track;
    return nvtx_.consume(counter);
  }

  StackFrame named(std::string_view raw) const {
    StackFrame frame{raw, raw.substr(0, raw.rfind("+0x")), {}};
    if (frame_name_) frame.name = frame_name_(raw);
    if (frame.name == raw) frame.name.clear();
    return frame;
  }

  // Adds the backtrace from the caller of oneDNN on.
  void add_backtrace(const rapidjson::Document& record) {
    activity_.attributes.erase(Attribute::backtrace);
    const auto found = record.FindMember("backtrace");
    if (found == record.MemberEnd() || !found->value.IsArray()) return;
    std::vector<StackFrame> frames;
    for (const auto& frame : found->value.GetArray()) {
      if (!frame.IsString()) continue;
      frames.push_back(named({frame.GetString(), frame.GetStringLength()}));
    }
    const std::size_t first = count_library_frames(frames);
    std::string text;
    for (const StackFrame& frame : std::span(frames).subspan(first)) {
      text += text.empty() ? "" : " <- ";
      text += frame.name.empty() ? frame.raw : frame.name;
    }
    activity_.attributes.set(Attribute::backtrace, text);
  }

  void add_facts(const VerboseDecoder& decoder) {
    for (const auto& [name, value] : decoder.facts()) report_.read.facts.emplace(name, value);
  }

  std::string place() const { return fmt::format("{}:{}", source_.name(), number_); }

  Status malformed(std::string_view fault) {
    ++report_.read.malformed;
    report_.read.note(fmt::format("{}: {}", place(), fault));
    return Done{};
  }

  Status unknown(std::string_view fault) {
    ++report_.read.unknown;
    report_.read.note(fmt::format("{}: {}", place(), fault));
    return Done{};
  }

  TextSource& source_;
  ActivitySink& sink_;
  ProcessSpans spans_;
  std::int64_t forwarded_spans_ = 0;
  const FrameName& frame_name_;
  std::int64_t sample_rate_;
  SampleJoin samples_;
  CodeNames names_;
  NvtxTracker nvtx_;
  std::map<std::int64_t, VerboseDecoder> decoders_;  // key: process, since each has its own library
  // key: process; number of primitives in the window
  std::map<std::int64_t, std::int64_t> executed_;
  SpoolReport report_;
  Activity activity_;
  std::int64_t number_ = 0;
};

}  // namespace

Result<SpoolReport> read_spool(TextSource& source, ActivitySink& sink,
                               const SpoolOptions& options) {
  return SpoolReader(source, sink, options).read();
}

}  // namespace bench
