// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_progress.hpp"

#include "base/data_type.hpp"
#include "base/text.hpp"
#include "harness/config/case_work.hpp"
#include "harness/config/settings.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/summary.hpp"
#include "harness/result/typed_details.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace bench {

namespace {

// Parts of the creation time are not details of a case.
void erase_setup_times(std::map<std::string, std::string>& details) {
  std::erase_if(details, [](const auto& detail) { return detail.first.starts_with(kSetupDetail); });
}

void add_memberships(const Case& spec, CaseRecord& record) {
  if (spec.memberships.empty()) return;
  record.network = spec.memberships.front().network;
  record.layers = spec.memberships.front().layers;
  // Instead of a stated count (docs/configuration.md): sums over the layers of a network need it.
  record.multiplicity = static_cast<int>(record.layers.size());
  for (const Membership& membership : spec.memberships) {
    for (const ops::Direction direction : membership.unmeasured_gradients) {
      const auto name = to_string(direction);
      auto& names = record.unmeasured_gradients;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
  }
  if (spec.memberships.size() == 1) return;
  for (const Membership& membership : spec.memberships) {
    record.networks.push_back({membership.network, membership.layers});
  }
}

// Returns the images or sequences that one iteration processes: the batch of a network, the
// parameter `batch` of an operator, or `n` of an operator on images, which has channels `c`. Other
// operators process one item per iteration.
std::int64_t count_items(const Case& spec) {
  const auto* problem = std::get_if<ops::Problem>(&spec.work);
  if (problem == nullptr) return spec.network->batch;
  const auto table = problem->parameters.table();
  const auto is_count = [&](std::string_view name) {
    const ops::Parameter* parameter = ops::find_parameter(table, name);
    return parameter != nullptr && parameter->kind == ops::ParameterKind::count;
  };
  if (is_count("batch")) return problem->parameters.count("batch");
  return is_count("n") && is_count("c") ? problem->parameters.count("n") : 1;
}

}  // namespace

CaseRecord case_facts(const Case& spec) {
  CaseRecord record;
  record.id = spec.id;
  record.op = spec.key.op;
  record.direction = to_string(spec.key.direction);
  record.dtype = info(spec.key.dtype).name;
  record.device = spec.key.device;
  record.backend = spec.key.backend;
  record.source = Place{spec.place.file, spec.place.line, 0}.text();
  record.case_hash = spec.hash;
  record.work = case_work(spec);
  if (spec.key.streams != 1) record.streams = spec.key.streams;
  if (record.streams || spec.network) record.items = count_items(spec);
  record.multiplicity = spec.count;
  add_memberships(spec, record);
  return record;
}

namespace {

using Details = std::map<std::string, std::string>;
using ops::TensorCoreAnswer;
using ops::TensorCoreEligibility;

void add_details(const TensorCoreEligibility& verdict, Details& details) {
  details[kTensorCoresDetail] = to_string(verdict.answer);
  if (!verdict.reason.empty()) details[kTensorCoresReason] = verdict.reason;
  if (!verdict.rule.empty()) details["tensor_cores.rule"] = verdict.rule;
  if (verdict.answer != TensorCoreAnswer::eligible) return;
  if (verdict.alignment) details["tensor_cores.alignment"] = to_string(*verdict.alignment);
}

void add_details(const std::vector<ops::TensorCoreNode>& nodes, Details& details) {
  std::size_t products = 0;
  std::vector<std::string> ineligible;
  for (const ops::TensorCoreNode& node : nodes) {
    if (node.verdict.answer == TensorCoreAnswer::not_applicable) continue;
    ++products;
    if (node.verdict.answer == TensorCoreAnswer::not_eligible) {
      ineligible.push_back(fmt::format("{} [{}]", node.node, node.verdict.rule));
    }
  }
  details[kTensorCoresDetail] =
      fmt::format("{} of {} convolutions and products", products - ineligible.size(), products);
  if (!ineligible.empty()) {
    details[kTensorCoresReason] = fmt::format("not eligible: {}", fmt::join(ineligible, ", "));
  }
}

}  // namespace

Details tensor_core_details(const Case& spec, std::string_view capability) {
  if (!is_cuda_backend(spec.key.backend)) return {};
  const auto platform = ops::parse_platform(capability);
  if (!platform) return {{kTensorCoresReason, platform.error().what}};
  Details details = {{"tensor_cores.arch", fmt::format("{}, {}", platform->architecture->name,
                                                       info(platform->libraries).name)}};
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) {
    add_details(assess_tensor_cores(*problem, *platform), details);
  } else {
    const auto& network = std::get<std::shared_ptr<const ops::Network>>(spec.work);
    add_details(assess_tensor_cores(*network, *platform), details);
  }
  return details;
}

std::optional<std::string> missed_tensor_cores(const Case& spec, std::string_view capability,
                                               const std::string& used) {
  constexpr std::string_view kNotUsed = "not used";
  const auto* problem = std::get_if<ops::Problem>(&spec.work);
  const auto platform = ops::parse_platform(capability);
  if (problem == nullptr || !platform || !used.starts_with(kNotUsed)) return std::nullopt;
  const TensorCoreEligibility verdict = assess_tensor_cores(*problem, *platform);
  if (verdict.answer != TensorCoreAnswer::eligible) return std::nullopt;
  return fmt::format("{}, although eligible: {}", used,
                     verdict.changes.empty() ? "no change is known that would take them"
                                             : fmt::format("{}", fmt::join(verdict.changes, "; ")));
}

void CaseProgress::adopt(const ProcessRecord& record) {
  if (!record.choices.empty()) earlier_choices_ = record.choices;
  add(record);
}

void CaseProgress::adopt(const CaseRecord& record) {
  if (is_finished(record)) earlier_outcome_ = record.outcome;
}

void CaseProgress::add(ProcessRecord record) {
  if (!process_numbers_.insert(record.process).second) return;
  processes_.push_back(std::move(record));
}

bool CaseProgress::has_rejected_engines() const {
  return facts_ && facts_->details.contains("rejected_engines");
}

bool CaseProgress::has_recorded(const std::string& choices) const {
  return std::ranges::find(processes_, choices, &ProcessRecord::choices) != processes_.end();
}

std::optional<std::string> CaseProgress::learn(const PreparedReply& prepared) {
  if (!facts_) {
    facts_ = prepared;
    facts_->output = {};
    const bool is_resumed = !processes_.empty();
    if (!is_resumed || earlier_choices_ == prepared.choices) return std::nullopt;
    const auto format = [](const std::string& choices) {
      return choices.empty() ? std::string(kUnknown) : fmt::format("`{}`", format_choices(choices));
    };
    const std::string difference =
        fmt::format("processes of the earlier run chose {}, later ones {}",
                    format(earlier_choices_), format(prepared.choices));
    facts_->details[kResumedChoiceDetail] = difference;
    return fmt::format(
        "{}: the choice of the resumed run cannot be repeated: {}; measure the case again for "
        "times "
        "of one kernel",
        spec_->id, difference);
  }
  // The worker that chose by measuring took no samples. The first process completes its facts.
  if (process_numbers_.empty()) {
    for (const auto& [name, value] : prepared.details) {
      if (name != kOutputDigestDetail) facts_->details.emplace(name, value);
    }
  }
  // Digests may differ because threads add in another order. The check found all values within the
  // tolerance.
  const auto first = facts_->details.find(kOutputDigestDetail);
  const auto digest = prepared.details.find(kOutputDigestDetail);
  if (first == facts_->details.end() || digest == prepared.details.end()) return std::nullopt;
  if (first->second != digest->second) first->second = kDigestVaries;
  return std::nullopt;
}

void CaseProgress::end(Outcome outcome, std::string reason) {
  end(ErrorReply{outcome, std::move(reason)});
}

void CaseProgress::end(ErrorReply failure) { ended_ = std::move(failure); }

std::int64_t CaseProgress::remaining_processes() const {
  if (is_decided()) return 0;
  return std::max<std::int64_t>(spec_->measure.processes - std::ssize(process_numbers_), 0);
}

bool CaseProgress::has_samples() const {
  return std::ranges::any_of(processes_,
                             [](const ProcessRecord& process) { return !process.samples.empty(); });
}

bool CaseProgress::needs_process(int process) const {
  if (is_decided() || process >= spec_->measure.processes) return false;
  if (!is_measured(process)) return true;
  // An earlier run measured all processes, but ended before it recorded the facts. So the last
  // process is prepared once more.
  return process == spec_->measure.processes - 1 && has_requested_processes();
}

Outcome CaseProgress::outcome() const {
  if (earlier_outcome_) return *earlier_outcome_;
  if (ended_) return ended_->outcome;
  return has_only_discarded_samples() ? Outcome::failed : Outcome::ok;
}

CaseRecord CaseProgress::record(const std::string& run_id, std::optional<SpeedLevel> level) const {
  CaseRecord record = case_facts(*spec_);
  record.run_id = run_id;
  record.details[kSettingsDetail] = format_measuring(*spec_);
  if (facts_) {
    record.implementation = facts_->implementation;
    record.memory = facts_->memory;
    if (!facts_->check.empty()) record.check = facts_->check;
    record.details.insert(facts_->details.begin(), facts_->details.end());
    erase_setup_times(record.details);
    extract_typed_details(record);
  }
  if (ended_) {
    record.outcome = ended_->outcome;
    record.reason = ended_->reason;
    if (!facts_) {
      if (!ended_->implementation.empty()) record.implementation = ended_->implementation;
      record.details.insert(ended_->details.begin(), ended_->details.end());
      erase_setup_times(record.details);
    }
    return record;
  }
  std::vector<const ProcessRecord*> measured;
  for (const ProcessRecord& process : processes_) measured.push_back(&process);
  complete_case(record, measured, spec_->measure.precision, level);
  if (has_only_discarded_samples()) {
    record.outcome = Outcome::failed;
    record.reason = record.voided ? format_discarded(*record.voided) : "no process has a sample";
    record.flags.clear();
    return record;
  }
  if (!has_requested_processes()) {
    record.details["processes"] =
        fmt::format("{} of {}", process_numbers_.size(), spec_->measure.processes);
    if (!has_flag(record, Flag::interrupted)) record.flags.push_back(Flag::interrupted);
  }
  return record;
}

bool is_finished(const CaseRecord& record) {
  const bool is_cut_short = record.outcome == Outcome::ok && has_flag(record, Flag::interrupted);
  return !is_cut_short && !is_unmeasured(record);
}

std::size_t adopt(const Report& earlier, const std::function<bool(const ProcessRecord&)>& continues,
                  std::vector<CaseProgress>& cases) {
  std::map<std::string, CaseProgress*> by_id;
  for (CaseProgress& progress : cases) by_id.emplace(progress.spec().id, &progress);
  for (const CaseRecord& record : earlier.cases) {
    if (const auto found = by_id.find(record.id); found != by_id.end())
      found->second->adopt(record);
  }
  std::size_t left_out = 0;
  for (const ProcessRecord& process : earlier.processes) {
    const auto found = by_id.find(process.id);
    if (found == by_id.end()) continue;
    if (found->second->has_earlier_outcome() || continues(process)) {
      found->second->adopt(process);
    } else {
      ++left_out;
    }
  }
  return left_out;
}

}  // namespace bench
