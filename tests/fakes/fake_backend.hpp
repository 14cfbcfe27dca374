// SPDX-License-Identifier: Apache-2.0
// A backend whose kernels compute with the plain references and take scripted time on a fake clock.
#pragma once

#include "base/data_type.hpp"
#include "ops/backend/buffer_role.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"
#include "ops/post_op.hpp"
#include "ops/problem.hpp"
#include "profiler/api_calls/api_calls.hpp"
#include "profiler/memory/memory_collector.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::test {

// One step of an observed execution; `pause` is the backend's own time after it.
struct FakeStep {
  ops::KernelStep step;
  Nanoseconds execute{0}, wait{0}, pause{0};
  std::string output;  // printed to standard output during the step, if requested
};

// What the library does besides computing.
struct FakeLibrary {
  bool prints = false;  // whether it supports printing
  ops::Collectors collectors;
  ops::LibraryOutput output = ops::LibraryOutput::none;
};

// The behaviour of one kernel. Its times go to `advance` of the backend.
struct FakeScript {
  Nanoseconds create{5000};
  Nanoseconds create_hit{50};
  Nanoseconds pack{200};         // per tensor
  std::set<std::size_t> copied;  // tensors whose layout packing does not change
  // Duration of run number `n` of the kernel, counted from 0 over all its invocations.
  std::function<Nanoseconds(std::int64_t n)> run = [](std::int64_t) { return Nanoseconds(60000); };
  std::optional<ops::BackendError> backend_error;
  bool cannot_prepare = false;
  std::optional<std::int64_t> fails_at;           // number of the run that returns false
  std::optional<std::int64_t> computes_until;     // number of the first run that computes nothing
  std::optional<std::int64_t> wrong_element;      // in output 0: wrong by `error`
  std::optional<std::int64_t> unwritten_element;  // in output 0
  double error = 0.5;
  std::function<void(std::int64_t n)> before_run;  // may crash
  std::vector<FakeStep> steps;                     // for an observed run, instead of `run`
  std::optional<std::size_t> fails_at_step;        // in the observed run number `fails_at`
  Bytes workspace{64};
  // If set, the kernel has a device clock. Called for sample number `n` of the kernel, counted from
  // 0, with the request's iterations. The time on the host is independent of it.
  std::function<Result<ops::DeviceSample>(std::int64_t n, const ops::SampleRequest& request)>
      sample;
  std::map<std::string, std::string> details;
};

// The name, device and memory of the backend.
struct FakeDevice {
  std::string backend = "onednn";
  std::string device = "cpu";
  ops::DeviceMemory* memory = nullptr;
  std::string choice = {};  // what the backend chooses by measuring
  bool repeats = true;      // whether it repeats the choices of another process
};

// Computes the outputs of a problem or network. Values are plain row-major; `inputs` contains all
// tensors except outputs.
using FakeCompute =
    std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>& inputs)>;

class FakeKernel final : public ops::Kernel {
 public:
  FakeKernel(std::vector<ops::Tensor> tensors, FakeCompute compute, FakeScript script,
             std::function<void(Nanoseconds)> advance, std::shared_ptr<FakeLibrary> library)
      : tensors_(std::move(tensors)),
        compute_(std::move(compute)),
        script_(std::move(script)),
        advance_(std::move(advance)),
        library_(std::move(library)),
        scratchpad_(library_->collectors.memory, this, script_.workspace, "scratchpad",
                    "scratchpad") {
    for (const ops::Tensor& tensor : tensors_) {
      buffers_.push_back({ops::buffer_role(tensor), tensor.size(), "plain"});
    }
  }

  std::string implementation() const override { return "fake:reference"; }
  std::vector<ops::KernelStep> steps() const override {
    std::vector<ops::KernelStep> steps;
    for (const FakeStep& step : script_.steps) steps.push_back(step.step);
    return steps;
  }
  std::span<const ops::KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return script_.workspace; }
  bool converts_layout(std::size_t index) const override { return !script_.copied.contains(index); }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    advance_(script_.pack);
    std::memcpy(packed, plain, static_cast<std::size_t>(tensors_[index].size().count));
    return Done{};
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    std::memcpy(plain, packed, static_cast<std::size_t>(tensors_[index].size().count));
    return Done{};
  }
  Status prepare(std::span<void* const>) override {
    if (script_.cannot_prepare) return Error{"no memory for the forward pass", "", ""};
    return Done{};
  }
  std::map<std::string, std::string> details() const override { return script_.details; }
  bool has_device_clock() const override { return static_cast<bool>(script_.sample); }
  Result<ops::DeviceSample> sample(const ops::SampleRequest& request) override {
    return script_.sample(samples_++, request);
  }
  Result<std::unique_ptr<ops::Invocation>> bind(std::span<void* const> buffers) override;

  const std::vector<ops::Tensor>& tensors() const { return tensors_; }
  const FakeScript& script() const { return script_; }
  const FakeCompute& compute() const { return compute_; }
  void advance(Nanoseconds time) { advance_(time); }
  std::int64_t next_run() { return runs_++; }
  const FakeLibrary& library() const { return *library_; }

 private:
  std::vector<ops::Tensor> tensors_;
  std::vector<ops::KernelBuffer> buffers_;
  FakeCompute compute_;
  FakeScript script_;
  std::function<void(Nanoseconds)> advance_;
  std::shared_ptr<FakeLibrary> library_;
  TrackedAllocation scratchpad_;
  std::int64_t runs_ = 0;
  std::int64_t samples_ = 0;
};

// Computes if the output holds the value with which a worker fills it before a run that it checks.
// Other runs, which are timed, only follow the script.
class FakeInvocation final : public ops::Invocation {
 public:
  FakeInvocation(FakeKernel& kernel, std::vector<void*> buffers)
      : kernel_(kernel), buffers_(std::move(buffers)) {}

  bool run() noexcept override {
    const std::int64_t number = kernel_.next_run();
    const FakeScript& script = kernel_.script();
    if (script.before_run) script.before_run(number);
    kernel_.advance(script.run(number));
    if (script.fails_at == number) return false;
    if (must_compute(number)) compute();
    return true;
  }
  bool run_observed(ops::StepObserver& observer) noexcept override {
    const FakeScript& script = kernel_.script();
    if (script.steps.empty()) return Invocation::run_observed(observer);
    const std::int64_t number = kernel_.next_run();
    for (std::size_t i = 0; i < script.steps.size(); ++i) {
      const FakeStep& step = script.steps[i];
      observer.begins(i);
      if (script.before_run) script.before_run(number);
      if (kernel_.library().output != ops::LibraryOutput::none) {
        std::fputs(step.output.c_str(), stdout);
      }
      kernel_.advance(step.execute);
      observer.enqueued(i);
      if (script.fails_at == number && script.fails_at_step == i) return false;
      kernel_.advance(step.wait);
      observer.done(i);
      kernel_.advance(step.pause);
    }
    if (must_compute(number)) compute();
    return true;
  }
  std::string error() const override { return "scripted failure"; }

 private:
  bool must_compute(std::int64_t number) const {
    const std::optional<std::int64_t>& end = kernel_.script().computes_until;
    if (end && number >= *end) return false;
    for (std::size_t i = 0; i < kernel_.tensors().size(); ++i) {
      if (kernel_.tensors()[i].role == ops::TensorRole::output && is_filled(i)) return true;
    }
    return false;
  }
  bool is_filled(std::size_t index) const {
    constexpr std::array<unsigned char, 2> kFillValues = {0xff, 0x5a};
    const auto* bytes = static_cast<const unsigned char*>(buffers_[index]);
    const auto last = static_cast<std::size_t>(kernel_.tensors()[index].size().count) - 1;
    return bytes[0] == bytes[last] && std::ranges::find(kFillValues, bytes[0]) != kFillValues.end();
  }

  void compute() {
    std::vector<std::vector<double>> inputs;
    std::vector<std::size_t> outputs;
    for (std::size_t i = 0; i < kernel_.tensors().size(); ++i) {
      const ops::Tensor& tensor = kernel_.tensors()[i];
      if (tensor.role == ops::TensorRole::output) {
        outputs.push_back(i);
        continue;
      }
      std::vector<double>& values =
          inputs.emplace_back(static_cast<std::size_t>(tensor.elements()));
      for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] = load_element(tensor.dtype, buffers_[i], j);
      }
    }
    const std::vector<std::vector<double>> results = kernel_.compute()(inputs);
    for (std::size_t o = 0; o < outputs.size(); ++o) store(o, outputs[o], results[o]);
  }

  void store(std::size_t output, std::size_t index, const std::vector<double>& values) {
    const FakeScript& script = kernel_.script();
    for (std::size_t j = 0; j < values.size(); ++j) {
      const auto element = static_cast<std::int64_t>(j);
      if (output == 0 && script.unwritten_element == element) continue;
      const double error = output == 0 && script.wrong_element == element ? script.error : 0;
      store_element(kernel_.tensors()[index].dtype, buffers_[index], j, values[j] + error);
    }
  }

  FakeKernel& kernel_;
  std::vector<void*> buffers_;
};

inline Result<std::unique_ptr<ops::Invocation>> FakeKernel::bind(std::span<void* const> buffers) {
  return std::unique_ptr<ops::Invocation>(
      new FakeInvocation(*this, std::vector<void*>(buffers.begin(), buffers.end())));
}

inline FakeCompute compute_problem(const ops::Problem& problem) {
  return [problem](const std::vector<std::vector<double>>& inputs) {
    std::vector<std::vector<double>> outputs;
    const std::size_t count = problem.output_count();
    for (std::size_t o = 0; o < count; ++o) {
      outputs.push_back(ops::built_in_reference(problem, inputs, o, {}));
    }
    return outputs;
  };
}

// Computes node by node and rounds every intermediate result to its data type.
inline FakeCompute compute_network(const ops::Network& network) {
  return [network](const std::vector<std::vector<double>>& tensors) {
    std::vector<std::vector<std::vector<double>>> results;  // by node and output
    const auto value_of = [&](const ops::Source& source) -> const std::vector<double>& {
      if (source.kind == ops::Source::Kind::input) return tensors[source.index];
      return source.kind == ops::Source::Kind::parameter
                 ? tensors[network.input_count() + source.index]
                 : results[source.index][source.output];
    };
    for (const ops::Node& node : network.nodes) {
      std::vector<std::vector<double>> inputs;
      for (const ops::Source& source : node.sources) inputs.push_back(value_of(source));
      results.push_back(compute_problem(node.problem)(inputs));
      for (std::size_t i = 0; i < results.back().size(); ++i) {
        const DataType dtype = node.problem.tensors[node.problem.input_count() + i].dtype;
        for (double& value : results.back()[i]) value = round_to(dtype, value);
      }
    }
    std::vector<std::vector<double>> outputs;
    for (const ops::Source& output : network.outputs) outputs.push_back(value_of(output));
    return outputs;
  };
}

class FakeBackend final : public ops::Backend {
 public:
  // `advance` moves the clock; `script` selects by problem_tokens or the network's name
  // ("resnet18", "resnet18+separate").
  FakeBackend(std::function<void(Nanoseconds)> advance,
              std::function<FakeScript(const std::string&)> script, FakeDevice device = {})
      : advance_(std::move(advance)), script_(std::move(script)), device_(std::move(device)) {}

  std::string_view name() const override { return device_.backend; }
  std::string_view device() const override { return device_.device; }
  ops::DeviceMemory* memory() override { return device_.memory; }
  bool runs_streams() const override { return device_.memory == nullptr; }
  void set_tuning(std::int64_t candidates) override { tunings.push_back(candidates); }
  void set_tuned_caches(const ops::TunedCaches& caches) override { tuned_caches = caches; }
  std::string choices() const override {
    if (device_.choice.empty()) return "";
    return device_.repeats && !fixed_.empty() ? fixed_ : device_.choice;
  }
  void set_choices(std::string_view choices) override { fixed_ = choices; }
  bool reject_last_engine(std::string_view reason) override {
    if (std::ssize(rejected) == further_engines) return false;
    rejected.emplace_back(reason);
    return true;
  }
  ops::LibraryInfo library() const override {
    return {"fake", "1.2.3", "/opt/libfake.so", "no threads"};
  }
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(
      const ops::Problem& problem) override {
    return create(ops::problem_tokens(problem), problem.tensors, compute_problem(problem));
  }
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(
      const ops::Network& network) override {
    const bool separate = network.fusion == ops::Fusion::separate;
    return create(network.name + (separate ? "+separate" : ""), network.tensors,
                  compute_network(network));
  }

  void observe(const ops::Collectors& collectors) override { fakes_->collectors = collectors; }
  bool set_output(ops::LibraryOutput output) override {
    fakes_->output = output;
    return fakes_->prints;
  }

  std::int64_t creations() const { return creations_; }
  std::vector<std::int64_t> tunings;  // in the order of the calls
  ops::TunedCaches tuned_caches;      // the last setting
  std::int64_t further_engines = 0;   // how many engines the library has besides the first
  std::vector<std::string> rejected;  // reasons, in the order of the calls
  FakeLibrary& fakes() { return *fakes_; }

 private:
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(const std::string& name,
                                                                 std::vector<ops::Tensor> tensors,
                                                                 FakeCompute compute) {
    ++creations_;
    FakeScript script = script_(name);
    if (script.backend_error) return *script.backend_error;
    const ApiCall call(fakes_->collectors.api, "fake_create");
    advance_(cache_.insert(name).second ? script.create : script.create_hit);
    return std::unique_ptr<ops::Kernel>(new FakeKernel(std::move(tensors), std::move(compute),
                                                       std::move(script), advance_, fakes_));
  }

  std::function<void(Nanoseconds)> advance_;
  std::function<FakeScript(const std::string&)> script_;
  FakeDevice device_;
  std::string fixed_;            // the choices of another process
  std::set<std::string> cache_;  // the library's cache of created primitives
  std::int64_t creations_ = 0;
  std::shared_ptr<FakeLibrary> fakes_ = std::make_shared<FakeLibrary>();
};

}  // namespace bench::test
