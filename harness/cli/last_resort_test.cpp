// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/last_resort.hpp"

#include <gmock/gmock.h>

#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct End {
  int status;
  std::string message;
};

End end_of(const std::function<int()>& program) {
  std::ostringstream err;
  const int status = with_last_resort(err, program);
  return {status, err.str()};
}

TEST(LastResort, AStatusPassesThroughInSilence) {
  const End end = end_of([] { return 5; });
  EXPECT_EQ(end.status, 5);
  EXPECT_EQ(end.message, "");
}

TEST(LastResort, MemoryThatIsNotThereIsStatus3) {
  const End memory = end_of([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(memory.status, 3);
  EXPECT_THAT(memory.message, StartsWith("bench: not enough memory; free some"));
  const End length = end_of([]() -> int { throw std::length_error("vector"); });
  EXPECT_EQ(length.status, 3);
  EXPECT_EQ(length.message, memory.message);
}

TEST(LastResort, AnyOtherExceptionIsAMessageToo) {
  const End error = end_of([]() -> int { throw std::runtime_error("no such key"); });
  EXPECT_EQ(error.status, 3);
  EXPECT_THAT(error.message, HasSubstr("internal error: no such key; please report it"));
  const End number = end_of([]() -> int { throw 1; });
  EXPECT_EQ(number.status, 3);
  EXPECT_THAT(number.message, HasSubstr("an exception of unknown kind"));
}

struct ThrowsAtTheEnd {
  ~ThrowsAtTheEnd() noexcept { throw_now(); }
  static void throw_now() { throw std::bad_alloc(); }
};

// Like values of the JSON library, whose destructor needs memory.
TEST(LastResortDeathTest, AnExceptionOfADestructorIsNoAbort) {
  EXPECT_EXIT(end_of([] {
                const ThrowsAtTheEnd value;
                return 0;
              }),
              testing::ExitedWithCode(3), "bench: not enough memory; free some");
}

}  // namespace
}  // namespace bench
