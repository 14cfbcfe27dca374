// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/change.hpp"

#include "base/text.hpp"
#include "harness/result/exact_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Facts that always differ between two runs or do not affect times.
constexpr std::array<std::string_view, 6> kUninteresting = {
    "arena.bytes",  "clock.now_khz", "clock.now_mhz",
    "config.files", "load_1min",     "memory.available_bytes"};

bool is_uninteresting(const Change& change) {
  return std::ranges::find(kUninteresting, change.field) != kUninteresting.end();
}

bool says_nothing(const Change& change) {
  return !change.from || !change.to || change.from == kDigestVaries || change.to == kDigestVaries;
}

std::map<std::string, std::string> all_facts(const PreparedSide& side) {
  std::map<std::string, std::string> facts = side.facts;
  if (!side.implementation.empty()) facts["implementation"] = side.implementation;
  return facts;
}

}  // namespace

std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to) {
  std::map<std::string, Change> changes;
  for (const auto& [field, value] : from) changes[field] = {field, value, std::nullopt};
  for (const auto& [field, value] : to) {
    changes[field].field = field;
    changes[field].to = value;
  }
  std::vector<Change> different;
  for (auto& [field, change] : changes) {
    if (change.from != change.to) different.push_back(std::move(change));
  }
  return different;
}

std::map<std::string, std::string> library_facts(
    const std::map<std::string, std::string>& libraries) {
  std::map<std::string, std::string> facts;
  for (const auto& [name, version] : libraries) facts["library." + name] = version;
  return facts;
}

std::vector<Change> run_changes(const std::map<std::string, std::string>& from,
                                const std::map<std::string, std::string>& to) {
  std::vector<Change> changes = changes_between(from, to);
  std::erase_if(changes, is_uninteresting);
  return changes;
}

std::vector<Change> case_changes(const PreparedSide& from, const PreparedSide& to) {
  std::vector<Change> changes = changes_between(all_facts(from), all_facts(to));
  std::erase_if(changes, says_nothing);
  return changes;
}

std::string values_text(const Change& change) {
  return fmt::format("{} -> {}", change.from.value_or(std::string(kUnknown)),
                     change.to.value_or(std::string(kUnknown)));
}

std::string changes_text(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", change.field, values_text(change));
  }
  return text;
}

}  // namespace bench
