// Do the writers produce exactly the bytes their formats ask for?
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/colour.h"
#include "cli/json_writer.h"
#include "cli/manual.h"
#include "cli/table.h"
#include "cli/utf8.h"

namespace breakeven::cli {
namespace {

TEST(JsonWriter, IndentsObjectsAndKeepsFlatOnesOnTheirLine) {
  JsonWriter json(true);
  json.begin_object()
      .member("a", 1.5)
      .key("b")
      .begin_array(true)
      .begin_array()
      .value(1.0)
      .null()
      .end_array()
      .end_array();
  json.key("c").begin_object().end_object().member("d", true).end_object();
  EXPECT_EQ(json.take(), "{\n  \"a\": 1.5,\n  \"b\": [[1, null]],\n  \"c\": {},\n  \"d\": true\n}\n");
}

TEST(JsonWriter, WritesOneLineWhenNotIndented) {
  JsonWriter json(false);
  json.begin_object().member("a", "x").key("b").begin_array().value(1.0).value(2.0).end_array().end_object();
  EXPECT_EQ(json.take(), "{\"a\":\"x\",\"b\":[1,2]}\n");
}

TEST(JsonWriter, NumbersReadBackExactlyAndWhatJsonLacksIsNull) {
  JsonWriter json(false);
  json.begin_array()
      .value(0.1)
      .value(1e300)
      .value(std::nan(""))
      .value(std::numeric_limits<double>::infinity())
      .end_array();
  EXPECT_EQ(json.take(), "[0.1,1e+300,null,null]\n");
}

TEST(JsonWriter, EscapesQuotesControlCharactersAndBrokenUtf8) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(json_quoted("10 \u00b5s"), "\"10 \u00b5s\"");
  EXPECT_EQ(json_quoted("\xff"
                        "a\xc3"),
            R"("\ufffda\ufffd")");
  EXPECT_EQ(json_quoted("\xc0\x80"), R"("\ufffd\ufffd")");            // a longer form than needed
  EXPECT_EQ(json_quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // half a surrogate pair
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  const Rows rows{{"name", "x", "ok"},
                  {{std::string("a,b"), 0.25, true},
                   {std::string("say \"hi\""), Value{}, false},
                   {std::string("line\nbreak"), std::nan(""), Value{}}}};
  EXPECT_EQ(to_csv(rows), "name,x,ok\n\"a,b\",0.25,true\n\"say \"\"hi\"\"\",,false\n\"line\nbreak\",,\n");
}

TEST(Jsonl, WritesOneObjectARow) {
  const Rows rows{{"name", "x"}, {{std::string("a"), 1.0}, {std::string("b"), Value{}}}};
  EXPECT_EQ(to_jsonl(rows), "{\"name\":\"a\",\"x\":1}\n{\"name\":\"b\",\"x\":null}\n");
}

Screen sample() {
  return {{{"name"}, {"time", true}, {"note"}},
          {{{"\u00b5"}, {"1 ms", Tone::good}, {"-"}}, {{"long name"}, {"12 ms"}, {"a|b"}}}};
}

TEST(Table, AlignsByCharactersNotBytesAndLeavesNothingBehind) {
  EXPECT_EQ(to_text(sample(), Style(false)),
            "name        time  note\n"
            "\u00b5           1 ms  -\n"
            "long name  12 ms  a|b\n");
}

TEST(Table, ColourChangesNoColumn) {
  std::string coloured = to_text(sample(), Style(true));
  EXPECT_NE(coloured.find("\x1b[32m1 ms\x1b[0m"), std::string::npos);
  for (std::size_t begin = coloured.find('\x1b'); begin != std::string::npos; begin = coloured.find('\x1b')) {
    coloured.erase(begin, coloured.find('m', begin) + 1 - begin);
  }
  EXPECT_EQ(coloured, to_text(sample(), Style(false)));
}

TEST(Markdown, EscapesWhatWouldEndACell) {
  EXPECT_EQ(
      to_markdown(sample()),
      "| name | time | note |\n| --- | ---: | --- |\n| \u00b5 | 1 ms | - |\n| long name | 12 ms | a\\|b |\n");
}

TEST(Colour, FollowsTheFlagThenTheEnvironmentThenTheTerminal) {
  const Environment plain;
  const Environment no_color{false, false, {{"NO_COLOR", "1"}}};
  const Environment empty{false, false, {{"NO_COLOR", ""}}};
  const Environment dumb{false, false, {{"TERM", "dumb"}}};
  EXPECT_TRUE(style_for("auto", true, plain).on());
  EXPECT_FALSE(style_for("auto", false, plain).on());
  EXPECT_FALSE(style_for("auto", true, no_color).on());
  EXPECT_TRUE(style_for("auto", true, empty).on());
  EXPECT_FALSE(style_for("auto", true, dumb).on());
  EXPECT_TRUE(style_for("always", false, no_color).on());
  EXPECT_FALSE(style_for("never", true, plain).on());
}

TEST(Wrapping, BreaksAtSpacesAndNeverInsideAWord) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("averyverylongword x", 0, 5), "averyverylongword\nx\n");
  EXPECT_EQ(example_text("breakeven query --model resnet50", 20),
            "  breakeven query \\\n  --model resnet50\n");
}

}  // namespace
}  // namespace breakeven::cli
