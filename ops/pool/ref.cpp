// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/pool/pool.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace bench::ops {
namespace {

// The sizes of one channel of one image, with three axes. Missing outer axes have size 1.
struct Plane {
  std::array<SpatialAxis, 3> axes;

  explicit Plane(const ParameterSet& complete) {
    const std::vector<SpatialAxis> used = pool_axes(complete);
    std::copy(used.begin(), used.end(), axes.end() - static_cast<int>(used.size()));
  }
  std::int64_t inputs() const { return axes[0].input * axes[1].input * axes[2].input; }
  std::int64_t outputs() const { return axes[0].output * axes[1].output * axes[2].output; }
  std::int64_t window() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// The part of an output's window that is on the input, as [begin, end) along each axis.
struct Window {
  std::array<std::int64_t, 3> begin;
  std::array<std::int64_t, 3> end;
  std::int64_t taps = 1;

  Window(const Plane& plane, std::int64_t position) {
    for (std::size_t i = 3; i-- > 0;) {
      const SpatialAxis& axis = plane.axes[i];
      const std::int64_t start = position % axis.output * axis.stride - axis.pad.begin;
      position /= axis.output;
      begin[i] = std::max<std::int64_t>(start, 0);
      end[i] = std::min(start + axis.kernel, axis.input);
      taps *= end[i] - begin[i];
    }
  }
};

// Calls visit(flat input position in the plane) for each element of the window, in row-major order.
template <class Visit>
void for_each_tap(const Plane& plane, const Window& window, Visit visit) {
  for (std::int64_t d = window.begin[0]; d < window.end[0]; ++d) {
    for (std::int64_t h = window.begin[1]; h < window.end[1]; ++h) {
      for (std::int64_t w = window.begin[2]; w < window.end[2]; ++w) {
        visit((d * plane.axes[1].input + h) * plane.axes[2].input + w);
      }
    }
  }
}

// Returns the position of the maximum; of several, the first.
std::int64_t find_maximum(const Plane& plane, const Window& window, const double* source) {
  std::int64_t best = -1;
  for_each_tap(plane, window, [&](std::int64_t tap) {
    if (best < 0 || source[tap] > source[best]) best = tap;
  });
  return best;
}

double find_divisor(const Plane& plane, const Window& window, std::string_view function) {
  return static_cast<double>(function == kPoolIncludePad ? plane.window() : window.taps);
}

std::vector<double> compute_forward(const Problem& problem, const std::vector<double>& source,
                                    std::span<const std::int64_t> positions) {
  const Plane plane(problem.parameters);
  const std::string_view function = problem.parameters.word("function");
  const Tensor& result = problem.tensors.back();
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    const double* image = source.data() + position / plane.outputs() * plane.inputs();
    const Window window(plane, position % plane.outputs());
    if (function == kPoolMax) return image[find_maximum(plane, window, image)];
    double sum = 0;
    for_each_tap(plane, window, [&](std::int64_t tap) { sum += image[tap]; });
    return stored_value(result.dtype, sum / find_divisor(plane, window, function));
  });
}

// Computes diff_source of one image and channel. `source` is read only for max.
std::vector<double> compute_backward_plane(const Plane& plane, std::string_view function,
                                           const double* source, const double* diff_destination) {
  std::vector<double> result(static_cast<std::size_t>(plane.inputs()));
  for (std::int64_t output = 0; output < plane.outputs(); ++output) {
    const Window window(plane, output);
    const double difference = diff_destination[output];
    if (function == kPoolMax) {
      result[static_cast<std::size_t>(find_maximum(plane, window, source))] += difference;
      continue;
    }
    const double contribution = difference / find_divisor(plane, window, function);
    for_each_tap(plane, window,
                 [&](std::int64_t tap) { result[static_cast<std::size_t>(tap)] += contribution; });
  }
  return result;
}

std::vector<double> compute_backward(const Problem& problem, ReferenceInputs inputs,
                                     std::span<const std::int64_t> positions) {
  const Plane plane(problem.parameters);
  const std::string_view function = problem.parameters.word("function");
  const std::vector<double>& diff_destination = inputs.back();
  // Contains only the planes with requested positions.
  std::unordered_map<std::int64_t, std::vector<double>> planes;
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const std::int64_t image = position / plane.inputs();
    auto entry = planes.find(image);
    if (entry == planes.end()) {
      const double* source =
          function == kPoolMax ? inputs[0].data() + image * plane.inputs() : nullptr;
      const double* difference = diff_destination.data() + image * plane.outputs();
      entry =
          planes.emplace(image, compute_backward_plane(plane, function, source, difference)).first;
    }
    return entry->second[static_cast<std::size_t>(position % plane.inputs())];
  });
}

}  // namespace

std::vector<double> pool_reference(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t /*output: there is one*/,
                                   std::span<const std::int64_t> positions) {
  return problem.direction == Direction::forward ? compute_forward(problem, inputs[0], positions)
                                                 : compute_backward(problem, inputs, positions);
}

}  // namespace bench::ops
