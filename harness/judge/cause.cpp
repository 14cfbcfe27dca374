// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kDirtySuffix = "-dirty";
constexpr std::string_view kReportedSuffix = ".detail";  // what a library says about itself

// The kind of the facts with a name, or with names that begin with a text which ends in a dot. The
// first row that fits counts.
struct KindRow {
  std::string_view name;
  CauseKind kind;
};
constexpr std::array<KindRow, 32> kKinds = {{{"measure.", CauseKind::method},
                                             {"sample_method", CauseKind::method},
                                             {"config.seed", CauseKind::method},
                                             {"threads", CauseKind::method},
                                             {"omp_num_threads", CauseKind::method},
                                             {"omp_places", CauseKind::method},
                                             {"omp_proc_bind", CauseKind::method},
                                             {"gomp_spincount", CauseKind::method},
                                             {"env.BENCH_SLOWDOWN", CauseKind::method},
                                             {"env.", CauseKind::library},
                                             {"library.", CauseKind::library},
                                             {"build.", CauseKind::compiler},
                                             {"tool.commit", CauseKind::code},
                                             {"tool.version", CauseKind::code},
                                             {"program.digest", CauseKind::code},
                                             {"machine_class", CauseKind::machine},
                                             {"cpu", CauseKind::machine},
                                             {"cpu.", CauseKind::machine},
                                             {"cache.", CauseKind::machine},
                                             {"gpu.", CauseKind::machine},
                                             {"governor", CauseKind::machine},
                                             {"frequency_driver", CauseKind::machine},
                                             {"no_turbo", CauseKind::machine},
                                             {"boost", CauseKind::machine},
                                             {"smt", CauseKind::machine},
                                             {"kernel", CauseKind::machine},
                                             {"hostname", CauseKind::machine},
                                             {"microcode", CauseKind::machine},
                                             {"clock.max_khz", CauseKind::machine},
                                             {"transparent_hugepage", CauseKind::machine},
                                             {"aslr", CauseKind::machine},
                                             {"process.", CauseKind::machine}}};

const std::string* recorded_value(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() || found->second.empty() ? nullptr : &found->second;
}

// The facts of two measurements, of which some decide about others.
class FactPair {
 public:
  FactPair(const Facts& before, const Facts& after) : before_(before), after_(after) {}

  bool both_have(const std::string& name) const {
    return recorded_value(before_, name) != nullptr && recorded_value(after_, name) != nullptr;
  }
  bool are_equal(const std::string& name) const {
    return both_have(name) && before_.at(name) == after_.at(name);
  }
  // Whether both ran the same file, so that neither its code nor its compiler differs.
  bool have_one_program() const { return are_equal(kProgramDigestFact); }
  // Whether both state the same commit, without changes that no commit contains.
  bool have_one_commit() const {
    return are_equal("tool.commit") && !before_.at("tool.commit").ends_with(kDirtySuffix);
  }
  bool has_other_build() const { return both_have(kProgramDigestFact) && !have_one_program(); }

 private:
  const Facts& before_;
  const Facts& after_;
};

// Whether a difference of the fact shows a cause although only one side has it: a variable that is
// set, a library that is loaded.
bool may_be_unset(std::string_view name) {
  const bool is_version =
      name.starts_with("library.") && name.find('.', 8) == std::string_view::npos;
  return name.starts_with(kVariableDetail) || is_version;
}

// Whether another version explains the change of a library's file, or the file is the program.
bool is_explained_digest(const std::string& name, const FactPair& pair, const Facts& after) {
  if (!name.starts_with("library.") || !name.ends_with(kDigestSuffix)) return false;
  const std::string library = name.substr(0, name.size() - std::string_view(kDigestSuffix).size());
  const std::string* const path = recorded_value(after, library + ".path");
  const std::string* const program = recorded_value(after, kProgramPathFact);
  const bool is_linked = path != nullptr && program != nullptr && *path == *program;
  return is_linked || (pair.both_have(library) && !pair.are_equal(library));
}

// Whether other facts explain the change of the program's file or commit.
bool is_explained_code(const std::string& name, const FactPair& pair) {
  if (name == "tool.commit" || name == "tool.version") return pair.have_one_program();
  if (name != kProgramDigestFact) return false;
  const bool is_compiled_alike = pair.are_equal("build.compiler") && pair.are_equal("build.flags");
  const bool has_other_commit = pair.both_have("tool.commit") && !pair.are_equal("tool.commit");
  return has_other_commit || (pair.have_one_commit() && !is_compiled_alike);
}

// "processes 3, max_time 2 s" as pairs of a name and a value.
std::map<std::string, std::string> split_settings(const std::string& text) {
  std::map<std::string, std::string> settings;
  constexpr std::string_view kSeparator = ", ";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kSeparator, begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t space = std::min(item.find(' '), item.size());
    settings[item.substr(0, space)] = item.substr(std::min(space + 1, item.size()));
    begin = end + kSeparator.size();
  }
  return settings;
}

// Removes changes that follow from others: a machine class from processor and compiler, what a
// library reports from its version, its file or a variable.
void remove_explained(std::vector<Change>& changes) {
  const auto has = [&](std::initializer_list<std::string_view> prefixes) {
    return std::ranges::any_of(changes, [&](const Change& change) {
      return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
        return change.field.starts_with(prefix) && !change.field.ends_with(kReportedSuffix);
      });
    });
  };
  const bool is_class_explained = has({"cpu", "cache.", "build."});
  const bool is_report_explained = has({"library.", kVariableDetail});
  std::erase_if(changes, [&](const Change& change) {
    return (is_class_explained && change.field == "machine_class") ||
           (is_report_explained && change.field.ends_with(kReportedSuffix));
  });
}

void add_changes(const Facts& before, const Facts& after, CauseFacts& facts) {
  const FactPair pair(before, after);
  for (Change& change : changes_between(before, after)) {
    const std::optional<CauseKind> kind = kind_of_fact(change.field);
    const bool is_one_sided =
        !change.from || !change.to || change.from->empty() || change.to->empty();
    if (is_one_sided && !may_be_unset(change.field)) continue;
    if (change.field == kSettingsDetail) {
      for (Change& setting :
           changes_between(split_settings(*change.from), split_settings(*change.to))) {
        setting.field = "measure." + setting.field;
        facts.changes.push_back(std::move(setting));
      }
      continue;
    }
    if (is_explained_digest(change.field, pair, after) || is_explained_code(change.field, pair))
      continue;
    if (kind) facts.changes.push_back(std::move(change));
  }
  remove_explained(facts.changes);
  std::ranges::stable_sort(facts.changes, {}, [](const Change& change) {
    return std::tuple(*kind_of_fact(change.field), change.field);
  });
}

// Adds the facts that decide about a kind and that a side lacks.
void add_missing(const Facts& before, const Facts& after, CauseFacts& facts) {
  const FactPair pair(before, after);
  const bool has_one_program = pair.have_one_program(), has_one_commit = pair.have_one_commit();
  const auto need = [&](const char* name, auto... substitutes) {
    if (!pair.both_have(name) && !(substitutes || ...)) facts.missing.emplace_back(name);
  };
  need(kMeasuringFact, has_one_program, has_one_commit);
  need(kSettingsDetail, false);
  need("machine_class", pair.both_have("cpu"));
  const auto states_library = [](const Facts& side) {
    return std::ranges::any_of(side,
                               [](const auto& fact) { return fact.first.starts_with("library."); });
  };
  if (!states_library(before) || !states_library(after)) facts.missing.emplace_back("library");
  need("build.compiler", has_one_program, pair.are_equal("machine_class"));
  // A commit with changes that it does not contain does not identify the code.
  const bool is_vague = pair.are_equal("tool.commit") && !has_one_commit;
  if (is_vague && !pair.both_have(kProgramDigestFact))
    facts.missing.emplace_back(kProgramDigestFact);
  need("tool.commit", has_one_program, pair.has_other_build());
}

std::optional<CauseKind> kind_of_missing(std::string_view name) {
  return name == "library" ? CauseKind::library : kind_of_fact(name);
}

CauseStanding standing_of(const Cause& cause, const CauseFacts& facts, const MoveContext& context) {
  const bool is_together = context.timing == MoveContext::Timing::together;
  if (cause.kind == CauseKind::noise)
    return context.certainty ? CauseStanding::excluded : CauseStanding::possible;
  if (!cause.changes.empty()) return CauseStanding::differs;
  const bool is_missing = std::ranges::any_of(
      facts.missing, [&](const std::string& name) { return kind_of_missing(name) == cause.kind; });
  if (is_missing) return CauseStanding::unrecorded;
  const bool may_be_unseen = cause.kind == CauseKind::machine && !is_together;
  return may_be_unseen ? CauseStanding::possible : CauseStanding::excluded;
}

CauseCertainty certainty_of(const CauseFinding& finding) {
  const std::size_t differing = finding.kinds(CauseStanding::differs).size();
  const bool is_noise_excluded = finding.of(CauseKind::noise).standing == CauseStanding::excluded;
  const bool is_complete = finding.kinds(CauseStanding::unrecorded).empty() && is_noise_excluded;
  if (!is_complete || differing > 1) return CauseCertainty::open;
  if (finding.context.timing == MoveContext::Timing::together)
    return differing == 1 ? CauseCertainty::shown : CauseCertainty::open;
  return CauseCertainty::likely;
}

}  // namespace

std::optional<CauseKind> kind_of_fact(std::string_view name) {
  if (name.ends_with(".path")) return std::nullopt;
  const auto row = std::ranges::find_if(kKinds, [&](const KindRow& candidate) {
    return candidate.name.ends_with('.') ? name.starts_with(candidate.name)
                                         : name == candidate.name;
  });
  return row == kKinds.end() ? std::nullopt : std::optional(row->kind);
}

CauseFacts find_cause_facts(const Facts& before, const Facts& after) {
  CauseFacts facts;
  add_changes(before, after, facts);
  add_missing(before, after, facts);
  for (const char* name : {"implementation", kChoiceFact, kPrimitivesDetail}) {
    const std::string *const from = recorded_value(before, name), *const to =
                                                                      recorded_value(after, name);
    if (from != nullptr && to != nullptr && *from != *to)
      facts.consequences.push_back({name, *from, *to});
  }
  return facts;
}

Facts with_case_facts(Facts run, const MeasuredCase& measured) {
  for (const auto& [name, value] : measured.exact.facts) run[name] = value;
  run["implementation"] = measured.exact.implementation;
  if (measured.sample_method) run["sample_method"] = *measured.sample_method;
  return run;
}

const Cause& CauseFinding::of(CauseKind kind) const {
  return *std::ranges::find(causes, kind, &Cause::kind);
}

std::vector<CauseKind> CauseFinding::kinds(CauseStanding standing) const {
  std::vector<CauseKind> result;
  for (const Cause& cause : causes) {
    if (cause.standing == standing) result.push_back(cause.kind);
  }
  return result;
}

bool CauseFinding::may_differ(CauseKind kind) const {
  const CauseStanding standing = of(kind).standing;
  return standing == CauseStanding::differs || standing == CauseStanding::unrecorded;
}

CauseFinding judge_cause(const CauseFacts& facts, MoveContext context) {
  CauseFinding finding;
  for (std::size_t i = 0; i < enumerator_names<CauseKind>().size(); ++i) {
    Cause cause;
    cause.kind = static_cast<CauseKind>(i);
    std::ranges::copy_if(
        facts.changes, std::back_inserter(cause.changes),
        [&](const Change& change) { return kind_of_fact(change.field) == cause.kind; });
    if (const auto count = context.uneventful.find(cause.kind); count != context.uneventful.end())
      cause.uneventful = count->second;
    cause.standing = standing_of(cause, facts, context);
    finding.causes.push_back(std::move(cause));
  }
  // What changed often without an effect is less likely to have one now.
  std::ranges::stable_sort(finding.causes, {}, [](const Cause& cause) {
    return std::tuple(cause.standing, cause.uneventful);
  });
  finding.consequences = facts.consequences;
  finding.missing = facts.missing;
  finding.context = std::move(context);
  finding.certainty = certainty_of(finding);
  return finding;
}

std::optional<double> canary_shift(const std::optional<TimesBySpeed>& before,
                                   const std::optional<TimesBySpeed>& after) {
  if (!before || !after) return std::nullopt;
  const auto usual = [](const TimesBySpeed& times) {
    const auto cell = std::ranges::max_element(times.cells, {}, &SpeedCell::samples);
    return std::log(static_cast<double>(cell->canary.count()));
  };
  return usual(*after) - usual(*before);
}

}  // namespace bench
