// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 v1.5 inference, batch 1, f32, as a hand-written oneDNN chain: the reference for
// `bench`'s network case. Batch norm is folded (each convolution has a bias); relu and the residual
// add are post-ops. oneDNN chooses the layouts, which are passed on; a reorder is inserted if two
// differ. This was the fastest of the tried variants. The residual is an in-place `sum`; a binary
// add with its own destination was 2-5 % slower. Activation buffers are reused as soon as they are
// dead, which is 2-3 % faster than one buffer each. Matmul for the last layer, the library's own
// scratchpads and C++ `execute` made no difference beyond the noise.
#include "yardstick.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <utility>

namespace {

using dnnl::memory;
using Format = memory::format_tag;

memory::desc f32(const memory::dims& dims, Format format) {
  return {dims, memory::data_type::f32, format};
}

// The order of dimensions and blocks, as oneDNN's verbose mode writes it: acdb is nhwc.
std::string format_name(const memory::desc& desc) {
  const auto strides = desc.get_strides();
  const auto blocks = desc.get_inner_blks();
  const auto blocked = desc.get_inner_idxs();
  std::vector<int> order(strides.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return strides[static_cast<std::size_t>(a)] > strides[static_cast<std::size_t>(b)];
  });
  std::string name;
  for (const int dimension : order) {
    const bool split = std::find(blocked.begin(), blocked.end(), dimension) != blocked.end();
    name += static_cast<char>((split ? 'A' : 'a') + dimension);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    name += std::to_string(blocks[i]) + static_cast<char>('a' + blocked[i]);
  }
  return name;
}

using Tensor = std::size_t;  // index of an activation

class Chain {
 public:
  explicit Chain(const dnnl::engine& engine) : engine_(engine), stream_(engine) {}

  Tensor input(const memory::dims& dims);
  // Adds `residual` to the result in place, so nothing may read it afterwards.
  Tensor convolution(const std::string& name, Tensor source, int channels, int kernel, int stride,
                     bool relu, const Tensor* residual = nullptr);
  Tensor pooling(const std::string& name, Tensor source, dnnl::algorithm algorithm, int window,
                 int stride, int pad);
  Tensor inner_product(const std::string& name, Tensor source, int outputs);

  // Allocates the memory of every activation; call it once, after the last layer.
  void allocate();

  void run() {
    for (const Step& step : steps_) execute(step);
    stream_.wait();
  }
  std::size_t size() const { return steps_.size(); }
  void run_alone(std::size_t step) {
    execute(steps_[step]);
    stream_.wait();
  }
  void print() const;

 private:
  struct Step {
    std::string name;
    std::string implementation;
    std::string formats;
    dnnl::primitive primitive;
    std::vector<std::pair<int, Tensor>> activations;
    std::vector<std::pair<int, memory>> constants;  // weights and bias
    std::vector<dnnl_exec_arg_t> arguments;         // for all of them, ready for the C API
  };

  dnnl::primitive_attr attributes(const dnnl::post_ops& post_ops = {}) const;
  Tensor add_tensor(const memory::desc& desc);
  Tensor reordered(Tensor source, const memory::desc& desc);
  memory constant(const memory::desc& desc, float bound);
  template <typename PrimitiveDesc>
  Step make_step(const std::string& name, const PrimitiveDesc& description);
  std::vector<std::size_t> last_uses() const;
  void bind_arguments();

  void execute(const Step& step) {
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(step.primitive.get(), stream_.get(),
                               static_cast<int>(step.arguments.size()), step.arguments.data()),
        "execute");
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::mt19937 random_{1};
  std::vector<Step> steps_;
  std::vector<memory::desc> descs_;  // index: Tensor
  std::vector<memory> memories_;     // index: Tensor; valid after allocate()
  std::map<std::pair<Tensor, std::string>, Tensor> reorders_;
  std::vector<memory> buffers_;  // the memory of the activations
  memory scratchpad_;
  memory::dim scratchpad_bytes_ = 1;
};

dnnl::primitive_attr Chain::attributes(const dnnl::post_ops& post_ops) const {
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Tensor Chain::add_tensor(const memory::desc& desc) {
  descs_.push_back(desc);
  return descs_.size() - 1;
}

memory Chain::constant(const memory::desc& desc, float bound) {
  return yardstick::random_memory(desc, bound, engine_, random_);
}

template <typename PrimitiveDesc>
Chain::Step Chain::make_step(const std::string& name, const PrimitiveDesc& description) {
  const auto bytes = static_cast<memory::dim>(description.scratchpad_desc().get_size());
  scratchpad_bytes_ = std::max(scratchpad_bytes_, bytes);
  Step step;
  step.name = name;
  step.implementation = description.impl_info_str();
  step.formats = format_name(description.src_desc()) + " -> " + format_name(description.dst_desc());
  step.primitive = dnnl::primitive(description.get());
  return step;
}

Tensor Chain::input(const memory::dims& dims) { return add_tensor(f32(dims, Format::nchw)); }

// A tensor that two layers need in the same other layout is reordered only once.
Tensor Chain::reordered(Tensor source, const memory::desc& desc) {
  if (descs_[source] == desc) return source;
  const auto [known, added] = reorders_.try_emplace({source, format_name(desc)}, 0);
  if (!added) return known->second;
  const dnnl::reorder::primitive_desc description(engine_, descs_[source], engine_, desc,
                                                  attributes());
  Step step = make_step("reorder", description);
  const Tensor result = known->second = add_tensor(desc);
  step.activations = {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, result}};
  steps_.push_back(std::move(step));
  return result;
}

Tensor Chain::convolution(const std::string& name, Tensor source, int channels, int kernel,
                          int stride, bool relu, const Tensor* residual) {
  const auto in = descs_[source].get_dims();
  const memory::dim pad = kernel / 2;
  const memory::dim out = (in[2] + 2 * pad - kernel) / stride + 1;
  dnnl::post_ops post_ops;
  if (residual != nullptr) post_ops.append_sum(1.0F);
  if (relu) post_ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  const dnnl::convolution_forward::primitive_desc description(
      engine_, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      f32(in, Format::any), f32({channels, in[1], kernel, kernel}, Format::any),
      f32({channels}, Format::x), f32({1, channels, out, out}, Format::any), {stride, stride},
      {pad, pad}, {pad, pad}, attributes(post_ops));

  source = reordered(source, description.src_desc());
  const Tensor result = residual != nullptr ? reordered(*residual, description.dst_desc())
                                            : add_tensor(description.dst_desc());
  Step step = make_step(name, description);
  step.formats += ", weights " + format_name(description.weights_desc());
  // This bound keeps the variance constant between layers, so nothing overflows or becomes
  // denormal.
  const float bound = std::sqrt(3.0F / static_cast<float>(in[1] * kernel * kernel));
  step.constants = {{DNNL_ARG_WEIGHTS, constant(description.weights_desc(), bound)},
                    {DNNL_ARG_BIAS, constant(description.bias_desc(), 0.1F)}};
  step.activations = {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}};
  steps_.push_back(std::move(step));
  return result;
}

Tensor Chain::pooling(const std::string& name, Tensor source, dnnl::algorithm algorithm, int window,
                      int stride, int pad) {
  const auto in = descs_[source].get_dims();
  const memory::dim out = (in[2] + 2 * pad - window) / stride + 1;
  const dnnl::pooling_forward::primitive_desc description(
      engine_, dnnl::prop_kind::forward_inference, algorithm, descs_[source],
      f32({1, in[1], out, out}, Format::any), {stride, stride}, {window, window}, {0, 0},
      {pad, pad}, {pad, pad}, attributes());
  const Tensor result = add_tensor(description.dst_desc());
  Step step = make_step(name, description);
  step.activations = {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}};
  steps_.push_back(std::move(step));
  return result;
}

Tensor Chain::inner_product(const std::string& name, Tensor source, int outputs) {
  const auto in = descs_[source].get_dims();
  const dnnl::inner_product_forward::primitive_desc description(
      engine_, dnnl::prop_kind::forward_inference, f32(in, Format::any),
      f32({outputs, in[1], in[2], in[3]}, Format::any), f32({outputs}, Format::x),
      f32({1, outputs}, Format::nc), attributes());
  source = reordered(source, description.src_desc());
  const Tensor result = add_tensor(description.dst_desc());
  Step step = make_step(name, description);
  step.formats += ", weights " + format_name(description.weights_desc());
  const float bound = std::sqrt(3.0F / static_cast<float>(in[1]));
  step.constants = {{DNNL_ARG_WEIGHTS, constant(description.weights_desc(), bound)},
                    {DNNL_ARG_BIAS, constant(description.bias_desc(), 0.1F)}};
  step.activations = {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}};
  steps_.push_back(std::move(step));
  return result;
}

std::vector<std::size_t> Chain::last_uses() const {
  std::vector<std::size_t> last(descs_.size(), 0);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (const auto& [argument, tensor] : steps_[i].activations) last[tensor] = i;
  }
  return last;
}

// Reuses buffers of equal size, the most recently freed (and so the warmest) first. The input and
// the output keep theirs, because their contents must outlive a run.
void Chain::allocate() {
  const std::vector<std::size_t> last = last_uses();
  std::size_t bytes = 0;
  for (const auto& desc : descs_) bytes = std::max(bytes, desc.get_size());
  const auto buffer = f32({static_cast<memory::dim>(bytes / sizeof(float))}, Format::a);
  const Tensor input = steps_.front().activations.front().second;

  std::vector<void*> free;
  memories_.resize(descs_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (const auto& [argument, tensor] : steps_[i].activations) {
      if (memories_[tensor]) continue;
      if (free.empty()) {
        buffers_.push_back(yardstick::random_memory(buffer, 1.0F, engine_, random_));
        free.push_back(buffers_.back().get_data_handle());
      }
      memories_[tensor] = memory(descs_[tensor], engine_, free.back());
      free.pop_back();
    }
    for (const auto& [argument, tensor] : steps_[i].activations) {
      if (last[tensor] == i && tensor != input) free.push_back(memories_[tensor].get_data_handle());
    }
  }
  scratchpad_ = memory({{scratchpad_bytes_}, memory::data_type::u8, Format::a}, engine_);
  bind_arguments();
}

void Chain::bind_arguments() {
  for (Step& step : steps_) {
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.get()});
    for (const auto& [argument, tensor] : step.activations) {
      step.arguments.push_back({argument, memories_[tensor].get()});
    }
    for (const auto& [argument, constant] : step.constants) {
      step.arguments.push_back({argument, constant.get()});
    }
  }
}

void Chain::print() const {
  for (const Step& step : steps_) {
    std::printf("%-20s %-24s %s\n", step.name.c_str(), step.implementation.c_str(),
                step.formats.c_str());
  }
  std::size_t activations = 0;
  for (const auto& buffer : buffers_) activations += buffer.get_desc().get_size();
  std::size_t constants = 0;
  for (const Step& step : steps_) {
    for (const auto& [argument, constant] : step.constants) {
      constants += constant.get_desc().get_size();
    }
  }
  std::printf(
      "%zu primitives, weights and biases %zu bytes, activations %zu bytes in %zu buffers, "
      "scratchpad %lld bytes\n",
      steps_.size(), constants, activations, buffers_.size(),
      static_cast<long long>(scratchpad_bytes_));
}

void add_resnet50(Chain& chain) {
  constexpr struct { int blocks, channels; } kStages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
  Tensor x = chain.input({1, 3, 224, 224});
  x = chain.convolution("conv1", x, 64, 7, 2, true);
  x = chain.pooling("maxpool", x, dnnl::algorithm::pooling_max, 3, 2, 1);
  for (int stage = 0; stage < 4; ++stage) {
    const auto [blocks, channels] = kStages[stage];
    for (int block = 0; block < blocks; ++block) {
      const std::string name =
          "layer" + std::to_string(stage + 1) + "." + std::to_string(block) + ".";
      const int stride = block == 0 && stage > 0 ? 2 : 1;  // v1.5: in the 3x3 convolution
      Tensor y = chain.convolution(name + "conv1", x, channels, 1, 1, true);
      y = chain.convolution(name + "conv2", y, channels, 3, stride, true);
      if (block == 0) {
        x = chain.convolution(name + "downsample", x, 4 * channels, 1, stride, false);
      }
      x = chain.convolution(name + "conv3", y, 4 * channels, 1, 1, true, &x);
    }
  }
  x = chain.pooling("avgpool", x, dnnl::algorithm::pooling_avg_exclude_padding, 7, 1, 0);
  chain.inner_product("fc", x, 1000);
  chain.allocate();
}

void measure(Chain& chain, const yardstick::Options& options) {
  const auto whole = yardstick::median_ns(yardstick::sample(options, [&] { chain.run(); }));
  yardstick::Options alone = options;
  alone.warmup_ms = 2;  // 57 primitives; the chain has already warmed up the machine
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    sum += yardstick::median_ns(yardstick::sample(alone, [&] { chain.run_alone(i); }));
  }
  const dnnl_version_t& version = *dnnl_version();
  std::printf("onednn %d.%d.%d\nchain_ns %lld\nlayers_hot_ns %lld\n", version.major, version.minor,
              version.patch, static_cast<long long>(whole), static_cast<long long>(sum));
}

}  // namespace

int main(int argc, char** argv) try {
  const auto options =
      yardstick::parse_options(argc, argv, "resnet50_chain [--samples N] [--warmup-ms N] [--list]");
  Chain chain(dnnl::engine(dnnl::engine::kind::cpu, 0));
  add_resnet50(chain);
  if (options.list) {
    chain.print();
  } else {
    measure(chain, options);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "resnet50_chain: %s\n", error.what());
  return 3;
}
