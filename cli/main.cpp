// The program: hands the process's arguments, streams and environment to run().
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "cli/app.h"
#include "cli/output.h"

namespace {

// A closed standard stream would give its number to the next file that is opened. Reading ends make every
// write to it fail.
void occupy_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) {
      std::_Exit(breakeven::cli::kFailed);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  // A closed pipe and a file-size limit are then failed writes, which are reported.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  breakeven::cli::DescriptorBuffer buffer(STDOUT_FILENO);
  std::ostream out(&buffer);
  breakeven::cli::Environment environment;
  environment.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  environment.err_is_terminal = isatty(STDERR_FILENO) != 0;
  for (const char* variable : {"NO_COLOR", "TERM"}) {
    if (const char* value = std::getenv(variable)) {
      environment.variables[variable] = value;
    }
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return breakeven::cli::run(arguments, out, std::cerr, environment);
}
