// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/large_pages.hpp"

#include <cstring>
#include <sys/mman.h>

namespace bench {

LargePages allocate_large_pages(Bytes size) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  const std::size_t count = (static_cast<std::size_t>(size.count) + kPage - 1) / kPage * kPage;
  LargePages memory(static_cast<std::byte*>(std::aligned_alloc(kPage, count)));
  if (memory == nullptr) return memory;
  madvise(memory.get(), count, MADV_HUGEPAGE);  // only a hint: small pages also work
  std::memset(memory.get(), 0, count);
  return memory;
}

}  // namespace bench
