// SPDX-License-Identifier: Apache-2.0
#include "ops/normalisation.hpp"

#include "ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace bench::ops {
namespace {

struct GroupStatistics {
  double mean;
  double standard_deviation;  // with epsilon
};

// The inputs of a gradient, and what follows from them.
class NormGradient {
 public:
  NormGradient(const Problem& problem, ReferenceInputs inputs, std::string_view root,
               const NormParameterLayout& layout)
      : size_(static_cast<std::size_t>(quantity(problem, "size"))),
        epsilon_(problem.parameters.real("epsilon")),
        layout_(layout) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = problem.tensors[i].name;
      if (name == "source") source_ = inputs[i];
      if (name == "mean") mean_ = inputs[i];
      if (name == root) root_ = inputs[i];
      if (name == "scale") scale_ = inputs[i];
      if (name == "diff_destination") diff_ = inputs[i];
    }
  }

  double normalised(std::size_t index) const {
    const double mean = mean_.empty() ? 0 : mean_[index / size_];
    return (source_[index] - mean) / deviation(index / size_);
  }
  double scale_gradient(std::size_t parameter) const {
    double sum = 0;
    visit(parameter, [&](std::size_t i) { sum += diff_[i] * normalised(i); });
    return sum;
  }
  double shift_gradient(std::size_t parameter) const {
    double sum = 0;
    visit(parameter, [&](std::size_t i) { sum += diff_[i]; });
    return sum;
  }
  double source_gradient(std::size_t index) {
    const auto [entry, is_new] = sums_.try_emplace(index / size_);
    if (is_new) {
      for (std::size_t i = index / size_ * size_, k = 0; k < size_; ++i, ++k) {
        entry->second.plain += scaled(i);
        entry->second.normalised += scaled(i) * normalised(i);
      }
    }
    const auto size = static_cast<double>(size_);
    const double mean = mean_.empty() ? 0 : entry->second.plain / size;
    return (scaled(index) - mean - normalised(index) * entry->second.normalised / size) /
           deviation(index / size_);
  }

 private:
  struct Sums {
    double plain = 0, normalised = 0;
  };
  double deviation(std::size_t group) const { return std::sqrt(root_[group] + epsilon_); }
  double scaled(std::size_t index) const {
    return diff_[index] * (scale_.empty() ? 1 : scale_[parameter_of(index)]);
  }
  std::size_t parameters_of_group() const { return size_ / layout_.volume; }
  std::size_t parameter_of(std::size_t index) const {
    return index / size_ % layout_.groups_per_image * parameters_of_group() +
           index % size_ / layout_.volume;
  }
  // Calls use(index) for the elements that share a value of scale and shift.
  template <class Visit>
  void visit(std::size_t parameter, Visit use) const {
    const std::size_t first = parameter * layout_.volume;
    const std::size_t image = layout_.groups_per_image * size_;
    for (std::size_t begin = first; begin < source_.size(); begin += image) {
      for (std::size_t i = begin; i < begin + layout_.volume; ++i) use(i);
    }
  }

  std::size_t size_;
  double epsilon_;
  NormParameterLayout layout_;
  std::span<const double> source_, mean_, root_, scale_, diff_;
  std::unordered_map<std::size_t, Sums> sums_;  // by group; each is computed once
};

// Roundings that the tolerance allows: difference, root, quotient, product and sum, each on
// operands of order 1, and those of the two sums. The signs of n roundings in a sum are random, so
// together they count as the square root of n.
constexpr double kRoundings = 32;
// Groups of this size and above have a variance near 1/3, that of the inputs (ops/fill.hpp). The
// elements of a smaller group may be almost equal. Its quotient then enlarges the error of the
// difference, up to a limit that epsilon determines.
constexpr std::int64_t kLargeGroup = 64;

}  // namespace

Moments compute_moments(std::span<const double> values) {
  Moments moments;
  for (const double value : values) moments.mean += value;
  moments.mean /= static_cast<double>(values.size());
  for (const double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean);
  }
  moments.variance /= static_cast<double>(values.size());
  return moments;
}

std::vector<double> normalise_groups(
    const Problem& problem, ReferenceInputs inputs, std::span<const std::int64_t> positions,
    const std::function<std::size_t(std::size_t index)>& parameter_index) {
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  const double epsilon = problem.parameters.real("epsilon");
  const bool has_scale = problem.parameters.flag("scale");
  const bool has_shift = problem.parameters.flag("shift");
  // By group. The statistics of each group are computed once.
  std::unordered_map<std::size_t, GroupStatistics> group_statistics;
  return evaluate(problem.tensors[0].elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    const std::size_t group = index / size;
    auto entry = group_statistics.find(group);
    if (entry == group_statistics.end()) {
      const auto [mean, variance] =
          compute_moments(std::span(inputs[0]).subspan(group * size, size));
      const GroupStatistics statistics{mean, std::sqrt(variance + epsilon)};
      entry = group_statistics.emplace(group, statistics).first;
    }
    double value = (inputs[0][index] - entry->second.mean) / entry->second.standard_deviation;
    if (has_scale) value *= inputs[1][parameter_index(index)];
    if (has_shift) value += inputs[has_scale ? 2 : 1][parameter_index(index)];
    return value;
  });
}

std::vector<double> group_statistics(const Problem& problem, ReferenceInputs inputs,
                                     std::size_t output, std::span<const std::int64_t> positions) {
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  return evaluate(problem.output(output).elements(), positions, [&](std::int64_t group) {
    const auto first = static_cast<std::size_t>(group) * size;
    const Moments moments = compute_moments(std::span(inputs[0]).subspan(first, size));
    return output == 1 ? moments.mean : moments.variance;
  });
}

std::vector<double> normalisation_gradient(const Problem& problem, ReferenceInputs inputs,
                                           std::size_t output,
                                           std::span<const std::int64_t> positions,
                                           std::string_view root,
                                           const NormParameterLayout& layout) {
  NormGradient gradient(problem, inputs, root, layout);
  const Tensor& result = problem.tensors[problem.input_count() + output];
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    if (result.name == "diff_scale") return gradient.scale_gradient(index);
    if (result.name == "diff_shift") return gradient.shift_gradient(index);
    return gradient.source_gradient(index);
  });
}

Tolerance normalisation_gradient_tolerance(const Problem& problem, std::string_view terms) {
  // Sums over a group and over the groups. Their terms have random signs, so that the sums grow
  // with the square root of the number of terms, and so do their roundings. The mean of a group's
  // products is of order 1.
  const auto root = [&](std::string_view name) {
    return std::sqrt(static_cast<double>(quantity(problem, name)));
  };
  const DataType sums = problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
  Tolerance result = rounding_tolerance(problem.dtype, 2 * kRoundings + 4 * root("size"), 0);
  if (problem.direction == Direction::backward_weights) {
    const double roundings = kRoundings + 4 * root(terms);
    result.absolute += 3 * root(terms) * rounding_tolerance(sums, roundings, 0).absolute;
  }
  return result;
}

Tolerance normalisation_tolerance(const Problem& problem) {
  const std::int64_t size = quantity(problem, "size");
  const double epsilon = problem.parameters.real("epsilon");
  const double error_factor = size >= kLargeGroup ? 2 : 1 / std::sqrt(std::min(1.0, epsilon));
  const double roundings = kRoundings + 4 * std::sqrt(static_cast<double>(size));
  return rounding_tolerance(problem.dtype, roundings * error_factor, 0);
}

}  // namespace bench::ops
