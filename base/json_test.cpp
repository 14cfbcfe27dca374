// SPDX-License-Identifier: Apache-2.0
// Both archives: records are written and read back by one declaration of their fields.
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <limits>
#include <random>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

BENCH_ENUM(Colour, red, green);

struct Pair {
  int first = 0, second = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};
auto elements(JsonOf<Pair> auto& pair) { return std::tie(pair.first, pair.second); }

struct Part {
  std::string name;
  std::optional<double> share;
  friend bool operator==(const Part&, const Part&) = default;
};
void fields(auto& archive, JsonOf<Part> auto& part) {
  archive.required("name", part.name);
  archive.optional("share", part.share);
}

struct Whole {
  std::string id;
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  Nanoseconds time{0};
  std::optional<std::string> note;
  Colour colour = Colour::red;
  std::vector<Colour> colours;
  std::vector<Pair> pairs;
  std::vector<Part> parts;
  std::map<std::string, Part> named;
  std::map<std::string, std::string> words;
  std::optional<Part> best;
  int tune = 0;
  std::string version;
  friend bool operator==(const Whole&, const Whole&) = default;
};
void fields(auto& archive, JsonOf<Whole> auto& whole) {
  archive.required("id", whole.id);
  archive.optional("count", whole.count, at_least(1));
  archive.optional("seed", whole.seed);
  archive.required("time_ns", whole.time);
  archive.optional("note", whole.note);
  archive.required("colour", whole.colour);
  archive.optional("colours", whole.colours);
  archive.optional("pairs", whole.pairs);
  archive.optional("parts", whole.parts);
  archive.optional("named", whole.named);
  archive.optional("words", whole.words);
  archive.optional("best", whole.best);
  archive.defaulted("tune", whole.tune, 0);
  archive.object("tool", [&](auto& tool) { tool.optional("version", whole.version); });
}

Whole full() {
  Whole whole;
  whole.id = "a/\"b\"";
  whole.count = std::numeric_limits<std::int64_t>::max();
  whole.seed = std::numeric_limits<std::uint64_t>::max();
  whole.time = Nanoseconds(5);
  whole.note = "";
  whole.colour = Colour::green;
  whole.colours = {Colour::red, Colour::green};
  whole.pairs = {{1, 2}, {3, 4}};
  whole.parts = {{"p", 0.25}, {"q", std::nullopt}};
  whole.named = {{"n", {"r", 1.0}}};
  whole.words = {{"k", "v"}};
  whole.best = Part{"s", 1e300};
  whole.tune = 3;
  whole.version = "0.1.0";
  return whole;
}

std::string read(std::string_view text, Whole& whole, const JsonRules& rules = {}) {
  const Status status = read_json_object(
      text, [&](JsonReader& reader) { fields(reader, whole); }, rules);
  return status.ok() ? "" : status.error().what;
}
std::string problem(std::string_view more, const JsonRules& rules = {}) {
  Whole whole;
  return read(R"({"id":"i","time_ns":1,"colour":"red")" + std::string(more) + "}", whole, rules);
}

TEST(Json, WritesFieldsInTheOrderOfTheirDeclarationAndReadsThemBack) {
  const std::string text = format_json(full());
  EXPECT_EQ(
      text,
      R"({"id":"a/\"b\"","count":9223372036854775807,"seed":18446744073709551615,"time_ns":5,)"
      R"("note":"","colour":"green","colours":["red","green"],"pairs":[[1,2],[3,4]],)"
      R"("parts":[{"name":"p","share":0.25},{"name":"q"}],"named":{"n":{"name":"r","share":1}},)"
      R"("words":{"k":"v"},"best":{"name":"s","share":1e+300},"tune":3,"tool":{"version":"0.1.0"}})");
  Whole again;
  EXPECT_EQ(read(text, again), "");
  EXPECT_EQ(again, full());
}

TEST(Json, LeavesOutWhatIsMissingAndObjectsWithoutFields) {
  const std::string text = format_json(Whole{});
  EXPECT_EQ(text, R"({"id":"","count":1,"seed":0,"time_ns":0,"colour":"red"})");
  Whole again;
  EXPECT_EQ(read(text, again), "");
  EXPECT_EQ(again, Whole{});
}

TEST(Json, IndentsDocuments) {
  const auto declare = [](JsonWriter& writer) {
    writer.required("a", std::vector<int>{1, 2});
    writer.object("none", [](JsonWriter&) {});
    writer.required("empty", std::vector<int>{});
    writer.object("b", [](JsonWriter& inner) { inner.required("c", "d"); });
  };
  EXPECT_EQ(json_object(declare, {.indent = 2}),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"empty\": [],\n  \"b\": {\n    \"c\": \"d\"\n  "
            "}\n}");
}

TEST(Json, WritesTheShortestRealsAndMarksThemOnRequest) {
  const std::vector<std::pair<double, std::string>> rows = {{0.1, "0.1"},
                                                            {-3, "-3.0"},
                                                            {0, "0.0"},
                                                            {-0.0, "-0.0"},
                                                            {1e-4, "0.0001"},
                                                            {1e-5, "1e-05"},
                                                            {1.5e-7, "1.5e-07"},
                                                            {123.25, "123.25"},
                                                            {1e14, "100000000000000.0"},
                                                            {1e15, "1e+15"},
                                                            {1.25e300, "1.25e+300"},
                                                            {5e-324, "5e-324"}};
  for (const auto& [value, text] : rows)
    EXPECT_EQ(format_json(value, {.indent = 0, .reals = JsonReals::with_fraction}), text);
  EXPECT_EQ(format_json(3.0), "3");
  EXPECT_EQ(format_json(460763000000.0), "460763000000");
  EXPECT_EQ(format_json(-0.0), "-0.0");
  EXPECT_EQ(format_json(std::vector<double>{std::nan(""), HUGE_VAL}), "[null,null]");
}

TEST(Json, RandomRealsComeBackUnchanged) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    for (const JsonReals reals : {JsonReals::shortest, JsonReals::with_fraction}) {
      const auto document = parse_json(format_json(value, {.indent = 0, .reals = reals}));
      ASSERT_TRUE(document.ok()) << value;
      EXPECT_EQ(document->root().number(), value);
    }
  }
}

// RapidJSON converts such a zero with undefined behaviour.
TEST(Json, AZeroWithALargeExponentIsZero) {
  for (const std::string text : {"0e41", "0E+204", "0.000e99", "0e-400", "-0e41", "0.0e-41"}) {
    const auto document = parse_json(text);
    ASSERT_TRUE(document.ok()) << text;
    EXPECT_EQ(document->root().number(), 0.0) << text;
    EXPECT_EQ(document->root().signed_integer(), std::nullopt) << text;
  }
}

TEST(Json, NumbersAreIntegersWhereTheyFit) {
  const auto write_again = [](const std::string& text) {
    const auto document = parse_json(text);
    return format_json(document->root());
  };
  EXPECT_EQ(write_again("-0"), "0");
  EXPECT_EQ(write_again("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(write_again("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(write_again("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(write_again("18446744073709551616"), "1.8446744073709552e+19");
  EXPECT_EQ(write_again("-9223372036854775809"), "-9.223372036854776e+18");
  EXPECT_EQ(write_again("1e2"), "100.0");
}

TEST(Json, ARealBeyondTheRangeOfADoubleIsRefusedAndOneTooCloseToZeroIsZero) {
  for (const std::string text : {"1.8e308", "-2e308", "1e999", "1e99999", "[0,1e400]"})
    EXPECT_FALSE(parse_json(text).ok()) << text;
  for (const std::string text : {"1e-400", "-1e-999", "2.4e-324"})
    EXPECT_EQ(parse_json(text)->root().number(), 0.0) << text;
  EXPECT_EQ(parse_json("1.7976931348623157e308")->root().number(), 1.7976931348623157e308);
  EXPECT_EQ(parse_json("5e-324")->root().number(), 5e-324);
}

TEST(Json, EscapesTextsAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(format_json(std::string("\"\\\b\f\n\r\t\x01\x1f\x7f/\xc3\xa9")),
            "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\xc3\xa9\"");
  EXPECT_EQ(format_json(std::string("a\xff"
                                    "b")),
            "\"a\xef\xbf\xbd"
            "b\"");
}

TEST(Json, NamesTheFieldWithItsPath) {
  EXPECT_EQ(problem(R"(,"parts":[{"share":1}])"), "`parts.name` is missing");
  EXPECT_EQ(problem(R"(,"parts":{})"), "`parts` is not a list");
  EXPECT_EQ(problem(R"(,"parts":[7])"), "`parts` is not an object");
  EXPECT_EQ(problem(R"(,"named":{"a":{"name":7}})"), "`named.name` is not text");
  EXPECT_EQ(problem(R"(,"tool":{"version":7})"), "`tool.version` is not text");
  EXPECT_EQ(problem(R"(,"tool":7)"), "`tool` is not an object");
  EXPECT_EQ(problem(R"(,"words":{"a":1})"), "`words` is not an object of texts");
  EXPECT_EQ(problem(R"(,"best":{"name":"x","share":-1})"),
            "`best.share` is not a number of at least 0");
  EXPECT_EQ(problem(R"(,"pairs":[[1]])"),
            "`pairs` is not a list with each item a list of 2 numbers");
  EXPECT_EQ(problem(R"(,"pairs":[[1,-1]])"),
            "`pairs` is not a list with each item a list with each item an integer from 0 to "
            "2147483647");
  EXPECT_EQ(problem(R"(,"colours":["blue"])"),
            "`colours` is not a list with each item one of red, green");
  EXPECT_EQ(problem(R"(,"count":0)"), "`count` is not at least 1");
  EXPECT_EQ(problem(R"(,"seed":1.0)"), "`seed` is not an integer from 0 to 18446744073709551615");
  EXPECT_EQ(problem(R"(,"note":null)"), "`note` is not text");
}

TEST(Json, UnknownNamesAreQuotedWithAHint) {
  Whole whole;
  EXPECT_EQ(read(R"({"id":"i","time_ns":1,"colour":"gren"})", whole),
            "`colour` has the unknown value `gren`, did you mean `green`?");
  EXPECT_EQ(read(R"({"id":"i","time_ns":1,"colour":"anything"})", whole),
            "`colour` has the unknown value `anything`, expected one of red, green");
}

TEST(Json, RulesPermitNegativeNumbersLimitTimesAndRefuseUnknownFields) {
  constexpr JsonRules kAny{.numbers = JsonRules::Numbers::any};
  EXPECT_EQ(problem(R"(,"tune":-1)"), "`tune` is not an integer from 0 to 2147483647");
  EXPECT_EQ(problem(R"(,"tune":-1)", kAny), "");
  EXPECT_EQ(problem(R"(,"tune":-3000000000)", kAny),
            "`tune` is not an integer from -2147483648 to 2147483647");
  EXPECT_EQ(problem("", {.max_time = Nanoseconds(0)}), "`time_ns` is not a time within 0 ns");
  EXPECT_EQ(problem("", {.max_integer = 0}), "`time_ns` is not an integer from 0 to 0");
  constexpr JsonRules kStrict{.unknown = JsonRules::UnknownFields::refuse};
  EXPECT_EQ(problem("", kStrict), "");
  EXPECT_EQ(problem(R"(,"new":1)"), "");
  EXPECT_EQ(problem(R"(,"new":1)", kStrict), "it contains the unknown field `new`");
  EXPECT_EQ(problem(R"(,"best":{"name":"x","new":1})", kStrict),
            "`best` contains the unknown field `new`");
}

TEST(Json, ARepeatedFieldIsNamedAndNotCalledUnknown) {
  constexpr JsonRules kStrict{.unknown = JsonRules::UnknownFields::refuse};
  EXPECT_EQ(problem(R"(,"seed":1,"seed":1)", kStrict), "it repeats the field `seed`");
  EXPECT_EQ(problem(R"(,"seed":1,"note":"n","seed":1)", kStrict), "it repeats the field `seed`");
  EXPECT_EQ(problem(R"(,"best":{"name":"x","name":"x"})", kStrict),
            "`best` repeats the field `name`");
}

TEST(Json, NullInAListIsAValueThatJsonCannotRepresent) {
  std::vector<std::optional<double>> values;
  const Status status = read_json_object(R"({"v":[1,null]})",
                                         [&](JsonReader& reader) { reader.required("v", values); });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(values, (std::vector<std::optional<double>>{1.0, std::nullopt}));
}

TEST(Json, ATagNamesTheAlternativeOfAVariant) {
  using Choice = std::variant<Pair, Part>;
  constexpr std::array<std::string_view, 2> kNames = {"pair", "part"};
  const auto declare = [](auto& archive, auto& value) {
    if constexpr (requires { fields(archive, value); }) fields(archive, value);
  };
  const Choice part = Part{"x", 0.5};
  const std::string text = json_object(
      [&](JsonWriter& writer) { tagged_fields(writer, "kind", kNames, part, declare); });
  EXPECT_EQ(text, R"({"kind":"part","name":"x","share":0.5})");
  Choice again;
  const auto read_choice = [&](JsonReader& reader) {
    tagged_fields(reader, "kind", kNames, again, declare);
  };
  EXPECT_TRUE(read_json_object(text, read_choice).ok());
  EXPECT_EQ(again, part);
  EXPECT_EQ(read_json_object(R"({"kind":"dance"})", read_choice).error().what,
            "unknown kind `dance`, expected one of pair, part");
  EXPECT_EQ(read_json_object(R"({"kind":"par"})", read_choice).error().what,
            "unknown kind `par`, did you mean `pair`?");
  EXPECT_EQ(read_json_object("{}", read_choice).error().what, "`kind` is missing");
}

// Regression: the unknown bytes of an operator were read as 0.
TEST(Json, AMissingOptionalIsEmptyEvenIfItsDefaultIsNot) {
  std::optional<int> value = 0;
  EXPECT_TRUE(
      read_json_object("{}", [&](JsonReader& reader) { reader.optional("v", value); }).ok());
  EXPECT_EQ(value, std::nullopt);
}

TEST(Json, AnInlineStructIsPresentIfItsFirstFieldIs) {
  std::optional<Part> part = Part{"x", 0.5};
  const auto declare = [&](auto& archive) {
    archive.optional_inline("name", part);
    archive.constant("last", "z");
  };
  const std::string text = json_object(declare);
  EXPECT_EQ(text, R"({"name":"x","share":0.5,"last":"z"})");
  part.reset();
  EXPECT_EQ(json_object(declare), R"({"last":"z"})");
  EXPECT_TRUE(read_json_object(text, declare).ok());
  EXPECT_EQ(part, (Part{"x", 0.5}));
  EXPECT_EQ(read_json_object(R"({"last":"y"})", declare).error().what,
            "`last` is `y`, expected `z`");
}

TEST(Json, TextThatIsNotJsonIsRefused) {
  for (const std::string text : {"", "{", "nonsense", "\xff", "\"\xff\"", "NaN", "{\"a\":1e999}",
                                 "{} {}", "{\"a\":1,}", "[1] x"})
    EXPECT_EQ(parse_json(text).error().what, "it is not valid JSON") << text;
  EXPECT_FALSE(parse_json(std::string_view("{}\0{}", 5)).ok());
  Whole whole;
  EXPECT_EQ(read("[1]", whole), "it is not a JSON object");
}

TEST(Json, DeepNestingIsRefusedWithoutRecursion) {
  EXPECT_EQ(parse_json(std::string(1'000'000, '[')).error().what, "it nests too deeply");
  EXPECT_TRUE(parse_json(std::string(32, '[') + std::string(32, ']')).ok());
  EXPECT_TRUE(parse_json("\"" + std::string(1'000, '[') + "\"").ok());
}

TEST(Json, ADocumentIsReadAgainWithTheSameMemory) {
  JsonDocument document;
  for (const std::string text : {"{\"a\":\"first\"}", "[", "{\"a\":\"second\"}"}) {
    const Status status = document.parse(text);
    EXPECT_EQ(status.ok(), text.size() > 1);
  }
  EXPECT_EQ(document.root().text_at("a"), "second");
  EXPECT_EQ(document.root().text_at("b"), std::nullopt);
}

// Texts are parsed in place, 16 bytes at a time: at each offset, with an escape at each position.
TEST(Json, TextsOfAnyLengthKeepTheirEscapesAndCharacters) {
  JsonDocument document;
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t place = 0; place <= size; ++place) {
      const std::string before(place, 'a'), after(size - place, 'b');
      const std::string json =
          fmt::format("{0}{{{0}\"{1}\"{0}:{0}\"{1}\\n\\u00e9\\u0000\u00e9\\\"{2}\"{0}}}{0}",
                      std::string(size, ' '), before, after);
      ASSERT_TRUE(document.parse(json).ok()) << json;
      const std::string expected = before + "\n\u00e9" + std::string(1, '\0') + "\u00e9\"" + after;
      EXPECT_EQ(document.root().text_at(before), expected) << json;
    }
  }
}

TEST(Json, AMovedDocumentKeepsItsTexts) {
  JsonDocument first = parse_json(R"({"a":"b"})").value();
  const JsonDocument second = std::move(first);
  EXPECT_EQ(second.root().text_at("a"), "b");
}

TEST(Json, ParsedValuesAreWrittenAsTheyAre) {
  for (const std::string text :
       {R"({"b":1,"a":[true,null,"x",-1,18446744073709551615,3.0,{"c":[]}]})", "[]", "{}"})
    EXPECT_EQ(format_json(parse_json(text)->root()), text);
}

TEST(Json, FieldsAreFoundInAnyOrder) {
  Whole whole;
  EXPECT_EQ(read(R"({"words":{"k":"v"},"colour":"green","new":[{}],"time_ns":7,"id":"i"})", whole),
            "");
  EXPECT_EQ(whole.id, "i");
  EXPECT_EQ(whole.time, Nanoseconds(7));
  EXPECT_EQ(whole.words.at("k"), "v");
}

TEST(JsonDocuments, OfAnotherSchemaOrNoneAreRefused) {
  EXPECT_EQ(read_json_document<Part>(R"({"schema":"a/1","name":"x"})", "a/1")->name, "x");
  for (const char* text :
       {R"({"schema":"a/2","name":"x"})", R"({"name":"x"})", "[7]", "7", "", "{"}) {
    const auto part = read_json_document<Part>(text, "a/1");
    ASSERT_FALSE(part.ok()) << text;
    EXPECT_EQ(part.error().what, "not a document of schema a/1") << text;
  }
  // This used to end the program.
  EXPECT_FALSE(read_json_document<Part>(R"({"schema":1,"name":"x"})", "a/1").ok());
}

TEST(JsonDocuments, ThatAreMalformedAreErrors) {
  for (const char* text : {R"({"schema":"a/1"})", R"({"schema":"a/1","name":7})"}) {
    const auto part = read_json_document<Part>(text, "a/1");
    ASSERT_FALSE(part.ok()) << text;
    EXPECT_THAT(part.error().what, StartsWith("malformed document of schema a/1: `name` is "))
        << text;
  }
}

}  // namespace
}  // namespace bench
