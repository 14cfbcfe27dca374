// SPDX-License-Identifier: Apache-2.0
// A library of matrix products for tests: OpenBLAS, BLIS or MKL (FAKE_OPENBLAS, FAKE_BLIS,
// FAKE_MKL). Computes plain products and records each call: fake_blas_calls(). FAKE_REPEAT: how
// often it computes each product. FAKE_VERSION: what it calls its version.
#include <cstdio>
#include <cstring>
#include <string>

#ifndef FAKE_REPEAT
#define FAKE_REPEAT 1
#endif
#ifndef FAKE_VERSION
#define FAKE_VERSION "1.2.3"
#endif

namespace {

constexpr int kTransposed = 112;

struct CallRecord {
  std::string text;
  const char *a = nullptr, *b = nullptr, *c = nullptr;  // addresses of the first product
  int threads = 0;
};

CallRecord& call_record() {
  static CallRecord record;
  return record;
}

template <class Real>
long elements_from(const char* first, const Real* address) {
  return static_cast<long>((reinterpret_cast<const char*>(address) - first) /
                           static_cast<long>(sizeof(Real)));
}

template <class Real>
struct FakeProduct {
  int order, transpose_a, transpose_b, m, n, k;
  Real alpha;
  const Real* a;
  int lda;
  const Real* b;
  int ldb;
  Real beta;
  Real* c;
  int ldc;
};

template <class Real>
void compute(const FakeProduct<Real>& p) {
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      volatile Real sum = 0;
      for (int repeat = 0; repeat < FAKE_REPEAT; ++repeat) {
        sum = 0;
        for (int l = 0; l < p.k; ++l) {
          const Real left = p.transpose_a == kTransposed ? p.a[l * p.lda + i] : p.a[i * p.lda + l];
          const Real right = p.transpose_b == kTransposed ? p.b[j * p.ldb + l] : p.b[l * p.ldb + j];
          sum = sum + left * right;
        }
      }
      Real& result = p.c[i * p.ldc + j];
      result = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * result);
    }
  }
}

// Appends "sgemm 101 111 112 m2 n3 k4 alpha1 a0/4 b0/4 beta0 c0/3": offsets in elements from the
// first product, then leading dimensions.
template <class Real>
void record_call(const char* name, const FakeProduct<Real>& p, const char* more) {
  CallRecord& record = call_record();
  if (record.text.size() > 100000) return;  // a benchmark repeats its calls
  if (record.text.empty()) {
    record.a = reinterpret_cast<const char*>(p.a);
    record.b = reinterpret_cast<const char*>(p.b);
    record.c = reinterpret_cast<const char*>(p.c);
  }
  char line[256];
  std::snprintf(line, sizeof line,
                "%s %d %d %d m%d n%d k%d alpha%g a%ld/%d b%ld/%d beta%g c%ld/%d%s\n", name, p.order,
                p.transpose_a, p.transpose_b, p.m, p.n, p.k, static_cast<double>(p.alpha),
                elements_from(record.a, p.a), p.lda, elements_from(record.b, p.b), p.ldb,
                static_cast<double>(p.beta), elements_from<Real>(record.c, p.c), p.ldc, more);
  record.text += line;
}

}  // namespace

extern "C" {

const char* fake_blas_calls() { return call_record().text.c_str(); }
void fake_blas_forget_calls() { call_record().text.clear(); }
int fake_blas_threads() { return call_record().threads; }

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  const FakeProduct<float> p{order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  record_call("sgemm", p, "");
  compute(p);
}
#ifndef FAKE_WITHOUT_DGEMM
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  const FakeProduct<double> p{order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  record_call("dgemm", p, "");
  compute(p);
}
#endif

#ifdef FAKE_OPENBLAS
// 0: without threads, 1: threads of its own, 2: OpenMP.
int openblas_get_parallel() { return FAKE_OPENBLAS; }
const char* openblas_get_config() { return "OpenBLAS " FAKE_VERSION " FAKE MAX_THREADS=4"; }
const char* openblas_get_corename() { return "Fake"; }
void openblas_set_num_threads(int threads) { call_record().threads = threads; }
#endif

#ifdef FAKE_BLIS
const char* bli_info_get_version_str() { return FAKE_VERSION; }
long bli_info_get_enable_openmp() { return 0; }
long bli_info_get_enable_pthreads() { return 1; }
int bli_arch_query_id() { return 7; }
const char* bli_arch_string(int id) { return id == 7 ? "fakearch" : "?"; }
void bli_thread_set_num_threads(long threads) { call_record().threads = static_cast<int>(threads); }
#endif

#ifdef FAKE_MKL
struct FakeMklVersion {
  int major, minor, update;
  const char *status, *build, *processor, *platform;
};
// NOLINTBEGIN(readability-identifier-naming): MKL names its functions so.
void MKL_Get_Version(FakeMklVersion* version) {
  *version = {2030,
              0,
              1,
              "Product",
              "20300101",
              "Intel(R) Advanced Vector Extensions 2 (Intel(R) AVX2) enabled processors",
              "Intel(R) 64 architecture"};
}
void MKL_Get_Version_String(char* text, int size) {
  std::snprintf(text, static_cast<std::size_t>(size),
                "Intel(R) oneAPI Math Kernel Library Version 2030.1-Product Build 20300101   ");
}
int MKL_Set_Threading_Layer(int layer) { return layer; }
int MKL_Set_Interface_Layer(int layer) { return layer; }
void MKL_Set_Dynamic(int) {}
void MKL_Set_Num_Threads(int threads) { call_record().threads = threads; }
// NOLINTEND(readability-identifier-naming)
void cblas_sgemm_batch_strided(int order, int ta, int tb, int m, int n, int k, float alpha,
                               const float* a, int lda, int stride_a, const float* b, int ldb,
                               int stride_b, float beta, float* c, int ldc, int stride_c,
                               int batch) {
  char more[96];
  std::snprintf(more, sizeof more, " strides %d %d %d batch %d", stride_a, stride_b, stride_c,
                batch);
  for (int i = 0; i < batch; ++i) {
    const FakeProduct<float> p{order,
                               ta,
                               tb,
                               m,
                               n,
                               k,
                               alpha,
                               a + i * stride_a,
                               lda,
                               b + i * stride_b,
                               ldb,
                               beta,
                               c + i * stride_c,
                               ldc};
    if (i == 0) record_call("sgemm_batch_strided", p, more);
    compute(p);
  }
}
#endif

}  // extern "C"
