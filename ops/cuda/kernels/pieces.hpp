// SPDX-License-Identifier: Apache-2.0
// The native kernel of concat and split: its plan and its arithmetic. The same source is compiled
// for a CUDA device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Moves elements between a tensor and its pieces along an axis. A line of the tensor consists of
// one run of each piece. A row of the kernel is just a part of the tensor's elements. join: the
// tensors 0, 1, ... are the pieces, the next is the whole. split: tensor 0 is the whole.
struct PiecesPlan : RowsOfElements {
  static constexpr const char* kKernel = "pieces";
  static constexpr int kMaxPieces = kMaxOperands - 1;
  enum class Move : std::uint8_t { join, split };
  Move move = Move::join;
  int count = 1, bytes = 4;  // of pieces; of an element
  std::int64_t line = 1;
  std::int64_t ends[kMaxPieces] = {1};  // where the pieces' runs end in a line
  Element type = Element::f32;
  Precision precision = Precision::single;

  // Where an element of the tensor is in the pieces.
  struct Place {
    int piece;
    std::int64_t position, run_left;  // run_left: elements from here to the end of the run
  };
  // `line_number` and `rest`: the element's line, and its position in the line.
  BENCH_BOTH Place find(std::int64_t line_number, std::int64_t rest) const {
    int piece = 0;
    while (rest >= ends[piece]) ++piece;
    const std::int64_t begin = piece == 0 ? 0 : ends[piece - 1];
    return {piece, line_number * (ends[piece] - begin) + rest - begin, ends[piece] - rest};
  }

  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    const std::int64_t first = row * kPart;
    const std::int64_t end = end_of(row);
    const std::int64_t first_line = first / line, first_rest = first % line;
    for (std::int64_t i = lane; first + i < end; i += lanes) {
      const std::int64_t offset = first_rest + i;
      const std::int64_t lines = quotient(offset, line);
      const Place place = find(first_line + lines, offset - lines * line);
      if (move == Move::join) {
        access.store(count, first + i, access.load(place.piece, place.position));
      } else {
        access.store(1 + place.piece, place.position, access.load(0, first + i));
      }
    }
  }
};

}  // namespace bench::ops::cuda
