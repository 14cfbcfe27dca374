// SPDX-License-Identifier: Apache-2.0
// Reads a gate's file back; evidence_file.cpp writes it.
#include "base/lines.hpp"
#include "base/text.hpp"
#include "harness/judge/evidence_json.hpp"
#include "harness/judge/stage_one.hpp"
#include "harness/result/field_reader.hpp"
#include "harness/stats/signed_rank.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace bench {
namespace {

using ParsedJson = nlohmann::json;

template <class T>
void get(const ParsedJson& object, const char* name, std::optional<T>& value) {
  if (object.contains(name)) value = object.at(name).get<T>();
}
void get(const ParsedJson& object, const char* name, std::optional<Nanoseconds>& value) {
  if (object.contains(name)) value = Nanoseconds(object.at(name).get<std::int64_t>());
}

template <class Enum, class Names>
Enum value_named(const ParsedJson& name, const Names& names) {
  const auto text = name.get<std::string>();
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  throw std::invalid_argument(fmt::format("unknown word `{}`", shorten(text, 40)));
}

GateSide read_side(const ParsedJson& object) {
  using Words = std::map<std::string, std::string>;
  return {object.at("program").get<std::string>(), object.at("version").get<std::string>(),
          object.at("commit").get<std::string>(), object.at("environment").get<Words>(),
          object.at("libraries").get<Words>()};
}

PreparedSide read_prepared(const ParsedJson& object) {
  return {object.at("implementation").get<std::string>(),
          object.at("facts").get<std::map<std::string, std::string>>()};
}

std::vector<Change> read_changes(const ParsedJson& list) {
  std::vector<Change> changes;
  for (const ParsedJson& entry : list) {
    Change& change = changes.emplace_back();
    change.field = entry.at("field").get<std::string>();
    get(entry, "from", change.from);
    get(entry, "to", change.to);
  }
  return changes;
}

std::vector<Nanoseconds> read_times(const ParsedJson& list) {
  std::vector<Nanoseconds> times;
  for (const ParsedJson& time : list) times.emplace_back(time.get<std::int64_t>());
  return times;
}

// Values from a file enter formulas that hold within these limits. A gate writes values far from
// them.
constexpr double kMaxShare = 10;  // of gate settings: 1000 %, the limit of configurations
constexpr double kMinError = 1e-9;
constexpr double kMaxLog = 100;
constexpr double kMaxRuns = 1e9;
// Also processes per window; all of them stay below kMaxPairs
constexpr std::size_t kMaxWindows = 30;

double number_within(const ParsedJson& object, const char* name, double least, double most) {
  const auto value = object.at(name).get<double>();
  if (value >= least && value <= most) return value;
  throw std::invalid_argument(fmt::format("`{}` is not within {:g} and {:g}", name, least, most));
}

class FileReader {
 public:
  explicit FileReader(GateFile& file) : file_(file) { index_cases(); }
  void read(const ParsedJson& object);
  bool seen_header() const { return seen_header_; }

 private:
  CaseEvidence& entry_of(const ParsedJson& object) {
    const auto found = by_id_.find(object.at("id").get<std::string>());
    if (found == by_id_.end()) throw std::invalid_argument("there is no case record of its id");
    return *found->second;
  }
  void index_cases() {
    by_id_.clear();
    for (CaseEvidence& entry : file_.evidence.cases) by_id_.emplace(entry.id, &entry);
  }
  void read_gate(const ParsedJson& object);
  void read_unmeasured(const ParsedJson& list);
  void read_gate_end(const ParsedJson& object) {
    if (!object.contains("stopped")) return;
    file_.evidence.stopped =
        value_named<StopCause>(object.at("stopped"), evidence_json::kStopCauses);
  }
  void read_stored(const ParsedJson& object);
  void read_base_side(const ParsedJson& object) { entry_of(object).base = read_prepared(object); }
  void read_failure(const ParsedJson& object) {
    entry_of(object).failure =
        SideFailure{value_named<SideFailure::Side>(object.at("side"), evidence_json::kSides),
                    value_named<Outcome>(object.at("outcome"), outcome_names()),
                    object.at("reason").get<std::string>()};
  }
  void read_duet(const ParsedJson& object);
  void read_window(const ParsedJson& object);
  void read_verdict(const ParsedJson& object);

  GateFile& file_;
  std::unordered_map<std::string, CaseEvidence*> by_id_;
  bool seen_header_ = false;
};

void FileReader::read(const ParsedJson& object) {
  struct Row {
    std::string_view kind;
    void (FileReader::*read)(const ParsedJson&);
  };
  constexpr std::array<Row, 8> kRows = {{{"gate", &FileReader::read_gate},
                                         {"gate_end", &FileReader::read_gate_end},
                                         {"stored", &FileReader::read_stored},
                                         {"base_side", &FileReader::read_base_side},
                                         {"side_failure", &FileReader::read_failure},
                                         {"duet", &FileReader::read_duet},
                                         {"window", &FileReader::read_window},
                                         {"verdict", &FileReader::read_verdict}}};
  const auto kind = object.at("record").get<std::string>();
  for (const Row& row : kRows) {
    if (row.kind == kind) (this->*row.read)(object);
  }
}

void FileReader::read_gate(const ParsedJson& object) {
  const auto schema = object.at("schema").get<std::string>();
  if (schema != kGateSchema) {
    throw std::invalid_argument(
        fmt::format("schema `{}`, expected `{}`", shorten(schema, 40), kGateSchema));
  }
  GateFacts& facts = file_.facts;
  facts.run_id = object.at("run_id").get<std::string>();
  facts.config_name = object.at("config").get<std::string>();
  facts.config_files = object.at("files").get<std::vector<std::string>>();
  facts.plugins = object.value("plugins", facts.plugins);
  facts.machine_class = object.at("machine_class").get<std::string>();
  facts.candidate = read_side(object.at("candidate"));
  if (object.contains("base")) facts.base = read_side(object.at("base"));
  get(object, "store", facts.store);
  GateEvidence& evidence = file_.evidence;
  evidence.mode = value_named<GateEvidence::Mode>(object.at("mode"), evidence_json::kModes);
  evidence.removed = object.at("removed").get<std::vector<std::string>>();
  evidence.changes = read_changes(object.at("changes"));
  if (object.contains("moved")) {
    // Older files do not record the amount: treat the drift as infinite.
    const double log = object.contains("moved_log") ? number_within(object, "moved_log", 0, kMaxLog)
                                                    : std::numeric_limits<double>::infinity();
    evidence.moved = MachineDrift{log, object.at("moved").get<std::string>()};
  }
  evidence.store_problems = object.value("store_problems", evidence.store_problems);
  if (object.contains("unmeasured")) read_unmeasured(object.at("unmeasured"));
  // Older files lack the field; a removed case proves that the configuration is stored.
  evidence.configuration_is_stored =
      object.value("configuration_is_stored", !evidence.removed.empty());
  for (const auto& row : evidence_json::kSettings) {
    evidence.settings.*row.member = number_within(object.at("settings"), row.name, 0, kMaxShare);
  }
  for (const auto& row : evidence_json::kPolicyCounts) {
    const bool is_new = row.member == &GatePolicy::first_confirmations;
    if (is_new && !object.at("policy").contains(row.name)) continue;
    const double least = row.member == &GatePolicy::confirmations ? 0 : 1;
    evidence.policy.*row.member = static_cast<int>(
        number_within(object.at("policy"), row.name, least, static_cast<double>(kMaxPairs)));
  }
  // Older files had one interim analysis of the confirming duets.
  if (!object.at("policy").contains("first_confirmations")) {
    evidence.policy.first_confirmations = evidence.policy.confirmations;
  }
  for (const auto& row : evidence_json::kPolicyShares) {
    if (!object.at("policy").contains(row.name)) continue;  // a file of an older version
    evidence.policy.*row.member =
        number_within(object.at("policy"), row.name, kMinError, 1 - kMinError);
  }
  // Older files used the reported bound for PASS as well.
  if (!object.at("policy").contains("pass_error")) {
    evidence.policy.pass_error = evidence.policy.bound_error;
  }
  seen_header_ = true;
}

// Adds the cases that stage 1 did not reach. After Ctrl-C they have no record of their own.
void FileReader::read_unmeasured(const ParsedJson& list) {
  file_.evidence.cases.reserve(file_.evidence.cases.size() + list.size());
  index_cases();  // after reserve(), push_back() does not move the entries
  for (const ParsedJson& object : list) {
    const auto id = object.at("id").get<std::string>();
    if (const auto found = by_id_.find(id); found != by_id_.end()) {
      found->second->is_unmeasured = true;
      continue;
    }
    CaseEvidence entry;
    entry.id = id;
    entry.source = object.at("source").get<std::string>();
    entry.is_unmeasured = true;
    file_.evidence.cases.push_back(std::move(entry));
  }
  index_cases();
}

void FileReader::read_stored(const ParsedJson& object) {
  file_.evidence.configuration_is_stored = true;
  StoredCase& stored = entry_of(object).stored.emplace();
  stored.commit = object.at("commit").get<std::string>();
  stored.time = object.at("time").get<std::string>();
  stored.run_id = object.at("of_run").get<std::string>();
  get(object, "incomparable", stored.incomparable);
  stored.is_malformed = object.value("damaged", false);
  if (stored.incomparable) return;
  stored.runs = static_cast<int>(number_within(object, "runs", 0, kMaxRuns));
  stored.center = number_within(object, "log_center", -kMaxLog, kMaxLog);
  stored.sigma = number_within(object, "log_sigma", 0, kMaxLog);
  get(object, "log_q95", stored.q95);
  get(object, "log_q99", stored.q99);
  get(object, "median_ns", stored.median);
  get(object, "clock_hz", stored.clock_hz);
  stored.side = read_prepared(object);
}

void FileReader::read_duet(const ParsedJson& object) {
  Duet duet;
  duet.run_id = object.at("run_id").get<std::string>();
  duet.id = object.at("id").get<std::string>();
  duet.stage = value_named<Duet::Stage>(object.at("stage"), evidence_json::kStages);
  duet.number = object.at("number").get<int>();
  duet.iterations_per_sample = object.at("iterations_per_sample").get<std::int64_t>();
  duet.base = read_times(object.at("base_ns"));
  duet.candidate = read_times(object.at("candidate_ns"));
  duet.base_clock_hz = object.value("base_clock_hz", duet.base_clock_hz);
  duet.candidate_clock_hz = object.value("candidate_clock_hz", duet.candidate_clock_hz);
  if (object.contains("base_canary_ns")) {
    duet.base_canary = read_times(object.at("base_canary_ns"));
    duet.candidate_canary = read_times(object.at("candidate_canary_ns"));
    duet.quiet_level = Nanoseconds(object.at("quiet_level_ns").get<std::int64_t>());
  }
  if (duet.iterations_per_sample < 1)
    throw std::invalid_argument("`iterations_per_sample` is less than 1");
  std::vector<Duet>& duets = entry_of(object).duets;
  if (duets.size() >= kMaxPairs) throw std::invalid_argument("too many duets");
  duets.push_back(std::move(duet));
}

void FileReader::read_window(const ParsedJson& object) {
  Window window;
  window.run_id = object.at("run_id").get<std::string>();
  window.id = object.at("id").get<std::string>();
  window.number = object.at("window").get<int>();
  for (const ParsedJson& process : object.at("processes")) {
    window.processes.push_back({Nanoseconds(process.at("q25_ns").get<std::int64_t>()),
                                process.at("iterations_per_sample").get<std::int64_t>()});
    if (window.processes.back().iterations_per_sample < 1) {
      throw std::invalid_argument("`iterations_per_sample` is less than 1");
    }
  }
  std::vector<Window>& windows = entry_of(object).windows;
  if (windows.size() >= kMaxWindows || window.processes.size() > kMaxWindows) {
    throw std::invalid_argument("too many processes");
  }
  windows.push_back(std::move(window));
}

void FileReader::read_verdict(const ParsedJson& object) {
  CaseAssessment& judgement = file_.judgements.emplace_back();
  judgement.id = object.at("id").get<std::string>();
  judgement.source = object.at("source").get<std::string>();
  judgement.verdict = value_named<Verdict>(object.at("verdict"), kVerdictNames);
  judgement.reason = object.at("reason").get<std::string>();
  judgement.course =
      value_named<CaseAssessment::Course>(object.at("course"), evidence_json::kCourses);
  judgement.cut_short = object.value("cut_short", false);
  if (object.contains("pending")) {
    const ParsedJson& pending = object.at("pending");
    judgement.pending = {
        value_named<Wanted::Kind>(pending.at("kind"), evidence_json::kPendingKinds),
        pending.at("done").get<int>(), pending.at("planned").get<int>()};
  }
  if (object.contains("against")) {
    judgement.against = value_named<Reference>(object.at("against"), evidence_json::kReferences);
  }
  for (const auto& row : evidence_json::kShares) get(object, row.name, judgement.*row.member);
  judgement.duets = object.at("duets").get<int>();
  judgement.confirmations = object.at("confirmations").get<int>();
  for (const auto& row : evidence_json::kTimes) get(object, row.name, judgement.*row.member);
  judgement.changes = read_changes(object.at("changes"));
}

Error malformed(const std::string& name, std::size_t number, const std::string& why) {
  return Error{"malformed record: " + why, fmt::format("{}:{}", name, number),
               "use a file as `bench gate --out DIR` wrote it"};
}

}  // namespace

Result<GateFile> read_gate_file(std::string_view text, const std::string& name) {
  BENCH_ASSIGN_OR_RETURN(const Report report, parse_report(text, name));
  GateFile file;
  file.evidence.cases = stage_one(report);
  FileReader reader(file);
  for (const NumberedLine& line : Lines(text)) {
    if (line.text.empty() || line.incomplete_line) continue;
    const Result<ParsedJson> object = parse_json(line.text);
    if (!object.ok()) return malformed(name, line.number, object.error().what);
    try {
      reader.read(*object);
    } catch (const std::exception& problem) {
      return malformed(name, line.number, problem.what());
    }
  }
  if (!reader.seen_header()) {
    return Error{"not a gate's file: it has no record `gate`", name,
                 "bench gate --out DIR writes DIR/gate.jsonl"};
  }
  return file;
}

}  // namespace bench
