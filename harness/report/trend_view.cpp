// SPDX-License-Identifier: Apache-2.0
// Selects the shown changes of each trend, and derives the state of the case from them.
#include "harness/report/trend_text.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace bench {
namespace {

bool is_pending(const CaseTrend& trend, PendingChange::Certainty certainty) {
  return trend.pending && trend.pending->certainty == certainty;
}

TrendState classify_trend(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  // As change points, evident changes before the first shown run are not shown.
  const bool is_evident = is_pending(trend, PendingChange::Certainty::evident) &&
                          trend.points.size() - trend.pending->runs >= shown.first_point();
  if (is_evident) return TrendState::evident;
  // Creep takes precedence over changes: it means that no step followed its start, so all detected
  // changes since then are gradual.
  if (!trend.creeps.empty()) return TrendState::creeping;
  const TrendChange* const last = shown.last_change();
  if (last != nullptr && last->kind != TrendChange::Kind::accepted)
    return last->effect > 0 ? TrendState::slower : TrendState::faster;
  if (is_pending(trend, PendingChange::Certainty::possible)) return TrendState::pending;
  if (last != nullptr) return TrendState::accepted;
  return trend.is_searched ? TrendState::unchanged : TrendState::too_few;
}

double compute_effect_size(const ShownTrend& shown) {
  switch (shown.state()) {
    case TrendState::slower:
    case TrendState::faster:
    case TrendState::accepted:
      return std::abs(shown.last_change()->effect);
    case TrendState::creeping:
      return shown.trend().creeps.front().effect;
    case TrendState::evident:
    case TrendState::pending:
      return std::abs(shown.trend().pending->effect);
    case TrendState::unchanged:
    case TrendState::too_few:
      break;
  }
  return 0;
}

}  // namespace

ShownTrend::ShownTrend(const CaseTrend& trend, std::size_t first) : trend_(&trend), first_(first) {
  state_ = classify_trend(*this);
}

std::optional<ShownTrend> ShownTrend::from(const CaseTrend& trend, const TrendView& view) {
  const auto found = std::ranges::find_if(trend.points, [&](const TrendPoint& point) {
    return !view.since || point.run.time >= *view.since;
  });
  if (found == trend.points.end()) return std::nullopt;
  return ShownTrend(trend, static_cast<std::size_t>(found - trend.points.begin()));
}

std::span<const TrendChange> ShownTrend::changes() const {
  const auto begin = std::ranges::lower_bound(trend_->changes, first_, {}, &TrendChange::point);
  return std::span(trend_->changes)
      .subspan(static_cast<std::size_t>(begin - trend_->changes.begin()));
}

const TrendChange* ShownTrend::last_change() const {
  return changes().empty() ? nullptr : &changes().back();
}

double ShownTrend::reference_level() const {
  const std::size_t point = first_ == 0 ? 0 : first_ - 1;
  return state_ == TrendState::too_few ? trend_->points[point].log_time : trend_->level_near(point);
}

double ShownTrend::present_level() const {
  return state_ == TrendState::too_few ? trend_->points.back().log_time : trend_->present_level();
}

bool ShownTrend::is_slower_now() const {
  if (state_ == TrendState::evident) return trend_->pending->effect > 0;
  const TrendChange* const present = trend_->present_change();
  return present != nullptr && present->point >= first_ && present->effect > 0;
}

bool ShownTrend::may_be_slower() const {
  return is_pending(*trend_, PendingChange::Certainty::possible) && trend_->pending->effect > 0;
}

std::vector<ShownTrend> shown_trends(std::span<const CaseTrend> trends, const TrendView& view) {
  std::vector<ShownTrend> shown;
  for (const CaseTrend& trend : trends) {
    if (auto next = ShownTrend::from(trend, view)) shown.push_back(*next);
  }
  std::ranges::stable_sort(shown, {}, [](const ShownTrend& entry) {
    return std::tuple(entry.state(), -compute_effect_size(entry));
  });
  return shown;
}

}  // namespace bench
