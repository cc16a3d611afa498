// Is every file refused that cannot be a profile, without reading more of it than need be?
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profiles/catalogue.h"
#include "profiles/text_file.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

std::string reading(const std::string& path) {
  return failure([&] { (void)read_text(path); });
}

TEST(ReadText, ReturnsAWholeFile) {
  const TemporaryDirectory directory;
  const std::string text(200'000, 'x');
  EXPECT_EQ(read_text(directory.file("a.json", text)), text);
}

TEST(ReadText, LeavesOutAByteOrderMark) {
  const TemporaryDirectory directory;
  EXPECT_EQ(read_text(directory.file("a.csv", "\xEF\xBB\xBFgap_us,bytes\n")), "gap_us,bytes\n");
  const std::string bare = directory.file("bare.csv", "\xEF\xBB\xBF");
  EXPECT_EQ(reading(bare), "file " + bare + ": is empty: expected a text file");
}

TEST(ReadText, SaysWhatTheCallerReads) {
  EXPECT_EQ(failure([] { (void)read_text("/none/there.json", "a profile"); }),
            "file /none/there.json: no such file: expected a profile");
}

TEST(ReadText, RefusesWhatIsNoReadableFile) {
  const TemporaryDirectory directory;
  const std::string missing = (directory.path() / "missing.json").string();
  EXPECT_EQ(reading(missing), "file " + missing + ": no such file: expected a text file");
  EXPECT_EQ(reading(directory.path().string()),
            "file " + directory.path().string() + ": is a directory: expected a file");
  const std::string empty = directory.file("empty.json", "");
  EXPECT_EQ(reading(empty), "file " + empty + ": is empty: expected a text file");
  const std::string secret = directory.file("secret.json", "{}");
  ASSERT_EQ(chmod(secret.c_str(), 0), 0);
  if (geteuid() != 0) {  // root reads everything
    EXPECT_EQ(reading(secret),
              "file " + secret + ": cannot be read (Permission denied): expected a text file");
  }
}

TEST(ReadText, SaysWhyAReadFailed) {
  // Opens well, but nothing is mapped at its start.
  EXPECT_EQ(reading("/proc/self/mem"),
            "file /proc/self/mem: cannot be read (Input/output error): expected a text file");
}

TEST(ReadText, RefusesTwoGigabytesOfZerosUnread) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("zeros.json", "");
  std::filesystem::resize_file(path, std::uintmax_t{2} << 30);
  EXPECT_EQ(reading(path), "file " + path + ": is 2 GiB: expected a text file of at most 64 MiB");
}

TEST(ReadText, RefusesBinaryContent) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.json", std::string("{}\0{}", 5));
  EXPECT_EQ(reading(path), "file " + path + ": holds binary data: expected a text file");
  EXPECT_EQ(reading("/dev/zero"), "file /dev/zero: holds binary data: expected a text file");
}

TEST(ReadText, BoundsWhatHasNoSizeBeforehand) {
  const TemporaryDirectory directory;
  const std::string pipe = (directory.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  // A child writes without end; it dies of the closed pipe.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ofstream out(pipe);
    const std::string block(1 << 20, 'x');
    while (out) {
      out << block;
    }
    _exit(0);
  }
  EXPECT_EQ(reading(pipe),
            "file " + pipe + ": is larger than 64 MiB: expected a text file of at most 64 MiB");
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(PlaceOf, IsOneLineWhateverTheFileIsCalled) {
  EXPECT_EQ(place_of("-"), "<stdin>");
  EXPECT_EQ(place_of("a/b.json"), "a/b.json");
  EXPECT_EQ(place_of("a\nb\x1b.json"), "a?b?.json");
  EXPECT_EQ(reading("no\nfile.json"), "file no?file.json: no such file: expected a text file");
}

}  // namespace
}  // namespace breakeven
