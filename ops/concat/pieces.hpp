// SPDX-License-Identifier: Apache-2.0
// What concat and split share: a tensor, and its pieces along one axis.
#pragma once

#include "ops/description.hpp"
#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

inline constexpr Parameter kPieceParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the whole tensor"},
    {"axis", "a", ParameterKind::count, "last", "axis of the pieces, counted from 0", 0},
    {"sizes", "s", ParameterKind::shape, kRequired, "size of each piece along the axis"},
};
inline constexpr Requirement kPieceRequirements[] = {
    kAxisOfShape,
    {"sum(sizes) == shape[axis]", "sizes",
     "`sizes` {sizes} add up to {sum(sizes)}, the axis {axis} of the shape {shape} has "
     "{shape[axis]}"}};
inline constexpr Quantity kPieceQuantities[] = {{"flops", "0"}};
// The sizes of a piece (TensorRow::sizes).
inline constexpr std::string_view kPiece = "[shape[:axis], each, shape[axis + 1:]]";
inline constexpr std::string_view kPieceExamples[] = {"2x7x9-a1s3x4", "10x16-a0s1x2x3x4",
                                                      "3x40-s8x32"};

// Describes an operator with these parameters, which moves values.
constexpr Description describe_pieces(std::string_view name, std::string_view help,
                                      std::span<const TensorRow> tensors) {
  return {.name = name,
          .help = help,
          .parameters = kPieceParameters,
          .requirements = kPieceRequirements,
          .quantities = kPieceQuantities,
          .tensors = tensors,
          .where = "shape"};
}

struct PiecePosition {
  std::size_t number;
  std::int64_t position;  // flat, in the piece
};

// Where the elements of the whole are in the pieces.
class Pieces {
 public:
  explicit Pieces(const Problem& problem);
  PiecePosition find(std::int64_t position) const;
  // The inverse.
  std::int64_t whole_position(const PiecePosition& piece) const;

  std::int64_t outer() const { return outer_; }  // product of the sizes before the axis
  // The contiguous elements of piece `number`: its size, times the sizes behind the axis.
  const std::vector<std::int64_t>& runs() const { return runs_; }
  std::int64_t line() const { return line_; }  // sum of the runs

 private:
  std::int64_t outer_ = 1, line_ = 0;
  std::vector<std::int64_t> runs_;
};

}  // namespace bench::ops
