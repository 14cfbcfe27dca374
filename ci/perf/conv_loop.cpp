// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 v1.5's 23 distinct convolutions, batch 1, f32, as a hand-written oneDNN loop: the
// reference for `bench`'s median of the same case. One line per shape: canonical id, median in
// nanoseconds, implementation.
#include "yardstick.hpp"

#include <cstdio>
#include <exception>

namespace {

struct Shape {
  int c, h, k, r, stride, pad;  // square images and kernels, one group, no dilation
};

// In the order of the network; the multiplicities (53 layers in all) do not matter here.
constexpr Shape kShapes[] = {
    {3, 224, 64, 7, 2, 3},    {64, 56, 64, 1, 1, 0},    {64, 56, 64, 3, 1, 1},
    {64, 56, 256, 1, 1, 0},   {256, 56, 64, 1, 1, 0},   {256, 56, 128, 1, 1, 0},
    {128, 56, 128, 3, 2, 1},  {128, 28, 512, 1, 1, 0},  {256, 56, 512, 1, 2, 0},
    {512, 28, 128, 1, 1, 0},  {128, 28, 128, 3, 1, 1},  {512, 28, 256, 1, 1, 0},
    {256, 28, 256, 3, 2, 1},  {256, 14, 1024, 1, 1, 0}, {512, 28, 1024, 1, 2, 0},
    {1024, 14, 256, 1, 1, 0}, {256, 14, 256, 3, 1, 1},  {1024, 14, 512, 1, 1, 0},
    {512, 14, 512, 3, 2, 1},  {512, 7, 2048, 1, 1, 0},  {1024, 14, 2048, 1, 2, 0},
    {2048, 7, 512, 1, 1, 0},  {512, 7, 512, 3, 1, 1},
};

std::string canonical_id(const Shape& shape) {
  const auto token = [](const char* name, int value) { return name + std::to_string(value); };
  std::string id = "conv/forward/" + token("c", shape.c) + token("h", shape.h) +
                   token("w", shape.h) + token("k", shape.k) + token("r", shape.r) +
                   token("s", shape.r);
  if (shape.stride != 1) id += token("u", shape.stride);
  if (shape.pad != 0) id += token("p", shape.pad);
  return id + "/f32/onednn/cpu/hot";
}

dnnl::convolution_forward::primitive_desc describe(const Shape& shape, const dnnl::engine& engine) {
  const auto any = [](const dnnl::memory::dims& dims) {
    return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
  };
  const int out = (shape.h + 2 * shape.pad - shape.r) / shape.stride + 1;
  const dnnl::memory::dims strides{shape.stride, shape.stride};
  const dnnl::memory::dims padding{shape.pad, shape.pad};
  return {engine,
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::convolution_direct,
          any({1, shape.c, shape.h, shape.h}),
          any({shape.k, shape.c, shape.r, shape.r}),
          any({1, shape.k, out, out}),
          strides,
          padding,
          padding};
}

void measure(const Shape& shape, const yardstick::Options& options, const dnnl::engine& engine) {
  const auto description = describe(shape, engine);
  std::mt19937 random(1);
  const auto source = yardstick::random_memory(description.src_desc(), 1.0F, engine, random);
  const auto weights = yardstick::random_memory(description.weights_desc(), 1.0F, engine, random);
  // Also written, so that its pages exist before timing.
  const auto destination = yardstick::random_memory(description.dst_desc(), 1.0F, engine, random);

  dnnl::stream stream(engine);
  const dnnl::convolution_forward convolution(description);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, source.get()},
                                       {DNNL_ARG_WEIGHTS, weights.get()},
                                       {DNNL_ARG_DST, destination.get()}};
  const auto samples = yardstick::sample(options, [&] {
    dnnl::error::wrap_c_api(dnnl_primitive_execute(convolution.get(), stream.get(), 3, arguments),
                            "execute");
    stream.wait();
  });
  std::printf("%s %lld %s\n", canonical_id(shape).c_str(),
              static_cast<long long>(yardstick::median_ns(samples)), description.impl_info_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto options =
      yardstick::parse_options(argc, argv, "conv_loop [--samples N] [--warmup-ms N] [--only ID]");
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  bool found = false;
  for (const Shape& shape : kShapes) {
    if (!options.only.empty() && options.only != canonical_id(shape)) continue;
    measure(shape, options, engine);
    found = true;
  }
  if (!found) std::fprintf(stderr, "conv_loop: no shape has the id '%s'\n", options.only.c_str());
  return found ? 0 : 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "conv_loop: %s\n", error.what());
  return 3;
}
