// SPDX-License-Identifier: Apache-2.0
#include "profiler/pass_selection.hpp"

#include "profiler/activity_json.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/text_source.hpp"

#include <filesystem>
#include <system_error>

namespace bench {
namespace {

// Chooses among the passes that it reads, in their order.
class PassChooser {
 public:
  Status read(const std::string& path) {
    BENCH_ASSIGN_OR_RETURN(const auto source, open_text(path));
    if (!names_schema(source->head(), "bench.result")) return Done{};
    TextSource::Line line;
    while (source->next(line)) {
      // Parses no other record: activities are most of a file.
      if (line.text.substr(0, kKindEnd).find("profile_pass") == std::string_view::npos) continue;
      take(line.text);
    }
    return source->status();
  }
  PassChoice choice() && { return std::move(choice_); }

 private:
  static constexpr std::size_t kKindEnd = 40;  // `record` is the first field of a line

  void take(std::string_view line) {
    const ParsedLine& parsed = parser_.parse(line);
    if (parsed.kind != LineKind::other || parsed.record != "profile_pass") return;
    const std::string& id = parser_.activity().case_id;
    const bool is_ok = parsed.outcome == "ok";
    if (!is_ok && ok_.contains(id)) return;
    if (is_ok) ok_.insert(id);
    choice_[id] = parsed.run_id;
  }

  ActivityLineParser parser_;
  PassChoice choice_;
  std::set<std::string> ok_;  // cases whose chosen pass is ok
};

}  // namespace

Result<PassChoice> choose_passes(std::span<const std::string> paths) {
  PassChooser chooser;
  for (const std::string& path : paths) {
    // A pipe, such as standard input or `<(...)` of a shell, can be read only once.
    std::error_code ignored;
    if (path == "-" || std::filesystem::is_fifo(path, ignored)) continue;
    BENCH_RETURN_IF_ERROR(chooser.read(path));
  }
  return std::move(chooser).choice();
}

bool PassSelection::counts(const std::string& run_id, const std::string& case_id) const {
  const auto chosen = choice_.find(case_id);
  if (chosen != choice_.end() && chosen->second != run_id) return false;
  return !finished_.contains({run_id, case_id});
}

void PassSelection::finish(const std::string& run_id, const std::string& case_id) {
  if (!run_id.empty()) finished_.emplace(run_id, case_id);
}

}  // namespace bench
