// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/host.hpp"

#include "ops/catalogue.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/c_text.hpp"
#include "ops/problem.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace bench::ops {
namespace {

// Nothing is thrown across the interface.
template <class Function>
bench_status guarded_call(bench_message* message, Function function) noexcept {
  try {
    const Status status = function();
    if (status.ok()) return BENCH_OK;
    write_message(status.error(), message);
  } catch (const std::exception& error) {
    write_message({error.what(), "", ""}, message);
  }
  return BENCH_FAILED;
}

// A kernel's buffers, as many as it has.
std::span<void* const> all(const Kernel& kernel, void* const* buffers) {
  return {buffers, kernel.buffers().size()};
}

struct BuiltInInvocation {
  Host* host;
  const char* part;
  std::unique_ptr<Invocation> invocation;
  std::string error;
  bench_invocation raw;
};

bench_status run(void* self) {
  auto& bound = *static_cast<BuiltInInvocation*>(self);
  bound.host->part_begins(bound.part);
  const bool ok = bound.invocation->run();
  bound.host->part_ends();
  return ok ? BENCH_OK : BENCH_FAILED;
}

const char* error_of(void* self) {
  auto& bound = *static_cast<BuiltInInvocation*>(self);
  bound.error = bound.invocation->error();
  return bound.error.c_str();
}

void destroy_invocation(void* self) { delete static_cast<BuiltInInvocation*>(self); }

// What bench_host.create hands out.
struct BuiltInKernel {
  BuiltInKernel(Host& owner, Problem made) : host(owner), problem(std::move(made)), view(problem) {}

  Host& host;
  Problem problem;
  CProblem view;
  std::unique_ptr<Kernel> kernel;
  std::string implementation;
  std::deque<std::string> layouts;
  CList<bench_buffer> buffers;
  bench_kernel raw{};
};

bench_status pack(void* self, std::size_t tensor, const void* plain, void* packed,
                  bench_message* message) {
  Kernel& kernel = *static_cast<BuiltInKernel*>(self)->kernel;
  return guarded_call(message, [&] { return kernel.pack(tensor, plain, packed); });
}

bench_status unpack(void* self, std::size_t tensor, const void* packed, void* plain,
                    bench_message* message) {
  Kernel& kernel = *static_cast<BuiltInKernel*>(self)->kernel;
  return guarded_call(message, [&] { return kernel.unpack(tensor, packed, plain); });
}

bench_status prepare(void* self, void* const* buffers, bench_message* message) {
  Kernel& kernel = *static_cast<BuiltInKernel*>(self)->kernel;
  return guarded_call(message, [&] { return kernel.prepare(all(kernel, buffers)); });
}

bench_status bind(void* self, void* const* buffers, const bench_invocation** invocation,
                  bench_message* message) {
  auto& made = *static_cast<BuiltInKernel*>(self);
  return guarded_call(message, [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(auto bound, made.kernel->bind(all(*made.kernel, buffers)));
    auto result = std::make_unique<BuiltInInvocation>(
        BuiltInInvocation{&made.host, made.view.get()->op, std::move(bound), "", {}});
    result->raw = {sizeof(bench_invocation), result.get(), run, error_of, nullptr,
                   destroy_invocation};
    *invocation = &result.release()->raw;
    return Done{};
  });
}

void destroy_kernel(void* self) { delete static_cast<BuiltInKernel*>(self); }

void fill_in(BuiltInKernel& made) {
  made.implementation = made.kernel->implementation();
  for (const KernelBuffer& buffer : made.kernel->buffers()) {
    bench_buffer& row = made.buffers.add();
    row.role = static_cast<std::int32_t>(buffer.role);
    row.bytes = buffer.size.count;
    row.layout = made.layouts.emplace_back(buffer.layout).c_str();
  }
  made.raw = {.size = sizeof(bench_kernel),
              .self = &made,
              .implementation = made.implementation.c_str(),
              .steps = nullptr,
              .step_count = 0,
              .buffers = made.buffers.data(),
              .buffer_count = made.buffers.size(),
              .workspace = made.kernel->workspace().count,
              .pack = pack,
              .unpack = unpack,
              .prepare = prepare,
              .bind = bind,
              .destroy = destroy_kernel,
              .sample = nullptr,
              .problem = made.view.get()};
}

bool in_range(std::int32_t code, std::size_t count) {
  return code >= 0 && static_cast<std::size_t>(code) < count;
}

Result<Problem> problem_of(const bench_request& request) {
  const std::string name = text_of(request.op);
  const Catalogue& catalogue = built_in_catalogue();
  const Operator* op = catalogue.find(name);
  if (op == nullptr) return Error{fmt::format("no built-in operator `{}`", name), "op", ""};
  if (!in_range(request.direction, direction_names().size()) ||
      !in_range(request.dtype, data_types().size()) ||
      !in_range(request.layout, layout_names().size()) ||
      !in_range(request.math, math_names().size())) {
    return Error{fmt::format("a request for `{}` with a code out of range", name), "", ""};
  }
  BENCH_ASSIGN_OR_RETURN(ProblemTokens tokens, parse_problem_tokens(*op, text_of(request.tokens)));
  return make_problem({.op = op,
                       .direction = static_cast<Direction>(request.direction),
                       .dtype = static_cast<DataType>(request.dtype),
                       .layout = static_cast<Layout>(request.layout),
                       .math = static_cast<Math>(request.math),
                       .parameters = std::move(tokens.parameters),
                       .post_ops = std::move(tokens.post_ops)});
}

bench_status create(void* self, const bench_request* request, const bench_kernel** kernel,
                    bench_message* message) noexcept {
  auto& host = *static_cast<Host*>(self);
  std::optional<Refusal> refusal;
  const bench_status status = guarded_call(message, [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(Problem problem, problem_of(*request));
    auto made = std::make_unique<BuiltInKernel>(host, std::move(problem));
    auto created = host.built_in().create(made->problem);
    if (!created) {
      refusal = created.error();
      return Error{refusal->reason, "", ""};
    }
    made->kernel = std::move(created).value();
    fill_in(*made);
    *kernel = &made.release()->raw;
    return Done{};
  });
  return refusal ? status_of(*refusal) : status;
}

}  // namespace

Host::Host(std::string name, Backend& built_in)
    : name_(std::move(name)), built_in_(built_in), raw_{} {
  raw_ = {.size = sizeof(bench_host),
          .abi = BENCH_PLUGIN_ABI,
          .self = this,
          .log =
              [](void* self, const char* text) {
                const auto& host = *static_cast<Host*>(self);
                std::fprintf(stderr, "%s: %s\n", host.name_.c_str(), text == nullptr ? "" : text);
              },
          .range_begin =
              [](void* self, const char* part) {
                static_cast<Host*>(self)->part_begins(part == nullptr ? "" : part);
              },
          .range_end = [](void* self) { static_cast<Host*>(self)->part_ends(); },
          .create = create};
}

}  // namespace bench::ops
