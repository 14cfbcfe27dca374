/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin in C with the fault that FAULTY_PLUGIN names: crash_load, null, abi, short, long,
 * long_backend, collide, axis, describe, crash_model, fail_model, overflow, refuse, crash_run,
 * fail_run, wrong, lazy, fail_reference. Otherwise its operator `twice` works. */
#include "ops/plugin/bench_plugin.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char* fault) {
  const char* wanted = getenv("FAULTY_PLUGIN");
  return wanted != NULL && strcmp(wanted, fault) == 0;
}

/* A sanitizer's handler would exit instead of dying. */
static void crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

static bench_status say(bench_status status, const char* text, bench_message* message) {
  snprintf(message->text, message->text_capacity, "%s", text);
  return status;
}

static int64_t count_of(const bench_problem* problem) { return problem->values[0]->integer; }

static bench_status model(void* self, const bench_problem* problem, const bench_model* sink,
                          bench_message* message) {
  (void)self;
  const int64_t count = is("overflow") ? INT64_MAX : count_of(problem);
  const int64_t dims[] = {count, is("overflow") ? 16 : 1};
  const bench_tensor source = {
      sizeof source, "source", BENCH_ROLE_INPUT, problem->dtype, dims, 2, -1};
  bench_tensor destination = source;
  destination.name = "destination";
  destination.role = BENCH_ROLE_OUTPUT;
  const bench_work work = {sizeof work, 0, 0, count, count, 0, 0, 0};
  if (is("crash_model")) crash();
  if (is("fail_model")) return say(BENCH_INVALID, "no model today", message);
  if (sink->add_tensor(sink->self, &source) != BENCH_OK) return BENCH_INVALID;
  if (sink->add_tensor(sink->self, &destination) != BENCH_OK) return BENCH_INVALID;
  return sink->set_work(sink->self, &work);
}

static bench_status reference(void* self, const bench_problem* problem, const double* const* inputs,
                              size_t output, const int64_t* positions, size_t count, double* values,
                              bench_message* message) {
  (void)self, (void)problem, (void)output;
  if (is("fail_reference")) return say(BENCH_FAILED, "no reference today", message);
  for (size_t i = 0; i < count; ++i) {
    values[i] = 2 * inputs[0][positions == NULL ? (int64_t)i : positions[i]];
  }
  return BENCH_OK;
}

/* ---- The kernel ---- */

struct bound {
  bench_invocation raw;
  const float* source;
  float* destination;
  int64_t count;
};

struct made {
  bench_kernel raw;
  bench_buffer buffers[2];
  const bench_buffer* rows[2];
  int64_t count;
};

/* Whether the kernel stops computing, as it does after three runs if it is lazy. */
static int has_stopped(void) {
  static int runs = 0;
  return is("lazy") && ++runs > 3;
}

static bench_status run(void* self) {
  struct bound* bound = self;
  if (has_stopped()) return BENCH_OK;
  if (is("crash_run")) crash();
  if (is("fail_run")) return BENCH_FAILED;
  for (int64_t i = 0; i < bound->count; ++i) bound->destination[i] = 2 * bound->source[i];
  if (is("wrong")) bound->destination[0] += 1;
  return BENCH_OK;
}

static const char* error(void* self) {
  (void)self;
  return "no run today";
}

static bench_status bind(void* self, void* const* buffers, const bench_invocation** invocation,
                         bench_message* message) {
  const struct made* made = self;
  struct bound* bound = calloc(1, sizeof *bound);
  if (bound == NULL) return say(BENCH_SKIPPED, "no memory", message);
  bound->raw.size = sizeof bound->raw;
  bound->raw.self = bound;
  bound->raw.run = run;
  bound->raw.error = error;
  bound->raw.destroy = free;
  bound->source = buffers[0];
  bound->destination = buffers[1];
  bound->count = made->count;
  *invocation = &bound->raw;
  return BENCH_OK;
}

static bench_status create(void* state, const bench_problem* problem, const bench_kernel** kernel,
                           bench_message* message) {
  (void)state;
  if (is("refuse")) return say(BENCH_UNSUPPORTED, "no kernel today", message);
  struct made* made = calloc(1, sizeof *made);
  if (made == NULL) return say(BENCH_SKIPPED, "no memory", message);
  made->count = count_of(problem);
  for (int i = 0; i < 2; ++i) {
    made->buffers[i].size = sizeof made->buffers[i];
    made->buffers[i].role = problem->tensors[i]->role;
    made->buffers[i].bytes = made->count * (int64_t)sizeof(float);
    made->buffers[i].layout = "ab";
    made->rows[i] = &made->buffers[i];
  }
  made->raw.size = sizeof made->raw;
  made->raw.self = made;
  made->raw.implementation = "plain";
  made->raw.buffers = made->rows;
  made->raw.buffer_count = 2;
  made->raw.bind = bind;
  made->raw.destroy = free;
  *kernel = &made->raw;
  return BENCH_OK;
}

static bench_status open_backend(void* self, const bench_host* host, void** state,
                                 bench_message* message) {
  (void)host, (void)message;
  *state = self;
  return BENCH_OK;
}

static void close_backend(void* state) { (void)state; }

/* ---- The plugin ---- */

static bench_parameter count_parameter = {
    sizeof(bench_parameter), "count", "n", BENCH_COUNT, "required", "elements", 1, NULL, 0};
static const bench_parameter* const parameters[] = {&count_parameter};
static const int32_t directions[] = {BENCH_FORWARD};
static bench_operator twice = {.size = sizeof(bench_operator),
                               .name = "twice",
                               .help = "each element twice",
                               .parameters = parameters,
                               .parameter_count = 1,
                               .directions = directions,
                               .direction_count = 1,
                               .model = model,
                               .reference = reference};
static const bench_operator* const operators[] = {&twice};
static const char* const served[] = {"twice"};
static bench_backend backend = {.size = sizeof(bench_backend),
                                .name = "faulty",
                                .device = "cpu",
                                .operators = served,
                                .operator_count = 1,
                                .open = open_backend,
                                .close = close_backend,
                                .create = create};
static const bench_backend* const backends[] = {&backend};
static bench_plugin plugin = {
    sizeof(bench_plugin), BENCH_PLUGIN_ABI, "faulty", "0.1", operators, 1, backends, 1};

const bench_plugin* bench_plugin_entry(void) {
  if (is("crash_load")) crash();
  if (is("null")) return NULL;
  if (is("abi")) plugin.abi = BENCH_PLUGIN_ABI + 1;
  if (is("long")) plugin.size = sizeof plugin + 8;
  if (is("long_backend")) backend.size = SIZE_MAX;
  if (is("short")) plugin.size = offsetof(bench_plugin, operators);
  if (is("collide")) twice.name = "conv";
  if (is("axis")) count_parameter.name = "threads";
  if (is("describe")) count_parameter.token = "";
  return &plugin;
}
