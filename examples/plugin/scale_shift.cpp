// SPDX-License-Identifier: Apache-2.0
// A plugin with one operator, `scale_shift`: y[n, c, ...] = scale[c] * x[n, c, ...] + shift[c],
// with its work, its reference, both directions, and two kernels: a loop in this file, and one that
// calls the operator `pointwise` of `bench`.
#include <bench/plugin.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench::plugin;

struct Sizes {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  int64_t channels = 1;  // dimension 1
  int64_t inner = 1;     // elements after it

  explicit Sizes(const Problem& problem) : shape(problem.shape("shape")) {
    for (const int64_t size : shape) elements *= size;
    channels = shape[1];
    for (std::size_t i = 2; i < shape.size(); ++i) inner *= shape[i];
  }
  int64_t channel(int64_t position) const { return position / inner % channels; }
  // Shape of a per-channel tensor, broadcast over the other dimensions: "1x64x1x1".
  std::vector<int64_t> broadcast() const {
    std::vector<int64_t> sizes(shape.size(), 1);
    sizes[1] = channels;
    return sizes;
  }
};

std::string text_of(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

class ScaleShift final : public Operator {
 public:
  ScaleShift()
      : Operator({"scale_shift",
                  "each channel times a factor, plus a summand",
                  {{"shape", "", BENCH_SHAPE, "required", "sizes of the tensor, channels second"},
                   {"mode",
                    "",
                    BENCH_WORD,
                    "direct",
                    "a loop, or the library's multiply and add",
                    1,
                    {"direct", "library"}}},
                  {BENCH_FORWARD, BENCH_BACKWARD_DATA}}) {}

  void check(const Problem& problem) const override {
    if (problem.shape("shape").size() < 2) {
      throw Error(BENCH_INVALID, "`shape` has no channels", "shape", "write [n, c, ...]");
    }
    if (problem.dtype() != BENCH_F32 && problem.dtype() != BENCH_F64) {
      throw Error(BENCH_INVALID, "scale_shift is defined for f32 and f64", "dtype");
    }
  }

  void model(const Problem& problem, Model& model) const override {
    const Sizes sizes(problem);
    const bool forward = problem.direction() == BENCH_FORWARD;
    model.input(forward ? "source" : "diff_destination", problem.dtype(), sizes.shape);
    model.weights("scale", problem.dtype(), {sizes.channels});
    if (forward) model.weights("shift", problem.dtype(), {sizes.channels});
    model.output(forward ? "destination" : "diff_source", problem.dtype(), sizes.shape);
    const int64_t each = forward ? 2 : 1;
    model.formula("flops", std::to_string(each) + "*elements",
                  std::to_string(each) + "*" + std::to_string(sizes.elements),
                  each * sizes.elements);
    model.work(each * sizes.elements);
  }

  void reference(const Problem& problem, const double* const* inputs, const Wanted& wanted,
                 double* values) const override {
    const Sizes sizes(problem);
    const bool forward = problem.direction() == BENCH_FORWARD;
    for (std::size_t i = 0; i < wanted.count; ++i) {
      const int64_t position = wanted.position(i);
      const int64_t channel = sizes.channel(position);
      values[i] = inputs[1][channel] * inputs[0][position] + (forward ? inputs[2][channel] : 0.0);
    }
  }
};

template <class T>
class Loop final : public Kernel {
 public:
  explicit Loop(const Problem& problem)
      : sizes_(problem), forward_(problem.direction() == BENCH_FORWARD) {}

  const char* implementation() const override { return "loop"; }

  void run(void* const* buffers) override {
    const T* in = static_cast<const T*>(buffers[0]);
    const T* scale = static_cast<const T*>(buffers[1]);
    const T* shift = forward_ ? static_cast<const T*>(buffers[2]) : nullptr;
    T* out = static_cast<T*>(buffers[forward_ ? 3 : 2]);
    const int64_t rows = sizes_.elements / sizes_.inner;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t channel = row % sizes_.channels;
      const T factor = scale[channel];
      const T summand = shift == nullptr ? T(0) : shift[channel];
      for (int64_t i = row * sizes_.inner; i < (row + 1) * sizes_.inner; ++i) {
        out[i] = factor * in[i] + summand;
      }
    }
  }

 private:
  Sizes sizes_;
  bool forward_;
};

// Multiplies, then adds, with the built-in operator `pointwise`. Packs the inputs into that
// operator's layouts before each call, and unpacks its output afterwards.
class Library final : public Kernel {
 public:
  Library(const Problem& problem, const Host& host)
      : host_(host), forward_(problem.direction() == BENCH_FORWARD) {
    const Sizes sizes(problem);
    const std::string operands = text_of(sizes.shape) + "-" + text_of(sizes.broadcast());
    multiply_ = make(host, "mul-" + operands, problem.dtype());
    if (forward_) add_ = make(host, "add-" + operands, problem.dtype());
  }

  const char* implementation() const override { return "library"; }
  int64_t workspace() const override { return multiply_.bytes() + (forward_ ? add_.bytes() : 0); }

  std::unique_ptr<Invocation> bind(std::vector<void*> buffers) override {
    class Bound final : public Invocation {
     public:
      Bound(Library& library, std::vector<void*> buffers)
          : library_(library), buffers_(std::move(buffers)) {}
      void run() override { library_.compute(buffers_); }

     private:
      Library& library_;
      std::vector<void*> buffers_;
    };
    return std::make_unique<Bound>(*this, std::move(buffers));
  }

 private:
  // A built-in kernel with buffers in its layouts.
  struct Part {
    std::unique_ptr<BuiltInKernel> kernel;
    std::vector<std::vector<unsigned char>> storage;
    std::vector<void*> buffers;
    std::unique_ptr<BuiltInInvocation> invocation;

    int64_t bytes() const {
      int64_t sum = 0;
      for (const auto& part : storage) sum += static_cast<int64_t>(part.size());
      return sum;
    }
  };

  static Part make(const Host& host, const std::string& tokens, int32_t dtype) {
    Part part;
    part.kernel = std::make_unique<BuiltInKernel>(host.kernel("pointwise", tokens, dtype));
    const std::size_t count = part.kernel->problem().tensor_count();
    for (std::size_t i = 0; i < count; ++i) {
      part.storage.emplace_back(static_cast<std::size_t>(part.kernel->bytes(i)));
    }
    for (auto& storage : part.storage) part.buffers.push_back(storage.data());
    part.invocation = std::make_unique<BuiltInInvocation>(*part.kernel, part.buffers);
    return part;
  }

  void compute(const std::vector<void*>& buffers) {
    void* const result = buffers.back();
    apply(multiply_, buffers[0], buffers[1], result);
    if (forward_) apply(add_, result, buffers[2], result);
  }

  void apply(Part& part, const void* a, const void* b, void* result) {
    {
      const Range range(host_, "pack");
      part.kernel->pack(0, a, part.buffers[0]);
      part.kernel->pack(1, b, part.buffers[1]);
    }
    part.invocation->run();
    const Range range(host_, "unpack");
    part.kernel->unpack(2, part.buffers[2], result);
  }

  const Host& host_;
  bool forward_;
  Part multiply_, add_;
};

class Example final : public Backend {
 public:
  Example() : Backend("example", {"scale_shift"}) {}

  std::unique_ptr<Kernel> make(const Problem& problem) override {
    if (problem.word("mode") == "library") return std::make_unique<Library>(problem, host());
    if (problem.dtype() == BENCH_F64) return std::make_unique<Loop<double>>(problem);
    return std::make_unique<Loop<float>>(problem);
  }
};

Plugin make_plugin() {
  Plugin plugin("scale_shift", "1.0");
  plugin.add(std::make_unique<ScaleShift>()).add(std::make_unique<Example>());
  return plugin;
}

}  // namespace

BENCH_PLUGIN(make_plugin)
