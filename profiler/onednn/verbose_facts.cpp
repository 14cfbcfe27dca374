// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_facts.hpp"

#include <array>

namespace bench {
namespace {

constexpr std::size_t kMaxNotesLength = 1024;

// A FactRow selects the value after `prefix` in an info line that begins with `line`. The value
// ends at a comma (`item`) or at the end of the line (`whole`).
enum class Extent { item, whole };
struct FactRow {
  std::string_view line;
  std::string_view prefix;
  Extent extent;
  std::string_view key;
};

constexpr std::string_view kGpuEngine = "gpu,engine,";
constexpr std::array<FactRow, 6> kFacts = {{
    {"Detected ISA is ", "Detected ISA is ", Extent::whole, "library.onednn.isa"},
    {"cpu,isa:", "cpu,isa:", Extent::whole, "library.onednn.isa"},
    {"cpu,runtime:", "cpu,runtime:", Extent::item, "library.onednn.cpu_runtime"},
    {"cpu,runtime:", ",nthr:", Extent::item, "library.onednn.threads"},
    {"gpu,runtime:", "gpu,runtime:", Extent::item, "library.onednn.gpu_runtime"},
    {kGpuEngine, kGpuEngine, Extent::whole, "library.onednn.gpu_engine"},
}};

// Returns the position after the name and " v" of "oneDNN v3.2.0 (commit ...)", or npos for other
// lines.
std::size_t version_position(std::string_view text) {
  constexpr std::array<std::string_view, 4> kNames = {"oneDNN v", "DNNL v", "Intel MKL-DNN v",
                                                      "Intel(R) MKL-DNN v"};
  for (const std::string_view name : kNames) {
    if (text.starts_with(name)) return name.size();
  }
  return std::string_view::npos;
}

void add_version(std::string_view text, std::map<std::string, std::string>& facts) {
  text.remove_prefix(version_position(text));
  facts["library.onednn.version"] = text.substr(0, text.find_first_of(" ,"));
  for (const std::string_view mark : {"(commit ", "(Git Hash "}) {  // the second one until 0.x
    const std::size_t commit = text.find(mark);
    if (commit == std::string_view::npos) continue;
    const std::string_view rest = text.substr(commit + mark.size());
    facts["library.onednn.commit"] = rest.substr(0, rest.find(')'));
  }
}

// A log has no limit, so the notes have one.
void append_note(std::string_view text, std::string& notes) {
  if (notes.size() + text.size() + 2 > kMaxNotesLength) return;
  if (!notes.empty()) notes += "; ";
  notes += text;
}

}  // namespace

bool is_version_line(std::string_view text) {
  return version_position(text) != std::string_view::npos;
}

void add_facts(std::string_view text, std::map<std::string, std::string>& facts) {
  if (is_version_line(text)) return add_version(text, facts);
  bool known = false;
  for (const FactRow& row : kFacts) {
    if (!text.starts_with(row.line)) continue;
    known = true;
    const std::size_t begin = text.find(row.prefix);
    if (begin == std::string_view::npos) continue;
    const std::string_view value = text.substr(begin + row.prefix.size());
    const std::string_view found =
        row.extent == Extent::whole ? value : value.substr(0, value.find(','));
    std::string& fact = facts[std::string(row.key)];
    if (row.line == kGpuEngine) {
      append_note(found, fact);  // one line per GPU
    } else {
      fact = found;
    }
  }
  if (!known) append_note(text, facts["library.onednn.notes"]);
}

}  // namespace bench
