// SPDX-License-Identifier: Apache-2.0
// JSON names and values shared by a gate's evidence file and its report. Only for the sources of
// this folder.
#pragma once

#include "harness/judge/evidence_file.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::evidence_json {

using Json = nlohmann::ordered_json;

// Maps JSON names to number members, for reading and writing.
template <class Struct, class Number>
struct Field {
  const char* name;
  Number Struct::*member;
};
inline constexpr std::array<Field<GatePolicy, int>, 7> kPolicyCounts = {
    {{"duets", &GatePolicy::duets},
     {"extended_duets", &GatePolicy::extended_duets},
     {"first_confirmations", &GatePolicy::first_confirmations},
     {"confirmations", &GatePolicy::confirmations},
     {"windows", &GatePolicy::windows},
     {"window_processes", &GatePolicy::window_processes},
     {"few_runs", &GatePolicy::few_runs}}};
inline constexpr std::array<Field<GatePolicy, double>, 10> kPolicyShares = {
    {{"false_discovery_rate", &GatePolicy::false_discovery_rate},
     {"confirmation_error", &GatePolicy::confirmation_error},
     {"unconfirmed_error", &GatePolicy::unconfirmed_error},
     {"obvious_effect", &GatePolicy::obvious_effect},
     {"bound_error", &GatePolicy::bound_error},
     {"pass_error", &GatePolicy::pass_error},
     {"detectable_error", &GatePolicy::detectable_error},
     {"detectable_power", &GatePolicy::detectable_power},
     {"canary_limit", &GatePolicy::canary_limit},
     {"unknown_spread", &GatePolicy::unknown_spread}}};
inline constexpr std::array<Field<GateSettings, double>, 3> kSettings = {
    {{"delta", &GateSettings::delta},
     {"detect", &GateSettings::detect},
     {"memory", &GateSettings::memory}}};
inline constexpr std::array<Field<CaseAssessment, std::optional<double>>, 8> kShares = {
    {{"effect", &CaseAssessment::effect},
     {"low", &CaseAssessment::low},
     {"high", &CaseAssessment::high},
     {"p", &CaseAssessment::p},
     {"adjusted_p", &CaseAssessment::adjusted_p},
     {"detectable", &CaseAssessment::detectable},
     {"confirmed_effect", &CaseAssessment::confirmed_effect},
     {"confirmed_p", &CaseAssessment::confirmed_p}}};
inline constexpr std::array<Field<CaseAssessment, std::optional<Nanoseconds>>, 2> kTimes = {
    {{"base_ns", &CaseAssessment::base}, {"candidate_ns", &CaseAssessment::candidate}}};

// Names of enumerators, in their order.
inline constexpr std::array<std::string_view, 2> kModes = {"paired", "store_only"};
inline constexpr std::array<std::string_view, 2> kSides = {"base", "candidate"};
inline constexpr std::array<std::string_view, 2> kReferences = {"base", "store"};
inline constexpr std::array<std::string_view, 2> kStopCauses = {"budget", "interruption"};
inline constexpr std::array<std::string_view, 4> kPendingKinds = {"duets", "confirmation",
                                                                  "windows", "base"};
inline constexpr std::array<std::string_view, 2> kStages = {"first", "confirmation"};
inline constexpr std::array<std::string_view, 3> kCourses = {"not_measured", "screened_out",
                                                             "measured_again"};
template <class Enum, class Names>
std::string_view word(Enum value, const Names& names) {
  return names[static_cast<std::size_t>(value)];
}

// Omits a value that is missing or that JSON cannot represent.
inline void put(Json& object, const char* name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}
inline void put(Json& object, const char* name, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) object[name] = *value;
}
inline void put(Json& object, const char* name, const std::optional<Nanoseconds>& value) {
  if (value) object[name] = value->count();
}

Json json_of(const PreparedSide& side);
Json json_of(const std::vector<Change>& changes);

// Add to an object: the measured programs and the rules of the gate; the decision about one case.
void add(Json& object, const GateFacts& facts, const GateEvidence& evidence);
void add(Json& object, const CaseAssessment& judgement);

// Replaces bytes that are not valid UTF-8 by U+FFFD.
inline std::string text_of(const Json& object, int indent) {
  return object.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bench::evidence_json
