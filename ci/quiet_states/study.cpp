// SPDX-License-Identifier: Apache-2.0
// The study for docs/decisions/0019: which small, fixed workload next to a sample shows how the
// machine affected it. `study SECONDS SEED` starts one process after another, each with one
// operator. For each sample it prints as text its time (ns), how long its threads waited for a
// processor (us), how many times the kernel preempted one, and the canaries before it (ns).
// analyse.py reads this. The program stands alone, so that it does not change with the harness:
//   g++ -std=c++20 -O2 -fopenmp study.cpp -ldnnl -o study
#include <dnnl.hpp>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

using namespace dnnl;
using Args = std::unordered_map<int, memory>;

namespace {

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Memory of one block of 2 MiB pages, allocated in order, so that relative addresses are the same
// in each process.
struct Slab {
  char* base = nullptr;
  std::size_t size = 0, used = 0;
  bool huge = false;
  void open(std::size_t bytes, bool want) {
    size = bytes;
    base = static_cast<char*>(std::aligned_alloc(2 << 20, bytes));
    madvise(base, bytes, want ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    huge = want;
  }
  void* take(std::size_t bytes) {
    if (!huge) {
      char* p = static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
      std::memset(p, 0, bytes);
      return p;
    }
    used = (used + 63) / 64 * 64;
    char* p = base + used;
    used += bytes;
    if (used > size) std::abort();
    std::memset(p, 0, bytes);
    return p;
  }
} slab;

using Vector = float __attribute__((vector_size(32)));
constexpr int kChains = 12;

[[gnu::noipa, gnu::target("avx2,fma")]] float fma_work(int steps) {
  Vector a[kChains];
  for (int i = 0; i < kChains; ++i) a[i] = Vector{} + float(i + 1);
  const Vector b = Vector{} + 0.999f, c = Vector{} + 0.001f;
  for (int s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) a[i] = a[i] * b + c;
  }
  Vector sum{};
  for (int i = 0; i < kChains; ++i) sum += a[i];
  return sum[0];
}

// Multiplies and adds what it loads: two loads and two multiply-adds per cycle.
[[gnu::noipa, gnu::target("avx2,fma")]] float load_work(const float* from, int count, int passes) {
  Vector a[kChains] = {};
  const Vector b = Vector{} + 0.999f;
  const auto* v = reinterpret_cast<const Vector*>(from);
  const int vectors = count / 8 / kChains * kChains;
  for (int p = 0; p < passes; ++p) {
    for (int k = 0; k < vectors; k += kChains) {
#pragma GCC unroll 12
      for (int i = 0; i < kChains; ++i) a[i] += v[k + i] * b;
    }
  }
  Vector sum{};
  for (int i = 0; i < kChains; ++i) sum += a[i];
  return sum[0];
}

// Loads, multiply-adds and integer additions: more than a core shared by two threads can issue.
[[gnu::noipa, gnu::target("avx2,fma")]] float mix_work(const float* from, int count, int passes,
                                                       std::uint64_t& out) {
  Vector a[8] = {};
  std::uint64_t x = out, y = x + 1, z = x + 2, w = x + 3;
  const Vector b = Vector{} + 0.999f;
  const auto* v = reinterpret_cast<const Vector*>(from);
  const int vectors = count / 8 / 8 * 8;
  for (int p = 0; p < passes; ++p) {
    for (int k = 0; k < vectors; k += 8) {
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        a[i] += v[k + i] * b;
        if (i % 2 == 0) {
          x += 3;
          y ^= 5;
          asm volatile("" : "+r"(x), "+r"(y));
        } else {
          z += 7;
          w ^= 9;
          asm volatile("" : "+r"(z), "+r"(w));
        }
      }
    }
  }
  out = x + y + z + w;
  Vector sum{};
  for (int i = 0; i < 8; ++i) sum += a[i];
  return sum[0];
}

// fma, load, mixed: the minimum of three each; l2; dram
constexpr int kPieces = 5;
struct Canary {
  float* l1 = static_cast<float*>(slab.take(16 << 10));
  float* l2 = nullptr;
  float* far = nullptr;
  std::size_t at = 0;
  static constexpr std::size_t kFar = 24 << 20;
  std::int64_t time[kPieces] = {};
  volatile float sink = 0;
  std::uint64_t integer = 1;

  Canary(bool all) {
    for (int i = 0; i < 4096; ++i) l1[i] = 1.0f;
    if (!all) return;
    l2 = static_cast<float*>(slab.take(128 << 10));
    for (int i = 0; i < 32 * 1024; ++i) l2[i] = 1.0f;
    far = static_cast<float*>(std::aligned_alloc(2 << 20, kFar * 4));
    madvise(far, kFar * 4, MADV_HUGEPAGE);
    for (std::size_t i = 0; i < kFar; ++i) far[i] = 1.0f;
  }
  template <class F>
  void thirds(int at, F f) {
    std::int64_t least = INT64_MAX, t = now();
    for (int i = 0; i < 3; ++i) {
      f();
      const auto n = now();
      least = std::min(least, n - t);
      t = n;
    }
    time[at] = least;
  }
  void take(bool all) {
    thirds(0, [&] { sink = fma_work(2700); });
    sink = load_work(l1, 3072, 1);
    thirds(1, [&] { sink = load_work(l1, 3072, 55); });
    thirds(2, [&] { sink = mix_work(l1, 3072, 40, integer); });
    if (!all) return;
    sink = load_work(l2, 32 * 1024, 1);
    std::int64_t t = now();
    sink = load_work(l2, 32 * 1024, 8);
    std::int64_t n = now();
    time[3] = n - t;
    if (at + 48 * 1024 > kFar - 64) at = 0;
    t = now();
    sink = load_work(far + at, 48 * 1024, 1);
    time[4] = now() - t;
    at += 48 * 1024;
  }
};

struct Work {
  std::vector<std::vector<std::function<void(stream&)>>> sets;  // the sets of the rotation
};

memory filled(const memory::desc& d, const engine& e) {
  memory m(d, e, slab.take(d.get_size()));
  auto* p = static_cast<float*>(m.get_data_handle());
  for (std::size_t i = 0; i < d.get_size() / 4; ++i) p[i] = 0.001f * float(i % 977);
  return m;
}

using tag = memory::format_tag;
constexpr auto f32 = memory::data_type::f32;

void add_conv(std::vector<std::function<void(stream&)>>& out, const engine& e, int ic, int hw,
              int oc, int k, int s) {
  memory::dims src{1, ic, hw, hw}, wei{oc, ic, k, k}, dst{1, oc, hw / s, hw / s};
  convolution_forward::primitive_desc pd(
      e, prop_kind::forward_inference, algorithm::convolution_direct,
      memory::desc(src, f32, tag::any), memory::desc(wei, f32, tag::any),
      memory::desc(dst, f32, tag::any), {s, s}, {k / 2, k / 2}, {(k - 1) / 2, (k - 1) / 2});
  convolution_forward p(pd);
  Args a{{DNNL_ARG_SRC, filled(pd.src_desc(), e)},
         {DNNL_ARG_WEIGHTS, filled(pd.weights_desc(), e)},
         {DNNL_ARG_DST, filled(pd.dst_desc(), e)}};
  out.push_back([p, a](stream& st) { p.execute(st, a); });
}
void add_gemm(std::vector<std::function<void(stream&)>>& out, const engine& e, int m, int n,
              int k) {
  matmul::primitive_desc pd(e, memory::desc({m, k}, f32, tag::ab),
                            memory::desc({k, n}, f32, tag::any),
                            memory::desc({m, n}, f32, tag::ab));
  matmul p(pd);
  Args a{{DNNL_ARG_SRC, filled(pd.src_desc(), e)},
         {DNNL_ARG_WEIGHTS, filled(pd.weights_desc(), e)},
         {DNNL_ARG_DST, filled(pd.dst_desc(), e)}};
  out.push_back([p, a](stream& st) { p.execute(st, a); });
}
void add_one(std::vector<std::function<void(stream&)>>& out, const std::string& op,
             const engine& e) {
  if (op == "conv") return add_conv(out, e, 64, 56, 64, 3, 1);
  if (op == "gemm256") return add_gemm(out, e, 256, 256, 256);
  if (op == "gemm768") return add_gemm(out, e, 768, 768, 768);
  if (op == "net") {
    for (int i = 0; i < 3; ++i) add_conv(out, e, 64, 56, 64, 3, 1);
    for (int i = 0; i < 4; ++i) add_conv(out, e, 128, 28, 128, 3, 1);
    for (int i = 0; i < 6; ++i) add_conv(out, e, 256, 14, 256, 3, 1);
    for (int i = 0; i < 3; ++i) add_conv(out, e, 512, 7, 512, 3, 1);
    for (int i = 0; i < 12; ++i) add_conv(out, e, 256, 28, 256, 1, 1);
    for (int i = 0; i < 4; ++i) add_gemm(out, e, 384, 768, 768);
    return;
  }
  if (op == "pool") {
    memory::desc s({8, 64, 56, 56}, f32, tag::nChw16c), d({8, 64, 28, 28}, f32, tag::nChw16c);
    pooling_forward::primitive_desc pd(e, prop_kind::forward_inference, algorithm::pooling_max, s,
                                       d, {2, 2}, {3, 3}, {0, 0}, {0, 0}, {1, 1});
    pooling_forward p(pd);
    Args a{{DNNL_ARG_SRC, filled(s, e)}, {DNNL_ARG_DST, filled(d, e)}};
    out.push_back([p, a](stream& st) { p.execute(st, a); });
    return;
  }
  if (op == "softmax") {
    memory::desc d({256, 1000}, f32, tag::ab);
    softmax_forward::primitive_desc pd(e, prop_kind::forward_inference, algorithm::softmax_accurate,
                                       d, d, 1);
    softmax_forward p(pd);
    Args a{{DNNL_ARG_SRC, filled(d, e)}, {DNNL_ARG_DST, filled(d, e)}};
    out.push_back([p, a](stream& st) { p.execute(st, a); });
    return;
  }
  const long n = op == "relu25" ? 25L << 18 : 64L * 1024;
  memory::desc d({n}, f32, tag::a);
  eltwise_forward::primitive_desc pd(e, prop_kind::forward_inference, algorithm::eltwise_relu, d,
                                     d);
  eltwise_forward p(pd);
  Args a{{DNNL_ARG_SRC, filled(d, e)}, {DNNL_ARG_DST, filled(d, e)}};
  out.push_back([p, a](stream& st) { p.execute(st, a); });
}

std::int64_t run_delay() {  // over all threads, in ns
  std::int64_t sum = 0;
  char path[64], text[96];
  static std::vector<int> tids;
  if (tids.empty()) {
    tids.resize(omp_get_max_threads());
#pragma omp parallel
    tids[omp_get_thread_num()] = gettid();
  }
  for (int tid : tids) {
    std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    if (FILE* f = std::fopen(path, "r")) {
      long long on = 0, delay = 0;
      if (std::fgets(text, sizeof text, f) && std::sscanf(text, "%lld %lld", &on, &delay) == 2)
        sum += delay;
      std::fclose(f);
    }
  }
  return sum;
}

struct Kernel {  // the kernel's statistics of the process so far
  std::int64_t delay = run_delay();
  long switches = 0;
  Kernel() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    switches = usage.ru_nivcsw;
  }
};

// Which canaries run: none, the small ones (some), all, or all and an untimed iteration (lead).
struct Canaries {
  bool all, some, lead;
  std::vector<Canary*> threads = std::vector<Canary*>(omp_get_max_threads());

  explicit Canaries(const std::string& set)
      : all(set == "all" || set == "lead"), some(set != "none"), lead(set == "lead") {
#pragma omp parallel
    threads[omp_get_thread_num()] = new Canary(all);
  }
  void take() {
    if (!some) return;
#pragma omp parallel
    threads[omp_get_thread_num()]->take(all);
  }
  // Prints the slowest thread of each.
  void print() const {
    for (int k = 0; some && k < (all ? kPieces : 3); ++k) {
      std::int64_t slowest = 0;
      for (const Canary* c : threads) slowest = std::max(slowest, c->time[k]);
      std::printf(" %lld", (long long)slowest);
    }
  }
};

// Returns the number of iterations for a sample of a millisecond, after 60 ms of warm-up.
template <class Run>
int warm_up(Run run) {
  const std::int64_t start = now();
  int iterations = 0;
  for (; now() - start < 60'000'000; ++iterations) run(1);
  return std::max(1, int(std::ceil(1e6 / (60e6 / iterations))));
}

int child(char** argv) {
  const std::string op = argv[2], cache = argv[4], pages = argv[7];
  slab.open(std::size_t(1) << 30, pages == "huge");
  engine e(engine::kind::cpu, 0);
  stream st(e);
  Work work;
  const int large = op == "relu25" || op == "net" ? 4 : 48;
  for (int i = 0; i < (cache == "cold" ? large : 1); ++i) add_one(work.sets.emplace_back(), op, e);
  std::size_t next = 0;
  const auto run = [&](int n) {
    for (int i = 0; i < n; ++i) {
      for (auto& f : work.sets[next]) f(st);
      next = (next + 1) % work.sets.size();
    }
    st.wait();
  };
  Canaries canaries(argv[5]);
  run(int(work.sets.size()));
  const int n = warm_up(run);
  std::printf("P %s %s %s %s-%s %d\n", op.c_str(), argv[3], cache.c_str(), argv[5], pages.c_str(),
              n);
  const std::int64_t end = now() + std::int64_t(std::atof(argv[6]) * 1e6);
  while (now() < end) {
    canaries.take();
    if (canaries.lead) run(1);
    const Kernel before;
    const std::int64_t a = now();
    run(n);
    const std::int64_t b = now();
    const Kernel after;
    std::printf("%lld %lld %ld", (long long)((b - a) / n),
                (long long)(after.delay - before.delay) / 1000, after.switches - before.switches);
    canaries.print();
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 8) return child(argv);
  const double seconds = std::atof(argv[1]);
  std::mt19937 random(std::atoi(argv[2]));
  struct C {
    const char* op;
    const char* cache;
  };
  const std::vector<C> cases = {{"conv", "hot"},     {"conv", "cold"},   {"gemm256", "hot"},
                                {"gemm256", "cold"}, {"gemm768", "hot"}, {"pool", "hot"},
                                {"softmax", "hot"},  {"relu25", "hot"},  {"relu", "hot"},
                                {"net", "hot"}};
  const std::int64_t end = now() + std::int64_t(seconds * 1e9);
  while (now() < end) {
    std::vector<std::pair<C, const char*>> order;
    for (const C& c : cases)
      for (const char* t : {"1", "2"}) order.push_back({c, t});
    std::shuffle(order.begin(), order.end(), random);
    for (const auto& [c, t] : order) {
      const char* sets[] = {"all", "all", "all", "lead", "some", "none"};
      const char* set = sets[random() % 6];
      const char* pages = random() % 2 ? "huge" : "small";
      std::fflush(stdout);
      if (fork() == 0) {
        setenv("OMP_NUM_THREADS", t, 1);
        setenv("OMP_PROC_BIND", "close", 1);
        setenv("OMP_PLACES", "cores", 1);
        execl("/proc/self/exe", argv[0], "case", c.op, t, c.cache, set,
              std::strcmp(c.op, "net") == 0 ? "800" : "350", pages, nullptr);
        _exit(1);
      }
      int status;
      wait(&status);
    }
  }
}
