// SPDX-License-Identifier: Apache-2.0
#include "yardstick.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace yardstick {
namespace {

[[noreturn]] void exit_with_usage(const char* usage) {
  std::fprintf(stderr, "usage: %s\n", usage);
  std::exit(2);
}

bool parse_positive(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0;
}

}  // namespace

Options parse_options(int argc, char** argv, const char* usage) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--list") {
      options.list = true;
      continue;
    }
    if (++i == argc) exit_with_usage(usage);
    const std::string_view value = argv[i];
    const bool valid = name == "--samples"     ? parse_positive(value, options.samples)
                       : name == "--warmup-ms" ? parse_positive(value, options.warmup_ms)
                       : name == "--only"      ? (options.only = value, true)
                                               : false;
    if (!valid) exit_with_usage(usage);
  }
  return options;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t median_ns(std::vector<std::int64_t> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

dnnl::memory random_memory(const dnnl::memory::desc& desc, float bound, const dnnl::engine& engine,
                           std::mt19937& random) {
  const auto dims = desc.get_dims();
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  dnnl::memory plain({dims, dnnl::memory::data_type::f32, strides}, engine);
  // std::uniform_real_distribution takes 15 ns per value, which is too slow for 25 million weights.
  auto* values = static_cast<float*>(plain.get_data_handle());
  const std::size_t count = plain.get_desc().get_size() / sizeof(float);
  const float scale = bound / 2147483648.0F;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = scale * static_cast<float>(static_cast<std::int32_t>(random()));
  }
  dnnl::memory result(desc, engine);
  dnnl::stream stream(engine);
  dnnl::reorder(plain, result).execute(stream, plain, result);
  stream.wait();
  return result;
}

}  // namespace yardstick
