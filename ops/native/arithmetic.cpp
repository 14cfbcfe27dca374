// SPDX-License-Identifier: Apache-2.0
#include "ops/native/loops.hpp"

#include <array>
#include <cstddef>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench::ops {
namespace {

// Four floats: the widest vector that every processor of this architecture supports.
using Vector = float __attribute__((vector_size(16)));

void multiply_add_portable(std::int64_t steps, const void* operands, void* sums) {
  const auto* factors = static_cast<const Vector*>(operands);
  // The values are volatile, so that the compiler neither removes the multiplication nor merges the
  // equal chains.
  const volatile float unit = 1;
  const volatile float zero = 0;
  const Vector one = Vector{} + unit;
  const Vector product =
      factors[0] * factors[kOperandBytes / static_cast<std::int64_t>(sizeof(Vector))];
  Vector a = Vector{} + zero, b = Vector{} + zero, c = Vector{} + zero, d = Vector{} + zero;
  Vector e = Vector{} + zero, f = Vector{} + zero, g = Vector{} + zero, h = Vector{} + zero;
  for (std::int64_t step = 0; step < steps; ++step) {
    a = a * one + product;
    b = b * one + product;
    c = c * one + product;
    d = d * one + product;
    e = e * one + product;
    f = f * one + product;
    g = g * one + product;
    h = h * one + product;
  }
  auto* accumulators = static_cast<Vector*>(sums);
  accumulators[0] = a, accumulators[1] = b, accumulators[2] = c, accumulators[3] = d,
  accumulators[4] = e, accumulators[5] = f, accumulators[6] = g, accumulators[7] = h;
}

#if defined(__x86_64__)

// One line per chain; the second factor is in register 13, the first one in register 14.
#define BENCH_ZERO(number) "vpxor %%xmm" number ", %%xmm" number ", %%xmm" number "\n\t"
#define BENCH_STEP(operation, vector, number) \
  operation " %%" vector "13, %%" vector "14, %%" vector number "\n\t"
#define BENCH_STORE(vector, number, size) \
  "vmovups %%" vector number ", " number "*" size "(%[sums])\n\t"
// clang-format would indent each line further than the one before.
// clang-format off
#define BENCH_TWELVE_ZEROS \
  BENCH_ZERO("0") BENCH_ZERO("1") BENCH_ZERO("2") BENCH_ZERO("3") \
  BENCH_ZERO("4") BENCH_ZERO("5") BENCH_ZERO("6") BENCH_ZERO("7") \
  BENCH_ZERO("8") BENCH_ZERO("9") BENCH_ZERO("10") BENCH_ZERO("11")
#define BENCH_TWELVE_STEPS(operation, vector) \
  BENCH_STEP(operation, vector, "0") BENCH_STEP(operation, vector, "1") \
  BENCH_STEP(operation, vector, "2") BENCH_STEP(operation, vector, "3") \
  BENCH_STEP(operation, vector, "4") BENCH_STEP(operation, vector, "5") \
  BENCH_STEP(operation, vector, "6") BENCH_STEP(operation, vector, "7") \
  BENCH_STEP(operation, vector, "8") BENCH_STEP(operation, vector, "9") \
  BENCH_STEP(operation, vector, "10") BENCH_STEP(operation, vector, "11")
#define BENCH_TWELVE_STORES(vector, size) \
  BENCH_STORE(vector, "0", size) BENCH_STORE(vector, "1", size) \
  BENCH_STORE(vector, "2", size) BENCH_STORE(vector, "3", size) \
  BENCH_STORE(vector, "4", size) BENCH_STORE(vector, "5", size) \
  BENCH_STORE(vector, "6", size) BENCH_STORE(vector, "7", size) \
  BENCH_STORE(vector, "8", size) BENCH_STORE(vector, "9", size) \
  BENCH_STORE(vector, "10", size) BENCH_STORE(vector, "11", size)
// clang-format on

#define BENCH_ARITHMETIC(name, operation, vector, size)                                          \
  void name(std::int64_t steps, const void* operands, void* sums) {                              \
    asm volatile(BENCH_TWELVE_ZEROS                                                            \
                 "vmovups (%[operands]), %%" vector "14\n\t"                                   \
                 "vmovups 1024(%[operands]), %%" vector "13\n\t"                               \
                 ".p2align 6\n"                                                                \
                 "1:\n\t" BENCH_TWELVE_STEPS(operation, vector)                                \
                 "sub $1, %[steps]\n\t"                                                        \
                 "jnz 1b\n\t" BENCH_TWELVE_STORES(vector, size)                                \
                 "vzeroupper\n\t"                                                              \
                 : [steps] "+r"(steps)                                                         \
                 : [operands] "r"(operands), [sums] "r"(sums)                                  \
                 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",     \
                   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",        \
                   "xmm15"); \
  }

BENCH_ARITHMETIC(fma_avx2_f32, "vfmadd231ps", "ymm", "32")
BENCH_ARITHMETIC(fma_avx2_f64, "vfmadd231pd", "ymm", "32")
BENCH_ARITHMETIC(fma_avx512_f32, "vfmadd231ps", "zmm", "64")
BENCH_ARITHMETIC(fma_avx512_f64, "vfmadd231pd", "zmm", "64")
BENCH_ARITHMETIC(dot_avx2_s8, "%{vex%} vpdpbusd", "ymm", "32")
BENCH_ARITHMETIC(dot_avx512_bf16, "vdpbf16ps", "zmm", "64")
BENCH_ARITHMETIC(dot_avx512_s8, "vpdpbusd", "zmm", "64")

// Without VNNI, a step of s8 takes three instructions: two products of bytes are added to 16 bits,
// two of these sums to 32 bits (register 12 holds ones), and the result to the accumulator.
#define BENCH_BYTE_STEP(number)              \
  "vpmaddubsw %%ymm13, %%ymm14, %%ymm15\n\t" \
  "vpmaddwd %%ymm12, %%ymm15, %%ymm15\n\t"   \
  "vpaddd %%ymm15, %%ymm" number ", %%ymm" number "\n\t"

void fma_avx2_s8(std::int64_t steps, const void* operands, void* sums) {
  asm volatile(BENCH_TWELVE_ZEROS
               "vmovups (%[operands]), %%ymm14\n\t"
               "vmovups 1024(%[operands]), %%ymm13\n\t"
               "vpcmpeqw %%ymm12, %%ymm12, %%ymm12\n\t"
               "vpsrlw $15, %%ymm12, %%ymm12\n\t"
               ".p2align 6\n"
               "1:\n\t" BENCH_BYTE_STEP("0") BENCH_BYTE_STEP("1") BENCH_BYTE_STEP("2")
                   BENCH_BYTE_STEP("3") BENCH_BYTE_STEP("4") BENCH_BYTE_STEP("5")
                       BENCH_BYTE_STEP("6") BENCH_BYTE_STEP("7") BENCH_BYTE_STEP("8")
                           BENCH_BYTE_STEP("9") BENCH_BYTE_STEP("10") BENCH_BYTE_STEP("11")
               "sub $1, %[steps]\n\t"
               "jnz 1b\n\t" BENCH_TWELVE_STORES("ymm", "32")
               "vzeroupper\n\t"
               : [steps] "+r"(steps)
               : [operands] "r"(operands), [sums] "r"(sums)
               : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// Eight tiles of 16 rows of 64 bytes.
struct TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);

#define BENCH_TILE_STEP(operation, number) operation " %%tmm7, %%tmm6, %%tmm" number "\n\t"
#define BENCH_TILE_ZERO(number) "tilezero %%tmm" number "\n\t"
#define BENCH_TILE_STORE(number) "tilestored %%tmm" number ", " number "*1024(%[sums],%[row],1)\n\t"
#define BENCH_TILES(name, operation)                                                              \
  void name(std::int64_t steps, const void* operands, void* sums) {                               \
    const TileConfiguration configuration;                                                        \
    constexpr std::int64_t kRow = 64;                                                             \
    asm volatile("ldtilecfg (%[configuration])\n\t" BENCH_TILE_ZERO("0") BENCH_TILE_ZERO("1")   \
                     BENCH_TILE_ZERO("2") BENCH_TILE_ZERO("3") BENCH_TILE_ZERO("4")             \
                         BENCH_TILE_ZERO("5") "tileloadd (%[operands],%[row],1), %%tmm6\n\t"    \
                 "tileloadd 1024(%[operands],%[row],1), %%tmm7\n\t"                             \
                 ".p2align 6\n"                                                                 \
                 "1:\n\t" BENCH_TILE_STEP(operation, "0") BENCH_TILE_STEP(operation, "1")       \
                     BENCH_TILE_STEP(operation, "2") BENCH_TILE_STEP(operation, "3")            \
                         BENCH_TILE_STEP(operation, "4") BENCH_TILE_STEP(operation, "5")        \
                 "sub $1, %[steps]\n\t"                                                         \
                 "jnz 1b\n\t" BENCH_TILE_STORE("0") BENCH_TILE_STORE("1") BENCH_TILE_STORE("2") \
                     BENCH_TILE_STORE("3") BENCH_TILE_STORE("4") BENCH_TILE_STORE("5")          \
                 "tilerelease\n\t"                                                              \
                 : [steps] "+r"(steps)                                                          \
                 : [operands] "r"(operands), [sums] "r"(sums), [row] "r"(kRow),                 \
                   [configuration] "r"(&configuration)                                          \
                 : "cc", "memory"); \
  }

BENCH_TILES(amx_bf16, "tdpbf16ps")
BENCH_TILES(amx_s8, "tdpbssd")

constexpr std::array<ArithmeticCodeRow, 11> kCodes = {{
    {"fma_portable", DataType::f32, "", multiply_add_portable},
    {"fma_avx2", DataType::f32, "avx2 fma", fma_avx2_f32},
    {"fma_avx2", DataType::f64, "avx2 fma", fma_avx2_f64},
    {"fma_avx2", DataType::s8, "avx2", fma_avx2_s8},
    {"fma_avx512", DataType::f32, "avx512f", fma_avx512_f32},
    {"fma_avx512", DataType::f64, "avx512f", fma_avx512_f64},
    {"dot_avx2", DataType::s8, "avx_vnni", dot_avx2_s8},
    {"dot_avx512", DataType::bf16, "avx512_bf16", dot_avx512_bf16},
    {"dot_avx512", DataType::s8, "avx512_vnni", dot_avx512_s8},
    {"amx", DataType::bf16, "amx_tile amx_bf16", amx_bf16},
    {"amx", DataType::s8, "amx_tile amx_int8", amx_s8},
}};

#else

constexpr std::array<ArithmeticCodeRow, 1> kCodes = {
    {{"fma_portable", DataType::f32, "", multiply_add_portable}}};

#endif

}  // namespace

std::span<const ArithmeticCodeRow> arithmetic_codes() { return kCodes; }

bool permit_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
#ifdef SYS_arch_prctl
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace bench::ops
