// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/pieces_form.hpp"

#include "ops/concat/pieces.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench::ops::cuda {

Result<NativeForm, BackendError> pieces_form(const Problem& problem, PiecesPlan::Move move) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  const Pieces pieces(problem);
  if (pieces.runs().size() > static_cast<std::size_t>(PiecesPlan::kMaxPieces)) {
    return unsupported(fmt::format("the kernel has at most {} pieces, `sizes` has {}",
                                   PiecesPlan::kMaxPieces, pieces.runs().size()));
  }
  PiecesPlan plan;
  plan.move = move;
  plan.elements = pieces.outer() * pieces.line();
  plan.line = pieces.line();
  plan.count = static_cast<int>(pieces.runs().size());
  std::int64_t end = 0;
  for (int i = 0; i < plan.count; ++i) {
    end += pieces.runs()[static_cast<std::size_t>(i)];
    plan.ends[i] = end;
  }
  plan.bytes = static_cast<int>(info(problem.dtype).bytes);
  return plain_form(problem, fmt::format("bench:{}", problem.op->name),
                    std::string(problem.op->name), plan);
}

}  // namespace bench::ops::cuda
