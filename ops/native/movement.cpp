// SPDX-License-Identifier: Apache-2.0
#include "ops/native/loops.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bench::ops {
namespace {

// Four floats: the widest vector that every processor of this architecture supports.
using Quad = float __attribute__((vector_size(16)));
constexpr std::int64_t kQuadsPerChunk = kPeakChunk / static_cast<std::int64_t>(sizeof(Quad));

// Keeps the compiler from replacing loops by calls of the C library, which choose their own stores.
void hide_from_compiler(std::int64_t& index) { asm volatile("" : "+r"(index)); }

void read_portable(const CopyArrays& arrays, std::int64_t chunks) {
  const auto* from = reinterpret_cast<const Quad*>(arrays.a);
  std::array<Quad, 4> largest = {from[0], from[1], from[2], from[3]};
  for (std::int64_t i = 0; i < chunks * kQuadsPerChunk; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) {
      const Quad next = from[i + static_cast<std::int64_t>(j)];
      largest[j] = next > largest[j] ? next : largest[j];
    }
  }
  std::fill_n(arrays.largest, kLargest, largest[0][0]);
  std::copy_n(reinterpret_cast<const float*>(largest.data()), sizeof largest / sizeof(float),
              arrays.largest);
}

void write_portable(const CopyArrays& arrays, std::int64_t chunks) {
  auto* to = reinterpret_cast<Quad*>(arrays.to);
  const Quad value = Quad{} + arrays.a[0];
  for (std::int64_t i = 0; i < chunks * kQuadsPerChunk; ++i) {
    to[i] = value;
    hide_from_compiler(i);
  }
}

void copy_portable(const CopyArrays& arrays, std::int64_t chunks) {
  auto* to = reinterpret_cast<Quad*>(arrays.to);
  const auto* from = reinterpret_cast<const Quad*>(arrays.a);
  for (std::int64_t i = 0; i < chunks * kQuadsPerChunk; ++i) {
    to[i] = from[i];
    hide_from_compiler(i);
  }
}

void triad_portable(const CopyArrays& arrays, std::int64_t chunks) {
  auto* to = reinterpret_cast<Quad*>(arrays.to);
  const auto* a = reinterpret_cast<const Quad*>(arrays.a);
  const auto* b = reinterpret_cast<const Quad*>(arrays.b);
  const Quad factor = Quad{} + static_cast<float>(kTriadFactor);
  for (std::int64_t i = 0; i < chunks * kQuadsPerChunk; ++i) to[i] = a[i] + factor * b[i];
}

#if defined(__x86_64__)

// The instructions for one vector at `offset` of each array.
#define BENCH_READ(vector, number, offset) \
  "vmaxps " offset "(%[a]), %%" vector number ", %%" vector number "\n\t"
#define BENCH_WRITE(vector, number, offset) "vmovaps %%" vector "15, " offset "(%[to])\n\t"
#define BENCH_WRITE_NT(vector, number, offset) "vmovntps %%" vector "15, " offset "(%[to])\n\t"
#define BENCH_COPY(vector, number, offset)     \
  "vmovaps " offset "(%[a]), %%" vector number \
  "\n\t"                                       \
  "vmovaps %%" vector number ", " offset "(%[to])\n\t"
#define BENCH_COPY_NT(vector, number, offset)  \
  "vmovaps " offset "(%[a]), %%" vector number \
  "\n\t"                                       \
  "vmovntps %%" vector number ", " offset "(%[to])\n\t"
#define BENCH_TRIAD(vector, number, offset)                        \
  "vmovaps " offset "(%[a]), %%" vector number                     \
  "\n\t"                                                           \
  "vfmadd231ps " offset "(%[b]), %%" vector "15, %%" vector number \
  "\n\t"                                                           \
  "vmovaps %%" vector number ", " offset "(%[to])\n\t"
#define BENCH_TRIAD_NT(vector, number, offset)                     \
  "vmovaps " offset "(%[a]), %%" vector number                     \
  "\n\t"                                                           \
  "vfmadd231ps " offset "(%[b]), %%" vector "15, %%" vector number \
  "\n\t"                                                           \
  "vmovntps %%" vector number ", " offset "(%[to])\n\t"

#define BENCH_EIGHT(line, vector, size)                                                      \
  line(vector, "0", "0*" size) line(vector, "1", "1*" size) line(vector, "2", "2*" size)     \
      line(vector, "3", "3*" size) line(vector, "4", "4*" size) line(vector, "5", "5*" size) \
          line(vector, "6", "6*" size) line(vector, "7", "7*" size)

#define BENCH_LOAD(vector, number, offset) "vmovups " offset "(%[a]), %%" vector number "\n\t"
#define BENCH_KEEP(vector, number, offset) "vmovups %%" vector number ", " offset "(%[largest])\n\t"
#define BENCH_NOTHING(vector, number, offset) ""

// Each iteration of the loop executes `line` for eight vectors of `size` bytes. `before` and
// `after` are executed for eight vectors before and after the loop.
#define BENCH_MOVEMENT(name, line, vector, size, before, after)                                      \
  void name(const CopyArrays& arrays, std::int64_t chunks) {                                         \
    std::int64_t blocks = chunks * (kPeakChunk / (8 * (size)));                                      \
    const float* a = arrays.a;                                                                       \
    const float* b = arrays.b;                                                                       \
    float* to = arrays.to;                                                                           \
    const float constant = arrays.b != nullptr ? static_cast<float>(kTriadFactor) : *a;              \
    asm volatile("vbroadcastss %[constant], %%" vector "15\n\t" BENCH_EIGHT(before, vector, #size) \
                 ".p2align 6\n"                                                               \
                 "1:\n\t" BENCH_EIGHT(line, vector, #size)                                    \
                 "add $8*" #size ", %[a]\n\t"                                                 \
                 "add $8*" #size ", %[b]\n\t"                                                 \
                 "add $8*" #size ", %[to]\n\t"                                                \
                 "sub $1, %[blocks]\n\t"                                                      \
                 "jnz 1b\n\t" BENCH_EIGHT(after, vector, #size)                               \
                 "sfence\n\t"                                                                 \
                 "vzeroupper\n\t"                                                             \
                 : [blocks] "+r"(blocks), [a] "+r"(a), [b] "+r"(b), [to] "+r"(to)             \
                 : [constant] "m"(constant), [largest] "r"(arrays.largest)                    \
                 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",    \
                   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",       \
                   "xmm15"); \
  }

#define BENCH_MOVEMENTS(suffix, vector, size)                                                   \
  BENCH_MOVEMENT(read_##suffix, BENCH_READ, vector, size, BENCH_LOAD, BENCH_KEEP)               \
  BENCH_MOVEMENT(write_##suffix, BENCH_WRITE, vector, size, BENCH_NOTHING, BENCH_NOTHING)       \
  BENCH_MOVEMENT(write_nt_##suffix, BENCH_WRITE_NT, vector, size, BENCH_NOTHING, BENCH_NOTHING) \
  BENCH_MOVEMENT(copy_##suffix, BENCH_COPY, vector, size, BENCH_NOTHING, BENCH_NOTHING)         \
  BENCH_MOVEMENT(copy_nt_##suffix, BENCH_COPY_NT, vector, size, BENCH_NOTHING, BENCH_NOTHING)   \
  BENCH_MOVEMENT(triad_##suffix, BENCH_TRIAD, vector, size, BENCH_NOTHING, BENCH_NOTHING)       \
  BENCH_MOVEMENT(triad_nt_##suffix, BENCH_TRIAD_NT, vector, size, BENCH_NOTHING, BENCH_NOTHING)

BENCH_MOVEMENTS(avx512, "zmm", 64)
BENCH_MOVEMENTS(avx2, "ymm", 32)

constexpr std::string_view kAvx512Flags = "avx512f";
constexpr std::string_view kAvx2Flags = "avx2 fma";

constexpr std::array<MovementCodeRow, 18> kMovementCodes = {{
    {"read", kAvx512Flags, "avx512", read_avx512},
    {"write", kAvx512Flags, "avx512", write_avx512},
    {"write_nt", kAvx512Flags, "avx512", write_nt_avx512},
    {"copy", kAvx512Flags, "avx512", copy_avx512},
    {"copy_nt", kAvx512Flags, "avx512", copy_nt_avx512},
    {"triad", kAvx512Flags, "avx512", triad_avx512},
    {"triad_nt", kAvx512Flags, "avx512", triad_nt_avx512},
    {"read", kAvx2Flags, "avx2", read_avx2},
    {"write", kAvx2Flags, "avx2", write_avx2},
    {"write_nt", kAvx2Flags, "avx2", write_nt_avx2},
    {"copy", kAvx2Flags, "avx2", copy_avx2},
    {"copy_nt", kAvx2Flags, "avx2", copy_nt_avx2},
    {"triad", kAvx2Flags, "avx2", triad_avx2},
    {"triad_nt", kAvx2Flags, "avx2", triad_nt_avx2},
    {"read", "", "portable", read_portable},
    {"write", "", "portable", write_portable},
    {"copy", "", "portable", copy_portable},
    {"triad", "", "portable", triad_portable},
}};

#else

constexpr std::array<MovementCodeRow, 4> kMovementCodes = {{
    {"read", "", "portable", read_portable},
    {"write", "", "portable", write_portable},
    {"copy", "", "portable", copy_portable},
    {"triad", "", "portable", triad_portable},
}};

#endif

}  // namespace

std::span<const MovementCodeRow> movement_codes() { return kMovementCodes; }

std::string processor_flags(std::string_view cpuinfo) {
  for (std::size_t begin = 0; begin < cpuinfo.size();) {
    const std::size_t end = std::min(cpuinfo.find('\n', begin), cpuinfo.size());
    const std::string_view line = cpuinfo.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (line.starts_with("flags") && colon != std::string_view::npos) {
      return std::string(line.substr(colon + 1));
    }
    begin = end + 1;
  }
  return {};
}

bool has_flags(std::string_view flags, std::string_view required_flags) {
  while (!required_flags.empty()) {
    const std::size_t end = std::min(required_flags.find(' '), required_flags.size());
    const std::string padded = " " + std::string(flags) + " ";
    if (padded.find(" " + std::string(required_flags.substr(0, end)) + " ") == std::string::npos) {
      return false;
    }
    required_flags.remove_prefix(std::min(end + 1, required_flags.size()));
  }
  return true;
}

}  // namespace bench::ops
