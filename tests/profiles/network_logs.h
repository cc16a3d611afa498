// What the suites of imported network benchmarks share.
#pragma once

#include <gtest/gtest.h>

#include "profiles/import/network.h"
#include "tests/profiles/helpers.h"

namespace breakeven {

using Reader = NetworkLog (*)(std::string_view, const std::string&, std::optional<std::size_t>);

inline std::string refused(Reader reader, const std::string& text, std::optional<std::size_t> workers = {}) {
  return failure([&] { (void)reader(text, "log", workers); });
}
inline std::string notes(const NetworkLog& log) {
  std::string all;
  for (const std::string& note : log.notes) {
    all += note + "\n";
  }
  return all;
}
inline void expect_row(const NetworkLog& log, std::size_t row, double payload, double microseconds) {
  ASSERT_LT(row, log.rows.size());
  EXPECT_DOUBLE_EQ(log.rows[row].payload.base(), payload);
  EXPECT_NEAR(log.rows[row].time.base(), microseconds * 1e-6, 1e-15);
}

}  // namespace breakeven
