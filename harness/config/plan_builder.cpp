// SPDX-License-Identifier: Apache-2.0
#include "harness/config/plan_builder.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bench {
namespace {

std::string time_text(Nanoseconds time) { return format_time(time); }

// Settings that cases with equal ids must share, as text for the message.
struct SettingRow {
  std::string_view name;
  std::string (*text)(const Case&);
};

constexpr std::array<SettingRow, 9> kSettings = {{
    {"warmup.iterations", [](const Case& c) { return fmt::to_string(c.warmup.iterations); }},
    {"warmup.time", [](const Case& c) { return time_text(c.warmup.time); }},
    {"measure.processes", [](const Case& c) { return fmt::to_string(c.measure.processes); }},
    {"measure.min_iterations",
     [](const Case& c) { return fmt::to_string(c.measure.min_iterations); }},
    {"measure.precision",
     [](const Case& c) { return fmt::format("{}%", c.measure.precision * 100); }},
    {"measure.max_time", [](const Case& c) { return time_text(c.measure.max_time); }},
    {"measure.timeout", [](const Case& c) { return time_text(c.measure.timeout); }},
    {"tune",
     [](const Case& c) {
       return c.measure.tune == 0 ? std::string("false") : fmt::to_string(c.measure.tune);
     }},
    {"sample_method", [](const Case& c) { return std::string(name_of(c.measure.sample_method)); }},
}};

void merge_membership(std::vector<Membership>& memberships, const Membership& added) {
  const auto same = std::find_if(memberships.begin(), memberships.end(),
                                 [&](const Membership& m) { return m.network == added.network; });
  if (same == memberships.end()) {
    memberships.push_back(added);
    return;
  }
  for (const std::string& layer : added.layers) {
    if (std::find(same->layers.begin(), same->layers.end(), layer) == same->layers.end()) {
      same->layers.push_back(layer);
    }
  }
  for (const ops::Direction direction : added.unmeasured_gradients) {
    auto& known = same->unmeasured_gradients;
    if (std::find(known.begin(), known.end(), direction) == known.end()) known.push_back(direction);
  }
}

}  // namespace

std::string sample_method_text(const Measure& measure) {
  if (measure.sample_method == ops::SampleMethod::any) return "";
  return fmt::format(" sample_method {}", name_of(measure.sample_method));
}

void PlanBuilder::reserve(std::size_t cases) {
  cases_.reserve(cases);
  spots_.reserve(cases);
  index_.reserve(cases);
}

void PlanBuilder::add(Case added, Spot spot, const std::string& content) {
  added.id = to_id(added.key);
  const std::size_t position = cases_.size();
  cases_.push_back(std::move(added));
  const auto [place, inserted] = index_.insert(position);
  if (!inserted) {
    Case again = std::move(cases_.back());
    cases_.pop_back();
    return merge(*place, std::move(again), spot, content);
  }
  spots_.push_back(spot);
  if (!content.empty()) contents_.emplace(position, content);
}

const std::string& PlanBuilder::content_of(std::size_t position) const {
  static const std::string kNone;
  const auto found = contents_.find(position);
  return found == contents_.end() ? kNone : found->second;
}

void PlanBuilder::merge(std::size_t index, Case&& added, Spot spot, const std::string& content) {
  Case& known = cases_[index];
  const auto conflict = [&](const std::string& difference) {
    findings_.add(spot,
                  fmt::format("the case {} also occurs at {} with other settings: {}", known.id,
                              findings_.place(spots_[index]).text(), difference),
                  "give both the same settings, or remove one");
  };
  if (content_of(index) != content) {
    return conflict(fmt::format("another network file named {}", known.key.parameters));
  }
  if (!(known.warmup == added.warmup && known.measure == added.measure)) {
    for (const SettingRow& row : kSettings) {
      const std::string there = row.text(known);
      const std::string here = row.text(added);
      if (there != here) {
        return conflict(fmt::format("{} is {} there, {} here", row.name, there, here));
      }
    }
    return conflict("times that differ by less than the shown precision");
  }
  for (const Membership& membership : added.memberships) {
    merge_membership(known.memberships, membership);
  }
  // nullopt compares as the smallest value, so the largest network decides the distance.
  known.reuse_distance = std::max(known.reuse_distance, added.reuse_distance);
}

std::vector<Case> PlanBuilder::take() && {
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    Case& finished = cases_[i];
    std::string text = finished.id;
    if (finished.reuse_distance) text += fmt::format(" reuse {}", finished.reuse_distance->count);
    if (const std::string& content = content_of(i); !content.empty()) text += " network " + content;
    // On a device, `tune` decides which engine computes. oneDNN has no such choice, so its times
    // stay comparable with those of a configuration without `tune`.
    const std::int64_t tune = finished.measure.tune;
    if (tune != 0 && finished.key.device != "cpu") text += fmt::format(" tune {}", tune);
    if (finished.key.device != "cpu") text += sample_method_text(finished.measure);
    finished.hash = content_hash(text);
  }
  return std::move(cases_);
}

}  // namespace bench
