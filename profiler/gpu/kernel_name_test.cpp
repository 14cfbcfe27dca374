// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/kernel_work.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

struct NameCase {
  const char* symbol;
  const char* short_name;
  const char* long_name;
};
constexpr NameCase kNames[] = {
    {"_ZN7cutlass7Kernel2INS_2OpIfLi4EEEEEvNS_6ParamsE", "cutlass::Kernel2",
     "void cutlass::Kernel2<cutlass::Op<float, 4> >(cutlass::Params)"},
    {"_ZN12_GLOBAL__N_16hiddenILb1EEEvPf", "(anonymous namespace)::hidden",
     "void (anonymous namespace)::hidden<true>(float*)"},
    {"_Z5plaini", "plain", "plain(int)"},
    {"_Z7shiftedILin1EEvv", "shifted", "void shifted<-1>()"},
    {"_ZN7cutlass2OpIfLi8EE3runIdEEvT_", "cutlass::Op::run",
     "void cutlass::Op<float, 8>::run<double>(double)"},
    {"_ZN7cutlass2OpIfLi8EEcviEv", "cutlass::Op::operator int",
     "cutlass::Op<float, 8>::operator int()"},
    {"_ZN7cutlass2OpIfLi8EElsIiEEvT_", "cutlass::Op::operator<<",
     "void cutlass::Op<float, 8>::operator<< <int>(int)"},
    {"_ZN7cutlass2OpIfLi8EEltEi", "cutlass::Op::operator<",
     "cutlass::Op<float, 8>::operator<(int)"},
    {"_ZNK7cutlass2OpIfLi8EEclEi", "cutlass::Op::operator()",
     "cutlass::Op<float, 8>::operator()(int) const"},
    {"_ZZ2govENKUlT_E0_clIiEEDaS_", "go::{lambda(auto:1)#2}::operator()",
     "auto go()::{lambda(auto:1)#2}::operator()<int>(int) const"},
    {"_Z6launchIZ2govEUliE_EvT_", "launch",
     "void launch<go()::{lambda(int)#1}>"
     "(go()::{lambda(int)#1})"},
    {"_Z5addedIiEDTpltlT_ELi1EES0_", "added", "decltype (int{}+(1)) added<int>(int)"},
    // These are not mangled C++ names, although each would be valid as an encoded type.
    {"nvjet_hsh_64x8_NNT", "nvjet_hsh_64x8_NNT", "nvjet_hsh_64x8_NNT"},
    {"ampere_fp16_s16816gemm_fp16_128x64_nn", "ampere_fp16_s16816gemm_fp16_128x64_nn",
     "ampere_fp16_s16816gemm_fp16_128x64_nn"},
    {"f", "f", "f"},
    {"_Zbroken", "_Zbroken", "_Zbroken"},
    {"", "", ""},
};

TEST(KernelName, ShortAndLong) {
  for (const NameCase& name_case : kNames) {
    const KernelName name = kernel_name(name_case.symbol);
    EXPECT_EQ(name.short_name, name_case.short_name) << name_case.symbol;
    EXPECT_EQ(name.long_name, name_case.long_name) << name_case.symbol;
  }
}

TEST(KernelName, QualifiersOfAnEnclosingFunctionDoNotEndTheName) {
  const std::string expected = "S::f::{lambda()#1}::operator()";
  for (const auto& [symbol, enclosing_function] :
       {std::pair("_ZZN1S1fEvENKUlvE_clEv", "S::f()"),
        {"_ZZNK1S1fEvENKUlvE_clEv", "S::f() const"},
        {"_ZZNV1S1fEvENKUlvE_clEv", "S::f() volatile"},
        {"_ZZNR1S1fEvENKUlvE_clEv", "S::f() &"},
        {"_ZZNO1S1fEvENKUlvE_clEv", "S::f() &&"},
        {"_ZZNKR1S1fEvENKUlvE_clEv", "S::f() const &"},
        {"_ZZNVKO1S1fEvENKUlvE_clEv", "S::f() const volatile &&"}}) {
    const KernelName name = kernel_name(symbol);
    EXPECT_EQ(name.short_name, expected) << symbol;
    EXPECT_EQ(name.long_name,
              enclosing_function + std::string("::{lambda()#1}::operator()() const"));
  }
}

// Some tracers give demangled names.
TEST(KernelName, ADemangledNameIsRecognised) {
  const KernelName name = kernel_name("void cutlass::Kernel2<cutlass::Op<float>>(int)");
  EXPECT_EQ(name.short_name, "cutlass::Kernel2");
  EXPECT_EQ(name.long_name, "void cutlass::Kernel2<cutlass::Op<float>>(int)");
  EXPECT_EQ(kernel_name("(no name)").short_name, "(no name)");
}

TEST(KernelName, TwoInstancesDifferByLongName) {
  const KernelName four = kernel_name("_Z5scaleIfLi4EEvPT_");
  const KernelName eight = kernel_name("_Z5scaleIfLi8EEvPT_");
  EXPECT_EQ(four.short_name, "scale");
  EXPECT_EQ(four.short_name, eight.short_name);
  EXPECT_EQ(four.long_name, "void scale<float, 4>(float*)");
  EXPECT_EQ(eight.long_name, "void scale<float, 8>(float*)");
}

}  // namespace
}  // namespace bench
