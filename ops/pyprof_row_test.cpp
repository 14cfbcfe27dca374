// SPDX-License-Identifier: Apache-2.0
#include "ops/pyprof_row.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace bench::ops {
namespace {

struct Row {
  std::string op;
  std::string parameters;
  std::string kernel = "volta_fp16_s884gemm_fp16_128x128_nn";
  std::optional<std::int64_t> given_flops = std::nullopt;
  std::string direction = "forward";
};

// "FLOPs bytes" or "none".
std::string work(const Row& row) {
  Activity activity;
  activity.kind = ActivityKind::kernel;
  activity.name = row.kernel;
  activity.direction = row.direction;
  activity.attributes.set(Attribute::op, row.op);
  activity.attributes.set(Attribute::parameters, row.parameters);
  if (row.given_flops) activity.attributes.set(Attribute::given_flops, *row.given_flops);
  const auto found = compute_pyprof_work(activity);
  if (!found) return "none";
  return std::to_string(found->flops) + " " +
         (found->bytes ? std::to_string(*found->bytes) : std::string("n/a"));
}

TEST(PyprofRow, LinearHas1245184BytesWherePyprofPrints655360) {
  EXPECT_EQ(work({"linear", "M=1024,N=64,K=512,fp16,"}), "67108864 1245184");
  EXPECT_EQ(work({"linear", "M=1024,N=(8,8),K=512,fp16,"}), "67108864 1245184");
  EXPECT_EQ(
      work({.op = "linear", .parameters = "M=512,N=64,K=1024,fp16,", .direction = "backward"}),
      "67108864 1245184");
  EXPECT_EQ(work({"mm", "M=1024,N=64,K=512,fp32,"}), "67108864 2490368");
  EXPECT_EQ(work({"bmm", "B=4,M=8,N=2,K=16,fp16,"}), "2048 1408");
}

TEST(PyprofRow, MatmulHas8388608BytesWherePyprofPrints65536) {
  EXPECT_EQ(work({"matmul", "A=(8,16,128,64),B=(8,16,64,128),fp16,"}), "268435456 8388608");
  EXPECT_EQ(work({"__matmul__", "A=(64,32),B=(32,),fp16,"}), "4096 4288");
}

TEST(PyprofRow, Conv2dHas7398752256FlopsWhateverTheNameOfItsKernel) {
  const std::string cut = "N=32,C=64,H=56,W=56,K=64,P=56,Q=56,R=3,S=3,ph";
  EXPECT_EQ(work({"conv2d", cut, "Volta_hmma_implicit_gemm_fprop_fp32_nhwc"}), "7398752256 n/a");
  EXPECT_EQ(work({"conv2d", cut, "sm90_xmma_fprop_implicit_gemm_bf16"}), "7398752256 n/a");
  const std::string whole =
      "N=32,C=64,H=56,W=56,K=64,P=56,Q=56,R=3,S=3,ph=1,pw=1,U=1,V=1,dh=1,dw=1,g=1,fp16,";
  EXPECT_EQ(work({"conv2d", whole}), "7398752256 25763840");
  EXPECT_EQ(work({"conv1d",
                  "N=2,C=4,H=1,W=10,K=3,P=1,Q=8,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp32,"}),
            "1152 656");
  // The first example of docs/work_model.md: 7x7, stride 2.
  EXPECT_EQ(work({"conv2d",
                  "N=32,C=3,H=224,W=224,K=64,P=112,Q=112,R=7,S=7,ph=3,pw=3,U=2,V=2,dh=1,dw=1,g=1,"
                  "fp16,"}),
            "7552892928 61032832");
}

// Kernels of net.dict have the call's marker, which has all arguments, as their problem.
TEST(PyprofRow, AMarkerGivesTheWorkOfItsCall) {
  const auto marked = [](const std::string& op, const std::string& arguments) {
    Activity activity;
    activity.kind = ActivityKind::kernel;
    activity.name = "volta_fp16_s884cudnn_fp16_256x128_nn";
    activity.direction = "forward";
    activity.attributes.set(Attribute::op, op);
    activity.attributes.set(Attribute::parameters, "[64,3,7,7]float16");
    activity.attributes.set(Attribute::problem, "{'mod': 'torch.nn.functional', 'op': '" + op +
                                                    "', 'args': [" + arguments + "]}");
    const auto found = compute_pyprof_work(activity);
    if (!found) return std::string("none");
    return std::to_string(found->flops) + " " + std::to_string(found->bytes.value_or(-1));
  };
  const auto tensor = [](const std::string& shape) {
    return "{'name': '', 'type': 'tensor', 'shape': (" + shape + "), 'dtype': 'float16'}";
  };
  const std::string pair = ", {'name': '', 'type': 'tuple', 'value': (1, 1)}";
  const std::string none = ", {'name': '', 'type': 'NoneType', 'value': None}";
  EXPECT_EQ(marked("conv2d", tensor("32, 64, 56, 56") + ", " + tensor("64, 64, 3, 3") + none +
                                 pair + pair + pair + ", {'name': '', 'type': 'int', 'value': 1}"),
            "7398752256 25763840");
  EXPECT_EQ(marked("linear", tensor("64, 512") + ", " + tensor("1024, 512") + none),
            "67108864 1245184");
}

TEST(PyprofRow, APossiblyTruncatedParameterIsNotUsed) {
  // "S=7" may be the beginning of "S=77", and K=6 that of K=64.
  EXPECT_EQ(work({"conv2d", "N=32,C=3,H=224,W=224,K=64,P=112,Q=112,R=7,S=7"}), "none");
  EXPECT_EQ(work({"linear", "M=1024,N=64,K=51"}), "none");
  EXPECT_EQ(work({"linear", "M=1024,N=64,K=512,fp1"}), "67108864 n/a");
  EXPECT_EQ(work({"matmul", "A=(8,16,128,64),B=(8,16,64,1"}), "none");
  EXPECT_EQ(work({"matmul", "A=(8,16,128,64)"}), "none");
}

TEST(PyprofRow, ElementwiseOperatorsCountEachElementOnce) {
  const std::string two = "T=[(32,256,56,56),(32,256,56,56)],fp16,";
  const std::string elementwise = "elementwise_kernel";
  EXPECT_EQ(work({"iadd", two, elementwise, 38'535'168}), "25690112 154140672");
  EXPECT_EQ(work({"__iadd__", "[32,256,56,56]fp16;[32,256,56,56]fp16", elementwise, 25'690'112}),
            "25690112 154140672");
  EXPECT_EQ(work({"add", "[4,1024]fp16;[1024]fp16", elementwise}), "4096 18432");
  EXPECT_EQ(work({"relu", "T=(32,64,112,112),fp16,", elementwise, 25'690'112}),
            "25690112 102760448");
  // The gradient of an addition is a copy.
  EXPECT_EQ(work({"add", two, elementwise, 1, "backward"}), "none");
  EXPECT_EQ(work({"add", "T=[(1,)],fp32,", elementwise, 1}), "none");
}

TEST(PyprofRow, KernelsThatDoNotComputeTheirOperatorHaveNoWork) {
  const std::string conv =
      "N=32,C=64,H=56,W=56,K=64,P=56,Q=56,R=3,S=3,ph=1,pw=1,U=1,V=1,dh=1,dw=1,g=1,fp16,";
  EXPECT_EQ(work({"conv2d", conv, "nchwToNhwcKernel", 0}), "none");
  EXPECT_EQ(work({"conv2d", conv, "elementwise_kernel"}), "none");  // adds the bias
  EXPECT_EQ(work({"linear", "M=4,N=4,K=4,fp16,", "splitKreduce_kernel"}), "none");
  EXPECT_EQ(work({"conv2d", conv.substr(0, conv.find("g=1")) + "g=2,fp16,"}), "none");
}

// PyProf states 205,520,896 FLOPs for both kernels, and all 205,520,896 bytes for the first one.
TEST(PyprofRow, TheKernelsOfABatchNormShareItsWork) {
  const std::string image = "T=(32,64,112,112),fp16,";
  const std::string transform = "batch_norm_transform_input_kernel";
  EXPECT_EQ(work({"batch_norm", image, "batch_norm_collect_statistics_kernel", 205'520'896}),
            "102760448 51380224");
  EXPECT_EQ(work({"batch_norm", image, transform}), "102760448 102760448");
  EXPECT_EQ(work({"batch_norm", "T=(32,64,112,112)", transform}), "102760448 n/a");
  EXPECT_EQ(work({"batch_norm", image, transform, 1, "backward"}), "none");
  EXPECT_EQ(work({"batch_norm", "T=(4000000000,4000000000),fp16,", transform}), "none");
}

// 10 FLOPs per element and 3 passes in all, or 5 if two kernels read source and gradient.
TEST(PyprofRow, TheKernelsOfTheGradientsOfABatchNormShareTheirWork) {
  const std::string image = "T=(32,64,112,112),fp16,";
  EXPECT_EQ(work({"batch_norm", image, "batch_norm_backward_kernel", 205'520'896, "backward"}),
            "256901120 154140672");
  EXPECT_EQ(work({"batch_norm", image, "bn_bw_1C11_kernel_new", 205'520'896, "backward"}),
            "256901120 154140672");
  EXPECT_EQ(
      work({"batch_norm", image, "batch_norm_backward_reduce_channels_last_kernel", 1, "backward"}),
      "128450560 102760448");
  EXPECT_EQ(work({"batch_norm", image, "batch_norm_backward_elemt_kernel", 1, "backward"}),
            "128450560 154140672");
  EXPECT_EQ(work({"batch_norm", image, "bn_fw_tr_1C11_kernel_NCHW", 205'520'896}),
            "205520896 102760448");
  EXPECT_EQ(work({"batch_norm", image, "batch_norm_backward_kernel", 205'520'896}), "none");
}

TEST(PyprofRow, OtherRowsHaveNoWork) {
  EXPECT_EQ(work({"batch_norm", "T=(32,64,56,56),fp16,", "elementwise_kernel", 1}), "none");
  for (const char* text : {"", "n32c64h56", "M=", "M=1,N", "=,=", "T=[", "[", "[1", "B=(", ",,,,",
                           "M=99999999999999999999,N=1,K=1,", "N=-1,"}) {
    for (const char* op : {"linear", "conv2d", "matmul", "bmm", "add", "__matmul__"}) {
      EXPECT_EQ(work({op, text, "elementwise_gemm", 1}), "none") << op << ' ' << text;
    }
  }
  EXPECT_FALSE(compute_pyprof_work(Activity()).has_value());
}

}  // namespace
}  // namespace bench::ops
