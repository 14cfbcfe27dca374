// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/checked.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 3> kPrimitives = {"matmul", "inner_product", "gemm_api"};
constexpr std::size_t kMatrixRank = 2;

using Sizes = std::span<const std::int64_t>;

ParameterSet make_parameters(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  ParameterSet set(gemm_operator.parameters);
  set.set("batch", batch);
  set.set("m", m);
  set.set("n", n);
  set.set("k", k);
  return set;
}

// Whether the last two dimensions of a plain layout are swapped: "ba", "acb".
bool is_transposed(const MemoryDescriptor* descriptor) {
  if (descriptor == nullptr || !descriptor->strides.empty()) return false;
  const std::size_t rank = descriptor->tag.size();
  return rank >= kMatrixRank && descriptor->tag == swapped_tag(rank);
}

// Parses a bias with one value per column. Its mask names only the last dimension, or none if that
// is 1. Returns nullopt for other biases.
std::optional<bool> parse_bias(const VerbosePrimitive& primitive, std::size_t rank,
                               std::int64_t columns) {
  const MemoryDescriptor* bias = primitive.find("bia");
  if (bias == nullptr) return false;
  constexpr std::string_view kMask = "_mask";
  const std::size_t begin = bias->flags.find(kMask);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto mask = parse_real(bias->flags.substr(begin + kMask.size()));
  const auto bias_mask = static_cast<double>(columns == 1 ? 0 : std::uint64_t{1} << (rank - 1));
  return mask == bias_mask ? std::optional(true) : std::nullopt;
}

// Returns the sizes of the product.
std::optional<ParameterSet> product_sizes(Sizes source, Sizes weights) {
  const Sizes source_batch = source.first(source.size() - kMatrixRank);
  const Sizes weights_batch = weights.first(weights.size() - kMatrixRank);
  Dims batch;
  for (std::size_t i = 0; i < source_batch.size(); ++i) {
    batch.push_back(std::max(source_batch[i], weights_batch[i]));
  }
  const auto count = element_count(batch);
  const auto source_count = shared_batch(batch, source_batch);
  const auto weights_count = shared_batch(batch, weights_batch);
  const std::int64_t k = source.back();
  const bool fits = weights[weights.size() - kMatrixRank] == k;
  if (!fits || !count || !source_count || !weights_count) return std::nullopt;
  ParameterSet set =
      make_parameters(*count, source[source.size() - kMatrixRank], weights.back(), k);
  set.set("source_batch", *source_count);
  set.set("weights_batch", *weights_count);
  return set;
}

// Parses "2x3x8x16:2x3x16x4". oneDNN until 3.0 appends the destination, ":2x3x8x4".
std::optional<VerboseProblem> parse_matrices(const VerbosePrimitive& primitive) {
  const auto list = parse_dims_list(primitive.problem);
  if (!list || list->size() < 2 || list->size() > 3) return std::nullopt;
  const Dims& source = (*list)[0];
  const Dims& weights = (*list)[1];
  if (source.size() < kMatrixRank || source.size() != weights.size()) return std::nullopt;
  auto set = product_sizes(source, weights);
  const auto bias = parse_bias(primitive, source.size(), weights.back());
  if (!set || !bias) return std::nullopt;
  set->set("bias", *bias);
  set->set("trans_a", is_transposed(primitive.find("src")));
  set->set("trans_b", is_transposed(primitive.find("wei")));
  Dims destination = source;
  for (std::size_t i = 0; i + kMatrixRank < destination.size(); ++i) {
    destination[i] = std::max(source[i], weights[i]);
  }
  destination.back() = weights.back();
  return VerboseProblem{.request = {.parameters = std::move(*set)},
                        .destination = std::move(destination)};
}

// Parses "m64n48k32" or "b6m8n4k16" (oneDNN until 2.2). With a batch, the text does not show
// whether weights are shared.
std::optional<VerboseProblem> parse_letters(const VerbosePrimitive& primitive,
                                            const ProblemWords& words) {
  const auto m = words.find("m");
  const auto n = words.find("n");
  const auto k = words.find("k");
  if (!m || !n || !k || words.find("b").value_or(1) != 1) return std::nullopt;
  const MemoryDescriptor* source = primitive.find("src");
  const auto bias = parse_bias(primitive, source == nullptr ? 2 : source->rank().value_or(2), *n);
  if (!bias) return std::nullopt;
  ParameterSet set = make_parameters(1, *m, *n, *k);
  set.set("bias", *bias);
  set.set("trans_a", is_transposed(source));
  set.set("trans_b", is_transposed(primitive.find("wei")));
  return VerboseProblem{.request = {.parameters = std::move(set)}};
}

// Parses "mb8ic16ih3iw3oc10". The weights are stored as n x k.
std::optional<VerboseProblem> parse_inner_product(const VerbosePrimitive& primitive) {
  const auto words = ProblemWords::parse(primitive.problem);
  const auto direction = parse_direction(primitive.propagation);
  if (!words || !direction) return std::nullopt;
  const auto m = words->find("mb");
  const auto n = words->find("oc");
  const auto channels = words->find("ic");
  if (!m || !n || !channels) return std::nullopt;
  Checked k = *channels;
  for (const std::string_view name : {"id", "ih", "iw"}) k *= words->find(name).value_or(1);
  if (!k.value()) return std::nullopt;
  ParameterSet set = make_parameters(1, *m, *n, *k.value());
  set.set("bias", primitive.find("bia") != nullptr);
  set.set("trans_b", true);
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

// A grouped source contains the rows of several dense products, one below the other.
bool is_grouped(const MemoryDescriptor& descriptor) {
  return descriptor.kind == "sparse" && descriptor.tag == "grouped";
}

// The line does not state how many elements of a sparse matrix exist.
bool has_sparse_matrix(const VerbosePrimitive& primitive) {
  constexpr std::array<std::string_view, 4> kKinds = {"sparse", "csr", "coo", "packed"};
  return std::ranges::any_of(primitive.memory, [&](const MemoryDescriptor& descriptor) {
    return std::ranges::find(kKinds, descriptor.kind) != kKinds.end() && !is_grouped(descriptor);
  });
}

// Parses "16x32:3x32x24": 16 rows in 3 groups, each with weights of its own. Each row is multiplied
// by the weights of its group; the line does not state how many rows a group has.
std::optional<VerboseProblem> parse_grouped(const VerbosePrimitive& primitive) {
  const auto list = parse_dims_list(primitive.problem);
  if (!list || list->size() < 2 || (*list)[0].size() != 2 || (*list)[1].size() != 3) {
    return std::nullopt;
  }
  const Dims& source = (*list)[0];
  const Dims& weights = (*list)[1];
  if (weights[1] != source[1]) return std::nullopt;
  VerboseProblem problem{
      .request = {.parameters = make_parameters(1, source[0], weights[2], source[1])}};
  problem.request.parameters.set("bias", primitive.find("bia") != nullptr);
  problem.destination = {source[0], weights[2]};
  problem.fidelity = VerboseFidelity::shapes_only;
  problem.adapt = [groups = weights[0]](Problem& product) {
    for (Tensor& tensor : product.tensors) {
      if (tensor.name != "weights" && tensor.name != "bias") continue;
      const auto elements = (Checked(tensor.touched) * groups).value();
      if (!elements) return false;
      tensor.dims.insert(tensor.dims.begin(), groups);
      tensor.touched = *elements;
    }
    return true;
  };
  return problem;
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  if (has_sparse_matrix(primitive)) return std::nullopt;
  if (std::ranges::any_of(primitive.memory, is_grouped)) return parse_grouped(primitive);
  if (primitive.primitive == "inner_product") return parse_inner_product(primitive);
  const auto words = ProblemWords::parse(primitive.problem);
  return words ? parse_letters(primitive, *words) : parse_matrices(primitive);
}

}  // namespace

extern const VerboseMapping gemm_verbose;
const VerboseMapping gemm_verbose = {
    .op = "gemm", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
