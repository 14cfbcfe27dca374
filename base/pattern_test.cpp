// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.hpp"

#include <gtest/gtest.h>
#include <locale.h>

#include <random>
#include <regex>
#include <string>

namespace bench {
namespace {

bool found(const std::string& pattern, const std::string& text) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.ok()) << pattern << ": " << regex.error().what;
  return regex.ok() && regex->search(text);
}

TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(glob_matches("conv/*", "conv/forward/x"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_TRUE(glob_matches("*b*d", "abcd"));
  EXPECT_TRUE(glob_matches("x[0-9]y", "x7y"));
  EXPECT_TRUE(glob_matches("[!a]b", "cb"));
  EXPECT_TRUE(glob_matches("[]]", "]"));
  EXPECT_TRUE(glob_matches("a**", "a"));
  EXPECT_FALSE(glob_matches("conv", "conv/forward"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("[!a]b", "ab"));
  EXPECT_FALSE(glob_matches("*b", "abc"));
  EXPECT_FALSE(check_glob("a[b").ok());
  EXPECT_TRUE(check_glob("a[]b]c").ok());
}

TEST(Glob, BackslashesDotsAndSlashesAreCharacters) {
  EXPECT_TRUE(glob_matches("a\\*", "a\\b"));
  EXPECT_FALSE(glob_matches("a\\*", "a*"));
  EXPECT_TRUE(glob_matches("*", ".a/.b"));
  EXPECT_TRUE(glob_matches("[\\]", "\\"));
  EXPECT_FALSE(glob_matches("x[9-0]", "x5"));
  EXPECT_TRUE(glob_matches("[a", "[a"));
  EXPECT_FALSE(check_glob("[^]").ok());
  EXPECT_TRUE(check_glob("[^]]").ok());
  for (const char* glob : {"[[:alpha:]]", "[[:alpha:]", "[a[.]", "[![=]"})
    EXPECT_FALSE(check_glob(glob).ok()) << glob;
  EXPECT_TRUE(check_glob("[a:[]").ok());
}

// libbench_profile.so matches names within programs of any locale.
TEST(Glob, MatchesBytesInEveryLocale) {
  const locale_t utf8 = ::newlocale(LC_ALL_MASK, "C.UTF-8", locale_t{});
  ASSERT_NE(utf8, locale_t{});
  const locale_t previous = ::uselocale(utf8);
  EXPECT_FALSE(glob_matches("?", "\xc3\xa9"));
  EXPECT_TRUE(glob_matches("??", "\xc3\xa9"));
  EXPECT_TRUE(glob_matches("a*", "a\xff"));
  EXPECT_EQ(::uselocale(previous), utf8);
  ::freelocale(utf8);
}

TEST(Glob, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "*b", std::string(20'000, 'a')));
}

TEST(RegexSearch, FindsAPart) {
  EXPECT_TRUE(found("for", "conv/forward"));
  EXPECT_TRUE(found("^conv", "conv/forward"));
  EXPECT_FALSE(found("^for", "conv/forward"));
  EXPECT_TRUE(found("ward$", "conv/forward"));
  EXPECT_TRUE(found("a|b|cd", "xcdx"));
  EXPECT_TRUE(found("(ab){2,3}$", "ababab"));
  EXPECT_FALSE(found("^(ab){2,3}$", "ab"));
  EXPECT_TRUE(found("r[37]s\\d+p?", "r7s7"));
  EXPECT_TRUE(found("[^a-y]", "xyz"));
  EXPECT_FALSE(found("[^a-z]", "xyz"));
  EXPECT_TRUE(found("a{0}b", "b"));
  EXPECT_TRUE(found("", ""));
  EXPECT_TRUE(found("()*x", "x"));
  EXPECT_TRUE(found("a.*?c", "abc"));
  EXPECT_TRUE(found("\\+relu", "p1+relu"));
  EXPECT_TRUE(found("[\\d-]", "-"));
}

TEST(RegexSearch, AgreesWithTheStandardLibraryOnRandomPatterns) {
  std::mt19937 random(7);
  const std::string pieces[] = {"a", "b", ".", "(a|b)", "[ab]", "(ab|a)", "(b|)", "^", "$", "[^a]"};
  const std::string suffixes[] = {"", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"};
  for (int round = 0; round < 3000; ++round) {
    std::string pattern;
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      const std::string& piece = pieces[random() % std::size(pieces)];
      pattern += piece;
      if (piece != "^" && piece != "$") pattern += suffixes[random() % std::size(suffixes)];
      if (random() % 6 == 0) pattern += "|";
    }
    std::string text;
    for (unsigned i = 0; i < random() % 7; ++i) text += "abc"[random() % 3];
    EXPECT_EQ(found(pattern, text), std::regex_search(text, std::regex(pattern)))
        << pattern << " in " << text;
  }
}

TEST(RegexSearch, CatastrophicPatternsTakeLinearTime) {
  EXPECT_FALSE(found("(a*)*b", std::string(100'000, 'a')));
  EXPECT_FALSE(found("(a|aa)+$", std::string(100'000, 'a') + "b"));
  EXPECT_FALSE(found("(a?){500}b", std::string(1'000, 'a')));
}

TEST(RegexCompile, RefusesWhatItDoesNotKnow) {
  const struct {
    std::string pattern, what;
  } rows[] = {
      {"a(b", "`(` without `)` at character 4 of the regular expression"},
      {"a)b", "`)` without `(` at character 2 of the regular expression"},
      {"[a", "`[` without `]` at character 3 of the regular expression"},
      {"*a", "nothing to repeat before `*` at character 1 of the regular expression"},
      {"a{3,2}", "a maximum below the minimum at character 7 of the regular expression"},
      {"a{x}", "expected {m}, {m,} or {m,n} at character 3 of the regular expression"},
      {"(a)\\1", "unknown escape `\\1` at character 6 of the regular expression"},
      {"(?=a)",
       "look-around and named groups are not supported at character 4 of the regular "
       "expression"},
      {"[b-a]", "a range that runs backwards at character 5 of the regular expression"},
      {"a\\", "nothing follows `\\` at character 3 of the regular expression"},
      {"((a{1000}){1000}){1000}",
       "the expression is too large at character 17 of the regular expression"},
      {std::string(500, '('), "too many nested groups at character 101 of the regular expression"},
  };
  for (const auto& row : rows) {
    const auto regex = Regex::compile(row.pattern);
    ASSERT_FALSE(regex.ok()) << row.pattern;
    EXPECT_EQ(regex.error().what, row.what);
  }
}

}  // namespace
}  // namespace bench
