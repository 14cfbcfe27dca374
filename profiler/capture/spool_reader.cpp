// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/spool_reader.hpp"

#include "base/quote.hpp"
#include "base/text.hpp"
#include "profiler/capture/code_names.hpp"
#include "profiler/capture/process_spans.hpp"
#include "profiler/capture/record_fields.hpp"
#include "profiler/capture/sample_join.hpp"
#include "profiler/onednn/verbose_activity.hpp"
#include "profiler/onednn/verbose_line.hpp"
#include "profiler/rank.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench {
namespace {

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

// Whether a place "dnnl.hpp:12" is in oneDNN's C++ header, whose functions compilers inline into
// the program.
bool is_in_library_header(std::string_view place) {
  constexpr std::array<std::string_view, 2> kHeaders = {"dnnl.hpp", "mkldnn.hpp"};
  const std::string_view file = place.substr(0, place.rfind(':'));
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return std::ranges::find(kHeaders, name) != kHeaders.end();
}

class SpoolReader {
 public:
  SpoolReader(TextSource& source, ActivitySink& sink, const SpoolOptions& options)
      : source_(source),
        sink_(sink),
        spans_(options.program),
        frame_name_(options.code.frame_name),
        frame_place_(options.code.frame_place),
        sample_rate_(options.sample_rate),
        samples_(options.facts.own_threads, sink),
        names_(options.code),
        system_samples_(options.samples),
        nvtx_(options.window, options.compute_work, options.facts, options.launches, samples_) {
    report_.read.format = "capture";
    if (system_samples_ != nullptr) {
      report_.sampling = {system_samples_->period(), system_samples_->lost()};
    }
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
    if (system_samples_ != nullptr) BENCH_RETURN_IF_ERROR(system_samples_->take_rest(forward()));
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
    const auto pid = integer_field(record, "pid");
    const auto tid = integer_field(record, "tid");
    const auto end = integer_field(record, "ns");
    if (!pid || !tid || !end) return malformed("lacks pid, tid or ns");
    if (*end < 0 || *end > kLatest) return malformed("has a time out of range");
    const Moment moment{*pid, *tid, Nanoseconds(*end)};
    const std::string_view kind = text_field(record, "record");
    BENCH_RETURN_IF_ERROR(take_system_samples(kind, moment));
    nvtx_.advance(*pid, *tid, moment.end);
    if (kind != "process") spans_.see(*pid, moment.end);
    if (kind == "verbose") return take_verbose(record, moment);
    if (kind == "samples") return take_samples(record, moment);
    const auto nvtx = std::ranges::find(kNvtxRecords, kind, &NvtxRecord::name);
    if (nvtx != kNvtxRecords.end()) return (nvtx_.*nvtx->take)(read_call(record, moment));
    if (kind == "process") return begin_process(record, moment);
    if (kind == "fork") {
      begin_child(record, moment);
    } else if (kind == "process_end") {
      spans_.end(*pid, {duration(record, "cpu_ns"), duration(record, "kernel_ns")});
      report_.sampling.lost += integer_field(record, "lost").value_or(0);
      if (!text_field(record, "onednn").empty())
        report_.onednn.emplace(text_field(record, "onednn"));
      if (!text_field(record, "cuda").empty()) report_.cuda.emplace(text_field(record, "cuda"));
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
    if (const auto rank = parse_rank(text_field(record, "rank"))) report_.ranks[pid] = *rank;
    // A new process with the number of an earlier one has another window.
    if (auto earlier = spans_.begin(pid, text_field(record, "program"), moment.end)) {
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
    const std::int64_t parent = integer_field(record, "parent").value_or(0);
    spans_.fork(moment.pid, parent);
    if (const auto rank = report_.ranks.find(parent); rank != report_.ranks.end())
      report_.ranks[moment.pid] = rank->second;
    const auto found = decoders_.find(parent);
    if (found != decoders_.end()) {
      decoders_.insert_or_assign(moment.pid, VerboseDecoder(found->second));
    }
    nvtx_.fork(moment.pid, moment.tid, parent, integer_field(record, "parent_tid"), moment.end);
  }

  static NvtxCall read_call(const rapidjson::Document& record, const Moment& moment) {
    return {.pid = moment.pid,
            .tid = moment.tid,
            .at = moment.end,
            .domain = number_field(record, "domain"),
            .category = number_field(record, "category"),
            .id = number_field(record, "id"),
            .string = number_field(record, "string"),
            .payload_type = number_field(record, "payload_type"),
            .payload = number_field(record, "payload"),
            .text = std::string(text_field(record, "text"))};
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
        span.attributes.erase(Attribute::kernel_ns);
        span.attributes.erase(Attribute::loaded_ns);
      }
      ++forwarded_spans_;
      BENCH_RETURN_IF_ERROR(sink_.consume(span));
    }
    return Done{};
  }

  void note_unbalanced() {
    if (nvtx_.unbalanced() == 0) return;
    report_.read.note(pluralise(nvtx_.unbalanced(), "NVTX range") + " ended that had not begun");
  }

  Status take_verbose(const rapidjson::Document& record, const Moment& moment) {
    ++report_.lines_of_onednn;
    const VerboseLine& line = decoders_[moment.pid].decode(text_field(record, "text"));
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
    const std::string_view error = text_field(record, "error");
    if (!error.empty()) {
      report_.read.note(fmt::format("process {} was not sampled: {}", moment.pid, error));
    }
    const auto period = integer_field(record, "period");
    if (period && *period > 0) report_.sampling.period = Nanoseconds(*period);
  }

  static std::optional<Nanoseconds> duration(const rapidjson::Document& record, const char* name) {
    const auto value = integer_field(record, name);
    return value ? std::optional(Nanoseconds(*value)) : std::nullopt;
  }

  // Forwards the samples of the system from before the record, while the ranges that were open then
  // are still open.
  Status take_system_samples(std::string_view kind, const Moment& moment) {
    if (system_samples_ == nullptr) return Done{};
    BENCH_RETURN_IF_ERROR(system_samples_->take_others(moment.end, forward()));
    if (kind == "process" || kind == "process_end") {
      return system_samples_->take_process(moment.pid, moment.end, forward());
    }
    return system_samples_->take_thread(moment.pid, moment.tid, moment.end, forward());
  }

  std::function<Status(const LocatedSample&)> forward() {
    return [this](const LocatedSample& sample) { return forward_sample(sample); };
  }

  Status forward_sample(const LocatedSample& sample) {
    // A process without the library wrote no records, but ran.
    spans_.see(sample.pid, sample.at);
    spans_.name(sample.pid, system_samples_->program(sample.pid));
    return forward_sample(sample.pid, sample.tid, sample.at, 1, name_code(sample));
  }

  CodeName name_code(const LocatedSample& sample) {
    switch (sample.kind) {
      case CodeKind::module:
        return names_.name_at_offset(sample.file, sample.address);
      case CodeKind::generated:
        return names_.generated(sample.pid, sample.address);
      case CodeKind::kernel:
        return names_.kernel(sample.address);
      case CodeKind::unknown:
        break;
    }
    return {"(unknown)", "(unknown)"};
  }

  Status forward_sample(std::int64_t pid, std::int64_t tid, Nanoseconds at, std::int64_t periods,
                        const CodeName& code) {
    Activity sample;
    sample.kind = ActivityKind::sample;
    sample.name = code.function;
    sample.start = at;
    sample.track.pid = pid;
    sample.track.tid = tid;
    sample.attributes.set(Attribute::object, code.object);
    sample.attributes.set(Attribute::cpu_ns, std::clamp<std::int64_t>(periods, 1, kMaxPeriods) *
                                                 report_.sampling.period.count());
    return nvtx_.consume(sample);
  }

  // Each sample is an array: time, index of the object, address in it, number of periods.
  Status take_samples(const rapidjson::Document& record, const Moment& moment) {
    const auto objects = record.FindMember("objects");
    const auto samples = record.FindMember("samples");
    const bool is_complete = objects != record.MemberEnd() && objects->value.IsArray() &&
                             samples != record.MemberEnd() && samples->value.IsArray();
    if (!is_complete) return malformed("lacks objects or samples");
    const std::int64_t thread = integer_field(record, "thread").value_or(moment.tid);
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
      const std::uint64_t address = values[2].GetUint64();
      const Nanoseconds at(std::clamp<std::int64_t>(values[0].GetInt64(), 0, kLatest));
      BENCH_RETURN_IF_ERROR(forward_sample(
          moment.pid, thread, at, values[3].GetInt64(),
          index == -1 ? names_.generated(moment.pid, address) : names_.name(object, address)));
    }
    return Done{};
  }

  Status take_sample(const rapidjson::Document& record, const Moment& moment) {
    const std::int64_t executed = ++executed_[moment.pid];
    const auto resident = integer_field(record, "resident");
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
    add_place(std::span(frames).subspan(first));
  }

  // Adds the line of the program that called, the innermost one with a known line. Lines of oneDNN
  // itself, such as the reason of a dispatch, stay.
  void add_place(std::span<const StackFrame> frames) {
    const bool is_known = activity_.attributes.find(Attribute::source_location) != nullptr;
    if (is_known || !frame_place_) return;
    for (const StackFrame& frame : frames) {
      const auto place = frame_place_(frame.raw);
      if (!place || is_in_library_header(*place)) continue;
      activity_.attributes.set(Attribute::source_location, *place);
      return;
    }
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
  const std::function<std::string(std::string_view)>& frame_name_;
  const std::function<std::optional<std::string>(std::string_view)>& frame_place_;
  std::int64_t sample_rate_;
  SampleJoin samples_;
  CodeNames names_;
  SampleSpool* system_samples_;
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

namespace {

// Beginnings of function names: the C interface's prefixes and the C++ namespaces.
constexpr std::array<std::string_view, 4> kNames = {"dnnl_", "dnnl::", "mkldnn_", "mkldnn::"};
constexpr std::array<std::string_view, 2> kFiles = {"libdnnl.", "libmkldnn."};

bool begins_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return text.starts_with(one); });
}

bool is_of_library(const StackFrame& frame) {
  return begins_with_any(frame.file.substr(frame.file.rfind('/') + 1), kFiles) ||
         begins_with_any(frame.name, kNames);
}

}  // namespace

// Names of template functions begin with their return type, so not every frame of the library is
// recognised. But the library's entry point always is. It is in the module of the innermost frame
// and comes after all other frames of the library, so all frames before it count as well.
std::size_t count_library_frames(std::span<const StackFrame> frames) {
  const auto leaves = [&](const StackFrame& frame) { return frame.file != frames.front().file; };
  const auto end = frames.empty() ? frames.end() : std::ranges::find_if(frames, leaves);
  const auto module = frames.first(static_cast<std::size_t>(end - frames.begin()));
  std::size_t count = 0;
  for (std::size_t i = 0; i < module.size(); ++i) {
    if (is_of_library(module[i])) count = i + 1;
  }
  if (count == 0) {
    const auto is_named = [](const StackFrame& frame) { return !frame.name.empty(); };
    const auto named = std::ranges::find_if(module, is_named);
    if (named != module.end()) count = static_cast<std::size_t>(named - module.begin());
  }
  while (count < frames.size() && is_of_library(frames[count])) ++count;
  return count == frames.size() ? 0 : count;
}

}  // namespace bench
