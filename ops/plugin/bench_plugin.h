/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin interface of `bench`, version 2: a shared library adds operators and backends. Plain
 * C11 without dependencies; bench_plugin.hpp wraps it for C++. docs/plugins.md shows how to write,
 * build and use a plugin.
 *
 * Rules
 * - A plugin exports one function, bench_plugin_entry. `bench` loads plugins only in worker
 *   processes (dlopen, RTLD_NOW | RTLD_LOCAL) and never unloads them.
 * - Every struct begins with `size`. The writer sets `size` to the sizeof of its own version of
 *   the struct. Later releases append fields and keep `abi`. A reader reads a field only if
 *   BENCH_HAS reports it. `bench` refuses a struct that is larger than its own release
 *   defines: plugins run on the release that they were built for and on later ones. `abi`
 *   increases when a field changes its meaning.
 * - Lists are arrays of pointers, so that structs may grow. An empty list may be NULL.
 * - Text is UTF-8 and zero-terminated. Data from the host is valid until the call returns,
 *   unless stated otherwise. A plugin owns its data and keeps it alive: operators, backends and
 *   their tables until the process ends; a kernel's and an invocation's until their destroy().
 * - No exception crosses this interface, in either direction.
 * - The host calls a plugin from one thread at a time, not always the same. A plugin may start
 *   threads. It may call the host only inside a call from the host, on the thread of that call.
 * - Functions return a bench_status. If it is not BENCH_OK, they write the reason to `message`.
 * - Times are integer nanoseconds of CLOCK_MONOTONIC.
 * Functions marked (optional) may be NULL. */
#ifndef BENCH_PLUGIN_H
#define BENCH_PLUGIN_H

#include <stddef.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_PLUGIN_ABI 2u
#define BENCH_PLUGIN_ENTRY "bench_plugin_entry"

#if defined(__GNUC__)
#define BENCH_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define BENCH_PLUGIN_EXPORT
#endif

/* True if the struct that `pointer` points to is long enough to contain `field`. */
#define BENCH_HAS(type, pointer, field) \
  ((pointer)->size >= offsetof(type, field) + sizeof((pointer)->field))

/* ---- Codes ------------------------------------------------------------------------------------
 */

typedef int32_t bench_status;
enum {
  BENCH_OK = 0,
  BENCH_UNSUPPORTED = 1, /* the library, CPU or device does not support it */
  BENCH_SKIPPED = 2,     /* impossible here and now: no device, not enough memory */
  BENCH_FAILED = 3,      /* an error */
  BENCH_INVALID = 4      /* invalid parameters; message.where names the parameter */
};

enum { BENCH_FORWARD = 0, BENCH_BACKWARD_DATA = 1, BENCH_BACKWARD_WEIGHTS = 2 };

enum {
  BENCH_F64 = 0,
  BENCH_F32 = 1,
  BENCH_F16 = 2,
  BENCH_BF16 = 3,
  BENCH_S32 = 4,
  BENCH_S8 = 5,
  BENCH_U8 = 6,
  BENCH_F8_E4M3 = 7,
  BENCH_F8_E5M2 = 8
};

enum { BENCH_LAYOUT_ANY = 0, BENCH_LAYOUT_NCHW = 1, BENCH_LAYOUT_NHWC = 2 };
/* Fast accumulation is requested only with the types F8_E4M3 and F8_E5M2. */
enum { BENCH_MATH_DEFAULT = 0, BENCH_MATH_TF32 = 1, BENCH_MATH_FAST_ACCUMULATION = 2 };

/* Roles of tensors and buffers. weights: constant between calls in deployments. */
enum { BENCH_ROLE_INPUT = 0, BENCH_ROLE_WEIGHTS = 1, BENCH_ROLE_OUTPUT = 2 };

enum {
  BENCH_COUNT = 0, /* integer >= minimum */
  BENCH_FLAG = 1,  /* true or false */
  BENCH_WORD = 2,  /* one of `words` */
  BENCH_REAL = 3,  /* finite number */
  BENCH_SPATIAL =
      4, /* built-in operators only: an integer per spatial dimension, in the order d, h, w */
  BENCH_PADDING = 5, /* built-in operators only: begin and end per spatial dimension */
  BENCH_SHAPE = 6    /* sizes >= minimum, outermost first */
};

/* ---- Messages ---------------------------------------------------------------------------------
 */

/* The caller provides the buffers. The callee writes at most `*_capacity` bytes, including the
 * terminating zero. `text`: what went wrong. `where`: the parameter, file or device at fault.
 * `next`: what the user can do. All are empty before the call. */
typedef struct bench_message {
  size_t size;
  char* text;
  size_t text_capacity;
  char* where;
  size_t where_capacity;
  char* next;
  size_t next_capacity;
} bench_message;

/* ---- Problems ---------------------------------------------------------------------------------
 */

typedef struct bench_parameter {
  size_t size;
  const char* name;  /* the YAML key: [a-z][a-z0-9_]* */
  const char* token; /* letters before the value in a case id ("n"); "ta" prints "+ta" for a flag;
                        "" for words and shapes */
  int32_t kind;
  const char* fallback; /* the default: a constant ("1", "false", "sum"), "required", "optional"
                           (may be missing), or another parameter of the same kind */
  const char* help;     /* one line, with the unit */
  int64_t minimum;
  const char* const* words; /* for BENCH_WORD */
  size_t word_count;
} bench_parameter;

/* One parameter's value. */
typedef struct bench_value {
  size_t size;
  const char* name;
  int32_t kind;
  int32_t present;        /* 0: not set; the fields below are not set either */
  int64_t integer;        /* count; flag: 0 or 1 */
  double real;            /* real */
  const char* word;       /* word */
  const int64_t* numbers; /* shape, spatial; padding: begin and end of each dimension */
  size_t number_count;
} bench_value;

typedef struct bench_tensor {
  size_t size;
  const char* name; /* "source", "weights", "destination", "diff_source", ... */
  int32_t role;
  int32_t dtype;
  const int64_t* dims; /* logical sizes, outermost first; n, c, then spatial */
  size_t rank;
  int64_t touched; /* elements that are read or written; bytes are computed from them; in
                      bench_model.add_tensor -1 means all */
} bench_tensor;

/* Operations of one execution. A fused multiply-add counts as 2 FLOPs. */
typedef struct bench_work {
  size_t size;
  int32_t has_macs;
  int64_t macs; /* multiply-accumulates of convolutions and matrix products */
  int64_t flops;
  int64_t flops_valid;   /* excluding the part in padding; otherwise equal to flops */
  int64_t sfu_ops;       /* exp, tanh, ...: one each, in addition to their plain FLOPs */
  int64_t bytes_read;    /* the host computes it from `touched`; ignored in set_work */
  int64_t bytes_written; /* the same */
} bench_work;

/* An operation after an operator's output, applied to each element in order: a unary function of
 * the operator `pointwise`, or "add" of a tensor `residual`. */
typedef struct bench_post_op {
  size_t size;
  const char* function;
  double alpha;
  double beta;
} bench_post_op;

typedef struct bench_problem {
  size_t size;
  const char* op;
  int32_t direction;
  int32_t dtype;
  int32_t layout;
  int32_t math;
  const char* tokens; /* the parameter segment of the case id */
  const bench_value* const* values;
  size_t value_count;
  const bench_post_op* const* post_ops;
  size_t post_op_count;
  /* Inputs and weights, then outputs. `work` may be NULL. Both are missing in calls of
   * bench_operator.check and .model, which determine them. */
  const bench_tensor* const* tensors;
  size_t tensor_count;
  size_t input_count; /* inputs and weights */
  const bench_work* work;
} bench_problem;

/* ---- Operators --------------------------------------------------------------------------------
 */

/* One line of `bench explain`. */
typedef struct bench_formula {
  size_t size;
  const char* name;       /* "flops" */
  const char* expression; /* "2*N*C" */
  const char* values;     /* "2*32*64" */
  int64_t result;
} bench_formula;

/* Provided by the host. An operator's model() writes to it. The host keeps the first error (an
 * overflow, a code out of range) and reports it whatever model() then returns. */
typedef struct bench_model {
  size_t size;
  void* self;
  bench_status (*add_tensor)(void* self, const bench_tensor* tensor); /* inputs before outputs */
  bench_status (*add_formula)(void* self, const bench_formula* formula);
  bench_status (*set_work)(void* self, const bench_work* work);
} bench_model;

/* An operator. Its functions are pure: equal arguments give equal results. */
typedef struct bench_operator {
  size_t size;
  void* self;       /* first argument of the functions */
  const char* name; /* [a-z][a-z0-9_]*, not the name of a built-in operator */
  const char* help; /* one line */
  const bench_parameter* const* parameters;
  size_t parameter_count;
  const int32_t* directions;
  size_t direction_count;
  int32_t takes_post_ops; /* in direction forward; 0: no */
  /* (optional) Checks conditions on several values. Before the call, default values are filled in,
   * and kinds, minima and words are checked. */
  bench_status (*check)(void* self, const bench_problem* problem, bench_message* message);
  bench_status (*model)(void* self, const bench_problem* problem, const bench_model* model,
                        bench_message* message);
  /* The plain implementation, in double. Writes to values[i] the element of output number `output`
   * (0: the first) at the row-major position positions[i]. If `positions` is NULL, the positions
   * are 0 .. count - 1. inputs[t]: tensor t, row-major, as doubles that its data type represents
   * exactly. The host applies post-ops. */
  bench_status (*reference)(void* self, const bench_problem* problem, const double* const* inputs,
                            size_t output, const int64_t* positions, size_t count, double* values,
                            bench_message* message);
  /* (optional) Allowed error: |got - want| <= absolute + relative * |want|. Default: 8 roundings of
   * the data type. */
  void (*tolerance)(void* self, const bench_problem* problem, double* absolute, double* relative);
} bench_operator;

/* ---- Kernels ----------------------------------------------------------------------------------
 */

typedef struct bench_buffer {
  size_t size;
  int32_t role;
  int64_t bytes;      /* in the layout that the kernel requires */
  const char* layout; /* human-readable: "abcd", "nChw16c" */
} bench_buffer;

/* One primitive that a kernel executes, human-readable. */
typedef struct bench_step {
  size_t size;
  const char* kind;           /* "convolution" */
  const char* implementation; /* the library's name for the implementation */
  const char* layouts;        /* "abcd -> acdb"; "" if not meaningful */
} bench_step;

/* Provided by the host. Observes each step of an execution by its index. */
typedef struct bench_observer {
  size_t size;
  void* self;
  void (*begins)(void* self, size_t step);
  void (*enqueued)(void* self, size_t step); /* the call to execute has returned */
  void (*done)(void* self, size_t step);     /* after the wait for its end */
} bench_observer;

/* A kernel bound to buffers. */
typedef struct bench_invocation {
  size_t size;
  void* self;
  /* Runs one execution and waits for its end, also on a GPU. Must not allocate. */
  bench_status (*run)(void* self);
  const char* (*error)(void* self); /* why run() failed; valid until the next call */
  /* (optional) The same step by step, waiting for each. A step that fails is not reported as done.
   */
  bench_status (*run_observed)(void* self, const bench_observer* observer);
  void (*destroy)(void* self);
} bench_invocation;

enum {
  BENCH_SAMPLE_ANY = 0,    /* the plugin chooses the best method */
  BENCH_SAMPLE_STREAM = 1, /* launches queued behind a blocking kernel, between two events */
  BENCH_SAMPLE_GRAPH = 2   /* replays a recorded graph */
};

/* A sample on a device with its own clock. Iteration i, counted from 0, runs rotation[(first + i) %
 * rotation_count]. */
typedef struct bench_sample_request {
  size_t size;
  const bench_invocation* const* rotation; /* of one kernel */
  size_t rotation_count;
  int64_t first;
  int64_t iterations;
  int32_t how;
} bench_sample_request;

enum {
  BENCH_SAMPLE_VOID = 1u,      /* discard the sample; the message states the reason */
  BENCH_SAMPLE_THROTTLED = 2u, /* the device lowered its clock; the message states the reason */
  BENCH_SAMPLE_UNSTEADY = 4u   /* the clock changed during the sample */
};

/* The plugin fills it in. */
typedef struct bench_sample {
  size_t size;
  int64_t device_ns; /* total of all iterations, on the device's clock; -1: unknown */
  int64_t host_ns;   /* time that the host spent on launching them; -1: unknown */
  int64_t clock_hz;  /* clock of the device's processors during the sample; -1: unknown */
  uint32_t flags;
  int32_t how; /* the method used: BENCH_SAMPLE_STREAM or BENCH_SAMPLE_GRAPH */
} bench_sample;

typedef struct bench_detail {
  size_t size;
  const char* name;
  const char* value;
} bench_detail;

/* Created by bench_backend.create and, for built-in operators, by bench_host.create. Its
 * invocations are destroyed before it. */
typedef struct bench_kernel {
  size_t size;
  void* self;
  const char* implementation;     /* what runs: "brgconv:avx512_core", an engine, an algorithm */
  const bench_step* const* steps; /* in the order of execution; empty: one step */
  size_t step_count;
  /* One per tensor of the problem, in its order. */
  const bench_buffer* const* buffers;
  size_t buffer_count;
  int64_t workspace; /* bytes that the kernel itself allocated at creation */
  /* (both optional: without them tensors are plain) Convert a tensor between its plain row-major
   * form in host memory and the kernel's layout in one of its buffers. Never timed. */
  bench_status (*pack)(void* self, size_t tensor, const void* plain, void* packed,
                       bench_message* message);
  bench_status (*unpack)(void* self, size_t tensor, const void* packed, void* plain,
                         bench_message* message);
  /* (optional) Called once after packing, before the first run. Derives from the inputs what must
   * not be timed. */
  bench_status (*prepare)(void* self, void* const* buffers, bench_message* message);
  /* Buffers are aligned to 64 bytes and must outlive the invocation. */
  bench_status (*bind)(void* self, void* const* buffers, const bench_invocation** invocation,
                       bench_message* message);
  void (*destroy)(void* self);
  /* (optional) Without it the host times run() with its own clock. */
  bench_status (*sample)(void* self, const bench_sample_request* request, bench_sample* sample,
                         bench_message* message);
  /* For the host's kernels: tensors and values, valid until destroy(). NULL for a plugin's kernels.
   */
  const bench_problem* problem;
  /* (optional) Further details: the engine or algorithm, and whether it was tuned. Parts of the
   * creation time are integers named "setup.NAME_ns". The host reads the list again after samples,
   * because it may have grown. The last entry of a name counts. */
  const bench_detail* const* details;
  size_t detail_count;
  /* 1: the device rounds sums to fewer bits than f32, whatever is asked for. The check of the
   * results then allows for it as for math BENCH_MATH_FAST_ACCUMULATION. */
  int32_t has_reduced_sums;
} bench_kernel;

/* ---- The host ---------------------------------------------------------------------------------
 */

/* A problem of a built-in operator. `tokens` as in case ids: "m4n4k4", "relu-1x64x56x56". */
typedef struct bench_request {
  size_t size;
  const char* op;
  int32_t direction;
  int32_t dtype;
  int32_t layout;
  int32_t math;
  const char* tokens;
} bench_request;

/* Valid from open() to close(). */
typedef struct bench_host {
  size_t size;
  uint32_t abi;
  void* self;
  void (*log)(void* self, const char* text); /* writes a line to standard error */
  /* Names a part of the current invocation's work, inside run(): a row NAME::SUB of the profile.
   * Ranges nest. All ranges of an execution must end before it returns. In the timing pass a call
   * costs a few nanoseconds. */
  void (*range_begin)(void* self, const char* name);
  void (*range_end)(void* self);
  /* Creates a CPU kernel of a built-in operator. Destroy it before close(). Its executions are
   * ranges named after the operator. */
  bench_status (*create)(void* self, const bench_request* request, const bench_kernel** kernel,
                         bench_message* message);
} bench_host;

/* ---- Backends ---------------------------------------------------------------------------------
 */

typedef struct bench_library {
  size_t size;
  const char* name;
  const char* version;
  const char* path;   /* path of the loaded file; "" if it is part of the plugin */
  const char* detail; /* further details; may be "" */
} bench_library;

/* Memory of a device that the CPU cannot address. */
typedef struct bench_memory {
  size_t size;
  bench_status (*allocate)(void* state, int64_t bytes, void** address, bench_message* message);
  void (*release)(void* state, void* address);
  bench_status (*copy_in)(void* state, void* device, const void* host, int64_t bytes,
                          bench_message* message);
  bench_status (*copy_out)(void* state, void* host, const void* device, int64_t bytes,
                           bench_message* message);
  bench_status (*fill)(void* state, void* device, int32_t value, int64_t bytes,
                       bench_message* message); /* sets every byte */
  /* (both optional) cache: bytes of the device's last-level cache. available: bytes of memory that
   * are free now. -1: unknown. */
  int64_t (*cache)(void* state);
  int64_t (*available)(void* state);
} bench_memory;

enum { BENCH_CACHES_HOT = 0, BENCH_CACHES_COLD = 1, BENCH_CACHES_COLD_WEIGHTS = 2 };

typedef struct bench_backend {
  size_t size;
  void* self; /* first argument of probe() and open() */
  /* the segment of case ids: [a-z][a-z0-9_]*, not the name of a built-in backend */
  const char* name;
  const char* device; /* "cpu", "cuda" */
  /* operators that it serves, built-in and the plugin's own */
  const char* const* operators;
  size_t operator_count;
  /* (optional) Returns BENCH_OK if the backend could run here, else the reason. Must be cheap;
   * called without open(). */
  bench_status (*probe)(void* self, bench_message* message);
  /* Called once per process, before the functions below. It may fill in `memory`. `state` is the
   * first argument of all their functions. */
  bench_status (*open)(void* self, const bench_host* host, void** state, bench_message* message);
  void (*close)(void* state);
  /* (optional) Sets `list`, which stays valid until the next call, and returns its length. */
  size_t (*libraries)(void* state, const bench_library* const** list);
  const bench_memory* memory; /* NULL: kernels read and write host memory */
  /* Error states: BENCH_UNSUPPORTED, BENCH_SKIPPED, BENCH_FAILED. */
  bench_status (*create)(void* state, const bench_problem* problem, const bench_kernel** kernel,
                         bench_message* message);
  /* (optional) Applies to kernels created from now on: the backend measures this many engines or
   * algorithms and takes the fastest. 0: the library's first choice. */
  void (*set_tuning)(void* state, int64_t candidates);
  /* (optional) Returns the choices that the backend has made by measuring since the last call of
   * set_choices, as text of its own, which stays valid until the next call. "": none. */
  const char* (*choices)(void* state);
  /* (optional) Applies to kernels created from now on: the backend repeats these choices, which
   * `choices` of another process has returned, instead of measuring. */
  void (*set_choices)(void* state, const char* choices);
  /* (optional) The last created kernel gave a wrong result or failed, for this reason. Returns 1 if
   * the same creation now uses another engine or algorithm of the library; 0: there is none. */
  int32_t (*reject_last_engine)(void* state, const char* reason);
  /* (optional) Applies to kernels created from now on: the backend measures candidates with these
   * caches (BENCH_CACHES_...). For cold ones, the executions rotate over copies of the buffers, or
   * of the weights alone, of `rotation` bytes in all. A kernel that was chosen with such caches
   * says so in its detail "tuned_caches". */
  void (*set_tuned_caches)(void* state, int32_t caches, int64_t rotation);
} bench_backend;

/* ---- The plugin -------------------------------------------------------------------------------
 */

typedef struct bench_plugin {
  size_t size;
  uint32_t abi;     /* BENCH_PLUGIN_ABI; size, abi and name stay first in every version */
  const char* name; /* name of the plugin */
  const char* version;
  const bench_operator* const* operators;
  size_t operator_count;
  const bench_backend* const* backends;
  size_t backend_count;
} bench_plugin;

/* The function that the shared library exports. Returning NULL is an error. */
BENCH_PLUGIN_EXPORT const bench_plugin* bench_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_PLUGIN_H */
