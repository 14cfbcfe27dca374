// SPDX-License-Identifier: Apache-2.0
#include "ops/flop_convention.hpp"

#include "base/checked.hpp"
#include "ops/operator.hpp"
#include "ops/spatial.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace bench::ops {
namespace {

using Count = Checked (*)(const Problem&);

Checked no_flops(const Problem& /*any*/) { return 0; }

Checked read_elements(const Problem& problem) { return problem.tensors.front().elements(); }
Checked written_elements(const Problem& problem) { return problem.output().elements(); }

bool has_flag(const Problem& problem, std::string_view name) {
  return find_parameter(problem.parameters.table(), name) != nullptr &&
         problem.parameters.flag(name);
}

Checked products(const Problem& problem) { return problem.work.macs.value_or(0); }
Checked twice_products(const Problem& problem) { return products(problem) * 2; }

// torch.utils.flop_counter counts a gradient of weights as if there were no groups.
Checked torch_conv(const Problem& problem) {
  const Checked flops = twice_products(problem);
  return problem.direction == Direction::backward_weights ? flops * problem.parameters.count("g")
                                                          : flops;
}

Checked deepspeed_conv(const Problem& problem) {
  const Checked flops = twice_products(problem);
  return has_flag(problem, "bias") ? flops + written_elements(problem) : flops;
}

// No tool but bench knows which pairs of queries and keys a mask leaves out.
Checked all_pairs(const Problem& problem) {
  const ParameterSet& set = problem.parameters;
  return Checked(set.count("batch")) * set.count("heads") * set.count("q_len") *
         set.count("kv_len");
}
// Two products; with the gradients five.
Checked attention_products(const Problem& problem) {
  const std::int64_t count = problem.direction == Direction::forward ? 2 : 5;
  return all_pairs(problem) * problem.parameters.count("head_dim") * count;
}
Checked twice_attention_products(const Problem& problem) { return attention_products(problem) * 2; }
// For each pair the factor of the scores, and 4 of the softmax.
Checked xla_attention(const Problem& problem) {
  return twice_attention_products(problem) + all_pairs(problem) * 5;
}

// fvcore and DeepSpeed count a scale, but no shift.
Checked batch_norm_flops(const Problem& problem) {
  const std::int64_t unscaled = problem.parameters.word("mode") == "training" ? 4 : 1;
  return read_elements(problem) * (has_flag(problem, "scale") ? unscaled + 1 : unscaled);
}
Checked norm_flops(const Problem& problem) {
  return read_elements(problem) * (has_flag(problem, "scale") ? 5 : 4);
}

// fvcore has a rule for aten::adaptive_avg_pool2d only.
Checked fvcore_pool(const Problem& problem) {
  const bool is_average = problem.parameters.word("function") != "max";
  const bool is_flat = problem.output().dims.size() == kFirstSpatial + 2;
  return is_average && is_flat && problem.parameters.flag("global") ? read_elements(problem) : 0;
}

// DeepSpeed patches softmax, but not log_softmax.
Checked deepspeed_softmax(const Problem& problem) {
  return has_flag(problem, "log") ? 0 : read_elements(problem);
}

// DeepSpeed's functions of one FLOP per element of the result; it leaves out all others.
constexpr std::array<std::string_view, 10> kDeepspeedFunctions = {
    "relu", "leaky_relu", "elu", "gelu_erf", "gelu_tanh", "swish", "clip", "add", "mul", "scale"};

Checked deepspeed_pointwise(const Problem& problem) {
  const auto& word = problem.parameters.word("function");
  const bool counts = std::ranges::find(kDeepspeedFunctions, word) != kDeepspeedFunctions.end();
  return counts ? written_elements(problem) : 0;
}
Checked deepspeed_post_ops(const Problem& problem) {
  const auto count = std::ranges::count_if(problem.post_ops, [](const PostOp& post_op) {
    return std::ranges::find(kDeepspeedFunctions, post_op.function) != kDeepspeedFunctions.end();
  });
  return written_elements(problem) * static_cast<std::int64_t>(count);
}
// swish, and a product.
Checked deepspeed_swiglu(const Problem& problem) { return written_elements(problem) * 2; }

Checked own_flops(const Problem& problem) { return problem.work.flops; }
// XLA leaves out the taps of a convolution in padding, but not those of a pool.
Checked valid_flops(const Problem& problem) { return problem.work.flops_valid; }

struct ConventionRow {
  std::string_view op;
  Count torch, fvcore, xla, deepspeed;
};

constexpr Count kTwicePairs = twice_attention_products;

// clang-format off
constexpr std::array kRows = {
    // op                         torch           fvcore              xla            deepspeed
    ConventionRow{"conv",         torch_conv,     products,           valid_flops,   deepspeed_conv},
    ConventionRow{"gemm",         twice_products, products,           own_flops,     twice_products},
    ConventionRow{"grouped_gemm", twice_products, products,           own_flops,     twice_products},
    ConventionRow{"attention",    kTwicePairs,    attention_products, xla_attention, kTwicePairs},
    ConventionRow{"batch_norm",   no_flops,       batch_norm_flops,   own_flops,     batch_norm_flops},
    ConventionRow{"layer_norm",   no_flops,       norm_flops,         own_flops,     norm_flops},
    ConventionRow{"group_norm",   no_flops,       norm_flops,         own_flops,     norm_flops},
    ConventionRow{"instance_norm", no_flops,      norm_flops,         own_flops,     norm_flops},
    ConventionRow{"pool",         no_flops,       fvcore_pool,        own_flops,     read_elements},
    ConventionRow{"pointwise",    no_flops,       no_flops,           own_flops,     deepspeed_pointwise},
    ConventionRow{"softmax",      no_flops,       no_flops,           own_flops,     deepspeed_softmax},
    ConventionRow{"swiglu",       no_flops,       no_flops,           own_flops,     deepspeed_swiglu},
};
// clang-format on

// Built-in operators without a row: only XLA has formulas, for what they consist of.
constexpr ConventionRow kOtherOperators = {"", no_flops, no_flops, own_flops, no_flops};
// An operator of a plugin.
constexpr ConventionRow kUnknownOperators = {"", nullptr, nullptr, own_flops, nullptr};

const ConventionRow& find_row(const Problem& problem) {
  if (find_operator(problem.op->name) != problem.op) return kUnknownOperators;
  const auto* const row = std::ranges::find(kRows, problem.op->name, &ConventionRow::op);
  return row != kRows.end() ? *row : kOtherOperators;
}

}  // namespace

std::optional<std::int64_t> count_flops(const Problem& problem, FlopConvention convention) {
  const ConventionRow& row = find_row(problem);
  const bool is_forward = problem.direction == Direction::forward;
  switch (convention) {
    case FlopConvention::bench:
      return problem.work.flops;
    case FlopConvention::torch:
      return row.torch == nullptr ? std::nullopt : row.torch(problem).value();
    case FlopConvention::fvcore:
      return row.fvcore == nullptr || !is_forward ? std::nullopt : row.fvcore(problem).value();
    case FlopConvention::xla:
      return row.xla(problem).value();
    case FlopConvention::deepspeed:
      if (row.deepspeed == nullptr || !is_forward) return std::nullopt;
      return (row.deepspeed(problem) + deepspeed_post_ops(problem)).value();
  }
  return std::nullopt;
}

}  // namespace bench::ops
