// SPDX-License-Identifier: Apache-2.0
// Writes a profile of N activities to standard output, as `bench` records networks: host operators
// that contain oneDNN primitives, with shapes, work and memory counters. It can also write them as
// a log of oneDNN's verbose lines.
#include "base/random.hpp"
#include "profiler/activity_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using bench::Activity;
using bench::ActivityKind;
using bench::Attribute;
using bench::Nanoseconds;

struct Layer {
  std::string_view name;
  std::string_view primitive;
  std::string_view op;
  std::string_view implementation;
  std::string_view parameters;
  std::string_view shapes;
  std::int64_t flops;
  std::int64_t bytes;
  std::int64_t nanoseconds;
};
constexpr std::array<Layer, 5> kLayers = {
    {{"conv1", "convolution", "conv", "jit:avx512_core", "n32c3h224w224k64r7s7u2p3",
      "32x3x224x224 64x3x7x7", 7'552'892'928, 122'065'664, 6'500'000},
     {"layer1.0.conv2", "convolution", "conv", "brgconv:avx512_core", "n32c64h56w56k64r3s3p1",
      "32x64x56x56 64x64x3x3", 7'398'752'256, 51'527'680, 5'900'000},
     {"layer1.0.relu2", "eltwise", "pointwise", "jit:avx512_core", "relu,n32c64h56w56",
      "32x64x56x56", 6'422'528, 51'380'224, 700'000},
     {"maxpool", "pooling_v2", "pool", "jit:avx512_core", "max,n32c64h112w112r3s3u2p1",
      "32x64x112x112", 51'380'224, 128'450'560, 900'000},
     {"fc", "inner_product", "gemm", "brgemm:avx512_core", "m32n1000k2048", "32x2048 1000x2048",
      131'072'000, 8'585'216, 120'000}}};

class Output {
 public:
  void add(const Activity& activity) {
    bench::append_json(activity, "", text_);
    text_ += '\n';
    constexpr std::size_t kBlock = 1 << 20;
    if (text_.size() >= kBlock) flush();
  }
  void add(std::string_view line) {
    text_ += line;
    text_ += '\n';
    constexpr std::size_t kBlock = 1 << 20;
    if (text_.size() >= kBlock) flush();
  }
  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), stdout) != text_.size()) std::exit(1);
    text_.clear();
  }

 private:
  std::string text_;
};

// Every eighth activity is a counter of live bytes; all others are a host operator around one
// primitive.
void write_profile(std::int64_t count, Output& output) {
  output.add(R"({"record":"profile","schema":"bench.profile/1","tool":{"version":"synthetic"}})");
  Nanoseconds now{1'000'000'000};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto random = bench::mix(static_cast<std::uint64_t>(i / 2));
    const Layer& layer = kLayers[random % kLayers.size()];
    const Nanoseconds time(layer.nanoseconds + static_cast<std::int64_t>(random % 100'000));
    Activity activity;
    activity.track = {4711, 4711, {}, {}};
    activity.case_id = "network/forward/resnet50_v1_5n32/f32/onednn/cpu/hot";
    activity.scope = fmt::format("resnet50_v1_5:{}", layer.name);
    activity.direction = "forward";
    if (i % 8 == 7) {
      activity.kind = ActivityKind::counter;
      activity.name = "live bytes";
      activity.start = now;
      activity.attributes.set(Attribute::value, static_cast<double>(random % 100'000'000));
      activity.attributes.set(Attribute::value_unit, "bytes");
      now += time + Nanoseconds(2000);  // the previous primitive has no operator
    } else if (i % 2 == 0) {
      activity.kind = ActivityKind::primitive;
      activity.name = layer.primitive;
      activity.start = now + Nanoseconds(1500);
      activity.duration = time;
      activity.attributes.set(Attribute::op, layer.op);
      activity.attributes.set(Attribute::primitive, layer.primitive);
      activity.attributes.set(Attribute::phase, "exec");
      activity.attributes.set(Attribute::implementation, layer.implementation);
      activity.attributes.set(Attribute::parameters, layer.parameters);
      activity.attributes.set(Attribute::dtype, "f32");
      activity.attributes.set(Attribute::in_shapes, layer.shapes);
      activity.attributes.set(Attribute::flops, layer.flops);
      activity.attributes.set(Attribute::bytes, layer.bytes);
    } else {
      activity.kind = ActivityKind::operation;
      activity.name = layer.name;
      activity.start = now;
      activity.duration = time + Nanoseconds(3000);
      activity.attributes.set(Attribute::op, layer.op);
      activity.attributes.set(Attribute::iteration, i / 1000);
      now += *activity.duration + Nanoseconds(500);
    }
    output.add(activity);
  }
}

void write_log(std::int64_t count, Output& output) {
  output.add("onednn_verbose,info,oneDNN v3.2.0 (commit synthetic)");
  output.add("onednn_verbose,info,cpu,runtime:OpenMP,nthr:2");
  output.add("onednn_verbose,info,cpu,isa:Intel AVX-512 with Intel DL Boost");
  output.add(
      "onednn_verbose,info,prim_template:operation,engine,primitive,implementation,prop_kind,"
      "memory_descriptors,attributes,auxiliary,problem_desc,exec_time");
  for (std::int64_t i = 0; i < count; ++i) {
    const auto random = bench::mix(static_cast<std::uint64_t>(i));
    const std::int64_t channels = 64 << (random % 4);
    output.add(
        fmt::format("onednn_verbose,exec,cpu,convolution,brgconv:avx512_core,forward_training,"
                    "src_f32::blocked:acdb:f0 wei_f32::blocked:Acdb16a:f0 bia_undef::undef::f0 "
                    "dst_f32::blocked:acdb:f0,,alg:convolution_direct,"
                    "mb32_ic{0}oc{0}_ih56oh56kh3sh1dh0ph1_iw56ow56kw3sw1dw0pw1,{1}.{2:04}",
                    channels, 1 + random % 9, (random >> 8) % 10'000));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 2 ? argv[2] : "profile";
  const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 0;
  if (count <= 0 || (kind != "profile" && kind != "log")) {
    std::fputs("usage: profile_data COUNT [profile|log]\n", stderr);
    return 2;
  }
  Output output;
  if (kind == "log") {
    write_log(count, output);
  } else {
    write_profile(count, output);
  }
  output.flush();
  return 0;
}
