// SPDX-License-Identifier: Apache-2.0
#include "harness/result/recoverable.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

RecoverableTime compute_recoverable(const NetworkSummary& network) {
  RecoverableTime result;
  result.network = network.network;
  result.cache = network.cache;
  result.has_all_layers = has_all_layers(network);
  for (const NetworkSummary::Entry& entry : network.top) {
    if (!entry.ideal) {
      ++result.without_ceiling;
      continue;
    }
    const Nanoseconds ideal = saturated_product(*entry.ideal, entry.multiplicity);
    const Nanoseconds gain = std::max(entry.time - ideal, Nanoseconds(0));
    result.measured = saturated_sum(result.measured, entry.time);
    result.recoverable = saturated_sum(result.recoverable, gain);
    result.layers.push_back({entry.id, entry.layers, entry.multiplicity, gain, 0});
  }
  std::ranges::stable_sort(
      result.layers, [](const auto& a, const auto& b) { return a.recoverable > b.recoverable; });
  return result;
}

void fill_fractions(RecoverableTime& network) {
  const auto total = static_cast<double>(network.recoverable.count());
  if (total <= 0) return;
  double sum = 0;
  for (RecoverableTime::Layer& layer : network.layers) {
    layer.share = static_cast<double>(layer.recoverable.count()) / total;
    if (sum < kMajorityFraction) ++network.majority;
    sum += layer.share;
  }
}

}  // namespace

std::vector<RecoverableTime> recoverable_times(const Report& report) {
  std::vector<RecoverableTime> networks;
  for (const NetworkSummary& summary : summarise_networks(report)) {
    RecoverableTime network = compute_recoverable(summary);
    if (network.layers.empty()) continue;
    fill_fractions(network);
    networks.push_back(std::move(network));
  }
  return networks;
}

std::string recoverable_sentence(const RecoverableTime& network) {
  const std::size_t count = network.layers.size();
  const std::string_view measured = network.has_all_layers ? "" : "measured ";
  if (network.recoverable.count() == 0) {
    return fmt::format("The {}layers of {} take no longer than the machine's ceilings permit.",
                       measured, network.network);
  }
  double share = 0;
  for (std::size_t i = 0; i < network.majority; ++i) share += network.layers[i].share;
  return fmt::format(
      "{} of {} {} {} % of the {} that {} could gain at the machine's ceilings.", network.majority,
      pluralise(count, "distinct layer"), network.majority == 1 ? "holds" : "hold",
      std::lround(100 * share), format_time(network.recoverable),
      network.has_all_layers ? network.network
                             : fmt::format("the measured layers of {}", network.network));
}

}  // namespace bench
