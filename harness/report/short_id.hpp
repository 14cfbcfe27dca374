// SPDX-License-Identifier: Apache-2.0
// Case ids for narrow columns: parts that all rows share are left out first.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Columns that a shortened id needs to distinguish shapes ("conv/.../c512h14w1...relu/.../hot").
// Other columns of a table are removed before the id becomes narrower.
inline constexpr std::size_t kMinId = 36;

class IdShortener {
 public:
  explicit IdShortener(const std::vector<std::string_view>& ids);

  // Returns shorter forms, longest first. The first one omits data type, backend and device if all
  // ids share them. The second one omits a shared direction, too
  // ("conv/.../c64h56w56k64r3s3p1/.../hot"). The last one omits backend and device even if they
  // differ, since a cut would remove the parameters.
  std::vector<std::string> forms(std::string_view id) const;

 private:
  static constexpr std::size_t kSegments = 7;
  // Whether all ids share it, in the order of an id's segments
  std::array<bool, kSegments> shared_{};
};

}  // namespace bench
