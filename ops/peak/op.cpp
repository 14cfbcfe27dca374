// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "ops/model.hpp"
#include "ops/peak/peak.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 14> kFunctions = {
    "fma_portable", "fma_avx2", "fma_avx512", "dot_avx2", "dot_avx512", "amx",      "read",
    "write",        "write_nt", "copy",       "copy_nt",  "triad",      "triad_nt", kGpuArithmetic};

// Twelve accumulator registers are more than any processor needs to hide the latency of its units.
// The portable loop has eight, because it has only 16 registers and no three-operand instructions.
// On a GPU, a block has 512 threads with eight accumulators per thread.
constexpr std::array<ArithmeticLoop, 14> kArithmetic = {{
    {"fma_portable", DataType::f32, DataType::f32, 8 * 4, 1},
    {"fma_avx2", DataType::f32, DataType::f32, 12 * 8, 1},
    {"fma_avx2", DataType::f64, DataType::f64, 12 * 4, 1},
    {"fma_avx2", DataType::s8, DataType::s32, 12 * 8, 4},
    {"fma_avx512", DataType::f32, DataType::f32, 12 * 16, 1},
    {"fma_avx512", DataType::f64, DataType::f64, 12 * 8, 1},
    {"dot_avx2", DataType::s8, DataType::s32, 12 * 8, 4},
    {"dot_avx512", DataType::bf16, DataType::f32, 12 * 16, 2},
    {"dot_avx512", DataType::s8, DataType::s32, 12 * 16, 4},
    {"amx", DataType::bf16, DataType::f32, 6 * 256, 32},
    {"amx", DataType::s8, DataType::s32, 6 * 256, 64},
    {kGpuArithmetic, DataType::f32, DataType::f32, 512 * 8, 1},
    {kGpuArithmetic, DataType::f64, DataType::f64, 512 * 8, 1},
    {kGpuArithmetic, DataType::f16, DataType::f32, 512 * 8, 1},
}};

constexpr std::array<MovementLoop, 7> kMovements = {{
    {"read", Movement::read, StoreKind::cached, 1},
    {"write", Movement::write, StoreKind::cached, 1},
    {"write_nt", Movement::write, StoreKind::streaming, 1},
    {"copy", Movement::copy, StoreKind::cached, 2},
    {"copy_nt", Movement::copy, StoreKind::streaming, 2},
    {"triad", Movement::triad, StoreKind::cached, 3},
    {"triad_nt", Movement::triad, StoreKind::streaming, 3},
}};

constexpr std::array<Parameter, 3> kParameters = {{
    {.name = "function",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "required",
     .help =
         "the loop: fma, dot and amx compute, the others move data (_nt: past the caches); a GPU "
         "has `fma_cuda`, `read`, `write`, `copy` and `triad`",
     .words = kFunctions},
    {.name = "bytes",
     .token = "b",
     .kind = ParameterKind::count,
     .fallback = "optional",
     .help = "bytes of all arrays of a loop that moves data"},
    {.name = "steps",
     .token = "s",
     .kind = ParameterKind::count,
     .fallback = "optional",
     .help = "products per accumulator (131072 if not given), or passes over the data (1)"},
}};

constexpr std::string_view kExamples[] = {"fma_portable-s10", "fma_avx512-s10", "triad-b6144s5",
                                          "fma_cuda-s10"};

constexpr std::array<Direction, 1> kDirections = {Direction::forward};

Error peak_error(std::string what, std::string_view where, std::string next) {
  return {.what = std::move(what), .where = std::string(where), .next = std::move(next)};
}

Status check_bytes(const ParameterSet& set, const MovementLoop* loop) {
  if (loop == nullptr) {
    if (!set.has("bytes")) return Done{};
    return peak_error(fmt::format("`{}` moves no data", set.word("function")), "bytes",
                      "leave `bytes` out");
  }
  BENCH_RETURN_IF_ERROR(require(set, "bytes"));
  const std::int64_t unit = kPeakChunk * loop->arrays;
  const std::int64_t bytes = set.count("bytes");
  if (bytes % unit == 0) return Done{};
  return peak_error(
      fmt::format("`bytes` is {}, expected a multiple of {}: {} of whole blocks of {} bytes", bytes,
                  unit, pluralise(loop->arrays, "array"), kPeakChunk),
      "bytes", fmt::format("for example {}", std::max<std::int64_t>(bytes / unit, 1) * unit));
}

Result<ParameterSet> complete(const ParameterSet& given) {
  BENCH_RETURN_IF_ERROR(require(given, "function"));
  BENCH_RETURN_IF_ERROR(check_bytes(given, find_movement_loop(given.word("function"))));
  if (!given.has("steps") || given.count("steps") <= kMaxPeakSteps) return given;
  return peak_error(
      fmt::format("`steps` is {}, the maximum is {}", given.count("steps"), kMaxPeakSteps), "steps",
      "");
}

Error wrong_type_error(std::string_view function, DataType dtype) {
  std::vector<std::string_view> types;
  for (const ArithmeticLoop& loop : kArithmetic) {
    if (loop.function == function) types.push_back(info(loop.dtype).name);
  }
  if (types.empty()) types.push_back(info(DataType::f32).name);
  return peak_error(fmt::format("`{}` has no loop for {}, only for {}", function, info(dtype).name,
                                fmt::join(types, ", ")),
                    "dtype", "");
}

Result<Model> arithmetic_model(const Problem& problem, const ArithmeticLoop& loop) {
  ModelDraft draft;
  for (const auto& [name, role] :
       {std::pair("source", TensorRole::input), std::pair("destination", TensorRole::output)}) {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor,
                           make_tensor(name, role, loop.sums, {{"steps", loop.elements}}));
    draft.tensors.push_back(std::move(tensor));
  }
  const std::int64_t steps = peak_steps(problem);
  draft.flops = Checked(2) * loop.terms * loop.elements * steps;
  draft.flops_valid = draft.flops;
  draft.formulas = {{"flops", "2*terms*accumulators*steps",
                     fmt::format("2*{}*{}*{}", loop.terms, loop.elements, steps), draft.flops}};
  return finish_model(std::move(draft), "steps");
}

// Returns the names of the source tensors of a loop that moves data.
std::vector<std::string_view> source_names(Movement movement) {
  return movement == Movement::triad ? std::vector<std::string_view>{"a", "b"}
                                     : std::vector<std::string_view>{"source"};
}

Result<Model> movement_model(const Problem& problem, const MovementLoop& loop) {
  const std::int64_t passes = peak_steps(problem);
  const std::int64_t length =
      problem.parameters.count("bytes") / loop.arrays / info(DataType::f32).bytes;
  ModelDraft draft;
  const auto add = [&](std::string_view name, TensorRole role, std::int64_t elements) -> Status {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor,
                           make_tensor(name, role, DataType::f32, {{"bytes", elements}}));
    // Each pass over the data counts.
    BENCH_ASSIGN_OR_RETURN(tensor.touched, in_range(Checked(elements) * passes, "bytes", "steps"));
    draft.tensors.push_back(std::move(tensor));
    return Done{};
  };
  const bool reads = loop.movement != Movement::write;
  for (const std::string_view name : source_names(loop.movement)) {
    BENCH_RETURN_IF_ERROR(add(name, TensorRole::input, reads ? length : 1));
  }
  const bool writes = loop.movement != Movement::read;
  BENCH_RETURN_IF_ERROR(add("destination", TensorRole::output, writes ? length : 1));
  if (!writes) draft.tensors.back().touched = 1;
  if (!reads) draft.tensors.front().touched = 1;
  if (loop.movement == Movement::triad) draft.flops = Checked(2) * length * passes;
  draft.flops_valid = draft.flops;
  draft.formulas = {
      {"flops", loop.movement == Movement::triad ? "2*elements*steps" : "0",
       loop.movement == Movement::triad ? fmt::format("2*{}*{}", length, passes) : "0",
       draft.flops}};
  return finish_model(std::move(draft), "bytes");
}

Result<Model> model(const Problem& problem) {
  const std::string& function = problem.parameters.word("function");
  if (const MovementLoop* loop = find_movement_loop(function)) {
    if (problem.dtype != DataType::f32) return wrong_type_error(function, problem.dtype);
    return movement_model(problem, *loop);
  }
  const ArithmeticLoop* loop = find_arithmetic_loop(function, problem.dtype);
  return loop != nullptr ? arithmetic_model(problem, *loop)
                         : Result<Model>(wrong_type_error(function, problem.dtype));
}

// Sums are exact except for their final rounding. Triad also rounds the product if the processor
// does not fuse the operations.
Tolerance tolerance(const Problem& problem) {
  constexpr double kRoundings = 2;
  if (info(problem.tensors.back().dtype).is_integer) return {};
  return rounding_tolerance(problem.tensors.back().dtype, kRoundings, 0);
}

}  // namespace

std::span<const ArithmeticLoop> arithmetic_loops() { return kArithmetic; }

const ArithmeticLoop* find_arithmetic_loop(std::string_view function, DataType dtype) {
  const auto* row = std::ranges::find_if(kArithmetic, [&](const ArithmeticLoop& loop) {
    return loop.function == function && loop.dtype == dtype;
  });
  return row == kArithmetic.end() ? nullptr : row;
}

std::span<const MovementLoop> movement_loops() { return kMovements; }

const MovementLoop* find_movement_loop(std::string_view function) {
  const auto* row = std::ranges::find(kMovements, function, &MovementLoop::function);
  return row == kMovements.end() ? nullptr : row;
}

std::int64_t peak_steps(const Problem& problem) {
  if (problem.parameters.has("steps")) return problem.parameters.count("steps");
  return find_movement_loop(problem.parameters.word("function")) != nullptr ? 1 : kPeakSteps;
}

extern const Operator peak_operator;
const Operator peak_operator = {
    .name = kPeakOperator,
    .help = "loops that only compute or only move data: the ceilings of the machine",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = peak_reference,
    .tolerance = tolerance,
    .product = {.rule = "op-peak", .sentence = "loops of this program that use no tensor cores"},
    .examples = kExamples,
    .cpu = kOnNative,
    .cuda = kOnCudnn,
};

namespace {

std::function<double(std::size_t)> make_expected_value(const Problem& problem,
                                                       ReferenceInputs inputs) {
  const std::string& function = problem.parameters.word("function");
  const auto* movement_loop = find_movement_loop(function);
  if (movement_loop == nullptr) {
    const ArithmeticLoop& loop = *find_arithmetic_loop(function, problem.dtype);
    const double product = info(loop.sums).is_integer ? 1 : kPeakProduct;
    const double added = static_cast<double>(peak_steps(problem) * loop.terms) * product;
    return [source = inputs[0].data(), added](std::size_t i) { return source[i] + added; };
  }
  const double* first = inputs[0].data();
  switch (movement_loop->movement) {
    case Movement::read:
      return [largest = *std::ranges::max_element(inputs[0])](std::size_t) { return largest; };
    case Movement::write:
      return [first](std::size_t) { return *first; };
    case Movement::copy:
      return [first](std::size_t i) { return first[i]; };
    case Movement::triad:
      break;
  }
  const double* second = inputs[1].data();
  return [first, second](std::size_t i) { return first[i] + kTriadFactor * second[i]; };
}

}  // namespace

std::vector<double> peak_reference(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t /*output: there is one*/,
                                   std::span<const std::int64_t> positions) {
  const auto value = make_expected_value(problem, inputs);
  return evaluate(problem.tensors.back().elements(), positions,
                  [&](std::int64_t position) { return value(static_cast<std::size_t>(position)); });
}

}  // namespace bench::ops
