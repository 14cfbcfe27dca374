// SPDX-License-Identifier: Apache-2.0
// The plain implementation of rnn, lstm and gru: every gate of every step is kept, and the
// gradients go back through the steps.
#include "base/data_type.hpp"
#include "base/random.hpp"
#include "ops/model.hpp"
#include "ops/recurrent/recurrent.hpp"
#include "ops/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

enum class Cell { tanh, relu, lstm, gru_before, gru_after };

Cell find_cell(const Problem& problem) {
  if (problem.op->name == "lstm") return Cell::lstm;
  if (problem.op->name == "gru") {
    return problem.parameters.word("reset") == "after" ? Cell::gru_after : Cell::gru_before;
  }
  return problem.parameters.word("function") == "relu" ? Cell::relu : Cell::tanh;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

using Values = std::vector<double>;

// Sizes, and the inputs by name.
struct Model {
  Cell cell;
  std::size_t steps, n, input, hidden, layers, directions, gates, biases;
  const Values *source, *state, *first_cell, *weights, *recurrent, *bias, *difference;

  Model(const Problem& problem, ReferenceInputs inputs) : cell(find_cell(problem)) {
    const auto count = [&](std::string_view name) {
      return static_cast<std::size_t>(problem.parameters.count(name));
    };
    const auto find = [&](std::string_view name) -> const Values* {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (problem.tensors[i].name == name) return &inputs[i];
      }
      return nullptr;
    };
    steps = count("steps"), n = count("n"), input = count("input"), hidden = count("hidden");
    layers = count("layers");
    directions = static_cast<std::size_t>(quantity(problem, "directions"));
    gates = static_cast<std::size_t>(quantity(problem, "gates"));
    biases = static_cast<std::size_t>(quantity(problem, "biases"));
    source = find("source"), state = find("initial_state"), first_cell = find("initial_cell");
    weights = find("weights"), recurrent = find("recurrent_weights"), bias = find("bias");
    difference = find("diff_destination");
  }
};

// What a direction of a layer computed at all steps. `gates`: after their functions. `products`:
// U h + b' of the last gate of a gru with `reset: after`.
struct Run {
  std::size_t layer = 0, direction = 0;
  Values gates, states, cells,
      products;  // states and cells: before the first step, then after each
};

class Network {
 public:
  explicit Network(const Model& model) : m_(model) {}

  // Runs all layers. The results are in runs() and destination().
  void run_forward();
  // Requires run_forward().
  void run_backward();

  const std::vector<Run>& runs() const { return runs_; }
  const Values& destination() const { return layer_inputs_.back(); }
  const Values& source_gradient() const { return source_gradient_; }
  Values weights_gradient, recurrent_gradient, bias_gradient;

 private:
  // Returns the step of the sequence that a direction takes as number `s`.
  std::size_t step_of(const Run& run, std::size_t s) const {
    return run.direction == 0 ? s : m_.steps - 1 - s;
  }
  std::size_t width() const { return m_.gates * m_.hidden; }
  const double* weights_of(const Run& run) const {
    return m_.weights->data() + (run.layer * m_.directions + run.direction) * m_.input * width();
  }
  std::size_t recurrent_offset(const Run& run) const {
    return (run.layer * m_.directions + run.direction) * m_.hidden * width();
  }
  std::size_t bias_offset(const Run& run) const {
    return (run.layer * m_.directions + run.direction) * m_.biases * m_.hidden;
  }
  double bias_of(const Run& run, std::size_t gate, std::size_t element) const {
    return m_.bias == nullptr ? 0 : (*m_.bias)[bias_offset(run) + gate * m_.hidden + element];
  }
  void start(Run& run) const;
  void step_forward(Run& run, std::size_t s, const double* x, std::size_t x_stride) const;
  void finish_gates(Run& run, std::size_t s, std::size_t sequence, const Values& recurrent) const;
  void step_backward(const Run& run, std::size_t s, const Values& input, Values& input_gradient,
                     Values& state_gradient, Values& cell_gradient);
  void find_gate_gradients(const Run& run, std::size_t s, std::size_t sequence,
                           Values& state_gradient, Values& cell_gradient, Values& gate,
                           Values& product) const;

  const Model& m_;
  std::vector<Run> runs_;
  std::vector<Values> layer_inputs_;  // inputs of each layer; the last one is the destination
  Values source_gradient_;
};

// Adds row x of `rows` values times a matrix with `columns` columns to `sums`.
void add_product(const double* x, std::size_t rows, const double* matrix, std::size_t columns,
                 std::size_t first, std::size_t last, double* sums) {
  for (std::size_t k = 0; k < rows; ++k) {
    const double factor = x[k];
    const double* row = matrix + k * columns;
    for (std::size_t j = first; j < last; ++j) sums[j] += factor * row[j];
  }
}

void Network::start(Run& run) const {
  const std::size_t state = m_.n * m_.hidden;
  run.gates.assign(m_.steps * m_.n * width(), 0);
  run.states.assign((m_.steps + 1) * state, 0);
  if (m_.cell == Cell::lstm) run.cells.assign((m_.steps + 1) * state, 0);
  if (m_.cell == Cell::gru_after) run.products.assign(m_.steps * state, 0);
  const auto first =
      static_cast<std::ptrdiff_t>((run.layer * m_.directions + run.direction) * state);
  if (m_.state != nullptr) {
    std::copy_n(m_.state->begin() + first, state, run.states.begin());
  }
  if (m_.first_cell != nullptr) {
    std::copy_n(m_.first_cell->begin() + first, state, run.cells.begin());
  }
}

// Computes the gates of a sequence from their products, and the state.
void Network::finish_gates(Run& run, std::size_t s, std::size_t sequence,
                           const Values& recurrent) const {
  const std::size_t h = m_.hidden;
  double* gates = run.gates.data() + (s * m_.n + sequence) * width();
  const double* before = run.states.data() + (s * m_.n + sequence) * h;
  double* after = run.states.data() + ((s + 1) * m_.n + sequence) * h;
  for (std::size_t j = 0; j < h; ++j) {
    const auto at = [&](std::size_t gate) -> double& { return gates[gate * h + j]; };
    switch (m_.cell) {
      case Cell::tanh:
        after[j] = at(0) = std::tanh(at(0));
        break;
      case Cell::relu:
        after[j] = at(0) = std::max(at(0), 0.0);
        break;
      case Cell::lstm: {
        const double cell = run.cells[(s * m_.n + sequence) * h + j];
        at(0) = sigmoid(at(0)), at(1) = sigmoid(at(1));
        at(2) = std::tanh(at(2)), at(3) = sigmoid(at(3));
        double& next = run.cells[((s + 1) * m_.n + sequence) * h + j];
        next = at(1) * cell + at(0) * at(2);
        after[j] = at(3) * std::tanh(next);
        break;
      }
      case Cell::gru_before:
      case Cell::gru_after: {
        if (m_.cell == Cell::gru_after) {
          double& product = run.products[(s * m_.n + sequence) * h + j];
          product = recurrent[2 * h + j] + bias_of(run, 3, j);
          at(2) += at(1) * product;
        } else {
          at(2) += recurrent[2 * h + j];
        }
        at(2) = std::tanh(at(2));
        after[j] = at(0) * before[j] + (1 - at(0)) * at(2);
        break;
      }
    }
  }
}

void Network::step_forward(Run& run, std::size_t s, const double* x, std::size_t x_stride) const {
  const std::size_t h = m_.hidden;
  const double* matrix = m_.recurrent->data() + recurrent_offset(run);
  const bool is_gru = m_.gates == 3;
  Values recurrent(width());
  for (std::size_t i = 0; i < m_.n; ++i) {
    double* gates = run.gates.data() + (s * m_.n + i) * width();
    const double* before = run.states.data() + (s * m_.n + i) * h;
    for (std::size_t j = 0; j < width(); ++j) gates[j] = bias_of(run, j / h, j % h);
    add_product(x + i * x_stride, m_.input, weights_of(run), width(), 0, width(), gates);
    const std::size_t direct = is_gru ? 2 * h : width();  // gates that add U h as it is
    add_product(before, h, matrix, width(), 0, direct, gates);
    if (is_gru) {
      std::ranges::fill(recurrent, 0);
      for (std::size_t j = 0; j < direct; ++j) gates[j] = sigmoid(gates[j]);
      Values state(before, before + h);
      if (m_.cell == Cell::gru_before) {
        for (std::size_t j = 0; j < h; ++j) state[j] *= gates[h + j];
      }
      add_product(state.data(), h, matrix, width(), direct, width(), recurrent.data());
    }
    finish_gates(run, s, i, recurrent);
  }
}

void Network::run_forward() {
  layer_inputs_.push_back(*m_.source);
  for (std::size_t layer = 0; layer < m_.layers; ++layer) {
    const Values input = layer_inputs_.back();
    const std::size_t size = input.size() / (m_.steps * m_.n);
    Values output(m_.steps * m_.n * m_.directions * m_.hidden);
    for (std::size_t direction = 0; direction < m_.directions; ++direction) {
      Run& run = runs_.emplace_back();
      run.layer = layer, run.direction = direction;
      start(run);
      for (std::size_t s = 0; s < m_.steps; ++s) {
        const std::size_t t = step_of(run, s);
        step_forward(run, s, input.data() + t * m_.n * size, size);
        for (std::size_t i = 0; i < m_.n; ++i) {
          std::copy_n(run.states.data() + ((s + 1) * m_.n + i) * m_.hidden, m_.hidden,
                      output.data() + ((t * m_.n + i) * m_.directions + direction) * m_.hidden);
        }
      }
    }
    layer_inputs_.push_back(std::move(output));
  }
}

// Computes the gradients of what the gates' functions take, from that of the state after the step,
// which becomes that of the state before it, as far as it does not pass the product with U.
// `product`: the gradient of U h + b' for `reset: after`.
void Network::find_gate_gradients(const Run& run, std::size_t s, std::size_t sequence,
                                  Values& state_gradient, Values& cell_gradient, Values& gate,
                                  Values& product) const {
  const std::size_t h = m_.hidden;
  const double* gates = run.gates.data() + (s * m_.n + sequence) * width();
  const double* before = run.states.data() + (s * m_.n + sequence) * h;
  for (std::size_t j = 0; j < h; ++j) {
    double& dh = state_gradient[sequence * h + j];
    const auto at = [&](std::size_t number) { return gates[number * h + j]; };
    const auto of_sigmoid = [](double y, double d) { return d * y * (1 - y); };
    const auto of_tanh = [](double y, double d) { return d * (1 - y * y); };
    switch (m_.cell) {
      case Cell::tanh:
        gate[j] = of_tanh(at(0), dh), dh = 0;
        break;
      case Cell::relu:
        gate[j] = at(0) > 0 ? dh : 0, dh = 0;
        break;
      case Cell::lstm: {
        const double cell = std::tanh(run.cells[((s + 1) * m_.n + sequence) * h + j]);
        double& dc = cell_gradient[sequence * h + j];
        dc += of_tanh(cell, dh * at(3));
        gate[j] = of_sigmoid(at(0), dc * at(2));
        gate[h + j] = of_sigmoid(at(1), dc * run.cells[(s * m_.n + sequence) * h + j]);
        gate[2 * h + j] = of_tanh(at(2), dc * at(0));
        gate[3 * h + j] = of_sigmoid(at(3), dh * cell);
        dc *= at(1), dh = 0;
        break;
      }
      case Cell::gru_before:
      case Cell::gru_after:
        gate[j] = of_sigmoid(at(0), dh * (before[j] - at(2)));
        gate[2 * h + j] = of_tanh(at(2), dh * (1 - at(0)));
        dh *= at(0);
        if (m_.cell == Cell::gru_after) {
          gate[h + j] =
              of_sigmoid(at(1), gate[2 * h + j] * run.products[(s * m_.n + sequence) * h + j]);
          product[j] = gate[2 * h + j] * at(1);
        }
        break;
    }
  }
  if (m_.cell != Cell::gru_before) return;
  // The gradient of r*h passes the product first.
  const double* matrix = m_.recurrent->data() + recurrent_offset(run);
  for (std::size_t k = 0; k < h; ++k) {
    double sum = 0;
    for (std::size_t j = 0; j < h; ++j) sum += gate[2 * h + j] * matrix[k * width() + 2 * h + j];
    gate[h + k] = sum * before[k] * gates[h + k] * (1 - gates[h + k]);
    state_gradient[sequence * h + k] += sum * gates[h + k];
  }
}

void Network::step_backward(const Run& run, std::size_t s, const Values& input,
                            Values& input_gradient, Values& state_gradient, Values& cell_gradient) {
  const std::size_t h = m_.hidden, size = m_.input, t = step_of(run, s);
  const double* matrix = m_.recurrent->data() + recurrent_offset(run);
  double* recurrent = recurrent_gradient.data() + recurrent_offset(run);
  double* weights = weights_gradient.data() + (weights_of(run) - m_.weights->data());
  Values gate(width()), product(h), through(width());
  for (std::size_t i = 0; i < m_.n; ++i) {
    const double* gates = run.gates.data() + (s * m_.n + i) * width();
    const double* before = run.states.data() + (s * m_.n + i) * h;
    find_gate_gradients(run, s, i, state_gradient, cell_gradient, gate, product);
    // What passes the product of U and the state.
    through = gate;
    if (m_.cell == Cell::gru_after)
      std::ranges::copy(product, through.begin() + static_cast<std::ptrdiff_t>(2 * h));
    const bool is_before = m_.cell == Cell::gru_before;
    for (std::size_t k = 0; k < h; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < width(); ++j) {
        const bool is_reset = is_before && j >= 2 * h;
        if (!is_reset) sum += through[j] * matrix[k * width() + j];
        const double state = is_reset ? before[k] * gates[h + k] : before[k];
        recurrent[k * width() + j] += through[j] * state;
      }
      state_gradient[i * h + k] += sum;
    }
    const double* x = input.data() + (t * m_.n + i) * size;
    double* dx = input_gradient.data() + (t * m_.n + i) * size;
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t j = 0; j < width(); ++j) {
        dx[k] += gate[j] * weights_of(run)[k * width() + j];
        weights[k * width() + j] += gate[j] * x[k];
      }
    }
    double* bias = bias_gradient.data() + bias_offset(run);
    for (std::size_t j = 0; j < width(); ++j) bias[j] += gate[j];
    for (std::size_t j = 0; m_.cell == Cell::gru_after && j < h; ++j) bias[3 * h + j] += product[j];
  }
}

void Network::run_backward() {
  weights_gradient.assign(m_.weights->size(), 0);
  recurrent_gradient.assign(m_.recurrent->size(), 0);
  bias_gradient.assign(m_.layers * m_.directions * m_.biases * m_.hidden, 0);
  Values gradient = *m_.difference;  // the gradient of the results of the layer
  for (std::size_t number = runs_.size(); number > 0; number -= m_.directions) {
    const Values& input = layer_inputs_[number / m_.directions - 1];
    Values input_gradient(input.size());
    for (std::size_t direction = 0; direction < m_.directions; ++direction) {
      const Run& run = runs_[number - m_.directions + direction];
      Values state(m_.n * m_.hidden), cell(m_.n * m_.hidden);
      for (std::size_t s = m_.steps; s-- > 0;) {
        const std::size_t t = step_of(run, s);
        for (std::size_t i = 0; i < m_.n * m_.hidden; ++i) {
          const std::size_t sequence = i / m_.hidden;
          state[i] += gradient[((t * m_.n + sequence) * m_.directions + direction) * m_.hidden +
                               i % m_.hidden];
        }
        step_backward(run, s, input, input_gradient, state, cell);
      }
    }
    gradient = std::move(input_gradient);
  }
  source_gradient_ = std::move(gradient);
}

// Returns the states (cells) after the last step of all layers and directions.
Values collect_last(const Model& model, const std::vector<Run>& runs, Values Run::*values) {
  Values result;
  const auto state = static_cast<std::ptrdiff_t>(model.n * model.hidden);
  for (const Run& run : runs) {
    result.insert(result.end(), (run.*values).end() - state, (run.*values).end());
  }
  return result;
}

Values compute(const Problem& problem, ReferenceInputs inputs, std::size_t output) {
  const Model model(problem, inputs);
  Network network(model);
  network.run_forward();
  const std::string& name = problem.output(output).name;
  if (name == "destination") return network.destination();
  if (name == "final_state") return collect_last(model, network.runs(), &Run::states);
  if (name == "final_cell") return collect_last(model, network.runs(), &Run::cells);
  network.run_backward();
  if (name == "diff_weights") return network.weights_gradient;
  if (name == "diff_recurrent_weights") return network.recurrent_gradient;
  if (name == "diff_bias") return network.bias_gradient;
  return network.source_gradient();
}

}  // namespace

std::vector<double> recurrent_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions) {
  const Values values = compute(problem, inputs, output);
  return evaluate(problem.output(output).elements(), positions, [&](std::int64_t position) {
    return values[static_cast<std::size_t>(position)];
  });
}

// A state is at most of order 1, and its error that of the products of a step, which later steps
// carry on but hardly enlarge, as the weights are small; narrow types round it at every step.
// Gradients of the weights are sums over steps and sequences.
Tolerance recurrent_tolerance(const Problem& problem) {
  const auto count = [&](std::string_view name) {
    return static_cast<double>(problem.parameters.count(name));
  };
  const double terms = count("input") + count("hidden");
  const double steps = count("layers") * std::sqrt(count("steps"));
  const double roundings = 32 + 4 * std::sqrt(terms) * steps;
  Tolerance result = rounding_tolerance(problem.dtype, roundings, 0);
  result.absolute += 4 * info(problem.dtype).epsilon * steps;
  if (problem.direction != Direction::forward) {
    result.absolute *= std::sqrt(count("steps") * count("n"));
  }
  return result;
}

std::optional<std::vector<double>> recurrent_values(const Problem& problem, std::size_t tensor,
                                                    std::uint64_t stream) {
  const Tensor& description = problem.tensors[tensor];
  if (description.role != TensorRole::weights) return std::nullopt;
  const double limit = 1 / std::sqrt(static_cast<double>(problem.parameters.count("hidden")));
  std::vector<double> values(static_cast<std::size_t>(description.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = limit * (static_cast<double>(mix(stream + i) >> 41) * 0x1p-22 - 1);
  }
  round_all_to(problem.dtype, values);
  return values;
}

}  // namespace bench::ops
