// Is everything refused that is not strict JSON, in one line, with its place?
#include "profiles/json_reader.h"

#include <gtest/gtest.h>

#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

std::string reading(const std::string& text) {
  return failure([&] { const JsonDocument document(text, "f.json"); });
}

TEST(JsonSyntax, NamesTheLineAndColumnAndWhatWasExpected) {
  EXPECT_EQ(reading("{\"a\": 1,\n \"b\": [1, 2"),
            "file f.json:2:12: syntax error: unexpected end of input: expected ']'");
  EXPECT_EQ(reading("{\"a\": }"),
            "file f.json:1:7: syntax error: unexpected '}': expected '[', '{', or a literal");
  EXPECT_EQ(reading("{\"a\" 1}"), "file f.json:1:6: syntax error: unexpected number literal: expected ':'");
  EXPECT_EQ(reading("hello"), "file f.json:1:1: syntax error: invalid literal: expected JSON");
  EXPECT_EQ(reading("{} {}"), "file f.json:1:4: syntax error: unexpected '{': expected end of input");
  EXPECT_EQ(reading("[1, 2,]"),
            "file f.json:1:7: syntax error: unexpected ']': expected '[', '{', or a literal");
  EXPECT_EQ(reading("[nan]").substr(0, 32), "file f.json:1:3: syntax error: i");
}

TEST(JsonSyntax, RefusesEveryTruncationOfAValidDocument) {
  const std::string text = R"({"schema": 1, "name": "x", "list": [1, "two", {"three": true}]})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_TRUE(reading(text.substr(0, size)).starts_with("file f.json")) << size;
  }
  EXPECT_EQ(reading(text), "nothing was thrown");
}

TEST(JsonSyntax, SaysThatAnEmptyTextIsEmpty) {
  EXPECT_EQ(reading(""), "file f.json: is empty: expected JSON");
  EXPECT_EQ(reading(" \n\t "), "file f.json: is empty: expected JSON");
}

TEST(JsonSyntax, ADepthBombIsAnErrorAndNoCrash) {
  const std::string deep = "file f.json: nested deeper than 64 levels: expected a profile";
  EXPECT_EQ(reading(std::string(1'000'000, '[')), deep);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_EQ(reading(objects), deep);
  EXPECT_EQ(reading(std::string(64, '[') + std::string(64, ']')), "nothing was thrown");
  EXPECT_EQ(reading(std::string(65, '[') + std::string(65, ']')), deep);
}

TEST(JsonSyntax, AKeyThatIsThereTwiceIsAnErrorAtItsObject) {
  EXPECT_EQ(reading(R"({"a": 1, "b": 2, "a": 3})"),
            "file f.json: the key \"a\" is there twice: expected each key once");
  EXPECT_EQ(reading(R"({"x": [0, {"y/z": {"a": 1, "a": 1}}]})"),
            "file f.json: /x/1/y~1z: the key \"a\" is there twice: expected each key once");
}

TEST(JsonSyntax, OtherProgramsMayWriteAKeyTwiceThatNobodyAsksFor) {
  const JsonDocument document(R"({"a": 1, "b": 2, "a": 3})", "f.json", JsonDocument::Texts::any);
  EXPECT_EQ(document.root().at("b", "a number").count(), 2U);
  EXPECT_EQ(failure([&] { (void)document.root().find("a"); }),
            "file f.json: the key \"a\" is there twice: expected each key once");
}

TEST(JsonSyntax, ANumberThatNoDoubleHoldsIsRefused) {
  EXPECT_EQ(reading("[1e400]"), "file f.json:1:6: 1e400 is beyond what a number can hold: expected a number");
  EXPECT_EQ(reading("[-1e400]"),
            "file f.json:1:7: -1e400 is beyond what a number can hold: expected a number");
}

TEST(JsonSyntax, TextsHoldNothingThatATerminalWouldObey) {
  EXPECT_EQ(reading(R"({"a": ["\u001b[2J"]})"),
            "file f.json: /a/0: a text holds a control character: expected printable text");
  EXPECT_EQ(reading(R"({"a\nb": 1})"),
            "file f.json: a key holds a control character: expected printable text");
  EXPECT_EQ(reading(R"({"a": [1, {"b/c": "\u0001"}]})"),
            "file f.json: /a/1/b~1c: a text holds a control character: expected printable text");
  EXPECT_EQ(reading(R"("\u0001")"), "file f.json: a text holds a control character: expected printable text");
  EXPECT_TRUE(reading("[\"\xff\"]").starts_with("file f.json:1:3: syntax error: invalid string"));
}

TEST(JsonCursor, KnowsWhereItStandsAndWhatItIs) {
  const JsonDocument document(R"({"a/b": [{"c~": true, "d": 1.5, "e": "", "f": null}]})", "f.json");
  const Json inner = document.root().at("a/b", "").list(1, 1)[0];
  EXPECT_EQ(inner.place(), "f.json: /a~1b/0");
  EXPECT_TRUE(inner.at("c~", "").flag());
  EXPECT_EQ(inner.at("d", "").number(), 1.5);
  EXPECT_EQ(inner.at("d", "").scalar(), "1.5");
  EXPECT_EQ(failure([&] { (void)inner.at("c~", "").text(); }),
            "file f.json: /a~1b/0/c~0: is a boolean: expected text");
  EXPECT_EQ(failure([&] { (void)inner.at("d", "").flag(); }),
            "file f.json: /a~1b/0/d: is a number: expected a boolean");
  EXPECT_EQ(failure([&] { (void)inner.at("f", "").number(); }),
            "file f.json: /a~1b/0/f: is null: expected a number");
  EXPECT_EQ(failure([&] { (void)inner.at("e", "").text(); }),
            "file f.json: /a~1b/0/e: is empty: expected text");
  EXPECT_EQ(failure([&] { (void)inner.at("g", "a time"); }),
            "file f.json: /a~1b/0: the key \"g\" is missing: expected a time");
  EXPECT_EQ(failure([&] { (void)inner.list(); }), "file f.json: /a~1b/0: is an object: expected a list");
  EXPECT_EQ(failure([&] { (void)document.root().at("a/b", "").keys(); }),
            "file f.json: /a~1b: is a list: expected an object");
}

TEST(JsonCursor, CountsWholeNumbersOnly) {
  const JsonDocument document("[8, -1, 1.5, 1e30, 3e2]", "f.json");
  const std::vector<Json> items = document.root().list();
  EXPECT_EQ(items[0].count(), 8U);
  EXPECT_EQ(items[4].count(), 300U);
  EXPECT_EQ(failure([&] { (void)items[1].count(); }),
            "file f.json: /1: -1 is not a whole number of 0 or more: expected a whole number, such as 8");
  EXPECT_EQ(failure([&] { (void)items[2].count(); }),
            "file f.json: /2: 1.5 is not a whole number of 0 or more: expected a whole number, such as 8");
  EXPECT_TRUE(failure([&] { (void)items[3].count(); }).starts_with("file f.json: /3: 1e30 is not a whole"));
}

TEST(JsonCursor, AQuantityNeedsItsUnit) {
  const JsonDocument document(R"(["10 Gbit/s", 10, "10 GB", "0 Gbit/s", "-1 us"])", "f.json");
  const std::vector<Json> items = document.root().list();
  EXPECT_EQ(items[0].above_zero<BytesPerSecond>().base(), 1.25e9);
  EXPECT_EQ(
      failure([&] { (void)items[1].quantity<BytesPerSecond>(); }),
      "file f.json: /1: \"10\" has no unit: expected a number and a unit, such as 10Gbit/s or 1.25GB/s");
  EXPECT_EQ(failure([&] { (void)items[2].quantity<BytesPerSecond>(); }),
            "file f.json: /2: \"10 GB\" is a size, not a bandwidth: expected a number and a unit, such as "
            "10Gbit/s or 1.25GB/s");
  EXPECT_EQ(failure([&] { (void)items[3].above_zero<BytesPerSecond>(); }),
            "file f.json: /3: \"0 Gbit/s\" must be above 0");
  EXPECT_EQ(failure([&] { (void)items[4].not_negative<Seconds>(); }),
            "file f.json: /4: \"-1 us\" must not be negative: expected 0 or more");
}

TEST(JsonCursor, NamesItsPlaceOnceWhateverIsWrong) {
  const JsonDocument document(R"({"a": [true, "", "x"]})", "f.json");
  const std::vector<Json> items = document.root().at("a", "").list();
  EXPECT_EQ(failure([&] { (void)items[0].quantity<Bytes>(); }),
            "file f.json: /a/0: is a boolean: expected text");
  EXPECT_EQ(failure([&] { (void)items[1].not_negative<Seconds>(); }),
            "file f.json: /a/1: is empty: expected text");
  EXPECT_EQ(failure([&] { (void)items[0].fraction(); }), "file f.json: /a/0: is a boolean: expected text");
  EXPECT_TRUE(
      failure([&] { (void)items[2].fraction(); }).starts_with("file f.json: /a/2: cannot read \"x\""));
}

TEST(JsonCursor, ANumberCanBeComputedWith) {
  const JsonDocument document(R"(["1e308 s", "5e-324 B", 1e300, "1e-300%", "0 s", 1e24])", "f.json");
  const std::vector<Json> items = document.root().list();
  const std::string limits = " is out of range: expected 0, or 1e-18 to 1e+24 in base units";
  EXPECT_EQ(failure([&] { (void)items[0].quantity<Seconds>(); }), "file f.json: /0: \"1e308 s\"" + limits);
  EXPECT_EQ(failure([&] { (void)items[1].quantity<Bytes>(); }), "file f.json: /1: \"5e-324 B\"" + limits);
  EXPECT_EQ(failure([&] { (void)items[2].number(); }), "file f.json: /2: \"1e300\"" + limits);
  EXPECT_EQ(failure([&] { (void)items[3].fraction(); }), "file f.json: /3: \"1e-300%\"" + limits);
  EXPECT_EQ(items[4].quantity<Seconds>().base(), 0);
  EXPECT_EQ(items[5].number(), 1e24);
}

}  // namespace
}  // namespace breakeven
