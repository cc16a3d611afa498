// Does the program as a process behave where streams, files and disks fail: never half a file, never a silent
// success?
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Process : public WithFiles {
 protected:
  /// What /bin/sh makes of `script`, in which $B is the program.
  Result shell(const std::string& script) {
    const std::string full = "B='" BREAKEVEN_PROGRAM "'; cd '" + folder().string() + "'; { " + script +
                             "\n} >'" + path("out") + "' 2>'" + path("err") + "' </dev/null";
    const char* arguments[] = {"sh", "-c", full.c_str(), nullptr};
    pid_t child = 0;
    Result result;
    EXPECT_EQ(posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(arguments), environ),
              0);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    result.status = WEXITSTATUS(status);
    result.out = read(path("out"));
    result.err = read(path("err"));
    fs::remove(path("out"));
    fs::remove(path("err"));
    return result;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder()), fs::directory_iterator{}));
  }
};

const char* const kTrace =
    "\"$B\" trace -q --gradient-bytes 100MB --forward 50ms --backward 100ms --device v100 --workers 16 "
    "--bandwidth 10Gbps -s none";

TEST_F(Process, AnswersLikeTheLibrary) {
  const Result result = shell("\"$B\" list schemes --names");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, invoke({"list", "schemes", "--names"}).out);
  EXPECT_EQ(result.err, "");
}

TEST_F(Process, ClosedPipeIsAnErrorNotASignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);  // nobody reads
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  const char* arguments[] = {"breakeven", "list", "models", nullptr};
  pid_t child = 0;
  ASSERT_EQ(
      posix_spawn(&child, BREAKEVEN_PROGRAM, &actions, nullptr, const_cast<char* const*>(arguments), environ),
      0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kFailed);
  EXPECT_EQ(read(path("err")),
            "breakeven: error: <stdout>: cannot write: Broken pipe: expected a place that takes it\n");
}

TEST_F(Process, ClosedOrFullStandardOutputIsAnError) {
  EXPECT_EQ(
      shell("\"$B\" list models >&-").err,
      "breakeven: error: <stdout>: cannot write: Bad file descriptor: expected a place that takes it\n");
  if (access("/dev/full", W_OK) == 0) {
    const Result full = shell("\"$B\" list models >/dev/full");
    EXPECT_EQ(full.status, kFailed);
    EXPECT_EQ(full.err,
              "breakeven: error: <stdout>: cannot write: No space left on device: expected a place that "
              "takes it\n");
  }
  EXPECT_EQ(shell("\"$B\" list models >&-").status, kFailed);
  EXPECT_EQ(shell("\"$B\" list models -o models.txt 2>&-").status, kAnswered);
}

TEST_F(Process, FileAppearsWholeWithOrdinaryPermissions) {
  const Result result = shell(std::string("umask 022; ") + kTrace + " -o step.json");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(read(path("step.json")), testing::AllOf(StartsWith("{\n"), EndsWith("}\n")));
  struct stat status {};
  ASSERT_EQ(stat(path("step.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0644U);
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(shell(std::string(kTrace) + " -o -").out, read(path("step.json")));
}

TEST_F(Process, ReplacingAFileKeepsItsPermissionsAndItsLink) {
  std::ofstream(path("old.json")) << "old";
  fs::permissions(path("old.json"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("old.json", path("link.json"));
  EXPECT_EQ(shell(std::string(kTrace) + " -o link.json").status, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_THAT(read(path("old.json")), StartsWith("{\n"));
  EXPECT_EQ(fs::status(path("old.json")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Process, NothingIsLeftBehindWhenTheDiskIsFull) {
  std::ofstream(path("step.json")) << "before";
  // A limit on the size of files stands for a full disk: the write fails in the middle.
  const Result result = shell(std::string("trap '' XFSZ; ulimit -f 1; ") + kTrace +
                              " --schedule wfbp --model resnet50 --batch 1 -o step.json");
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(read(path("step.json")), "before");
  EXPECT_EQ(files(), 1U);
  if (access("/dev/full", W_OK) == 0) {
    const Result full = shell(std::string(kTrace) + " -o /dev/full");
    EXPECT_EQ(full.status, kFailed);
    EXPECT_EQ(full.err,
              "breakeven: error: /dev/full: cannot write: No space left on device: expected a place that "
              "takes it\n");
  }
}

TEST_F(Process, BadQuestionsTouchNoFile) {
  std::ofstream(path("step.json")) << "before";
  EXPECT_EQ(shell(std::string(kTrace) + " -s topk -o step.json").status, kUsage);
  EXPECT_EQ(read(path("step.json")), "before");
}

TEST_F(Process, OutputThatCannotBeIsNamed) {
  EXPECT_EQ(shell(std::string(kTrace) + " -o .").err,
            "breakeven: error: .: cannot write: Is a directory: expected a place that takes it\n");
  EXPECT_EQ(shell(std::string(kTrace) + " -o no/such.json").err,
            "breakeven: error: no/such.json: cannot write: No such file or directory: expected a place that "
            "takes it\n");
}

TEST_F(Process, InputsThatCannotBeReadAreNamedAndExitWithOne) {
  fs::create_directory(path("folder.json"));
  std::ofstream(path("empty.json")).close();
  std::ofstream(path("cut.json")) << "{\"schema\": 1, \"name\":";
  const auto ask = [&](const std::string& file) {
    return shell("\"$B\" query --device v100 --workers 8 --batch 1 --bandwidth 10Gbps --model ./" + file);
  };
  for (const char* file : {"folder.json", "empty.json", "cut.json", "missing.json"}) {
    const Result result = ask(file);
    EXPECT_EQ(result.status, kFailed) << file << ": " << result.err;
    EXPECT_EQ(result.out, "") << file;
    EXPECT_THAT(result.err, StartsWith("breakeven: error: ./" + std::string(file) + ":"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  if (geteuid() != 0) {  // root may read everything
    std::ofstream(path("secret.json")) << "{}";
    fs::permissions(path("secret.json"), fs::perms::none);
    EXPECT_EQ(ask("secret.json").status, kFailed);
  }
  const Result zeros = shell(
      "truncate -s 2G zeros.json; \"$B\" query --device v100 --workers 8 --batch 1 --bandwidth 10Gbps "
      "--model ./zeros.json");
  EXPECT_EQ(zeros.status, kFailed);
  EXPECT_THAT(zeros.err, StartsWith("breakeven: error: ./zeros.json: "));
}

TEST_F(Process, StandardInputIsAProfileToo) {
  const std::string model =
      R"({"schema": 1, "name": "tiny", "summary": "one layer", "source": "made up", "tensors": [["fc.weight", "1000x1000", 2000000]]})";
  std::ofstream(path("tiny.json")) << model;
  const std::string question =
      " query -q --device v100 --workers 8 --batch 64 --bandwidth 1Gbps --format csv --model ";
  const Result piped = shell("cat tiny.json | \"$B\"" + question + "-");
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, shell("\"$B\"" + question + "./tiny.json").out);
}

}  // namespace
}  // namespace breakeven::cli
