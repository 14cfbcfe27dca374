// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace bench {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

std::string time_text(std::int64_t nanoseconds) { return format_time(Nanoseconds(nanoseconds)); }

TEST(FormatTime, FourSignificantDigits) {
  EXPECT_EQ(time_text(0), "0 ns");
  EXPECT_EQ(time_text(17), "17 ns");
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(1'000), "1.000 us");
  EXPECT_EQ(time_text(501'800), "501.8 us");
  EXPECT_EQ(time_text(23'456'789), "23.46 ms");
  EXPECT_EQ(time_text(1'234'000'000), "1.234 s");
}

TEST(FormatTime, RoundingCarriesIntoTheNextUnit) {
  EXPECT_EQ(time_text(9'999), "9.999 us");
  EXPECT_EQ(time_text(99'996), "100.0 us");
  EXPECT_EQ(time_text(999'940), "999.9 us");
  EXPECT_EQ(time_text(999'960), "1.000 ms");
  EXPECT_EQ(time_text(999'999'999), "1.000 s");
}

TEST(FormatTime, NegativeAndExtremeTimes) {
  EXPECT_EQ(time_text(-17), "-17 ns");
  EXPECT_EQ(time_text(-1'500), "-1.500 us");
  EXPECT_EQ(time_text(123'456'000'000'000), "123456 s");
  EXPECT_EQ(time_text(kLargest), "9223372037 s");
  EXPECT_EQ(time_text(kSmallest), "-9223372037 s");
}

TEST(FormatCount, ExactBelowTenThousand) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(9'999), "9999");
  EXPECT_EQ(format_count(-9'999), "-9999");
  EXPECT_EQ(format_count(10'000), "10.00 k");
  EXPECT_EQ(format_count(231'211'008), "231.2 M");
  EXPECT_EQ(format_count(4'089'184'256), "4.089 G");
  EXPECT_EQ(format_count(kLargest), "9.223 E");
  EXPECT_EQ(format_count(kSmallest), "-9.223 E");
}

TEST(FormatBytes, BinaryUnits) {
  EXPECT_EQ(format_bytes({0}), "0 B");
  EXPECT_EQ(format_bytes({1'023}), "1023 B");
  EXPECT_EQ(format_bytes({1'024}), "1.000 KiB");
  EXPECT_EQ(format_bytes({1'753'088}), "1.672 MiB");
  EXPECT_EQ(format_bytes({1'023 * 1'024}), "1023 KiB");
  EXPECT_EQ(format_bytes({1'024 * 1'024 - 1}), "1.000 MiB");
  EXPECT_EQ(format_bytes({kLargest}), "8.000 EiB");
}

TEST(FormatRate, PowersOfAThousand) {
  EXPECT_EQ(format_rate(FlopsPerSecond{460'763'000'000.0}), "460.8 GFLOP/s");
  EXPECT_EQ(format_rate(BytesPerSecond{3'494'000'000.0}), "3.494 GB/s");
  EXPECT_EQ(format_rate(FlopsPerSecond{0.25}), "0.2500 FLOP/s");
  EXPECT_EQ(format_rate(FlopsPerSecond{0}), "0 FLOP/s");
  EXPECT_EQ(format_rate(FlopsPerSecond{-2.5e6}), "-2.500 MFLOP/s");
  EXPECT_EQ(format_rate(FlopsPerSecond{1e24}), "1000000 EFLOP/s");
  EXPECT_EQ(format_rate(FlopsPerSecond{std::numeric_limits<double>::infinity()}), "n/a");
  EXPECT_EQ(format_rate(BytesPerSecond{std::nan("")}), "n/a");
}

TEST(FormatSignificant, FourDigitsWithoutUnit) {
  EXPECT_EQ(format_significant(0), "0");
  EXPECT_EQ(format_significant(460.763), "460.8");
  EXPECT_EQ(format_significant(1.0), "1.000");
  EXPECT_EQ(format_significant(0.0123449), "0.01234");
  EXPECT_EQ(format_significant(-0.5), "-0.5000");
  EXPECT_EQ(format_significant(123456.7), "123457");
  EXPECT_EQ(format_significant(1e-300), "0.000000000000");
  EXPECT_EQ(format_significant(std::nan("")), "n/a");
}

TEST(FormatSignificant, RoundingThatCarriesKeepsFourDigits) {
  EXPECT_EQ(format_significant(0.99999), "1.000");
  EXPECT_EQ(format_significant(-0.99999), "-1.000");
  EXPECT_EQ(format_significant(0.99994), "0.9999");
  EXPECT_EQ(format_significant(0.099999), "0.1000");
  EXPECT_EQ(format_significant(0.001), "0.001000");
  EXPECT_EQ(format_significant(9.99999e-9), "0.00000001000");
}

TEST(FormatOrUnknown, AbsentIsNotAvailable) {
  const auto text = [](Nanoseconds time) { return format_time(time); };
  EXPECT_EQ(format_or_unknown(std::optional<Nanoseconds>(), text), "n/a");
  EXPECT_EQ(format_or_unknown(std::optional(Nanoseconds(5)), text), "5 ns");
}

TEST(ParseDuration, AllUnitsExactly) {
  EXPECT_EQ(parse_duration("80ns").value(), Nanoseconds(80));
  EXPECT_EQ(parse_duration("250us").value(), Nanoseconds(250'000));
  EXPECT_EQ(parse_duration("100ms").value(), Nanoseconds(100'000'000));
  EXPECT_EQ(parse_duration("2s").value(), Nanoseconds(2'000'000'000));
  EXPECT_EQ(parse_duration("3m").value(), Nanoseconds(180'000'000'000));
  EXPECT_EQ(parse_duration("1h").value(), Nanoseconds(3'600'000'000'000));
  EXPECT_EQ(parse_duration("0s").value(), Nanoseconds(0));
}

TEST(ParseDuration, FractionsAndSpaces) {
  EXPECT_EQ(parse_duration("1.5 s").value(), Nanoseconds(1'500'000'000));
  EXPECT_EQ(parse_duration(" 0.001us ").value(), Nanoseconds(1));
  EXPECT_EQ(parse_duration("1.000000001s").value(), Nanoseconds(1'000'000'001));
  EXPECT_EQ(parse_duration("1.0000000000s").value(), Nanoseconds(1'000'000'000));
  EXPECT_EQ(parse_duration("0.1h").value(), Nanoseconds(360'000'000'000));
}

TEST(ParseDuration, ScientificNotationIsExact) {
  EXPECT_EQ(parse_duration("1e-4s").value(), Nanoseconds(100'000));
  EXPECT_EQ(parse_duration("1E-4 s").value(), Nanoseconds(100'000));
  EXPECT_EQ(parse_duration("1e3s").value(), Nanoseconds(1'000'000'000'000));
  EXPECT_EQ(parse_duration("2.5e+2ms").value(), Nanoseconds(250'000'000));
  EXPECT_EQ(parse_duration("12.3456e1us").value(), Nanoseconds(123'456));
  EXPECT_EQ(parse_duration("0.15e-2us").error().what,
            "`0.15e-2us` is not a whole number of nanoseconds");
  EXPECT_EQ(parse_duration("1e-9s").value(), Nanoseconds(1));
  EXPECT_EQ(parse_duration("1e-10s").error().what, "`1e-10s` is not a whole number of nanoseconds");
  EXPECT_EQ(parse_duration("0e99h").value(), Nanoseconds(0));
  EXPECT_EQ(parse_duration("1e99ns").error().what, "`1e99ns` is longer than 292 years");
}

// Digits after the first position below a nanosecond were ignored.
TEST(ParseDuration, EveryDigitBelowANanosecondIsRefused) {
  for (const char* text : {"1.05ns", "0.001ns", "1.00000000001s", "1.0000000005us",
                           "2.00000000001m", "9223372036.8547758071s"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().what,
              "`" + std::string(text) + "` is not a whole number of nanoseconds");
  }
  EXPECT_EQ(parse_duration("1.00ns").value(), Nanoseconds(1));
  EXPECT_EQ(parse_duration("1.00000000000000000000s").value(), Nanoseconds(1'000'000'000));
}

// The value of the position decided, not the product of the number.
TEST(ParseDuration, FractionsOfMinutesAndHoursThatAreWholeNanosecondsAreAccepted) {
  EXPECT_EQ(parse_duration("5e-11m").value(), Nanoseconds(3));
  EXPECT_EQ(parse_duration("2.5e-12h").value(), Nanoseconds(9));
  EXPECT_EQ(parse_duration("2.4e-12h").error().what,
            "`2.4e-12h` is not a whole number of nanoseconds");
}

TEST(ParseDuration, LargestAndOverflow) {
  EXPECT_EQ(parse_duration("9223372036854775807ns").value(), Nanoseconds(kLargest));
  EXPECT_EQ(parse_duration("9223372036.854775807s").value(), Nanoseconds(kLargest));
  for (const char* text : {"9223372036854775808ns", "9223372036.854775808s", "9999999999s",
                           "99999999999999999999999h", "2562048h"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().what, "`" + std::string(text) + "` is longer than 292 years");
  }
}

TEST(ParseDuration, WrongInputSaysWhatWasExpected) {
  const auto bare = parse_duration("100");
  ASSERT_FALSE(bare.ok());
  EXPECT_EQ(bare.error().message(),
            "`100` has no unit; expected a number with a unit of ns, us, ms, s, m, h, such as "
            "100ms");
  for (const char* text :
       {"",       " ",    "s",         "-1s", "+1s",   ".5s",   "1.s", "1e",    "1es", "1e+s",
        "1e100s", "1,5s", "5 parsecs", "1s2", "1 s s", "nan s", "inf", "0x10s", "1S",  "\xff"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().what, "`" + std::string(text) + "` is not a duration");
  }
  EXPECT_EQ(parse_duration("0.5ns").error().what, "`0.5ns` is not a whole number of nanoseconds");
  EXPECT_EQ(parse_duration("1.0000000001s").error().what,
            "`1.0000000001s` is not a whole number of nanoseconds");
}

TEST(ParsePercentage, NeedsItsSign) {
  EXPECT_DOUBLE_EQ(parse_percentage("2%").value(), 0.02);
  EXPECT_DOUBLE_EQ(parse_percentage("0.5 %").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_percentage(" 0% ").value(), 0);
  EXPECT_DOUBLE_EQ(parse_percentage("150%").value(), 1.5);
  EXPECT_EQ(parse_percentage("2").error().message(),
            "`2` has no % sign; expected a percentage such as 2%");
  for (const char* text : {"", "%", "-2%", "two%", "2%%", "2 percent", "nan%", "inf%", "1e2%"})
    EXPECT_FALSE(parse_percentage(text).ok()) << text;
  EXPECT_FALSE(parse_percentage(std::string(400, '9') + "%").ok());
}

TEST(DisplayWidth, CountsCodePoints) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("caf\xc3\xa9"), 4u);
  EXPECT_EQ(display_width("\xe2\x82\xac\xf0\x9f\x98\x80"), 2u);
}

TEST(DisplayWidth, DamagedSequencesCountEachByte) {
  EXPECT_EQ(display_width("\xff\xfe"), 2u);
  EXPECT_EQ(display_width("\xc3"), 1u);
  EXPECT_EQ(display_width("\xe2\x82"), 2u);
  EXPECT_EQ(display_width("\xc3\x28"), 2u);
}

TEST(Shorten, CutsInTheMiddle) {
  EXPECT_EQ(shorten("conv/forward", 12), "conv/forward");
  EXPECT_EQ(shorten("conv/forward", 11), "conv...ward");
  EXPECT_EQ(shorten("conv/forward", 10), "conv...ard");
  EXPECT_EQ(shorten("abcdef", 4), "a...");
  EXPECT_EQ(shorten("abcdef", 3), "abc");
  EXPECT_EQ(shorten("abcdef", 0), "");
  EXPECT_EQ(shorten("conv/forward", 10, 1), "c...orward");
  EXPECT_EQ(shorten("conv/forward", 10, 9), "conv/fo...");
}

TEST(Shorten, NeverSplitsACodePoint) {
  const std::string text = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_EQ(shorten(text, 5), "\xc3\xa9...\xc3\xa9");
  for (std::size_t width = 0; width < 8; ++width)
    EXPECT_EQ(display_width(shorten(text, width)), std::min<std::size_t>(width, 6));
}

TEST(ContentHash, KnownValues) {
  // Test vectors of the FNV reference code (isthe.com/chongo/tech/comp/fnv).
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");
  EXPECT_NE(content_hash(std::string("a\0b", 3)), content_hash("a"));
}

TEST(FormatDecimalTest, HasTwoDecimalsFourBelowTenAndWholeNumbersAsSuch) {
  EXPECT_EQ(format_decimal(822'083'584 / 1.1e-3, "FLOP/s"), "747.35 GFLOP/s");
  EXPECT_EQ(format_decimal(38'654'705'664 / 20.7539e-3, "FLOP/s"), "1.8625 TFLOP/s");
  EXPECT_EQ(format_decimal(822'083'584, "FLOP"), "822.08 MFLOP");
  EXPECT_EQ(format_decimal(0, "FLOP"), "0 FLOP");
  EXPECT_EQ(format_decimal(17, "FLOP"), "17 FLOP");
  EXPECT_EQ(format_decimal(17.25, "FLOP/s"), "17.25 FLOP/s");
  EXPECT_EQ(format_decimal(999'999, "FLOP"), "1.0000 MFLOP");
  EXPECT_EQ(format_decimal(-1500, "FLOP"), "-1.5000 kFLOP");
  EXPECT_EQ(format_decimal(std::nan(""), "FLOP"), "n/a");
}

TEST(FormatBinaryTest, CountsInPowersOf1024) {
  EXPECT_EQ(format_binary(25'698'304, "B"), "24.51 MiB");
  EXPECT_EQ(format_binary(25'698'304 / 1.1e-3, "B/s"), "21.76 GiB/s");
  EXPECT_EQ(format_binary(25'690'112 / 0.3e-3, "B/s"), "79.75 GiB/s");
  EXPECT_EQ(format_binary(8, "B"), "8 B");
  EXPECT_EQ(format_binary(1024, "B"), "1.0000 KiB");
  EXPECT_EQ(format_binary(1023, "B"), "1023 B");
}

TEST(ParseRateTest, ReadsDecimalAndBinaryPrefixesAndRefusesTheRest) {
  EXPECT_EQ(parse_bandwidth("900GB/s")->value, 900e9);
  EXPECT_EQ(parse_bandwidth("1.5 TB/s")->value, 1.5e12);
  EXPECT_EQ(parse_bandwidth("2GiB/s")->value, 0x1p31);
  EXPECT_EQ(parse_bandwidth("7B/s")->value, 7);
  EXPECT_EQ(parse_flop_rate("10TFLOP/s")->value, 10e12);
  EXPECT_EQ(parse_flop_rate("10 TFLOPS")->value, 10e12);
  for (const char* wrong : {"", "900", "GB/s", "900GB", "900 XB/s", "0GB/s", "-1GB/s", "9e9B/s"}) {
    EXPECT_FALSE(parse_bandwidth(wrong).ok()) << wrong;
    EXPECT_FALSE(parse_flop_rate(wrong).ok()) << wrong;
  }
  EXPECT_FALSE(parse_flop_rate("900GB/s").ok());
}

TEST(Plural, TheNounAgreesWithItsCount) {
  EXPECT_EQ(pluralise(1, "case"), "1 case");
  EXPECT_EQ(pluralise(std::size_t{0}, "case"), "0 cases");
  EXPECT_EQ(pluralise(std::int64_t{12}, "discarded sample"), "12 discarded samples");
  EXPECT_EQ(pluralise(-1, "case"), "-1 cases");
}

TEST(Plural, NounsThatEndInASibilantOrInY) {
  EXPECT_EQ(pluralise(2, "process"), "2 processes");
  EXPECT_EQ(pluralise(2, "box"), "2 boxes");
  EXPECT_EQ(pluralise(2, "batch"), "2 batches");
  EXPECT_EQ(pluralise(2, "activity"), "2 activities");
  EXPECT_EQ(pluralise(2, "day"), "2 days");
  EXPECT_EQ(pluralise(1, "activity"), "1 activity");
}

TEST(Plural, OtherWordsAgreeToo) {
  EXPECT_EQ(pluralise(1, "case has", "cases have"), "1 case has");
  EXPECT_EQ(pluralise(std::size_t{0}, "case has", "cases have"), "0 cases have");
  EXPECT_EQ(pluralise(2, "part of a layer", "parts of layers"), "2 parts of layers");
}

TEST(WithArticle, FollowsTheFirstLetter) {
  EXPECT_EQ(with_article("gemm"), "a gemm");
  EXPECT_EQ(with_article("attention"), "an attention");
  EXPECT_EQ(with_article("optimizer"), "an optimizer");
}

TEST(FormatWithCommas, EveryThirdDigit) {
  EXPECT_EQ(format_with_commas(0), "0");
  EXPECT_EQ(format_with_commas(999), "999");
  EXPECT_EQ(format_with_commas(1000), "1,000");
  EXPECT_EQ(format_with_commas(2834161664), "2,834,161,664");
}

TEST(ContentHash, PartsHaveTheHashOfTheWhole) {
  ContentHash hash;
  EXPECT_EQ(hash.text(), content_hash(""));
  hash.add("foo");
  hash.add("");
  hash.add("bar");
  EXPECT_EQ(hash.text(), content_hash("foobar"));
  EXPECT_EQ(hash.text(), "85944171f73967e8");
}

}  // namespace
}  // namespace bench
