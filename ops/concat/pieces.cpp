// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/pieces.hpp"

namespace bench::ops {

Pieces::Pieces(const Problem& problem) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t inner = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d < axis) outer_ *= shape[d];
    if (d > axis) inner *= shape[d];
  }
  for (const std::int64_t size : problem.parameters.numbers("sizes")) {
    runs_.push_back(size * inner);
    line_ += size * inner;
  }
}

PiecePosition Pieces::find(std::int64_t position) const {
  std::int64_t rest = position % line_;
  std::size_t number = 0;
  while (rest >= runs_[number]) rest -= runs_[number++];
  return {number, position / line_ * runs_[number] + rest};
}

std::int64_t Pieces::whole_position(const PiecePosition& piece) const {
  const std::int64_t run = runs_[piece.number];
  std::int64_t position = piece.position / run * line_ + piece.position % run;
  for (std::size_t i = 0; i < piece.number; ++i) position += runs_[i];
  return position;
}

}  // namespace bench::ops
