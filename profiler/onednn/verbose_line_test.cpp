// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace bench {
namespace {

using testing::HasSubstr;

constexpr std::string_view kSeed =
    "dnnl_verbose,exec,cpu,convolution,jit:avx512_common,forward_inference,src_f32::blocked:"
    "aBcd16b:"
    "f0 wei_f32::blocked:ABcd16b16a:f0 bia_undef::undef::f0 dst_f32::blocked:aBcd16b:f0,,"
    "alg:convolution_direct,mb32_ic32oc32_ih256oh256kh3sh1dh0ph1_iw256ow256kw3sw1dw0pw1,20.7539";

// One execution of a matrix product, as several versions of oneDNN print it.
struct Version {
  const char* name;
  const char* line;
  const char* implementation;
};
constexpr Version kVersions[] = {
    {"1.0",
     "mkldnn_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:ab:f0 "
     "wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,8x4:4x2,0.5",
     "gemm:jit"},
    {"2.0",
     "dnnl_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 "
     "dst_f32::blocked:ab:f0,,,8x4:4x2,0.5",
     "gemm:jit"},
    {"2.6 with timestamps",
     "onednn_verbose,1795264408406.301025,exec,cpu,matmul,brg:avx512_core,undef,"
     "src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,8x4:4x2,0.5",
     "brg:avx512_core"},
    {"3.3",
     "onednn_verbose,primitive,exec,cpu,matmul,brg:avx512_core,undef,src_f32::blocked:ab::f0 "
     "wei_f32::blocked:ab::f0 dst_f32::blocked:ab::f0,,,8x4:4x2,0.5",
     "brg:avx512_core"},
    {"3.6",
     "onednn_verbose,v1,primitive,exec,cpu,matmul,brg:avx512_core,undef,src:f32::blocked:ab::f0 "
     "wei:f32::blocked:ab::f0 dst:f32::blocked:ab::f0,,,8x4:4x2,0.5",
     "brg:avx512_core"},
    {"3.13 with timestamps",
     "onednn_verbose,v1,1795264483952.243896,primitive,exec,cpu,matmul,brg_matmul:avx512_core,"
     "undef,"
     "src:f32::blocked:ab::f0 wei:f32::blocked:ab::f0 dst:f32::blocked:ab::f0,,,8x4:4x2,0.5",
     "brg_matmul:avx512_core"},
};

TEST(VerboseLine, TheSeedsLine) {
  VerboseDecoder decoder;
  const VerboseLine& line = decoder.decode(kSeed);
  EXPECT_EQ(line.kind, VerboseKind::exec);
  EXPECT_EQ(line.marker, "dnnl_verbose");
  EXPECT_EQ(line.engine, "cpu");
  EXPECT_EQ(line.primitive, "convolution");
  EXPECT_EQ(line.implementation, "jit:avx512_common");
  EXPECT_EQ(line.propagation, "forward_inference");
  ASSERT_EQ(line.memory.size(), 4U);
  EXPECT_EQ(line.memory[1].tag, "ABcd16b16a");
  EXPECT_FALSE(line.memory[2].is_defined());
  EXPECT_EQ(line.attributes, "");
  EXPECT_EQ(line.auxiliary, "alg:convolution_direct");
  EXPECT_EQ(line.problem, "mb32_ic32oc32_ih256oh256kh3sh1dh0ph1_iw256ow256kw3sw1dw0pw1");
  EXPECT_EQ(line.time, Nanoseconds(20'753'900));
  EXPECT_EQ(line.start, std::nullopt);
}

TEST(VerboseLine, OneExecutionInAllFormats) {
  for (const auto& [name, text, implementation] : kVersions) {
    SCOPED_TRACE(name);
    VerboseDecoder decoder;
    const VerboseLine& line = decoder.decode(text);
    EXPECT_EQ(line.kind, VerboseKind::exec) << line.fault;
    EXPECT_EQ(line.engine, "cpu");
    EXPECT_EQ(line.primitive, "matmul");
    EXPECT_EQ(line.implementation, implementation);
    EXPECT_EQ(line.propagation, "undef");
    EXPECT_EQ(line.problem, "8x4:4x2");
    EXPECT_EQ(line.time, Nanoseconds(500'000));
    ASSERT_EQ(line.memory.size(), 3U);
    EXPECT_EQ(line.memory[2].argument, "dst");
    EXPECT_EQ(line.memory[2].dtype, "f32");
    EXPECT_EQ(line.memory[2].tag, "ab");
    EXPECT_EQ(line.start.has_value(), std::string_view(text).find(",179526") != line.rest.npos);
  }
}

TEST(VerboseLine, TimestampsAreSince1970) {
  VerboseDecoder decoder;
  EXPECT_EQ(decoder.decode(kVersions[5].line).start, Nanoseconds(1'795'264'483'952'243'896));
}

TEST(VerboseLine, Creations) {
  VerboseDecoder decoder;
  const std::string tail = ",cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,8x4,0.25";
  EXPECT_EQ(decoder.decode("dnnl_verbose,create" + tail).kind, VerboseKind::create);
  EXPECT_EQ(decoder.decode("dnnl_verbose,create" + tail).cache, "");
  EXPECT_EQ(decoder.decode("dnnl_verbose,create:cache_hit" + tail).cache, "hit");
  const std::string missed = "onednn_verbose,primitive,create:cache_miss" + tail;
  const VerboseLine& miss = decoder.decode(missed);
  EXPECT_EQ(miss.kind, VerboseKind::create);
  EXPECT_EQ(miss.cache, "miss");
  EXPECT_EQ(miss.time, Nanoseconds(250'000));
  EXPECT_EQ(decoder.decode("onednn_verbose,create:persistent_cache_hit" + tail).cache,
            "persistent_cache_hit");
  EXPECT_EQ(decoder.decode("onednn_verbose,v1,primitive,create_nested:cache_miss" + tail).kind,
            VerboseKind::create_nested);
  const std::string other_library = "onednn_verbose,v1,primitive,exec:external" + tail;
  const VerboseLine& external = decoder.decode(other_library);
  EXPECT_EQ(external.kind, VerboseKind::external);
  EXPECT_EQ(external.cache, "");
}

TEST(VerboseLine, ReasonsOfDispatch) {
  VerboseDecoder decoder;
  const VerboseLine& whole = decoder.decode(
      "onednn_verbose,v1,1795264483859.287109,primitive,create:dispatch,convolution,cpu,"
      "convolution,"
      "brdgmm_dw:undef,forward_inference,src:f32:a:any:any::f0,,alg:convolution_direct,mb2_"
      "ic16oc32,"
      "unsupported, for now,src/cpu/x64/jit_brdgmm_dw_conv.cpp:183");
  EXPECT_EQ(whole.kind, VerboseKind::dispatch);
  EXPECT_EQ(whole.component, "convolution");
  EXPECT_EQ(whole.implementation, "brdgmm_dw:undef");
  EXPECT_EQ(whole.problem, "mb2_ic16oc32");
  EXPECT_EQ(whole.message, "unsupported, for now");
  EXPECT_EQ(whole.location, "src/cpu/x64/jit_brdgmm_dw_conv.cpp:183");
  EXPECT_EQ(whole.time, std::nullopt);
  const VerboseLine& brief = decoder.decode(
      "onednn_verbose,create:dispatch,brgemm_matmul,datatype configuration not supported on this "
      "isa,src/cpu/x64/matmul/brgemm_matmul_utils.cpp:943");
  EXPECT_EQ(brief.component, "brgemm_matmul");
  EXPECT_EQ(brief.implementation, "");
  EXPECT_EQ(brief.message, "datatype configuration not supported on this isa");
}

TEST(VerboseLine, ChecksErrorsAndDebugging) {
  VerboseDecoder decoder;
  const VerboseLine& check = decoder.decode(
      "onednn_verbose,1795264415390.267090,exec:check,primitive,unused primitive execution "
      "argument "
      "(64),src/common/primitive_exec_types.cpp:74");
  EXPECT_EQ(check.kind, VerboseKind::check);
  EXPECT_EQ(check.message, "unused primitive execution argument (64)");
  const VerboseLine& error = decoder.decode(
      "onednn_verbose,v1,common,error,runtime,SYCL cpu devices queried but not "
      "found,src/common/engine.cpp:111");
  EXPECT_EQ(error.kind, VerboseKind::error);
  EXPECT_EQ(error.interface, "common");
  const VerboseLine& debug = decoder.decode(
      "onednn_verbose,v1,cpu,debuginfo,platform,cache,L1d:48KB,L2:1280KB,L3:48MB,smt:1");
  EXPECT_EQ(debug.kind, VerboseKind::debuginfo);
  EXPECT_EQ(debug.component, "platform");
  EXPECT_EQ(debug.message, "cache,L1d:48KB,L2:1280KB,L3:48MB,smt:1");
}

// 3.13 prints one field more than its template contains.
TEST(VerboseLine, GraphPartitions) {
  VerboseDecoder decoder;
  decoder.decode(
      "onednn_verbose,v1,graph,info,template:operation,engine,partition_id,partition_kind,op_names,"
      "data_formats,logical_tensors,fpmath_mode,implementation,backend,exec_time");
  const VerboseLine& line = decoder.decode(
      "onednn_verbose,v1,graph,exec,cpu,100002,matmul_post_ops,mm;relu,,in0_f32:0:strided:undef:"
      "8x32:32s1 out0_f32:3:strided:undef:8x16:16s1,fpm:strict,scratchpad:1472,matmul_t,"
      "dnnl_backend,7.5");
  EXPECT_EQ(line.kind, VerboseKind::graph) << line.fault;
  EXPECT_EQ(line.primitive, "matmul_post_ops");
  EXPECT_EQ(line.auxiliary, "mm;relu");
  EXPECT_EQ(line.attributes, "fpm:strict,scratchpad:1472");
  EXPECT_EQ(line.implementation, "matmul_t");
  EXPECT_EQ(line.time, Nanoseconds(7'500'000));
}

TEST(VerboseLine, TheTemplateDecidesTheOrder) {
  VerboseDecoder decoder;
  const VerboseLine& info = decoder.decode(
      "onednn_verbose,primitive,info,template:operation,exec_time,colour,primitive,engine");
  EXPECT_EQ(info.kind, VerboseKind::info);
  EXPECT_THAT(info.fault, HasSubstr("contains unknown fields, which are skipped"));
  const VerboseLine& line = decoder.decode("onednn_verbose,primitive,exec,1.5,red,softmax,cpu");
  EXPECT_EQ(line.kind, VerboseKind::exec) << line.fault;
  EXPECT_EQ(line.primitive, "softmax");
  EXPECT_EQ(line.time, Nanoseconds(1'500'000));
}

TEST(VerboseLine, AnotherLogBehindTheFirstHasItsOwnTemplate) {
  VerboseDecoder decoder;
  decoder.decode("onednn_verbose,primitive,info,template:operation,exec_time,primitive,engine");
  decoder.decode("dnnl_verbose,info,DNNL v1.1.2 (commit x)");
  EXPECT_EQ(decoder.decode(kSeed).kind, VerboseKind::exec);
}

TEST(VerboseLine, UnknownFormatsAreNoZeros) {
  VerboseDecoder decoder;
  const std::string tail = std::string(kSeed.substr(kSeed.find("exec")));
  const std::string of_v2 = "onednn_verbose,v2,primitive," + tail;
  const VerboseLine& v2 = decoder.decode(of_v2);
  EXPECT_EQ(v2.kind, VerboseKind::unknown);
  EXPECT_EQ(v2.time, std::nullopt);
  EXPECT_THAT(v2.fault, HasSubstr("unknown format `v2`"));
  const VerboseLine& operation = decoder.decode("onednn_verbose,v1,primitive,paint,cpu,red");
  EXPECT_EQ(operation.kind, VerboseKind::unknown);
  decoder.decode("onednn_verbose,primitive,info,template:operation,device,kernel,duration");
  EXPECT_EQ(decoder.decode("onednn_verbose,primitive,exec,0,conv,1.5").kind, VerboseKind::unknown);
}

// Earlier, a malformed template cost all lines below it.
TEST(VerboseLine, AMalformedTemplateCostsNoLine) {
  const std::string line = "onednn_verbose,primitive," + std::string(kSeed.substr(13));
  for (const std::string fields :
       {"operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,a",
        "operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,"
        "auxiliary,problem_desc,exec_t",
        "operation,engine,pri?itive,implementation,prop_kind,memory_descriptors,attributes,"
        "auxiliary,problem_desc,exec_time",
        "operation,device,kernel,duration", "operation,engine,", "oper"}) {
    VerboseDecoder decoder;
    const std::string text = "onednn_verbose,primitive,info,template:" + fields;
    EXPECT_FALSE(decoder.decode(text).fault.empty()) << fields;
    EXPECT_EQ(decoder.decode(line).kind, VerboseKind::exec) << fields;
    EXPECT_EQ(decoder.decode(line).time, Nanoseconds(20'753'900)) << fields;
  }
}

// Earlier, these lines had one field too many.
TEST(VerboseLine, NumbersWithADecimalComma) {
  const std::string head =
      "onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_inference,data_f32::"
      "blocked:a:f0,";
  struct CommaRow {
    std::string rest;
    std::string attributes, auxiliary, problem;
    std::int64_t nanoseconds;
  };
  for (const CommaRow& row : {
           CommaRow{",alg:eltwise_relu alpha:0 beta:0,64,12,3723", "",
                    "alg:eltwise_relu alpha:0 beta:0", "64", 12'372'300},
           CommaRow{",alg:eltwise_relu alpha:0 beta:0,64,2", "", "alg:eltwise_relu alpha:0 beta:0",
                    "64", 2'000'000},
           CommaRow{",alg:eltwise_clip alpha:-0,5 beta:6,64,2", "",
                    "alg:eltwise_clip alpha:-0,5 beta:6", "64", 2'000'000},
           CommaRow{",alg:eltwise_linear alpha:0,25 beta:0,5,64,1,5e-05", "",
                    "alg:eltwise_linear alpha:0,25 beta:0,5", "64", 15},
           CommaRow{"attr-post-ops:eltwise_clip:0:0,5+sum:0,25 ,alg:x,8x8,7,5",
                    "attr-post-ops:eltwise_clip:0:0,5+sum:0,25", "alg:x", "8x8", 7'500'000},
       }) {
    VerboseDecoder decoder;
    const std::string text = head + row.rest;
    const VerboseLine& line = decoder.decode(text);
    EXPECT_EQ(line.kind, VerboseKind::exec) << text << ": " << line.fault;
    EXPECT_EQ(line.attributes, row.attributes) << text;
    EXPECT_EQ(line.auxiliary, row.auxiliary) << text;
    EXPECT_EQ(line.problem, row.problem) << text;
    EXPECT_EQ(line.time, Nanoseconds(row.nanoseconds)) << text;
  }
  VerboseDecoder decoder;
  const std::string dated = "onednn_verbose,1795264408406,301025," + head.substr(15) + ",,64,0,5";
  EXPECT_EQ(decoder.decode(dated).start, Nanoseconds(1'795'264'408'406'301'025));
  EXPECT_EQ(decoder.decode(dated).time, Nanoseconds(500'000));
}

// Earlier, version 0.x was refused, with a message that depended on the primitive.
TEST(VerboseLine, Version0HasNoEngineAndRarelyDataTypes) {
  VerboseDecoder decoder;
  const VerboseLine& conv = decoder.decode(
      "mkldnn_verbose,exec,convolution,jit:avx2,forward_training,fsrc:nchw fwei:OIhw8i8o "
      "fbia:undef fdst:nChw8c,alg:convolution_direct,mb2_ic3oc8_ih5oh5kh3sh1dh0ph1,0.5");
  EXPECT_EQ(conv.kind, VerboseKind::exec) << conv.fault;
  EXPECT_EQ(conv.engine, "cpu");
  EXPECT_EQ(conv.primitive, "convolution");
  ASSERT_EQ(conv.memory.size(), 4U);
  EXPECT_EQ(conv.memory[1].argument, "wei");
  EXPECT_EQ(conv.memory[1].tag, "OIhw8i8o");
  EXPECT_EQ(conv.memory[1].dtype, "");
  EXPECT_TRUE(conv.memory[1].is_defined());
  EXPECT_FALSE(conv.memory[2].is_defined());
  EXPECT_EQ(conv.time, Nanoseconds(500'000));
  const VerboseLine& reorder = decoder.decode(
      "mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_nChw8c out:f32_nchw,num:1,48x192,1,432");
  EXPECT_EQ(reorder.time, Nanoseconds(1'432'000)) << reorder.fault;
  EXPECT_EQ(reorder.memory[0].argument, "src");
  EXPECT_EQ(reorder.memory[0].dtype, "f32");
  EXPECT_EQ(reorder.memory[0].tag, "nChw8c");
  EXPECT_EQ(decoder.decode("mkldnn_verbose,exec,convolution,jit").kind, VerboseKind::partial);
}

// Earlier, the short form had too few fields.
TEST(VerboseLine, AKernelOfAnotherLibraryHasANameAndATime) {
  VerboseDecoder decoder;
  const VerboseLine& kernel =
      decoder.decode("onednn_verbose,v1,primitive,exec:external,CpuGemm<4,8>/sve_6x4VL,0.242188");
  EXPECT_EQ(kernel.kind, VerboseKind::external) << kernel.fault;
  EXPECT_EQ(kernel.component, "CpuGemm<4,8>/sve_6x4VL");
  EXPECT_EQ(kernel.time, Nanoseconds(242'188));
  EXPECT_EQ(decoder.decode("onednn_verbose,v1,primitive,exec:external,NEScale,0,5").time,
            Nanoseconds(500'000));
  EXPECT_EQ(decoder.decode("onednn_verbose,v1,primitive,exec:external,NEScale").kind,
            VerboseKind::partial);
}

TEST(VerboseLine, Damage) {
  VerboseDecoder decoder;
  const std::string seed(kSeed);
  EXPECT_EQ(decoder.decode(seed.substr(0, 100)).kind, VerboseKind::partial);
  EXPECT_EQ(decoder.decode(seed + ",1").kind, VerboseKind::malformed);
  EXPECT_EQ(decoder.decode(seed + "x").kind, VerboseKind::malformed);
  EXPECT_EQ(decoder.decode("dnnl_verbose,").kind, VerboseKind::partial);
  EXPECT_EQ(decoder.decode("dnnl_verbose,ex").kind, VerboseKind::partial);
  std::string negative = seed;
  negative.replace(negative.rfind(',') + 1, std::string::npos, "-0.25");
  const VerboseLine& line = decoder.decode(negative);
  EXPECT_EQ(line.kind, VerboseKind::malformed);
  EXPECT_EQ(line.fault, "`-0.25` is not a time");
  EXPECT_EQ(decoder.decode("dnnl_verbose,exec,tpu,a,b,c,d,e,f,g,1").fault,
            "`tpu` is not an engine");
}

TEST(VerboseLine, EveryPrefixOfALineIsPartialUntilItsTimeBegins) {
  VerboseDecoder decoder;
  const std::size_t time = kSeed.rfind(',') + 1;
  for (std::size_t size = std::string_view("dnnl_verbose,").size(); size < time; ++size) {
    const VerboseKind kind = decoder.decode(kSeed.substr(0, size)).kind;
    EXPECT_TRUE(kind == VerboseKind::partial) << kSeed.substr(0, size);
  }
}

TEST(VerboseLine, MixedWithAProgramsOutput) {
  VerboseDecoder decoder;
  const std::string text = "loss 0.3 " + std::string(kSeed) + "dnnl_verbose,info,cpu,isa:none\r";
  const VerboseLine& first = decoder.decode(text);
  EXPECT_EQ(first.kind, VerboseKind::exec) << first.fault;
  const VerboseLine& second = decoder.decode(first.rest);
  EXPECT_EQ(second.kind, VerboseKind::info);
  EXPECT_EQ(second.text, "cpu,isa:none");
  EXPECT_EQ(second.rest, "");
  for (const std::string_view other : {"", "my_verbose,exec,cpu", "verbose", "onednn_verbose"}) {
    EXPECT_EQ(decoder.decode(other).kind, VerboseKind::other) << other;
  }
}

TEST(VerboseLine, EveryLineOfTheRecordedLogsIsKnown) {
  const std::string folder = BENCH_SOURCE_DIR "/profiler/onednn/testdata/";
  for (const char* name :
       {"onednn_1.0.log", "onednn_1.1.2_seed.log", "onednn_2.0.log", "onednn_2.4.log",
        "onednn_2.6_timestamps.log", "onednn_3.0.log", "onednn_3.2_timestamps.log",
        "onednn_3.3_timestamps.log", "onednn_3.5.log", "onednn_3.6.log",
        "onednn_3.13_timestamps.log", "onednn_3.13_graph.log"}) {
    std::ifstream file(folder + name);
    ASSERT_TRUE(file) << name;
    VerboseDecoder decoder;
    std::string text;
    int records = 0;
    while (std::getline(file, text)) {
      const VerboseLine& line = decoder.decode(text);
      EXPECT_EQ(line.fault, "") << name << ": " << text;
      records += line.kind != VerboseKind::other ? 1 : 0;
    }
    EXPECT_GE(records, 3) << name;
    EXPECT_EQ(decoder.facts().count("library.onednn.version"), 1U) << name;
    EXPECT_EQ(decoder.facts().count("library.onednn.isa"), 1U) << name;
  }
}

TEST(VerboseLine, AnEngineHasTheNumberOfADevice) {
  const auto fault = [](const std::string& engine) {
    VerboseDecoder decoder;
    return decoder
        .decode("onednn_verbose,primitive,exec," + engine +
                ",softmax,ref:any,forward_training,src_f32::blocked:ab:f0,,,2x3,0.5")
        .fault;
  };
  EXPECT_EQ(fault("gpu:0"), "");
  EXPECT_EQ(fault("gpu"), "");
  EXPECT_THAT(fault("gpu:99999999999999999999"), HasSubstr("is not an engine"));
  EXPECT_THAT(fault("gpu:5000"), HasSubstr("is not an engine"));
}

}  // namespace
}  // namespace bench
