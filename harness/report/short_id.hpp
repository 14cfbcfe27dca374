// SPDX-License-Identifier: Apache-2.0
// Case ids for narrow columns: the parts that all rows share give way first.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Columns that a shortened id needs to tell shapes apart ("conv/.../c512h14w1...relu/.../hot"):
// other columns of a table go before it gets narrower.
inline constexpr std::size_t kMinId = 36;

class IdShortener {
 public:
  explicit IdShortener(const std::vector<std::string_view>& ids);

  // Shorter forms, longest first: without data type, backend and device where all ids agree on
  // them, then without the direction too ("conv/.../c64h56w56k64r3s3p1/.../hot"), at last without
  // backend and device even where they differ, since a cut would cost the parameters.
  std::vector<std::string> forms(std::string_view id) const;

 private:
  static constexpr std::size_t kSegments = 7;
  std::array<bool, kSegments> shared_{};  // by all ids, in the order of an id
};

}  // namespace bench
