#include "cli/apart.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include "model/error.h"

namespace breakeven::cli {
namespace {

using Fields = std::vector<std::string>;

/// Records: a length and the fields, each ended by a zero byte. Whole ones alone are read.
void send(int to, const Fields& fields) {
  std::string record;
  for (const std::string& field : fields) {
    record += field.substr(0, field.find('\0')) + '\0';
  }
  const auto size = static_cast<std::uint32_t>(record.size());
  record.insert(0, reinterpret_cast<const char*>(&size), sizeof(size));
  for (std::size_t done = 0; done < record.size();) {
    const ssize_t written = ::write(to, record.data() + done, record.size() - done);
    if (written < 0 && errno != EINTR) {
      ::_exit(1);
    }
    done += written < 0 ? 0 : static_cast<std::size_t>(written);
  }
}

std::optional<Fields> take(std::string& received) {
  std::uint32_t size = 0;
  if (received.size() < sizeof(size)) {
    return std::nullopt;
  }
  std::memcpy(&size, received.data(), sizeof(size));
  if (received.size() - sizeof(size) < size) {
    return std::nullopt;
  }
  Fields fields;
  for (std::size_t at = sizeof(size); at < sizeof(size) + size; at += fields.back().size() + 1) {
    fields.emplace_back(received.c_str() + at);
  }
  received.erase(0, sizeof(size) + size);
  return fields;
}

void send(int to, const Examined& examined) {
  const Conformance& result = examined.result;
  for (const Finding& finding : result.findings) {
    send(to, Fields{"finding", finding.where, finding.wrong, std::to_string(finding.times)});
  }
  send(to, Fields{"done", examined.scheme, result.has_kernel ? "1" : "0", std::to_string(result.plans),
                  std::to_string(result.cases)});
}

using Examine = std::function<Examined(const std::function<void(const std::string&)>&)>;

[[noreturn]] void live(int to, const Examine& examine) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    send(to, examine([to](const std::string& where) { send(to, Fields{"before", where}); }));
  } catch (const Error& error) {
    send(to, Fields{error.fault() == Fault::file ? "file" : "value", error.where(), error.wrong(),
                    error.expected()});
  } catch (const std::exception& error) {
    send(to, Fields{"file", "", error.what(), ""});
  }
  ::_exit(0);
}

/// What the parent has been told.
struct Told {
  Examined examined;
  std::string where;
  bool done = false;

  void take(const Fields& fields) {
    const std::string& what = fields.at(0);
    if (what == "before") {
      where = fields.at(1);
    } else if (what == "finding") {
      examined.result.findings.push_back({fields.at(1), fields.at(2), std::stoul(fields.at(3))});
    } else if (what == "done") {
      examined.scheme = fields.at(1);
      examined.result.has_kernel = fields.at(2) == "1";
      examined.result.plans = std::stoul(fields.at(3));
      examined.result.cases = std::stoul(fields.at(4));
      done = true;
    } else {
      throw Error(what == "file" ? Fault::file : Fault::value, fields.at(1), fields.at(2), fields.at(3));
    }
  }
};

/// The child; ends with this.
class Child {
 public:
  Child(pid_t id, int from) : id_(id), from_(from) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    end();
    ::close(from_);
  }

  /// False: it took too long.
  bool listen(Told& told, std::chrono::milliseconds longest_step) const {
    std::string received;
    std::array<char, 4096> buffer{};
    while (!told.done) {
      pollfd wait{from_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, static_cast<int>(longest_step.count()));
      if (ready == 0) {
        return false;
      }
      const ssize_t size = ready < 0 ? -1 : ::read(from_, buffer.data(), buffer.size());
      if (size == 0 || (size < 0 && errno != EINTR)) {
        return true;
      }
      received.append(buffer.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
      while (const auto fields = cli::take(received)) {
        told.take(*fields);
      }
    }
    return true;
  }

  /// "crashes: Segmentation fault". What has ended already keeps its own status.
  std::string end() {
    if (id_ < 0) {
      return {};
    }
    ::kill(id_, SIGKILL);
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return WIFSIGNALED(status)
               ? std::string("crashes: ") + ::strsignal(WTERMSIG(status))  // NOLINT(concurrency-mt-unsafe)
               : "ends the program with status " + std::to_string(WEXITSTATUS(status));
  }

 private:
  pid_t id_;
  int from_;
};

}  // namespace

Examined examined_apart(const std::string& scheme, std::chrono::milliseconds longest_step,
                        const Examine& examine) {
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  if (::pipe(ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  const pid_t id = ::fork();
  if (id == 0) {
    ::close(ends[0]);
    live(ends[1], examine);
  }
  const int failed = errno;
  ::close(ends[1]);
  if (id < 0) {
    ::close(ends[0]);
    throw std::system_error(failed, std::generic_category(), "fork");
  }
  Child child(id, ends[0]);
  Told told;
  told.examined.scheme = scheme;
  const bool in_time = child.listen(told, longest_step);
  if (!told.done) {
    const std::string how = child.end();
    told.examined.result.findings.push_back(
        {told.where,
         in_time ? how : "takes longer than " + std::to_string(longest_step.count() / 1000) + " s"});
  }
  return told.examined;
}

}  // namespace breakeven::cli
