// SPDX-License-Identifier: Apache-2.0
// table: one row per rule; the first rule that matches decides
#include "profiler/kernel_names/kernel_names.hpp"

#include <array>

namespace bench {
namespace {

using enum TensorCoreUse;

// The rules have four groups, and their order matters. First: kernels that run next to a matrix
// product on tensor cores, or compute a product on CUDA cores. Second: names that prove tensor
// cores. Third: names that do not decide the question. Last: kernels that compute no product.
constexpr std::array kRules = {
    // Kernels next to a product, or products on CUDA cores
    KernelNameRule{"splitk-reduce", not_used,
                   R"([sS]plit_?[kK]_?[rR]educe|[rR]educe_?[sS]plit_?[kK]|cutlass\w*::reduction::)",
                   "adds up the parts of a product that was split along K"},
    KernelNameRule{"blas-1", not_used,
                   R"((^|[^A-Za-z0-9_])(dot|reduce_1Block|asum|nrm2|axpy|scal)_kernel)",
                   "vectors only: cuBLAS level 1, also used for products of one row"},
    KernelNameRule{"gemv", not_used,
                   R"(gemv|gemmSN_[NT][NT]_kernel|gemmk1_kernel|(^|[^A-Za-z0-9_])ger_kernel)",
                   "cuBLAS for one to a few rows or columns, and outer products"},
    KernelNameRule{"simt", not_used,
                   R"((^|[^A-Za-z0-9])simt([^A-Za-z0-9]|$)|OpClassSimt|MmaSimt|UniversalFMA)",
                   "CUTLASS's name for CUDA cores"},
    KernelNameRule{"fma", not_used, R"(_(ffma|hfma2|dfma|dp4a)(_|$))",
                   "kernels of xmma and of cuDNN that name the instruction of CUDA cores"},
    KernelNameRule{"blas-cores", not_used,
                   R"((kepler|maxwell|pascal|volta|turing|ampere)_(fp16_|fp32_)?g?[sdczhi]gemm_)",
                   "cuBLAS kernels without a tensor-core shape in the name"},
    KernelNameRule{"blas-legacy", not_used,
                   R"((^|[^A-Za-z0-9])[sdczh]gemm_(sm\d\d_|largek|\d+x\d+x\d+)|gemm_kernel\dx\d_|)"
                   R"(magma_\w*gemm)",
                   "cuBLAS kernels from before tensor cores, still taken for small sizes"},
    KernelNameRule{"cudnn-cores", not_used, R"((^|_)[shi]cudnn_)",
                   "cuDNN kernels without a tensor-core shape in the name"},
    KernelNameRule{"convolve-gemm", not_used,
                   R"((implicit|explicit|precomputed)_convolve_[sdh]gemm)",
                   "cuDNN's first implicit product, on CUDA cores in every type"},
    KernelNameRule{"conv-legacy", not_used,
                   R"((dgrad|wgrad)(2d)?_alg\d|[dw]grad_engine|convolve_common_engine|)"
                   R"(grouped_direct_kernel|[dw]grad2d_(c1_k1|shmem))",
                   "cuDNN's direct algorithms"},
    KernelNameRule{"depthwise", not_used, R"([dD]epth_?[wW]ise|dwconv)",
                   "one channel at a time, so no matrix product"},
    KernelNameRule{"flash-auxiliary", not_used,
                   R"(flash_(bwd_(dot_do_o|convert_d|clear_d)|fwd_(splitkv_)?combine)|)"
                   R"(FlashAttn(BwdPreprocess|BwdPostprocess|FwdCombine)|)"
                   R"(compute_dot_do_o|convert_dq_to_16bits|fmha_reduce_head)",
                   "before and after the products of FlashAttention and of cuDNN's attention"},
    KernelNameRule{"fmha-cores", not_used, R"(fmha_cutlass[FB]_(\w+_sm50|f32_\w+_sm7[05]))",
                   "memory-efficient attention in f32 before sm_80, in any type before sm_70"},
    // Names that prove tensor cores
    KernelNameRule{"nvjet", used, R"((^|[^A-Za-z0-9])nvjet_)",
                   "cuBLAS since Hopper: every kernel of the family"},
    KernelNameRule{"tensorop", used, R"(tensorop_|OpClass\w*TensorOp|MmaTensorOp)",
                   "CUTLASS's name for tensor cores, in all its generations"},
    KernelNameRule{
        "mma-shape", used,
        R"((^|[^A-Za-z0-9])[hsicdz](884|1688|8816|16816|16832|16864|161616|\d+x\d+x\d+))"
        R"((tf32|bf16|f16)?(sp)?(gemm|cudnn|fprop|dgrad|wgrad))",
        "the shape of the instruction before the word gemm, cudnn, ...: s884, h1688, i16832"},
    KernelNameRule{"mma-tile", used, R"(_tensor\d+x\d+x\d+)",
                   "xmma kernels that name the instruction of tensor cores"},
    KernelNameRule{"wgmma", used,
                   R"(warpgroupsize\d|(^|[^A-Za-z])(wgmma|tcgen05|utc[hiqo]mma)([^A-Za-z]|$)|)"
                   R"(SM90_64x\d+x\d+_|GMMA::|SM1\d\d_MMA_|UMMA::)",
                   "instructions of a warp group (Hopper) and of tcgen05 (Blackwell)"},
    KernelNameRule{"mma-word", used, R"((^|[^A-Za-z])([hidbq]mma|wmma)([^A-Za-z]|$))",
                   "the instruction's name: hmma, imma, dmma, wmma"},
    KernelNameRule{"cute-mma", used, R"(SM(70|75|80|89|120)_\d+x\d+x\d+_)",
                   "CuTe's name of the instruction, in template arguments"},
    KernelNameRule{"cudnn-native", used,
                   R"(cudnn_generated_fort_native_sm([789]\d|1\d\d)_(conv|matmul))",
                   "inferred: cuDNN compiles them at run time; on an H100 they reached 433 TFLOP/s "
                   "in f16, where its CUDA cores reach 118"},
    KernelNameRule{"xmma-f32", not_used, R"(xmma_.*_f32f32_f32f32_f32)",
                   "xmma in f32 without TF32 and without a tensor-core tile"},
    KernelNameRule{"xmma", used,
                   R"(xmma_(sparse_gemm|sparse_conv|gemm|warp_specialized_implicit_gemm|)"
                   R"(implicit_gemm|fprop|dgrad|wgrad))",
                   "xmma otherwise; from PyProf's list"},
    KernelNameRule{"first-layer", used, R"(first_layer_(fwd|wgrad)_kernel)",
                   "cuDNN for a few input channels; from PyProf's list"},
    KernelNameRule{"conv-1x1", used, R"((^|[^A-Za-z0-9])conv1x1|dgrad_1x1_stride_2x2)",
                   "cuDNN for 1x1 kernels; from PyProf's list"},
    KernelNameRule{"direct-group", used, R"(direct_group)",
                   "cuDNN for groups of few channels; from PyProf's list"},
    KernelNameRule{"flash", used,
                   R"(flash_(fwd|bwd)_|FlashAttn(Fwd|Bwd)Sm\d|sdpa_sm\d+_flash|fmha_v2_)",
                   "FlashAttention and cuDNN's attention: half precision only"},
    KernelNameRule{"fmha", used, R"(fmha_cutlass[FB]_)",
                   "memory-efficient attention, in half precision or from sm_80 on"},
    KernelNameRule{"deep-gemm", used, R"(sm(90|100)_(fp8|bf16)_\w*gemm)",
                   "DeepGEMM: products in fp8 and bf16"},
    KernelNameRule{"marlin", used, R"((^|[^A-Za-z])Marlin($|[^A-Za-z]))",
                   "multiplies weights of 4 or 8 bits with f16, on tensor cores"},
    // Names that do not decide the question
    KernelNameRule{"triton-template", unknown, R"(triton_(tem|mm|bmm)_)",
                   "a product made by Triton: its name does not contain the data type"},
    // No product, or none on tensor cores
    KernelNameRule{"native", not_used, R"(bench::ops::cuda::|_ZN5bench3ops4cuda)",
                   "native kernels of bench"},
    KernelNameRule{
        "conv-c1-k1", not_used, R"(conv2d_c1_k1)",
        "cuDNN's depthwise convolution: PyProf's list says used, but counters of an H100 "
        "show none, forward and for gradients"},
    KernelNameRule{"winograd", not_used, R"([wW]inograd)",
                   "Winograd's transforms; the product between them is a kernel of its own"},
    KernelNameRule{"fft", not_used, R"((^|[^A-Za-z0-9])fft[12]d_|(regular|vector)_fft|flip_filter)",
                   "convolution by FFT"},
    KernelNameRule{
        "layout-copy", not_used,
        R"(nchwTo|nhwcTo|AddPadding|nhwcSliceC|[tT]ensorTransform|transpose_readWrite|convertTensor_kernel|im2col|)"
        R"(col2im|OffsetsKernel|compute_gemm_pointers|scale(Packed)?Tensor|)"
        R"(init_device_workspace)",
        "copies between layouts, tables of addresses and workspaces around a product"},
    KernelNameRule{
        "normalisation", not_used,
        R"(batch_norm_|bn_(fw|bw)_|[lL]ayer_?[nN]orm|[gG]roup_?[nN]orm|RMSNorm|rms_?norm)",
        "batch, layer, group and RMS normalisation"},
    KernelNameRule{"softmax", not_used, R"([sS]oft_?[mM]ax)", "softmax by itself"},
    KernelNameRule{"pooling", not_used, R"((max|avg|average|adaptive)_?[pP]ool|pooling_[fb]w)",
                   "pooling"},
    KernelNameRule{"elementwise", not_used,
                   R"([eE]lementwise|[pP]ointwiseApply|multi_tensor_apply|CatArrayBatchedCopy|)"
                   R"(op_(generic_)?tensor_kernel|triton_(poi|per|red)_fused|fused_dropout)",
                   "element by element: PyTorch's, cuDNN's and Triton's"},
    KernelNameRule{"reduction", not_used,
                   R"((^|[^A-Za-z0-9_])reduce_kernel|Device(Reduce|Scan|RadixSort)|thrust::)",
                   "sums, scans and sorts"},
    KernelNameRule{"indexing", not_used,
                   R"(indexSelect|indexing_backward|index_(put|copy|add)_|embedding_)",
                   "gathers and scatters"},
    KernelNameRule{"nccl", not_used, R"(nccl(Dev)?Kernel)", "communication"},
};

}  // namespace

std::span<const KernelNameRule> kernel_name_rules() { return kRules; }

}  // namespace bench
