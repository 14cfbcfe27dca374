// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/choice_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench::ops {
namespace {

constexpr char kSeparator = '\t', kLineEnd = '\n';

bool is_plain(std::string_view text) {
  return text.find(kSeparator) == std::string_view::npos &&
         text.find(kLineEnd) == std::string_view::npos;
}

}  // namespace

void ChoiceStore::fix(std::string_view text) {
  fixed_.clear();
  used_.clear();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find(kLineEnd));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t separator = line.find(kSeparator);
    if (separator == std::string_view::npos) continue;
    fixed_.insert_or_assign(std::string(line.substr(0, separator)),
                            std::string(line.substr(separator + 1)));
  }
}

std::optional<std::string> ChoiceStore::find_fixed(const std::string& key) const {
  const auto choice = fixed_.find(key);
  if (choice == fixed_.end()) return std::nullopt;
  return choice->second;
}

void ChoiceStore::note(const std::string& key, const std::string& name) {
  if (!is_plain(key) || !is_plain(name)) return;
  noted_.insert_or_assign(key, name);
  used_.insert(key);
}

void ChoiceStore::note_again(const std::string& key) {
  if (noted_.contains(key)) used_.insert(key);
}

std::string ChoiceStore::text() const {
  std::string text;
  for (const std::string& key : used_)
    text += fmt::format("{}{}{}{}", key, kSeparator, noted_.at(key), kLineEnd);
  return text;
}

std::optional<TunedChoice> ChoiceMemory::find(const std::string& key,
                                              std::span<const std::string> names) const {
  std::optional<TunedChoice> known;
  const auto fixed = store_.find_fixed(key);
  const auto name = fixed ? std::ranges::find(names, *fixed) : names.end();
  if (name != names.end()) {
    known.emplace();
    known->best = static_cast<std::size_t>(name - names.begin());
    known->fixed = *fixed;
  } else if (const auto choice = choices_.find(key); choice != choices_.end()) {
    known = choice->second;
  }
  if (known) store_.note(key, names[known->best]);
  return known;
}

const TunedChoice& ChoiceMemory::remember(const std::string& key, TunedChoice choice) {
  store_.note(key, choice.candidates[choice.best].name);
  return choices_.insert_or_assign(key, std::move(choice)).first->second;
}

}  // namespace bench::ops
