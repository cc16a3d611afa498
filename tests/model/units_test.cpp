// Do text and units meet where they should, and nowhere else?
#include "model/units.h"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "model/error.h"

namespace breakeven {
namespace {

static_assert(!std::is_invocable_v<std::plus<>, Seconds, Bytes>, "bytes and seconds do not add up");
static_assert(!std::is_invocable_v<std::less<>, Seconds, Bytes>, "nor compare");
static_assert(std::is_same_v<decltype(1_MiB / 1_Gbps), Seconds>);
static_assert(std::is_same_v<decltype(1_s / 1_ms), double>);
static_assert(std::is_same_v<decltype(1_GBps * 1_s), Bytes>);

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Units, BitsAndBytesAndPowersDiffer) {
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("10 Gbit/s").base(), 1.25e9);
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("10Gbps").base(), 1.25e9);
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("10GB/s").base(), 1e10);
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("1 GiB/s").base(), 1073741824.0);
  EXPECT_DOUBLE_EQ(parse<Bytes>("25MB").base(), 25e6);
  EXPECT_DOUBLE_EQ(parse<Bytes>("2 bit").base(), 0.25);
  EXPECT_DOUBLE_EQ(parse<Bytes>("25MiB").base(), 25 * 1048576.0);
  EXPECT_DOUBLE_EQ(parse<Seconds>("1.6 us").base(), 1.6e-6);
  EXPECT_DOUBLE_EQ(parse<Seconds>("1.6 \u00b5s").base(), 1.6e-6);
  EXPECT_DOUBLE_EQ(parse<PerSecond>("253 /s").base(), 253);
  EXPECT_DOUBLE_EQ(parse<PerSecond>("15.7 TFLOP/s").base(), 15.7e12);
  EXPECT_DOUBLE_EQ(parse_fraction("1%"), 0.01);
  EXPECT_DOUBLE_EQ(parse_fraction("0.5"), 0.5);
  EXPECT_EQ(parse_count("64"), 64U);
}

TEST(Units, WhatIsNotAQuantityIsRefusedWithWhatToWrite) {
  const std::string bandwidth = ": expected a number and a unit, such as 10Gbit/s or 1.25GB/s";
  const auto read = [](const char* text) { return message([text] { (void)parse<BytesPerSecond>(text); }); };
  EXPECT_EQ(read("10"), "\"10\" has no unit" + bandwidth);
  EXPECT_EQ(read("10GB"), "\"10GB\" is a size, not a bandwidth" + bandwidth);
  EXPECT_EQ(read("10Gb"), "cannot read \"10Gb\" as a bandwidth: unknown unit \"Gb\"" + bandwidth);
  EXPECT_EQ(read("10gbps"), "cannot read \"10gbps\" as a bandwidth: unknown unit \"gbps\"" + bandwidth);
  EXPECT_EQ(read(""), "cannot read \"\" as a bandwidth" + bandwidth);
  EXPECT_EQ(read("fast"), "cannot read \"fast\" as a bandwidth" + bandwidth);
  EXPECT_EQ(read("nan"), "\"nan\" is not a finite number" + bandwidth);
  EXPECT_EQ(read("infGbps"), "\"infGbps\" is not a finite number" + bandwidth);
  EXPECT_EQ(read("1e400"), "\"1e400\" is beyond what a number can hold" + bandwidth);
  EXPECT_EQ(read("1e308TB/s"), "\"1e308TB/s\" is beyond what a number can hold" + bandwidth);
  EXPECT_EQ(message([] { (void)parse<Seconds>("5MiB"); }),
            "\"5MiB\" is a size, not a time: expected a number and a unit, such as 122ms or 1.6us");
  EXPECT_EQ(message([] { (void)parse_count("-3"); }),
            "cannot read \"-3\" as a whole number: expected a whole number, such as 8");
  EXPECT_EQ(message([] { (void)parse_count("8.5"); }),
            "cannot read \"8.5\" as a whole number: expected a whole number, such as 8");
  EXPECT_EQ(message([] { (void)parse_count("99999999999999999999999"); }),
            "\"99999999999999999999999\" is beyond what a number can hold: expected a whole number");
  EXPECT_EQ(message([] { (void)parse_fraction("1 GB"); }),
            "cannot read \"1 GB\" as a fraction: expected a number such as 0.01 or 1%");
}

TEST(Units, PeopleReadThreeDigitsInTheUnitTheyUse) {
  EXPECT_EQ(to_string(10_Gbps), "10 Gbit/s");
  EXPECT_EQ(to_string(BytesPerSecond::of(1.127e9)), "9.02 Gbit/s");
  EXPECT_EQ(to_string(25_MiB), "25 MiB");
  EXPECT_EQ(to_string(Bytes::of(1.34076e9)), "1.34 GB");
  EXPECT_EQ(to_string(Bytes::of(102228128)), "102 MB");
  EXPECT_EQ(to_string(Bytes::of(999.7e6)), "1 GB");
  EXPECT_EQ(to_string(Seconds::of(0.4521)), "452 ms");
  EXPECT_EQ(to_string(Seconds::of(0.9996)), "1 s");
  EXPECT_EQ(to_string(Seconds::of(1.6e-6)), "1.6 us");
  EXPECT_EQ(to_string(Seconds{}), "0 ns");
  EXPECT_EQ(to_string(PerSecond::of(253.1)), "253.1 /s");
  EXPECT_EQ(to_string(PerSecond::of(15.7e12)), "15.7 TFLOP/s");
  EXPECT_EQ(significant(99.96), "100");
  EXPECT_EQ(significant(0.0001234), "0.000123");
  EXPECT_EQ(significant(-2.5), "-2.5");
}

TEST(Units, ExactTextReadsBackAsTheSameDouble) {
  for (const double value : {0.1, 1.0 / 3, 1.25e9, 4.9e-324, 1.7976931348623157e308, 0.16171333333333334}) {
    EXPECT_EQ(parse_number(exact(value)), value) << exact(value);
  }
}

TEST(Errors, TheNearestNameIsOffered) {
  const std::vector<std::string> names = {"resnet50", "resnet101", "bert-large", "vgg16"};
  EXPECT_EQ(nearest("resnet5", names), "resnet50");
  EXPECT_EQ(nearest("resent50", names), "resnet50");
  EXPECT_EQ(nearest("bert", names), "bert-large");
  EXPECT_EQ(nearest("quicksort", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("VGG16", names), "vgg16");
  EXPECT_EQ(one_of(names, "vgg"), "one of resnet50, resnet101, bert-large, vgg16 (did you mean vgg16?)");
  const Error inner(Fault::value, "rank", "\"0\" is out of range", "1 to 1024");
  EXPECT_STREQ(inner.inside("--scheme", Fault::value).what(),
               "--scheme: rank: \"0\" is out of range: expected 1 to 1024");
}

}  // namespace
}  // namespace breakeven
