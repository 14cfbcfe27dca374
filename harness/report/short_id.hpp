// SPDX-License-Identifier: Apache-2.0
// Shortens case ids for narrow columns. Segments that all ids of a table share are left out first.
#pragma once

#include "base/table.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Minimum width in columns that a shortened id needs to distinguish shapes
// ("conv/.../c512h14w1...relu/.../hot"). Other columns of a table are removed before the id becomes
// narrower.
inline constexpr std::size_t kMinId = 36;

class IdShortener {
 public:
  explicit IdShortener(const std::vector<std::string_view>& ids);

  // Returns shorter forms, longest first. The first one omits data type, backend and device if all
  // ids share them. The second one omits a shared direction, too
  // ("conv/.../c64h56w56k64r3s3p1/.../hot"). The last one omits backend and device even if they
  // differ, since a cut would remove the parameters.
  std::vector<std::string> forms(std::string_view id) const;
  // Returns the last of forms(), or the id itself if there is none.
  std::string shortest(std::string_view id) const;

 private:
  static constexpr std::size_t kSegments = 7;
  // Whether all ids have the same text, by segment
  std::array<bool, kSegments> shared_{};
};

// Gives the ids in a column their shorter forms.
void shorten_ids(std::vector<TextRow>& rows, std::size_t column = 0);

}  // namespace bench
