// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/synthetic_buffer.hpp"

#include <gtest/gtest.h>

namespace bench::test {
namespace {

// The library steps through the buffer by the sizes of these structures.
TEST(SyntheticBuffer, IsWalkedByTheLibrary) {
  const CuptiLibrary library = toolkit_cupti();
  SyntheticBuffer buffer;
  buffer.add(kernel_record({}))
      .add(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 1, 2, 3, 4))
      .add(id_record(1, 2))
      .add(copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1, 2, 3, 4));
  std::vector<std::ptrdiff_t> places;
  CUpti_Activity* record = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  while ((result = library.api.next_record(buffer.data(), buffer.size(), &record)) ==
         CUPTI_SUCCESS) {
    places.push_back(reinterpret_cast<std::uint8_t*>(record) - buffer.data());
  }
  EXPECT_EQ(result, CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(places, (std::vector<std::ptrdiff_t>{0, 216, 256, 280}));
  EXPECT_EQ(buffer.size(), 376u);
}

}  // namespace
}  // namespace bench::test
