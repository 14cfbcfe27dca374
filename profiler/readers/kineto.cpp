// SPDX-License-Identifier: Apache-2.0
// Reads the Chrome traces of Kineto, which torch.profiler writes (export_chrome_trace). A trace
// lists operators, memory, Python functions and device work one after another. So the reader
// first sorts the activities by time, on disk if there are many, and then adds to each what others
// state (kineto_context.hpp).
#include "base/env.hpp"
#include "base/json_reader.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/export/spill_sort.hpp"
#include "profiler/readers/kineto_context.hpp"
#include "profiler/readers/kineto_row.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/readers/trace_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {
namespace {

// Texts that only traces of Kineto contain: members of the document, categories of PyTorch, and an
// argument of kernels. The categories of this program's own traces are other ones.
constexpr std::array<std::string_view, 3> kDocumentMarks = {
    "\"schemaVersion\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\""};
constexpr std::array<std::string_view, 8> kKinetoCategories = {
    "cpu_op",     "user_annotation", "gpu_user_annotation", "python_function",
    "gpu_memcpy", "gpu_memset",      "cuda_runtime",        "cuda_driver"};
constexpr std::string_view kKernelMark = "\"registers per thread\"";

// Whether the text has `"cat": "NAME"` with a category of Kineto.
bool names_category(std::string_view text) {
  constexpr std::string_view kKey = "\"cat\"";
  for (std::size_t at = text.find(kKey); at != text.npos; at = text.find(kKey, at + 1)) {
    std::string_view rest = text.substr(at + kKey.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n:"), rest.size()));
    if (!rest.starts_with('"')) continue;
    const std::string_view name = rest.substr(1, rest.find('"', 1) - 1);
    if (std::ranges::find(kKinetoCategories, name) != kKinetoCategories.end()) return true;
  }
  return false;
}

bool recognises_kineto(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return false;
  const auto contains = [&](std::string_view text) { return head.find(text) != head.npos; };
  if (contains("\"traceEvents\"") && std::ranges::any_of(kDocumentMarks, contains)) return true;
  return contains("\"ph\"") && (names_category(head) || contains(kKernelMark));
}

// A row in the sort: these fields, then the activity as JSON.
struct PackedHead {
  std::int64_t external_id;
  KinetoRow::Role role;
};
static_assert(std::is_trivially_copyable_v<PackedHead>);

void pack(const KinetoRow& row, std::string& out) {
  const PackedHead head{row.external_id, row.role};
  out.assign(sizeof head, '\0');
  std::memcpy(out.data(), &head, sizeof head);
  append_json(row.activity, "", out);
}

constexpr std::size_t kSortMemory = std::size_t{64} << 20;
constexpr std::size_t kMaxMember = 1 << 20;

class KinetoReading {
 public:
  KinetoReading(TextSource& source, const std::string& folder, ActivitySink& sink)
      : source_(source), sink_(sink), sort_(folder, kSortMemory) {
    report_.format = "kineto";
  }

  Result<ReadReport> read() {
    TraceItems items(source_);
    TraceItem item;
    while (items.next(item)) {
      if (item.kind == TraceItem::Kind::member) {
        take_member(item);
      } else {
        BENCH_RETURN_IF_ERROR(take_event(item));
      }
    }
    report_.lines = items.line();
    note_ending(items);
    BENCH_RETURN_IF_ERROR(deliver());
    return std::move(report_);
  }

 private:
  void take_member(const TraceItem& item) {
    if (item.is_too_long || item.text.size() > kMaxMember) return;
    const auto document = parse_json(item.text);
    if (!document.ok()) {
      ++report_.malformed;
      report_.note(fmt::format("{}:{}: the header is not valid JSON", source_.name(), item.line));
      return;
    }
    const JsonValue value = document->root();
    if (item.key == "baseTimeNanoseconds") {
      take_base(value);
    } else if (item.key == "deviceProperties") {
      take_devices(value);
    } else if (item.key == "distributedInfo") {
      const auto rank = value.value_at("rank");
      header_.rank = rank ? rank->signed_integer() : std::nullopt;
      flatten_facts(value, "distributed", report_.facts);
    } else if (!item.key.empty()) {
      flatten_facts(value, std::string(item.key), report_.facts);
    }
  }

  void take_base(const JsonValue& value) {
    const auto base = value.signed_integer();
    constexpr std::int64_t kLatest = std::int64_t{1} << 61;  // 73 years
    if (base && *base >= 0 && *base < kLatest) header_.base = Nanoseconds(*base);
  }

  void take_devices(const JsonValue& list) {
    for (std::size_t i = 0; list.is_list() && i < list.size(); ++i) {
      const auto name = list.item(i).text_at("name");
      if (!name) continue;
      report_.facts.emplace("gpu.name", *name);
      if (list.size() > 1) report_.facts[fmt::format("gpu.{}.name", i)] = *name;
    }
  }

  Status take_event(const TraceItem& item) {
    if (item.is_too_long) {
      malformed(item, "longer than any event");
      return Done{};
    }
    const auto event = parser_.parse(item.text);
    if (!event.ok()) {
      malformed(item, event.error().what);
      return Done{};
    }
    const auto outcome = decoder_.decode(**event, rows_);
    if (!outcome.ok()) {
      malformed(item, outcome.error().what);
      return Done{};
    }
    if (*outcome == KinetoDecoder::Outcome::unknown) {
      ++report_.unknown;
      note(item, "a kind of event that Kineto does not write");
    }
    if (*outcome != KinetoDecoder::Outcome::rows) return Done{};
    for (const KinetoRow& row : rows_) BENCH_RETURN_IF_ERROR(keep(row));
    return Done{};
  }

  // Sorts by start. The longest of the activities that begin at once encloses the others.
  Status keep(const KinetoRow& row) {
    pack(row, packed_);
    const std::int64_t start = row.activity.start.count();
    const std::int64_t duration = row.activity.duration.value_or(Nanoseconds(0)).count();
    return sort_.add({start, -duration}, packed_);
  }

  Status deliver() {
    BENCH_RETURN_IF_ERROR(sort_.finish());
    KinetoContext context(decoder_.names(), header_, sink_);
    SpillSort::Record record;
    ActivityLineParser lines;
    KinetoRow row;
    while (true) {
      BENCH_ASSIGN_OR_RETURN(const bool more, sort_.next(record));
      if (!more) break;
      PackedHead head;
      std::memcpy(&head, record.payload.data(), sizeof head);
      if (lines.parse(record.payload.substr(sizeof head)).kind != LineKind::activity) continue;
      row.activity = lines.activity();
      row.external_id = head.external_id;
      row.role = head.role;
      BENCH_RETURN_IF_ERROR(context.consume(row));
    }
    BENCH_RETURN_IF_ERROR(context.finish());
    report_.activities = context.forwarded();
    return Done{};
  }

  void note_ending(const TraceItems& items) {
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.malformed;
      report_.note(status.error().message());
      return;
    }
    if (items.ending() == TraceItems::Ending::complete) return;
    const bool is_within = items.ending() == TraceItems::Ending::within;
    if (is_within) ++report_.malformed;
    report_.note(fmt::format("{}:{}: the trace ends here, {} event {}: it is incomplete",
                             source_.name(), items.line(), is_within ? "within" : "after",
                             items.events() + (is_within ? 1 : 0)));
  }

  void malformed(const TraceItem& item, std::string_view what) {
    ++report_.malformed;
    note(item, what);
  }
  void note(const TraceItem& item, std::string_view what) {
    report_.note(fmt::format("{}:{}: event {}: {}", source_.name(), item.line, item.number, what));
  }

  TextSource& source_;
  ActivitySink& sink_;
  SpillSort sort_;
  KinetoEventParser parser_;
  KinetoDecoder decoder_;
  KinetoHeader header_;
  ReadReport report_;
  std::vector<KinetoRow> rows_;
  std::string packed_;
};

Result<ReadReport> read_kineto(TextSource& source, ActivitySink& sink) {
  const std::string folder = environment_variable("TMPDIR").value_or("/var/tmp");
  return KinetoReading(source, folder, sink).read();
}

}  // namespace

std::string find_kineto_gpu(std::string_view head) {
  const std::size_t key = head.find("\"deviceProperties\"");
  if (key == head.npos) return {};
  const std::size_t begin = head.find('[', key);
  const std::size_t end = begin == head.npos ? begin : head.find(']', begin);
  if (end == head.npos) return {};
  const auto document = parse_json(head.substr(begin, end - begin + 1));
  if (!document.ok() || !document->root().is_list() || document->root().size() == 0) return {};
  return std::string(document->root().item(0).text_at("name").value_or(""));
}

const ActivityReader kineto_reader = {
    .name = "kineto",
    .help = "Chrome trace of Kineto, which torch.profiler writes",
    .recognises = recognises_kineto,
    .read = read_kineto,
};

}  // namespace bench
