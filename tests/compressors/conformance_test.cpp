// Does the examination find what is wrong with a kernel, and say it?
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <new>

#include "tests/compressors/faults.h"

namespace breakeven::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Conformance, FindsNothingWrongWithASoundScheme) {
  const Faulty sound({});
  const Conformance result = check_conformance(sound, standard_conformance());
  EXPECT_TRUE(result.has_kernel);
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_GT(result.cases, 300U);
  EXPECT_GT(result.plans, 100U);
}

TEST(Conformance, OfADescribedSchemeIsItsPlans) {
  Faults faults;
  faults.kernel = false;
  const Conformance result = check_conformance(Faulty(faults), standard_conformance());
  EXPECT_FALSE(result.has_kernel);
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_EQ(result.cases, 0U);
  faults.plan = [](Plan& plan) {
    for (Round& round : plan) {
      round.payload *= -1;
    }
  };
  EXPECT_THAT(found(faults), Contains("9 elements, 3 workers, round 1 of 2: payload is -20"));
  faults.plan = [](Plan& plan) { plan.front().payload = Bytes::of(0.5); };  // an average
  EXPECT_THAT(found(faults), IsEmpty());
}

TEST(Conformance, ASayingOfTwoBytesTooManyIsALie) {
  EXPECT_THAT(found({.planned_too_much = 2}),
              Contains("9 elements, 3 workers, normal, step 1, round 1 of 2: rank 0 sends 20 bytes, its plan "
                       "says 22"));
}

TEST(Conformance, PlansMustMakeSense) {
  const auto with = [](auto change) {
    Faults faults;
    faults.plan = [change](Plan& plan) {
      if (!plan.empty()) {
        change(plan.front());
      }
    };
    const auto all = found(faults);
    return all.empty() ? "nothing" : all.front();
  };
  const std::string where = "9 elements, 3 workers, round 1 of 2: ";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with([&](Round& round) { round.payload = Bytes::of(nan); }), where + "payload is nan");
  EXPECT_EQ(with([](Round& round) { round.payload = Bytes::of(HUGE_VAL); }), where + "payload is inf");
  EXPECT_EQ(with([](Round& round) { round.payload = Bytes::of(0.5); }), where + "plans to send 0.5 bytes");
  EXPECT_EQ(with([](Round& round) { round.payload = {}; }),
            where + "plans to send nothing: such a round is left out");
  EXPECT_EQ(with([](Round& round) { round.exchange = Exchange::all_to_all; }),
            where + "plans to send 20 bytes, which do not part among 3 workers");
  EXPECT_EQ(with([](Round& round) {
              round.exchange = Exchange::all_reduce;
              round.element = Element::i32;
              round.payload = Bytes::of(18);
            }),
            where + "plans to send 18 bytes in a sum of elements of 4 bytes");
  EXPECT_EQ(with([](Round& round) { round.exchange = Exchange::tree_step; }),
            where + "plans tree_step of distance 0");
  EXPECT_EQ(with([](Round& round) { round.distance = 2; }), where + "plans all_gather of distance 2");
  EXPECT_EQ(with([](Round& round) { round.summed = Bytes::of(-4); }), where + "summed is -4");
  EXPECT_EQ(with([](Round& round) { round.encode.flops = -1; }), where + "flops of encode is -1");
  EXPECT_EQ(with([](Round& round) { round.decode.repeats = 0; }), where + "repeats of decode is 0");
  EXPECT_EQ(with([&](Round& round) { round.encode.known = Seconds::of(nan); }),
            where + "time of encode is nan");
  EXPECT_EQ(with([](Round&) { throw std::runtime_error("no idea"); }),
            "9 elements, 3 workers: plan throws: no idea");
  EXPECT_EQ(found({.state = HUGE_VAL}).front(), "9 elements, 3 workers: state is inf");
  EXPECT_THAT(found({.period = 0}), ElementsAre("period: is 0"));
}

TEST(Conformance, AveragesPayloadsOverThePeriod) {
  // A byte more in every other step, and none less.
  Faults faults{.period = 2};
  EXPECT_THAT(found(faults), IsEmpty());
  auto steps = std::make_shared<std::size_t>(0);
  faults.encode = [steps](const Worker& worker, std::size_t round, std::vector<float>& sent) {
    *steps += round == 0 && worker.rank == 0 ? 1 : 0;
    if (round == 0) {
      sent.resize(sent.size() - *steps % 2);
    }
  };
  EXPECT_THAT(found(faults),
              Contains(HasSubstr(", step 2: round 1 sends 36 bytes in 2 steps, its plan says 40")));
  faults.encode = [](const Worker&, std::size_t, std::vector<float>& sent) { sent.resize(100); };
  EXPECT_THAT(found(faults),
              Contains(HasSubstr(": rank 0 sends 400 bytes, its plan says 20 on average of 2 steps")));
}

TEST(Conformance, FindsWritesBesideTheMean) {
  Faults faults;
  faults.decode = [](const Worker& worker, std::size_t, std::span<float> mean) {
    if (worker.rank == 1) {
      *(mean.data() + mean.size()) = 1;
    }
  };
  EXPECT_THAT(found(faults),
              Contains("9 elements, 3 workers, normal, step 1, round 1 of 2: rank 1 writes past "
                       "the end of mean"));
  faults.decode = [](const Worker&, std::size_t, std::span<float> mean) { *(mean.data() - 1) = 1; };
  EXPECT_THAT(found(faults), Contains(HasSubstr("rank 0 writes in front of mean")));
}

TEST(Conformance, FindsChangedInputs) {
  Faults faults;
  faults.input = [](std::span<const float> gradient) { const_cast<float&>(gradient[3]) += 1; };
  EXPECT_THAT(found(faults), Contains(HasSubstr("round 1 of 2: rank 0 changes the gradient")));
  faults.input = [](std::span<const float> gradient) { *(const_cast<float*>(gradient.data()) - 1) = 7; };
  EXPECT_THAT(found(faults), Contains(HasSubstr("rank 0 writes in front of the gradient")));
  faults = {};
  faults.received = [](std::span<const std::byte> received) {
    const_cast<std::byte&>(received[0]) ^= std::byte{1};
  };
  EXPECT_THAT(found(faults), Contains(HasSubstr("rank 0 changes what it received")));
}

TEST(Conformance, FindsWorkersThatDisagree) {
  Faults faults;
  faults.decode = [](const Worker& worker, std::size_t round, std::span<float> mean) {
    if (worker.rank == 2 && round == 1) {
      mean[4] = std::nextafter(mean[4], 1.0F);
    }
  };
  const auto all = found(faults);
  EXPECT_THAT(all, Contains(HasSubstr("normal, step 1: the means differ: element 4 is ")));
  EXPECT_THAT(all, Contains(HasSubstr(" at rank 2")));
  // A NaN is a NaN whatever its bits.
  faults.decode = [](const Worker& worker, std::size_t, std::span<float> mean) {
    for (float& value : mean) {
      value = std::isnan(value) && worker.rank == 1 ? -value : value;
    }
  };
  EXPECT_THAT(found(faults), IsEmpty());
}

TEST(Conformance, FindsPayloadsOfDifferentLengths) {
  Faults faults{.period = 2};
  faults.encode = [](const Worker& worker, std::size_t, std::vector<float>& sent) {
    sent.resize(worker.rank + 1);
  };
  EXPECT_THAT(found(faults), Contains(HasSubstr("rank 1 sends 8 bytes, rank 0 sends 4")));
}

TEST(Conformance, FindsAForgottenRound) {
  EXPECT_THAT(found({.skip_last_decode = true}),
              Contains("9 elements, 3 workers, normal, step 1: rank 0 leaves element 5 of mean unwritten"));
  Faults faults;
  faults.encode = [](const Worker&, std::size_t round, std::vector<float>& sent) {
    sent.resize(round == 1 ? 0 : sent.size());
  };
  EXPECT_THAT(found(faults), Contains(HasSubstr("round 2 of 2: rank 0 sends 0 bytes, its plan says 16")));
}

TEST(Conformance, FindsWhatDependsOnThreads) {
  Faults faults;
  faults.encode = [](const Worker& worker, std::size_t round, std::vector<float>& sent) {
    sent[0] += round == 1 ? static_cast<float>(worker.threads - 1) : 0;
  };
  EXPECT_THAT(found(faults),
              ElementsAre("9 elements, 3 workers, normal, 2 threads, step 1, round 2 of 2: a run on 2 "
                          "threads sends other bytes"));
}

TEST(Conformance, FindsWhatASeedDoesNotFix) {
  auto calls = std::make_shared<float>(0);
  Faults faults;
  faults.decode = [calls](const Worker& worker, std::size_t round, std::span<float> mean) {
    *calls += worker.rank == 0 && round == 0 ? 1 : 0;
    mean[0] = *calls;
  };
  EXPECT_THAT(found(faults),
              Contains(HasSubstr("normal, step 1: another run with the same seed, in other memory, "
                                 "comes to another mean")));
}

TEST(Conformance, FindsUseOfWhatLiesBesideTheGradient) {
  Faults faults;
  const float* beside = nullptr;
  faults.input = [&](std::span<const float> gradient) { beside = gradient.data() - 1; };
  faults.decode = [&](const Worker&, std::size_t, std::span<float> mean) {
    mean[0] = std::isnan(*beside) ? 1.0F : 2.0F;
  };
  EXPECT_THAT(found(faults), Contains(HasSubstr("in other memory, comes to another mean")));
}

TEST(Conformance, FindsNumbersThatAreNone) {
  Faults faults;
  faults.decode = [](const Worker&, std::size_t, std::span<float> mean) { mean[2] = mean[2] / mean[2]; };
  EXPECT_THAT(
      found(faults),
      ElementsAre("9 elements, 3 workers, zero, step 1: element 2 of the mean is NaN though every gradient "
                  "is finite"));
  faults.decode = [](const Worker&, std::size_t, std::span<float> mean) { mean[2] = HUGE_VALF; };
  EXPECT_THAT(found(faults), Contains(HasSubstr("element 2 of the mean is infinite though every")));
}

TEST(Conformance, FindsSharedBuffers) {
  EXPECT_THAT(
      found({.shared_buffer = true}),
      Contains(HasSubstr("what rank 0 sends changes while others encode: it must stay until its next call")));
}

TEST(Conformance, ReportsWhatKernelsThrow) {
  Faults faults;
  faults.encode = [](const Worker& worker, std::size_t round, std::vector<float>&) {
    if (worker.rank == 1 && round == 1) {
      throw std::runtime_error("out of luck");
    }
  };
  EXPECT_THAT(found(faults),
              Contains("9 elements, 3 workers, normal, step 1, round 2 of 2: encode at rank 1 throws: "
                       "out of luck"));
  faults.encode = nullptr;
  faults.decode = [](const Worker&, std::size_t, std::span<float>) { throw 1; };  // NOLINT
  EXPECT_THAT(found(faults), Contains(HasSubstr("decode at rank 0 throws what is no std::exception")));
}

TEST(Conformance, TriesRepeatedCalls) {
  auto calls = std::make_shared<std::vector<std::size_t>>(3);
  Faults faults;
  // Sends all of it only when no call comes twice.
  faults.encode = [calls](const Worker& worker, std::size_t round, std::vector<float>& sent) {
    std::size_t& own = (*calls)[worker.rank];
    own = round == 0 ? own + 1 : 0;
    sent.resize(own == 2 ? 1 : sent.size());
  };
  EXPECT_THAT(found(faults),
              ElementsAre("9 elements, 3 workers, normal, every call twice, step 1, round 1 of 2: rank "
                          "0 sends 4 bytes, its plan says 20"));
}

TEST(Conformance, HoldsKernelsOf16BitTensorsToTheirPlansToo) {
  // Plans and sends 4 bytes an element whatever its type, and has a kernel for that type.
  EXPECT_THAT(found({.only = Element::bf16}), IsEmpty());
  EXPECT_THAT(found({.planned_too_much = 2, .only = Element::bf16}),
              ElementsAre(HasSubstr("9 elements in bf16")));
}

TEST(Conformance, StopsAtTheMostFindings) {
  ConformanceOptions options = standard_conformance();
  options.most_findings = 1;
  // Sends too little everywhere, and promises a memory without end.
  const Faulty faulty({.planned_too_much = 2, .state = HUGE_VAL});
  EXPECT_EQ(check_conformance(faulty, options).findings.size(), 1U);
}

TEST(Conformance, SaysTheSameFaultOnce) {
  const auto findings = check_conformance(Faulty({.planned_too_much = 2}), standard_conformance()).findings;
  ASSERT_EQ(findings.size(), 1U) << findings[1].wrong;
  EXPECT_GT(findings[0].times, 100U);
}

TEST(Conformance, RunningOutOfMemoryIsNoFinding) {
  Faults faults;
  faults.encode = [](const Worker&, std::size_t, std::vector<float>&) { throw std::bad_alloc(); };
  EXPECT_THROW(found(faults), std::bad_alloc);
}

TEST(Conformance, AMeasuredCurveMustHaveElementsToBeReadAt) {
  Faults faults;
  faults.plan = [](Plan& plan) {
    for (Round& round : plan) {
      round.encode.touched = 8_B;
    }
  };
  EXPECT_THAT(found(faults), Contains(HasSubstr("elements of every encode and decode is 0")));
  faults.plan = [](Plan& plan) { plan.front().encode.elements = 1e24; };
  EXPECT_THAT(found(faults),
              Contains(HasSubstr("elements of encode is 1e+24, more than twice the message's")));
}

TEST(Conformance, NamesMessagesAndReportsMissingKernels) {
  class Choosy final : public Compressor {
   public:
    [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
      return sound_.plan(tensors, workers);
    }
    [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                                 const Worker& worker) const override {
      return tensors.size() == 1 ? sound_.kernel(tensors, worker) : nullptr;
    }

   private:
    Faulty sound_{{}};
  };
  ConformanceOptions options;
  options.messages = {{{3, 4}}, {{2, 1}, {3, 3}}};
  options.workers = {1};
  const auto findings = check_conformance(Choosy(), options).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].where, "2 tensors of 11 elements in all, 1 worker, normal");
  EXPECT_EQ(findings[0].wrong, "has no kernel, though others have");
  options.may_lack_kernels = true;
  EXPECT_THAT(check_conformance(Choosy(), options).findings, IsEmpty());
}

}  // namespace
}  // namespace breakeven::test
