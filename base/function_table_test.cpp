// SPDX-License-Identifier: Apache-2.0
// The C library serves as the library.
#include "base/function_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Arithmetic {
  BENCH_FUNCTIONS(Arithmetic, (absolute, abs, int (*)(int)), (number, atoi),
                  (newer, no_such_newer, int (*)(int), optional));
};
struct TooNew {
  BENCH_FUNCTIONS(TooNew, (number, atoi), (first, no_such_first, void (*)()),
                  (second, no_such_second, int (*)(int, int)));
};

DynamicLibrary c_library() { return *DynamicLibrary::find_loaded("libc.so.6"); }

TEST(FunctionTable, HoldsTheFunctionsOfTheLibrary) {
  Arithmetic table;
  ASSERT_TRUE(fill_functions(c_library(), table).ok());
  EXPECT_EQ(table.absolute(-7), 7);
  EXPECT_EQ(table.number("12"), 12);
  EXPECT_EQ(table.newer, nullptr);
}

TEST(FunctionTable, NamesAllRequiredFunctionsThatAreMissingAndTheFile) {
  TooNew table;
  const Status status = fill_functions(c_library(), table);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().what, "the library does not export no_such_first, no_such_second");
  EXPECT_THAT(status.error().where, HasSubstr("libc.so.6"));
  EXPECT_THAT(find_functions(c_library(), table),
              ElementsAre(testing::StrEq("no_such_first"), testing::StrEq("no_such_second")));
}

TEST(FunctionTable, AFunctionMayHaveThePrefixThatItsLibraryAccepts) {
  struct Rest {
    BENCH_FUNCTIONS(Rest, (length, len, std::size_t (*)(const char*)));
  } table;
  DynamicLibrary library = c_library();
  EXPECT_FALSE(fill_functions(library, table).ok());
  library.accept_prefix("str");
  ASSERT_TRUE(fill_functions(library, table).ok());
  EXPECT_EQ(table.length("four"), 4u);
}

TEST(DynamicLibrary, IsFoundOnlyIfTheProcessHasLoadedIt) {
  EXPECT_TRUE(DynamicLibrary::find_loaded("libc.so.6"));
  EXPECT_FALSE(DynamicLibrary::find_loaded("libbench_no_such.so.7"));
  EXPECT_NE(DynamicLibrary::whole_process().function<int(int)>("abs"), nullptr);
}

TEST(DynamicLibrary, OneFileIsLoadedOrTheLoadersMessageSaysWhyNot) {
  EXPECT_TRUE(DynamicLibrary::load("libm.so.6").ok());
  const auto absent = DynamicLibrary::load("/nowhere/libbench.so");
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error(), HasSubstr("/nowhere/libbench.so: cannot open"));
}

}  // namespace
}  // namespace bench
