// What a plugin's functions return: any table and any numbers are a scheme that holds to its contract, or an
// error that names the file; never a crash.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "compressors/plugin_table.h"
#include "compressors/trial/conformance.h"
#include "model/registry.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

/// The input as answers, each when a function is asked; sound ones when it is used up.
class Answers {
 public:
  void start(const std::uint8_t* data, std::size_t size) { left_ = {data, size}; }
  std::uint8_t byte() {
    if (left_.empty()) {
      return 0;
    }
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  std::uint64_t word() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
      bits = bits << 8U | byte();
    }
    return bits;
  }
  /// Mostly `sound`.
  double number(double sound) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::array<double, 8> kStrange = {-1,        0.5,  1e24, 1e300, 1.8446744073709552e19,
                                                kInfinity, -0.0, 4};
    const std::uint8_t choice = byte();
    return choice < 192   ? sound
           : choice < 248 ? kStrange[choice % kStrange.size()]
                          : std::bit_cast<double>(word());
  }
  std::uint64_t count(std::uint64_t sound) {
    const std::uint8_t choice = byte();
    return choice < 192 ? sound : choice < 248 ? choice % 5 : word();
  }
  std::int32_t code(std::int32_t sound) {
    return static_cast<std::int32_t>(count(static_cast<std::uint64_t>(sound)));
  }
  bool rarely() { return byte() >= 240; }
  /// A text that ends within the input's reach, or none.
  const char* text(const char* sound) {
    const std::uint8_t choice = byte();
    if (choice < 208) {
      return sound;
    }
    if (choice < 212) {
      return nullptr;
    }
    std::string& made = texts_[next_text_++ % texts_.size()];
    made.clear();
    for (std::size_t length = choice % 16; length > 0; --length) {
      made.push_back(static_cast<char>(byte()));
    }
    return made.c_str();
  }

 private:
  std::span<const std::uint8_t> left_;
  std::array<std::string, 64> texts_;
  std::size_t next_text_ = 0;
} answers;

char handle;
std::array<std::byte, 1U << 14U> sendable;

void fill(breakeven_work& work) {
  work = {answers.number(64),
          answers.number(8),
          answers.number(1),
          answers.number(9),
          answers.number(0),
          answers.number(0),
          {}};
  work.reserved[1] = answers.rarely() ? 1 : 0;
}

std::int32_t plan(const void*, const breakeven_shape* tensors, std::uint64_t count, std::uint64_t,
                  breakeven_round* rounds, std::uint32_t capacity) {
  double bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    bytes += 4 * static_cast<double>(tensors[i].rows) * static_cast<double>(tensors[i].cols);
  }
  const std::int32_t said = answers.code(1);
  for (std::int32_t i = 0; i < std::min(said, static_cast<std::int32_t>(capacity)); ++i) {
    fill(rounds[i].encode);
    fill(rounds[i].decode);
    rounds[i].payload_bytes = answers.number(bytes);
    rounds[i].exchange = answers.code(BREAKEVEN_ALL_REDUCE);
    rounds[i].element = answers.code(BREAKEVEN_F32);
    rounds[i].reserved[0] = answers.rarely() ? 1 : 0;
  }
  return said;
}

std::int32_t encode(void*, std::uint32_t, const float* gradient, std::uint64_t elements, const void** data,
                    std::uint64_t* bytes) {
  *bytes = answers.count(4 * elements);
  // A plugin that points at less than it says cannot be caught: this one points nowhere then.
  *data = answers.rarely()            ? nullptr
          : *bytes == 4 * elements    ? static_cast<const void*>(gradient)
          : *bytes <= sendable.size() ? sendable.data()
                                      : nullptr;
  return answers.code(0);
}

std::int32_t decode(void*, std::uint32_t, const void* received, std::uint64_t bytes, float* mean,
                    std::uint64_t elements) {
  if (bytes > 0 && elements > 0 && !answers.rarely()) {
    std::memcpy(mean, received, std::min(bytes, 4 * elements));
  }
  return answers.code(0);
}

breakeven_scheme scheme(const std::vector<breakeven_param>& params) {
  breakeven_scheme row{};
  row.struct_size = answers.count(sizeof(row));
  row.name = answers.text("x");
  row.summary = answers.text("summary");
  row.source = answers.text("source");
  row.placement = answers.code(0);
  row.same_steps = answers.code(0);
  row.params = answers.rarely() ? nullptr : params.data();
  row.param_count = std::max<std::uint64_t>(answers.rarely() ? UINT64_MAX : 0, params.size());
  row.make = [](const breakeven_value*, char* error, std::uint64_t capacity) -> void* {
    std::memset(error, answers.byte(), capacity);
    return answers.rarely() ? nullptr : &handle;
  };
  row.destroy = answers.rarely() ? nullptr : [](void*) {};
  row.plan = answers.rarely() ? nullptr : plan;
  row.state = [](const void*, const breakeven_shape*, std::uint64_t, std::uint64_t) {
    return answers.number(0);
  };
  row.period = [](const void*) { return answers.count(1); };
  row.kernel_create = [](const void*, const breakeven_shape*, std::uint64_t,
                         const breakeven_worker*) -> void* { return answers.rarely() ? nullptr : &handle; };
  row.kernel_destroy = [](void*) {};
  row.encode = answers.rarely() ? nullptr : encode;
  row.decode = decode;
  row.reserved[3] = answers.rarely() ? 1 : 0;
  return row;
}

breakeven_param parameter(const std::vector<const char*>& choices) {
  breakeven_param row{};
  row.name = answers.text("k");
  row.kind = answers.code(BREAKEVEN_INTEGER);
  row.above_low = answers.code(0);
  row.fallback = answers.text("2");
  row.low = answers.number(0);
  row.high = answers.number(100);
  row.choices = choices.empty() ? nullptr : choices.data();
  row.choice_count = choices.size();
  row.help = answers.text("help");
  return row;
}

/// Only of a file is fault found, or of values that the plugin refuses.
void check_refusal(const Error& error) {
  require(!error.wrong().empty(), "a refusal says what is wrong:", error.what());
  require(error.fault() == Fault::value || error.where().starts_with("./x.so"),
          "a refusal names the file:", error.what());
}

void use(const Scheme& scheme) {
  const Params params(scheme.params, "");
  const auto compressor = scheme.make(params);
  const std::vector<Shape> message = {{3, 3}, {7, 1}};
  try {
    for (const Round& round : compressor->plan(message, 2)) {
      require_amount(round.payload, "payload");
      for (const Work& work : {round.encode, round.decode}) {
        require_amount(work.touched, "touched bytes");
        require_amount(work.flops, "flops");
        require_amount(work.launches, "launches");
        require_amount(work.elements, "elements");
        require(work.repeats >= 1 && std::isfinite(work.repeats), "a coding is done once at least");
        require_amount(work.known.value_or(Seconds{}), "known time");
      }
    }
    require_amount(compressor->state(message, 2), "state");
  } catch (const Error& error) {
    check_refusal(error);
  }
  ConformanceOptions options;
  options.messages = {message};
  options.workers = {2};
  options.kinds = {GradientKind::normal};
  options.steps = 1;
  for (const Finding& finding : check_conformance(*compressor, options).findings) {
    require(!finding.where.empty() && !finding.wrong.empty(), "a finding says where and what");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  answers.start(data, size);
  std::vector<const char*> choices(answers.count(0) % 4);
  std::generate(choices.begin(), choices.end(), [] { return answers.text("a"); });
  std::vector<breakeven_param> params(answers.count(1) % 4);
  std::generate(params.begin(), params.end(), [&] { return parameter(choices); });
  std::vector<breakeven_scheme> rows(1 + answers.count(0) % 2);
  std::generate(rows.begin(), rows.end(), [&] { return scheme(params); });
  breakeven_plugin_v1_table table{answers.count(sizeof(table)), rows.data(), rows.size(), {}};
  table.reserved[0] = answers.rarely() ? 1 : 0;
  try {
    for (const Scheme& scheme : schemes_of(table, "./x.so", nullptr)) {
      Registry registry;
      registry.add(scheme);
      use(scheme);
    }
  } catch (const Error& error) {
    check_refusal(error);
  }
  return 0;
}
