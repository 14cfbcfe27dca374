// SPDX-License-Identifier: Apache-2.0
// Writes a gate's file, and reads it back.
#include "harness/judge/evidence_file.hpp"

#include "base/lines.hpp"
#include "harness/judge/evidence_fields.hpp"
#include "harness/judge/stage_one.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace bench {
namespace {

// Maximum number of windows per case, and of processes per window. The processes of all windows are
// then at most 900, which is below kMaxPairs.
constexpr std::size_t kMaxWindows = 30;

// Begin of the last field of a record; its value and a brace follow.
constexpr std::string_view kDigestField = ",\"digest\":\"";

// Returns a record of this kind. `declare` writes its other fields.
template <class Declare>
std::string make_evidence_line(std::string_view kind, Declare declare) {
  const auto with_kind = [&](JsonWriter& writer) {
    writer.constant("record", kind);
    declare(writer);
  };
  return json_object(with_kind, kEvidenceStyle);
}

// Returns a record of a case. Adds the id, which the fields of `declare` do not contain.
template <class Declare>
std::string make_case_line(std::string_view kind, const std::string& run_id, const std::string& id,
                           Declare declare) {
  return make_evidence_line(kind, [&](JsonWriter& writer) {
    writer.required("run_id", run_id);
    writer.required("id", id);
    declare(writer);
  });
}

}  // namespace

std::string gate_line(const GateFacts& facts, const GateEvidence& evidence) {
  const std::vector<UnmeasuredCase> unmeasured = unmeasured_cases(evidence);
  return make_evidence_line("gate", [&](JsonWriter& writer) {
    writer.constant("schema", kGateSchema);
    gate_fields(writer, facts, evidence, unmeasured);
  });
}

std::string stored_line(const std::string& run_id, const std::string& id,
                        const StoredEvidence& stored) {
  return make_case_line("stored", run_id, id, [&](JsonWriter& writer) { fields(writer, stored); });
}

std::string base_side_line(const std::string& run_id, const std::string& id,
                           const ExactProperties& side) {
  return make_case_line("base_side", run_id, id, [&](JsonWriter& writer) { fields(writer, side); });
}

std::string failure_line(const std::string& run_id, const std::string& id,
                         const SideFailure& failure) {
  return make_case_line("side_failure", run_id, id,
                        [&](JsonWriter& writer) { fields(writer, failure); });
}

std::string duet_line(const Duet& duet) {
  return make_evidence_line("duet", [&](JsonWriter& writer) { fields(writer, duet); });
}

std::string window_line(const Window& window) {
  return make_evidence_line("window", [&](JsonWriter& writer) { fields(writer, window); });
}

std::string verdict_line(const std::string& run_id, const CaseAssessment& judgement) {
  return make_case_line("verdict", run_id, judgement.id, [&](JsonWriter& writer) {
    assessment_fields(writer, judgement, EmptyFields::kept);
  });
}

std::string gate_end_line(const std::string& run_id, const std::optional<StopCause>& stopped) {
  return make_evidence_line("gate_end", [&](JsonWriter& writer) {
    writer.required("run_id", run_id);
    writer.optional("stopped", stopped);
  });
}

void EvidenceSeal::add(std::string_view line) {
  hash_.add(line);
  hash_.add("\n");
}

std::string EvidenceSeal::seal(std::string_view record) {
  record.remove_suffix(1);  // the closing brace
  hash_.add(record);
  const std::string end = fmt::format("{}{}\"}}", kDigestField, hash_.text());
  add(end);
  return std::string(record) + end;
}

namespace {

// Compares the digests of the records with the text before them.
class DigestCheck {
 public:
  explicit DigestCheck(std::string_view text) : text_(text) {}

  // Checks a record of a gate, which is a line of the text. Returns its problem; empty if there is
  // none. The first record decides whether the others must have a digest.
  std::string check(std::string_view line, JsonValue record) {
    const bool has_digest = record.find("digest").has_value();
    if (has_digest != has_digests_.value_or(has_digest))
      return "it has no digest, but the records before it have one";
    has_digests_ = has_digest;
    if (!has_digest) return "";
    const std::size_t field = line.rfind(kDigestField);
    if (field == std::string_view::npos) return "its digest is not its last field";
    const auto place = static_cast<std::size_t>(line.data() - text_.data()) + field;
    hash_.add(text_.substr(hashed_, place - hashed_));
    hashed_ = place;
    const std::string expected = fmt::format("{}{}\"}}", kDigestField, hash_.text());
    if (line.substr(field) == expected) return "";
    return "its digest is wrong";
  }

 private:
  std::string_view text_;
  std::size_t hashed_ = 0;  // number of bytes of the text in the hash
  ContentHash hash_;
  std::optional<bool> has_digests_;
};

// Reads the records of a gate that follow those of stage 1.
class FileReader {
 public:
  explicit FileReader(GateFile& file) : file_(file) { index_cases(); }
  // Reads a record. Returns its problem; empty if there is none. Ignores records of other kinds.
  std::string read(JsonValue object);
  // Whether the record is of a kind that only a gate's file has.
  static bool is_of_gate(JsonValue object) { return find_row(object) != nullptr; }
  bool has_gate_record() const { return has_gate_record_; }

 private:
  // A kind of record, and how it is read.
  struct Row {
    std::string_view kind;
    void (FileReader::*read)(JsonReader&);
  };
  // Returns nullptr for records of other kinds.
  static const Row* find_row(JsonValue object);
  // Finds the case by the field `id` of the record. Returns nullptr and reports a problem if the
  // file does not have this case.
  CaseEvidence* find_entry(JsonReader& reader) {
    std::string id;
    reader.required("id", id);
    const auto entry = by_id_.find(id);
    if (entry != by_id_.end()) return entry->second;
    reader.report_problem("no case has its id");
    return nullptr;
  }
  void index_cases() {
    by_id_.clear();
    for (CaseEvidence& entry : file_.evidence.cases) by_id_.emplace(entry.id(), &entry);
  }
  void read_gate(JsonReader& reader);
  void add_unmeasured(std::vector<UnmeasuredCase> cases);
  void read_gate_end(JsonReader& reader) { reader.optional("stopped", file_.evidence.stopped); }
  void read_stored(JsonReader& reader) {
    file_.evidence.configuration_is_stored = true;
    if (CaseEvidence* entry = find_entry(reader)) fields(reader, entry->stored.emplace());
  }
  void read_base_side(JsonReader& reader) {
    if (CaseEvidence* entry = find_entry(reader)) fields(reader, entry->base.emplace());
  }
  void read_failure(JsonReader& reader) {
    if (CaseEvidence* entry = find_entry(reader)) fields(reader, entry->failure.emplace());
  }
  void read_duet(JsonReader& reader);
  void read_window(JsonReader& reader);
  void read_verdict(JsonReader& reader) {
    CaseAssessment judgement;
    reader.required("id", judgement.id);
    assessment_fields(reader, judgement, EmptyFields::kept);
    const auto known = std::ranges::find(file_.judgements, judgement.id, &CaseAssessment::id);
    if (known == file_.judgements.end()) file_.judgements.push_back(std::move(judgement));
  }

  GateFile& file_;
  std::unordered_map<std::string, CaseEvidence*> by_id_;
  bool has_gate_record_ = false;
};

const FileReader::Row* FileReader::find_row(JsonValue object) {
  static constexpr std::array<Row, 8> kRows = {{{"gate", &FileReader::read_gate},
                                                {"gate_end", &FileReader::read_gate_end},
                                                {"stored", &FileReader::read_stored},
                                                {"base_side", &FileReader::read_base_side},
                                                {"side_failure", &FileReader::read_failure},
                                                {"duet", &FileReader::read_duet},
                                                {"window", &FileReader::read_window},
                                                {"verdict", &FileReader::read_verdict}}};
  const auto kind = object.text_at("record");
  const auto* const row = std::ranges::find(kRows, kind.value_or(""), &Row::kind);
  return row == kRows.end() ? nullptr : row;
}

std::string FileReader::read(JsonValue object) {
  if (!object.text_at("record")) return "it has no field `record`";
  JsonReader reader(object, kEvidenceRules);
  if (const Row* const row = find_row(object)) (this->*row->read)(reader);
  return reader.problem();
}

void FileReader::read_gate(JsonReader& reader) {
  std::vector<UnmeasuredCase> unmeasured;
  const std::string earlier_run = file_.facts.run_id;
  reader.constant("schema", kGateSchema);
  gate_fields(reader, file_.facts, file_.evidence, unmeasured);
  if (has_gate_record_ && file_.facts.run_id != earlier_run)
    return reader.report_problem("the file contains two gates; give the file of one");
  add_unmeasured(std::move(unmeasured));
  has_gate_record_ = true;
}

// Adds the cases that stage 1 did not reach. After Ctrl-C they may have no case record.
void FileReader::add_unmeasured(std::vector<UnmeasuredCase> cases) {
  std::vector<CaseEvidence>& entries = file_.evidence.cases;
  entries.reserve(entries.size() + cases.size());
  index_cases();  // after reserve(), push_back() does not move the entries
  for (UnmeasuredCase& unmeasured : cases) {
    if (const auto known = by_id_.find(unmeasured.id); known != by_id_.end()) {
      known->second->is_unmeasured = true;
      continue;
    }
    CaseEvidence entry;
    entry.candidate.id = std::move(unmeasured.id);
    entry.candidate.source = std::move(unmeasured.source);
    entry.is_unmeasured = true;
    entries.push_back(std::move(entry));
  }
  index_cases();
}

void FileReader::read_duet(JsonReader& reader) {
  Duet duet;
  fields(reader, duet);
  CaseEvidence* entry = find_entry(reader);
  if (entry == nullptr) return;
  // A file that contains a gate twice must not have twice the evidence.
  if (std::ranges::find(entry->duets, duet) != entry->duets.end()) return;
  if (entry->duets.size() >= kMaxPairs) return reader.report_problem("too many duets");
  entry->duets.push_back(std::move(duet));
}

void FileReader::read_window(JsonReader& reader) {
  Window window;
  fields(reader, window);
  CaseEvidence* entry = find_entry(reader);
  if (entry == nullptr) return;
  if (std::ranges::find(entry->windows, window) != entry->windows.end()) return;
  if (entry->windows.size() >= kMaxWindows)
    return reader.report_problem("too many records `window`");
  if (window.processes.size() > kMaxWindows)
    return reader.report_problem("too many processes in a record `window`");
  entry->windows.push_back(std::move(window));
}

Error changed_error(const std::string& name, std::size_t number, const std::string& why) {
  return Error{
      fmt::format("the evidence is not as the gate wrote it: {}. A line up to this one was "
                  "changed, removed or added",
                  why),
      fmt::format("{}:{}", name, number),
      "use the file as `bench gate --out DIR` wrote it, or measure again"};
}

Error malformed_error(const std::string& name, std::size_t number, const std::string& why) {
  return Error{"malformed record: " + why, fmt::format("{}:{}", name, number),
               "use a file as `bench gate --out DIR` wrote it"};
}

}  // namespace

Result<GateFile> read_gate_file(std::string_view text, const std::string& name) {
  BENCH_ASSIGN_OR_RETURN(const Report report, parse_report(text, name));
  GateFile file;
  file.evidence.cases = collect_stage_one(report);
  FileReader reader(file);
  JsonDocument document;
  DigestCheck digests(text);
  for (const NumberedLine& line : Lines(text)) {
    if (line.text.empty() || line.incomplete_line) continue;
    if (const Status parsed = document.parse(line.text); !parsed)
      return malformed_error(name, line.number, parsed.error().what);
    if (FileReader::is_of_gate(document.root())) {
      if (const std::string problem = digests.check(line.text, document.root()); !problem.empty())
        return changed_error(name, line.number, problem);
    }
    if (const std::string problem = reader.read(document.root()); !problem.empty())
      return malformed_error(name, line.number, problem);
  }
  if (!reader.has_gate_record()) {
    return Error{"not a gate's file: it has no record `gate`", name,
                 "bench gate --out DIR writes DIR/gate.jsonl"};
  }
  return file;
}

bool is_gate_file(std::string_view text) {
  constexpr std::string_view kBegin = R"({"record":"gate",)";
  return text.starts_with(kBegin) ||
         text.find(std::string("\n") + std::string(kBegin)) != std::string_view::npos;
}

}  // namespace bench
