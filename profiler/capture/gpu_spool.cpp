// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/gpu_spool.hpp"

#include "profiler/capture/spool_format.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/text_source.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Beginnings of the lines that the first pass needs. There are many other lines.
constexpr std::string_view kCallLine = R"({"record":"api",)";
constexpr std::string_view kEndLine = R"({"record":"session_end",)";
constexpr std::string_view kDeviceLine = R"({"record":"device",)";

bool is_wanted(std::string_view line) {
  return line.starts_with(kCallLine) || line.starts_with(kEndLine) || line.starts_with(kDeviceLine);
}

// When the recorded work began, and by which call. If the call is unknown, its own time decides
// whether it is in the window. Facts have neither and are always kept.
struct Beginning {
  GpuCorrelation correlation;
  std::optional<Nanoseconds> at;
};

Beginning make_beginning(const GpuKernel& kernel) {
  return {kernel.correlation, kernel.time ? std::optional(kernel.time->start) : std::nullopt};
}
Beginning make_beginning(const GpuMemcpy& copy) {
  return {copy.correlation, copy.time ? std::optional(copy.time->start) : std::nullopt};
}
Beginning make_beginning(const GpuMemset& fill) {
  return {fill.correlation, fill.time ? std::optional(fill.time->start) : std::nullopt};
}
Beginning make_beginning(const GpuApiCall& call) { return {call.correlation, call.time.start}; }
Beginning make_beginning(const GpuOverhead& overhead) {
  return {overhead.correlation, overhead.time.start};
}
Beginning make_beginning(const GpuSynchronisation& wait) {
  return {wait.correlation, wait.time.start};
}
template <class Fact>
Beginning make_beginning(const Fact&) {
  return {};
}

class Loader {
 public:
  Loader(const GpuSpoolFile& file, const GpuLaunches& launches)
      : file_(file), launches_(launches) {}

  Result<LoadedGpuSpool> load() {
    BENCH_ASSIGN_OR_RETURN(const auto source, open_text(file_.path));
    LoadedGpuSpool loaded;
    GpuSession& session = loaded.session;
    TextSource::Line line;
    while (source->next(line)) {
      const auto kind = parse_gpu_line(line.text, static_cast<std::size_t>(line.number), session);
      if (!kind.ok()) ++loaded.malformed;
      if (kind.ok() && *kind == GpuLine::record) place(session);
    }
    BENCH_RETURN_IF_ERROR(source->status());
    session.executions = launches_.executions(file_.session);
    return loaded;
  }

 private:
  // Handles the last record: removes it if it is outside the window, otherwise sets its owner.
  void place(GpuSession& session) const {
    const Beginning beginning = std::visit(
        [](const auto& record) { return make_beginning(record); }, session.records.back());
    const auto verdict = beginning.correlation
                             ? launches_.verdict(file_.session, *beginning.correlation)
                             : std::nullopt;
    const bool inside =
        verdict ? verdict->inside
                : !beginning.at || launches_.window_contains(session.pid, *beginning.at);
    if (!inside) {
      session.records.pop_back();
    } else if (verdict && verdict->holder != GpuLaunches::kUnattributed &&
               std::holds_alternative<GpuApiCall>(session.records.back())) {
      session.records.emplace_back(
          GpuExternalId{GpuExternalKind::operation, verdict->holder, *beginning.correlation});
    }
  }

  const GpuSpoolFile& file_;
  const GpuLaunches& launches_;
};

// Returns nullopt if nothing was written before the process was killed.
Result<std::optional<GpuSpoolFile>> scan(const std::string& path, GpuLaunches& launches) {
  BENCH_ASSIGN_OR_RETURN(const auto source, open_text(path));
  GpuSpoolFile file;
  file.path = path;
  GpuSession& session = file.head;
  TextSource::Line line;
  while (source->next(line)) {
    const bool first = line.number == 1;
    if (!first && !is_wanted(line.text)) continue;
    const auto kind = parse_gpu_line(line.text, static_cast<std::size_t>(line.number), session);
    if (!kind.ok() && first) return std::optional<GpuSpoolFile>();
    if (!kind.ok()) continue;  // the second pass counts them
    if (*kind == GpuLine::session) file.session = launches.add_session(session.pid);
    file.ended = file.ended || *kind == GpuLine::session_end;
    if (*kind != GpuLine::record) continue;
    const GpuRecord& record = session.records.back();
    if (const auto* call = std::get_if<GpuApiCall>(&record)) launches.add(file.session, *call);
    if (const auto* device = std::get_if<GpuDevice>(&record)) file.devices.push_back(*device);
    session.records.clear();
  }
  BENCH_RETURN_IF_ERROR(source->status());
  if (session.tracer.empty()) return std::optional<GpuSpoolFile>();
  return std::optional(std::move(file));
}

}  // namespace

bool GpuSpoolFile::traced() const { return head.tracer != capture::kNoTracer; }

Result<std::vector<std::string>> find_gpu_spools(const std::string& spool) {
  const fs::path path(spool);
  const std::string stem = path.filename().string() + capture::kGpuSpoolSuffix;
  std::vector<std::string> found;
  std::error_code code;
  fs::directory_iterator entry(path.parent_path(), code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (entry->path().filename().string().starts_with(stem)) {
      found.push_back(entry->path().string());
    }
  }
  if (code) return Error{"cannot be listed: " + code.message(), path.parent_path().string(), ""};
  std::ranges::sort(found);
  return found;
}

Result<std::vector<GpuSpoolFile>> scan_gpu_spools(const std::vector<std::string>& paths,
                                                  GpuLaunches& launches) {
  std::vector<GpuSpoolFile> files;
  for (const std::string& path : paths) {
    BENCH_ASSIGN_OR_RETURN(auto file, scan(path, launches));
    if (file) files.push_back(std::move(*file));
  }
  launches.sort();
  return files;
}

Result<LoadedGpuSpool> load_gpu_spool(const GpuSpoolFile& file, const GpuLaunches& launches) {
  return Loader(file, launches).load();
}

}  // namespace bench
