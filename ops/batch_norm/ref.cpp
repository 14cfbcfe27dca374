// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/model.hpp"
#include "ops/normalisation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

// A batch norm on given inputs. What whole channels determine is computed once per channel.
class BatchNormChannels {
 public:
  BatchNormChannels(const Problem& problem, ReferenceInputs inputs)
      : in_(problem, inputs),
        is_training_(is_in_training(problem)),
        epsilon_(problem.parameters.real("epsilon")) {
    const Dims& image = problem.tensors.front().dims;
    images_ = static_cast<std::size_t>(image[0]);
    channels_ = static_cast<std::size_t>(image[1]);
    for (std::size_t i = 2; i < image.size(); ++i) plane_ *= static_cast<std::size_t>(image[i]);
  }

  // Those of the batch, if none are given.
  Moments statistics(std::size_t channel) {
    if (!in_.variance.empty()) {
      return {in_.mean.empty() ? 0 : in_.mean[channel], in_.variance[channel]};
    }
    const auto [entry, is_new] = statistics_.try_emplace(channel);
    if (is_new) entry->second = compute_statistics(channel);
    return entry->second;
  }
  double destination(std::size_t index) {
    const std::size_t channel = channel_of(index);
    return in_.scale_of(channel) * normalised(index) + in_.shift_of(channel);
  }
  double source_gradient(std::size_t index) {
    const std::size_t channel = channel_of(index);
    double through_statistics = 0;
    if (is_training_) {
      const auto size = static_cast<double>(images_ * plane_);
      const Sums sums = gradient_sums(channel);
      through_statistics = (sums.plain + normalised(index) * sums.normalised) / size;
    }
    return in_.scale_of(channel) * (in_.diff_destination[index] - through_statistics) /
           deviation(channel);
  }
  double scale_gradient(std::size_t channel) { return gradient_sums(channel).normalised; }
  double shift_gradient(std::size_t channel) { return gradient_sums(channel).plain; }

 private:
  // plain: the sum of the incoming gradient. normalised: that of its products with the normalised
  // source.
  struct Sums {
    double plain = 0, normalised = 0;
  };

  std::size_t channel_of(std::size_t index) const { return index / plane_ % channels_; }
  template <class Visit>
  void for_each_index(std::size_t channel, Visit visit) const {
    for (std::size_t image = 0; image < images_; ++image) {
      const std::size_t first = (image * channels_ + channel) * plane_;
      for (std::size_t i = 0; i < plane_; ++i) visit(first + i);
    }
  }
  Moments compute_statistics(std::size_t channel) const {
    std::vector<double> values;
    values.reserve(images_ * plane_);
    for_each_index(channel, [&](std::size_t i) { values.push_back(in_.source[i]); });
    return compute_moments(values);
  }
  double deviation(std::size_t channel) {
    return std::sqrt(statistics(channel).variance + epsilon_);
  }
  double normalised(std::size_t index) {
    const std::size_t channel = channel_of(index);
    return (in_.source[index] - statistics(channel).mean) / deviation(channel);
  }
  Sums gradient_sums(std::size_t channel) {
    const auto [entry, is_new] = sums_.try_emplace(channel);
    if (!is_new) return entry->second;
    Sums& sums = entry->second;
    for_each_index(channel, [&](std::size_t i) {
      sums.plain += in_.diff_destination[i];
      if (!in_.source.empty()) sums.normalised += in_.diff_destination[i] * normalised(i);
    });
    return sums;
  }

  BatchNormInputs in_;
  bool is_training_;
  double epsilon_;
  std::size_t images_ = 1, channels_ = 1, plane_ = 1;
  std::unordered_map<std::size_t, Moments> statistics_;  // by channel
  std::unordered_map<std::size_t, Sums> sums_;
};

using ValueOf = double (*)(BatchNormChannels& channels, std::size_t index);
constexpr std::pair<std::string_view, ValueOf> kOutputs[] = {
    {"destination", [](auto& channels, std::size_t i) { return channels.destination(i); }},
    {"mean", [](auto& channels, std::size_t i) { return channels.statistics(i).mean; }},
    {"variance", [](auto& channels, std::size_t i) { return channels.statistics(i).variance; }},
    {"diff_source", [](auto& channels, std::size_t i) { return channels.source_gradient(i); }},
    {"diff_scale", [](auto& channels, std::size_t i) { return channels.scale_gradient(i); }},
    {"diff_shift", [](auto& channels, std::size_t i) { return channels.shift_gradient(i); }}};

}  // namespace

BatchNormInputs::BatchNormInputs(const Problem& problem, ReferenceInputs inputs) {
  const std::pair<std::string_view, std::span<const double>*> members[] = {
      {"source", &source}, {"diff_destination", &diff_destination},
      {"mean", &mean},     {"variance", &variance},
      {"scale", &scale},   {"shift", &shift}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const auto& [name, values] : members) {
      if (problem.tensors[i].name == name) *values = inputs[i];
    }
  }
}

std::vector<double> batch_norm_reference(const Problem& problem, ReferenceInputs inputs,
                                         std::size_t output,
                                         std::span<const std::int64_t> positions) {
  const Tensor& result = problem.tensors[problem.input_count() + output];
  BatchNormChannels channels(problem, inputs);
  const auto row = std::ranges::find(kOutputs, std::string_view(result.name),
                                     &std::pair<std::string_view, ValueOf>::first);
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    return stored_value(result.dtype, row->second(channels, static_cast<std::size_t>(position)));
  });
}

}  // namespace bench::ops
