// SPDX-License-Identifier: Apache-2.0
// Memory of the host in pages of 2 MiB where the machine gives them: it is written three times as
// fast as small ones, and which addresses collide in a cache is the same in every process.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace bench {

struct FreeLargePages {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using LargePages = std::unique_ptr<std::byte, FreeLargePages>;

// At least `size` bytes at a multiple of 2 MiB, of zeros, written once from end to end. Null: there
// is no such memory.
LargePages allocate_large_pages(Bytes size);

}  // namespace bench
