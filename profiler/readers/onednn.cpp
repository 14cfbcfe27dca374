// SPDX-License-Identifier: Apache-2.0
// Reads oneDNN's verbose lines as printed by any program, mixed with its own output.
//
// If the lines have no timestamps, the log does not contain start times. Records are then placed
// end to end, in their order, from 0 on. A nested creation or another library's routine is printed
// before the record that includes it, and is placed at the beginning of that record. Partitions of
// the graph interface, whose time includes that of their primitives, have their own track. If lines
// have timestamps, the few kinds without them are placed at the end of the previous record. Before
// the first record, they are placed at its beginning.
//
// Records may be interrupted by other output, or wrapped: at the width of a terminal, or by a
// person or a mail program. Labels of a launcher distinguish the ranks of a distributed job; each
// rank is a process. A collector may have stored each line in a JSON object.
#include "base/lines.hpp"
#include "profiler/onednn/log_text.hpp"
#include "profiler/onednn/verbose_activity.hpp"
#include "profiler/onednn/verbose_line.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Not a real thread: the log contains no thread ids.
constexpr std::int64_t kGraphTrack = -1;
// Further ranks of a log are read as if their lines had no label.
constexpr std::size_t kMaxRanks = 65536;
// No record is broken into more lines.
constexpr std::int64_t kMaxPieces = 256;

// Returns the width at which a terminal or an editor has wrapped the lines of a log: at least two
// records continue on the next line after that many characters, and no line is longer. Returns
// nullopt if the lines are not wrapped.
std::optional<std::size_t> find_wrap_width(std::string_view head) {
  VerboseDecoder decoder;
  std::map<std::size_t, int> wraps;
  std::string record;
  std::size_t width = 0;
  std::size_t longest = 0;
  for (const NumberedLine& line : Lines(head)) {
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    longest = std::max(longest, text.size());
    const bool is_first = find_verbose(text) != std::string_view::npos;
    if (!is_first && record.empty()) continue;
    if (is_first) {
      record.clear();
      width = text.size();
    }
    record += text;
    const VerboseLine& decoded = decoder.decode(record);
    const bool goes_on = decoded.kind == VerboseKind::partial && text.size() == width;
    if (!is_first && !goes_on && decoded.fault.empty()) ++wraps[width];
    if (!goes_on) record.clear();
  }
  const auto found = wraps.find(longest);
  constexpr int kMinWraps = 2;
  return found != wraps.end() && found->second >= kMinWraps ? std::optional(longest) : std::nullopt;
}

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// Whether the line ends in the mark of a line that continues: "\" as in a shell, or "=" of an
// e-mail. No record ends so.
bool has_continuation_mark(std::string_view line) {
  const std::string_view text = without_blanks_behind(line);
  return text.ends_with('\\') || text.ends_with('=');
}

// Whether the text may be the rest of a number that a wrapped line ends in.
bool is_rest_of_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,e+-") == std::string_view::npos;
}

// The lines of one process. The labels of a launcher distinguish the processes of a log.
struct ProcessLog {
  std::optional<std::int64_t> rank;
  VerboseDecoder decoder;
  // The beginning of a record whose rest may follow: it is incomplete, or it ends where lines are
  // wrapped. `pending_fault` is empty if it may also be complete.
  std::string pending;
  std::string pending_fault;
  std::int64_t pending_number = 0;
  std::string prefix;           // what precedes the pending record in its line: "// ", "> "
  char mark = 0;                // the mark of a line that continues at the end of the last piece
  std::size_t first_piece = 0;  // size of the pending record's first line
  std::size_t last_piece = 0;   // size of its last line until now
  std::int64_t pieces = 0;      // number of lines after the first one
  Nanoseconds clock{0};
  Nanoseconds graph_clock{0};
  // activities without a timestamp before the first one with a timestamp
  std::vector<Activity> held;
};

class LogReader {
 public:
  LogReader(TextSource& source, ActivitySink& sink)
      : source_(source), sink_(sink), wrap_width_(find_wrap_width(source.head())) {
    report_.format = "onednn";
  }

  Result<ReadReport> read() {
    TextSource::Line line;
    while (source_.next(line)) {
      ++report_.lines;
      number_ = line.number;
      BENCH_RETURN_IF_ERROR(read_source_line(line));
    }
    for (auto& [rank, process] : processes_) {
      BENCH_RETURN_IF_ERROR(finish_pending(process));
      BENCH_RETURN_IF_ERROR(release(process, Nanoseconds(0)));
      report_.facts.merge(std::map(process.decoder.facts()));
    }
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.malformed;
      report_.note(status.error().message());
    }
    if (!has_timestamps()) report_.starts = StartTimes::computed;
    if (report_.ignored == report_.lines && report_.malformed == 0) {
      return Error{"unknown profile format, and no oneDNN verbose line found", source_.name(),
                   "run the program with ONEDNN_VERBOSE=profile, or under `bench profile`"};
    }
    if (timed_records_ == 0 && first_fault_) return *first_fault_;
    return std::move(report_);
  }

 private:
  Status read_source_line(TextSource::Line line) {
    line.text = clean_log_line(line.text, cleaned_);
    const auto unpacked = json_lines_.unpack(line.text);
    if (!unpacked) return read_line(line);
    line.has_end = true;  // the object is complete, and its line with it
    for (const std::string_view text : *unpacked) {
      line.text = clean_log_line(text, cleaned_);
      BENCH_RETURN_IF_ERROR(read_line(line));
    }
    return Done{};
  }

  Status read_line(TextSource::Line source_line) {
    const std::size_t begin = find_verbose(source_line.text);
    const bool is_record = begin != std::string_view::npos;
    ProcessLog& process = find_process(source_line.text, begin);
    if (!is_record) return read_other(process, source_line);
    BENCH_RETURN_IF_ERROR(finish_pending(process));
    std::string_view text = source_line.text;
    while (!text.empty()) {
      const bool is_last = find_verbose(text, find_verbose(text) + 1) == std::string_view::npos;
      const bool goes_on = may_go_on(source_line.text.size()) || has_continuation_mark(text);
      if (is_last && source_line.has_end && goes_on) {
        keep_pending(process, text, {});
        process.pending_fault = fault_of(process, process.pending);
        return Done{};
      }
      const VerboseLine& line = process.decoder.decode(text);
      const std::string_view rest = line.rest;
      const bool has_end = line.is_closed || (rest.empty() && source_line.has_end);
      if (line.kind == VerboseKind::partial && (rest.empty() || !line.is_closed)) {
        keep_pending(process, text.substr(0, text.size() - rest.size()), line.fault);
      } else if (!has_end) {
        reject_without_end(line);
      } else {
        BENCH_RETURN_IF_ERROR(take(process, line, number_));
      }
      text = rest;
    }
    return Done{};
  }

  // Returns the process of a line and removes the launcher's label from `text`. `record` is the
  // position of a record in the text, or npos: only records show whether a log has labels, since
  // programs print similar texts.
  ProcessLog& find_process(std::string_view& text, std::size_t record) {
    std::optional<std::int64_t> rank;
    const bool is_record = record != std::string_view::npos;
    const auto labelled =
        is_record || has_labels_ ? parse_launcher_prefix(text) : std::optional<LabelledLine>();
    if (labelled) {
      const std::size_t label_size = text.size() - labelled->text.size();
      const bool is_label =
          !is_record || (label_size <= record &&
                         text.substr(label_size, record - label_size).find_first_not_of(' ') ==
                             std::string_view::npos);
      if (is_label && (processes_.size() < kMaxRanks || processes_.contains(labelled->rank))) {
        has_labels_ = true;
        rank = labelled->rank;
        text = labelled->text;
      }
    }
    ProcessLog& process = processes_[rank];
    process.rank = rank;
    return process;
  }

  bool may_go_on(std::size_t line_size) const { return wrap_width_ && line_size == *wrap_width_; }

  // Counts a line without an end as malformed: its last number may be incomplete, like "1" of
  // "14.02".
  void reject_without_end(const VerboseLine& line) {
    const bool is_last = line.rest.empty();
    refuse(report_.malformed, number_,
           !line.fault.empty() ? line.fault
           : is_last           ? "the text ends before this line does: its last number may be cut"
                     : "another record begins before this line ends: its last number may be cut");
  }

  // A line that may continue the pending record.
  struct Piece {
    std::string_view text;       // without the prefix of every line
    std::string_view separator;  // that the line break replaced
    // Whether a person or a mail program broke the record here: its lines are indented, quoted,
    // commented, or end in a mark. Such a record may have any number of lines.
    bool is_broken_by_hand = false;
  };

  // Terminals break lines at one width, in the middle of words. Everyone else breaks them at a
  // blank or a comma, and may indent them.
  Piece find_piece(const ProcessLog& process, std::string_view line) const {
    const std::string_view prefix = without_blanks_behind(process.prefix);
    const bool has_prefix = !prefix.empty() && line.starts_with(prefix);
    const bool is_at_width = process.mark == 0 && may_go_on(process.last_piece);
    if (process.mark == '=') return {.text = line, .separator = "", .is_broken_by_hand = true};
    Piece piece;
    if (is_at_width) {
      const bool has_whole_prefix = has_prefix && line.starts_with(process.prefix);
      piece.text = has_whole_prefix ? line.substr(process.prefix.size()) : line;
      return piece;
    }
    const std::string_view behind_prefix = has_prefix ? line.substr(prefix.size()) : line;
    const std::string_view text = without_blanks_before(behind_prefix);
    piece.is_broken_by_hand = process.mark != 0 || has_prefix || text.size() < behind_prefix.size();
    piece.text = piece.is_broken_by_hand ? text : line;
    const bool is_at_comma = process.pending.ends_with(',') || piece.text.starts_with(',');
    if (piece.is_broken_by_hand && !is_at_comma) piece.separator = " ";
    return piece;
  }

  // Appends a piece to the pending record, without the mark that it continues.
  static void append_piece(ProcessLog& process, std::string_view separator, std::string_view text) {
    process.mark = 0;
    std::string_view piece = text;
    if (has_continuation_mark(text)) {
      piece = without_blanks_behind(text);
      process.mark = piece.back();
      piece.remove_suffix(1);
      if (process.mark != '=') piece = without_blanks_behind(piece);
    }
    process.pending.append(separator).append(piece);
  }

  // Reads a line of the program's own output, or a rest of the record that such a line interrupted.
  // A record that a terminal wrapped has more than one rest only in lines that are equally long.
  Status read_other(ProcessLog& process, const TextSource::Line& source_line) {
    if (process.pending.empty()) {
      ++report_.ignored;
      return Done{};
    }
    const Piece piece = find_piece(process, source_line.text);
    if (process.pending_fault.empty() && process.mark == 0 && !continues(process, piece.text)) {
      BENCH_RETURN_IF_ERROR(finish_pending(process));
      ++report_.ignored;
      return Done{};
    }
    append_piece(process, piece.separator, piece.text);
    process.last_piece = source_line.text.size();
    ++process.pieces;
    VerboseDecoder probe = process.decoder;
    const VerboseLine& line = probe.decode(process.pending);
    if (!source_line.has_end) return refuse_pending(process, line.fault);
    if (process.pieces == kMaxPieces) {
      return refuse_pending(process,
                            fmt::format("the record goes on after {} lines", kMaxPieces + 1));
    }
    const bool is_whole_line = source_line.text.size() == process.first_piece;
    const bool may_have_more_lines = is_whole_line || piece.is_broken_by_hand;
    if (line.kind == VerboseKind::partial && may_have_more_lines) {
      if (process.pending_fault.empty()) process.pending_fault = line.fault;
      return Done{};
    }
    if (process.mark != 0 || may_go_on(source_line.text.size())) {
      process.pending_fault = line.fault;
      return Done{};
    }
    if (line.kind == VerboseKind::partial || line.kind == VerboseKind::malformed ||
        line.kind == VerboseKind::unknown) {
      return refuse_pending(process, line.fault);
    }
    process.pending_fault.clear();
    return finish_pending(process);
  }

  Status refuse_pending(ProcessLog& process, const std::string& fault) {
    if (process.pending_fault.empty()) process.pending_fault = fault;
    report_.ignored += process.pieces;
    drop_pending(process);
    return Done{};
  }

  // Returns the fault of a record, without remembering its facts: the record may go on.
  static std::string fault_of(const ProcessLog& process, std::string_view record) {
    VerboseDecoder probe = process.decoder;
    return probe.decode(record).fault;
  }

  // Whether the line continues the pending record, which may be complete: its end is the end of a
  // wrapped line. A record ends in a number, and a fact in any text.
  static bool continues(const ProcessLog& process, std::string_view text) {
    VerboseDecoder probe = process.decoder;
    return probe.decode(process.pending).kind == VerboseKind::info || is_rest_of_number(text);
  }

  void keep_pending(ProcessLog& process, std::string_view text, std::string fault) {
    if (!process.pending.empty()) drop_pending(process);
    process.prefix = text.substr(0, find_verbose(text));
    append_piece(process, "", text);
    process.pending_fault = std::move(fault);
    process.pending_number = number_;
    process.first_piece = process.last_piece = text.size();
    process.pieces = 0;
  }

  void drop_pending(ProcessLog& process) {
    process.pending.clear();
    refuse(report_.malformed, process.pending_number, process.pending_fault);
  }

  // Takes the pending record if it is complete, and refuses it otherwise.
  Status finish_pending(ProcessLog& process) {
    if (process.pending.empty()) return Done{};
    if (!process.pending_fault.empty()) {
      drop_pending(process);
      return Done{};
    }
    const std::string record = std::exchange(process.pending, {});
    return take(process, process.decoder.decode(record), process.pending_number);
  }

  void refuse(std::int64_t& counter, std::int64_t number, const std::string& fault) {
    ++counter;
    const std::string where = fmt::format("{}:{}", source_.name(), number);
    report_.note(fmt::format("{}: {}", where, fault));
    if (first_fault_) return;
    first_fault_ = Error{fmt::format("no record of oneDNN could be read: {}", fault), where,
                         "supported are the verbose lines of MKL-DNN 0.10 to oneDNN 3.13"};
  }

  Status take(ProcessLog& process, const VerboseLine& line, std::int64_t number) {
    if (line.kind == VerboseKind::info) {
      if (!line.fault.empty()) note_unknown(line.fault, number);
      return Done{};
    }
    if (line.kind == VerboseKind::unknown) {
      refuse(report_.unknown, number, line.fault);
      return Done{};
    }
    if (!fill_activity(line, activity_)) {
      refuse(report_.malformed, number, line.fault);
      return Done{};
    }
    if (line.kind == VerboseKind::error) count_error(number);
    place(process, line);
    activity_.attributes.set(Attribute::line, number);
    ++report_.activities;
    if (line.time) ++timed_records_;
    if (line.start) ++timed_starts_;
    if (waits_for_timestamp(process, line)) {
      process.held.push_back(activity_);
      return Done{};
    }
    if (!process.held.empty()) BENCH_RETURN_IF_ERROR(release(process, activity_.start));
    return sink_.consume(activity_);
  }

  // Whether the log states when something started. Otherwise the starts are computed.
  bool has_timestamps() const {
    return timed_starts_ > 0 || std::ranges::any_of(processes_, [](const auto& entry) {
             return entry.second.decoder.timestamps() == VerboseTemplate::Timestamps::yes;
           });
  }

  void count_error(std::int64_t number) {
    ++report_.library_errors;
    if (report_.library_error_lines.size() < kMaxNotes) {
      report_.library_error_lines.push_back(number);
    }
  }

  static bool waits_for_timestamp(const ProcessLog& process, const VerboseLine& line) {
    constexpr std::size_t kMaxHeld = 100;  // only a few debugging lines precede it
    return !line.start && process.clock == Nanoseconds(0) && process.held.size() < kMaxHeld &&
           process.decoder.timestamps() == VerboseTemplate::Timestamps::yes;
  }

  // Forwards the held activities with the start time `start`.
  Status release(ProcessLog& process, Nanoseconds start) {
    for (Activity& activity : process.held) {
      activity.start = start;
      BENCH_RETURN_IF_ERROR(sink_.consume(activity));
    }
    process.held.clear();
    return Done{};
  }

  void note_unknown(const std::string& fault, std::int64_t number) {
    ++report_.unknown;
    report_.note(fmt::format("{}:{}: {}", source_.name(), number, fault));
  }

  void place(ProcessLog& process, const VerboseLine& line) {
    const bool graph = line.kind == VerboseKind::graph;
    const bool is_nested =
        line.kind == VerboseKind::create_nested || line.kind == VerboseKind::external;
    activity_.track.tid = graph ? kGraphTrack : 0;
    // A log contains no process ids, but ranks are different processes.
    activity_.track.pid = process.rank ? -1 - *process.rank : 0;
    if (process.rank) {
      activity_.attributes.set(Attribute::rank, *process.rank);
    } else {
      activity_.attributes.erase(Attribute::rank);
    }
    Nanoseconds& clock = graph ? process.graph_clock : process.clock;
    activity_.start = line.start.value_or(clock);
    if (is_nested || (!line.start && !line.time)) return;
    // A log that ends after 2043 is malformed; its records stay at the end of the clock's range.
    constexpr Nanoseconds kLatest{(std::int64_t{1} << 61) - 2};
    clock = std::min(kLatest, activity_.start + line.time.value_or(Nanoseconds(0)));
  }

  TextSource& source_;
  ActivitySink& sink_;
  ReadReport report_;
  Activity activity_;
  std::map<std::optional<std::int64_t>, ProcessLog> processes_;  // by rank
  bool has_labels_ = false;
  JsonLogLines json_lines_;
  std::string cleaned_;  // the current line, if clean_log_line() changed it
  std::optional<std::size_t> wrap_width_;
  std::int64_t number_ = 0;
  std::int64_t timed_records_ = 0;
  std::int64_t timed_starts_ = 0;
  std::optional<Error> first_fault_;
};

// Whether a collector of logs stored oneDNN's lines in JSON objects. Objects with a schema are
// profiles or results, which may quote such a line.
bool has_json_lines(std::string_view head) {
  if (head.find("\"schema\"") != std::string_view::npos) return false;
  JsonLogLines lines;
  for (const NumberedLine& line : Lines(head)) {
    if (lines.unpack(line.text)) return true;
  }
  return false;
}

// Accepts any oneDNN line in the head. Also accepts text longer than the head, because the
// program's own output may come first.
bool recognises_onednn(std::string_view head) {
  if (head.starts_with('{')) return has_json_lines(head);
  const bool may_follow = head.size() >= kHeadSize && head.find('\0') == std::string_view::npos;
  return may_follow || find_verbose(head) != std::string_view::npos;
}

Result<ReadReport> read_onednn(TextSource& source, ActivitySink& sink) {
  return LogReader(source, sink).read();
}

}  // namespace

const ActivityReader onednn_reader = {
    .name = "onednn",
    .help = "verbose lines of oneDNN, DNNL or MKL-DNN, also among other output",
    .recognises = recognises_onednn,
    .read = read_onednn,
};

}  // namespace bench
