// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/implementations.hpp"

#include "ops/onednn/test_support.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <utility>

namespace bench::ops::op_test {
namespace {

using namespace std::chrono_literals;
using bench::test::FakeClock;
using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;

using Names = std::vector<std::string>;

Result<std::vector<Implementation>, BackendError> list(const Names& names, std::size_t count) {
  return list_implementations(count, [&](int position) -> Result<std::string, BackendError> {
    const auto index = static_cast<std::size_t>(position);
    if (index >= names.size()) return unsupported("the list ends");
    return names[index];
  });
}

Names listed(const Names& names, std::size_t count) {
  const auto implementations = list(names, count);
  EXPECT_TRUE(implementations.ok());
  Names result;
  if (!implementations) return result;
  for (const Implementation& row : *implementations)
    result.push_back(std::to_string(row.position) + " " + row.name);
  return result;
}

TEST(ListImplementations, KeepsTheOrderAndMakesNamesUnique) {
  EXPECT_THAT(listed({"brg", "jit", "brg", "gemm:jit"}, 8),
              ElementsAre("0 brg", "1 jit", "2 brg #2", "3 gemm:jit"));
  EXPECT_THAT(listed({"brg", "jit", "brg", "gemm:jit"}, 2), ElementsAre("0 brg", "1 jit"));
}

// One execution of a reference implementation can take minutes.
TEST(ListImplementations, LeavesOutReferencesUnlessTheLibraryTakesOne) {
  EXPECT_THAT(listed({"jit", "ref:any", "gemm:jit", "ref_int8:any"}, 8),
              ElementsAre("0 jit", "2 gemm:jit"));
  EXPECT_THAT(listed({"ref:any", "ref:any"}, 8), ElementsAre("0 ref:any"));
}

TEST(ListImplementations, WithoutAFirstOneSaysWhy) {
  const auto none = list({}, 8);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().reason, "the list ends");
}

// Executions take `time` on the clock.
class TimedKernel final : public Kernel {
 public:
  TimedKernel(FakeClock& clock, Nanoseconds time, std::int64_t size)
      : clock_(clock), time_(time), buffer_{BufferRole::input, {size}, "plain"} {}
  std::string implementation() const override { return "timed"; }
  std::span<const KernelBuffer> buffers() const override { return {&buffer_, 1}; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return Done{}; }
  Status unpack(std::size_t, const void*, void*) override { return Done{}; }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    EXPECT_NE(buffers.front(), nullptr);
    return std::unique_ptr<Invocation>(std::make_unique<TimedInvocation>(clock_, time_));
  }

 private:
  class TimedInvocation final : public Invocation {
   public:
    TimedInvocation(FakeClock& clock, Nanoseconds time) : clock_(clock), time_(time) {}
    bool run() noexcept override {
      clock_.advance(time_);
      return true;
    }
    std::string error() const override { return ""; }

   private:
    FakeClock& clock_;
    Nanoseconds time_;
  };

  FakeClock& clock_;
  Nanoseconds time_;
  KernelBuffer buffer_;
};

TEST(MeasureKernels, TakesTheFastestAndKeepsTheOthers) {
  FakeClock clock;
  std::vector<TrialKernel> kernels;
  kernels.push_back(
      {"jit", std::unique_ptr<Kernel>(std::make_unique<TimedKernel>(clock, 56us, 1000))});
  kernels.push_back(
      {"brgconv", std::unique_ptr<Kernel>(std::make_unique<TimedKernel>(clock, 50us, 3 << 20))});
  kernels.push_back({"gemm:jit", unsupported("no memory for the scratchpad")});
  const auto choice = measure_kernels(kernels, clock);
  ASSERT_TRUE(choice.ok()) << choice.error().reason;
  EXPECT_EQ(choice->text(), "default 56.00 us, chosen 50.00 us: 2 of 3");
  const auto regret = choice->regret();
  ASSERT_TRUE(regret.has_value());
  EXPECT_NEAR(regret->cost(), 0.12, 1e-12);
  EXPECT_EQ(regret->candidates, (std::vector<MeasuredCandidate>{
                                    {"jit", 56us, ""},
                                    {"brgconv", 50us, ""},
                                    {"gemm:jit", std::nullopt, "no memory for the scratchpad"}}));
}

TEST(MeasureKernels, WithoutAKernelThatRunsSaysWhy) {
  FakeClock clock;
  std::vector<TrialKernel> kernels;
  kernels.push_back({"jit", unsupported("it does not exist")});
  const auto choice = measure_kernels(kernels, clock);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().reason, "it does not exist");
}

class TunedOnednn : public testing::Test {
 protected:
  std::unique_ptr<Kernel> create(Backend& backend, const Problem& problem) {
    auto kernel = backend.create(problem);
    EXPECT_TRUE(kernel.ok()) << (kernel ? "" : kernel.error().reason);
    return kernel ? *std::move(kernel) : nullptr;
  }
  // Measures the candidates of the problem in one backend, then creates each of them in another
  // one, as a process does to which this choice was given.
  void expect_repeated_choices(const Problem& problem) {
    const auto first = make_onednn_backend();
    first->set_tuning(8);
    auto details = create(*first, problem)->details();
    const auto regret = take_regret(details);
    ASSERT_TRUE(regret.has_value());
    const std::string choices = first->choices();
    const std::string key = choices.substr(0, choices.find('\t'));
    for (const MeasuredCandidate& candidate : regret->candidates) {
      EXPECT_EQ(candidate.failure, "") << candidate.name;
      const auto later = make_onednn_backend();
      later->set_tuning(8);
      later->set_choices(key + "\t" + candidate.name + "\n");
      const auto kernel = create(*later, problem);
      ASSERT_NE(kernel, nullptr);
      EXPECT_TRUE(candidate.name.starts_with(kernel->implementation())) << candidate.name;
      EXPECT_THAT(kernel->details(),
                  Contains(Pair("tuned", "as chosen before for the case: " + candidate.name)));
      EXPECT_THAT(kernel->details(), Not(Contains(Key("regret.chosen"))));
    }
  }
  const Problem gemm_ = problem("gemm", "m32n32k32", DataType::f32);
};

TEST_F(TunedOnednn, MeasuresItsImplementationsOnce) {
  const auto backend = make_onednn_backend();
  EXPECT_THAT(create(*backend, gemm_)->details(), testing::IsEmpty());
  EXPECT_EQ(backend->choices(), "");
  backend->set_tuning(4);
  auto details = create(*backend, gemm_)->details();
  EXPECT_THAT(details, Contains(Key("setup.tuning_ns")));
  const auto regret = take_regret(details);
  ASSERT_TRUE(regret.has_value());
  EXPECT_LE(regret->candidates.size(), 4u);
  EXPECT_EQ(regret->chosen, regret->candidates.front().name);
  // The second creation repeats the answer of the first.
  auto again = create(*backend, gemm_)->details();
  EXPECT_EQ(take_regret(again), regret);
  EXPECT_THAT(backend->choices(), testing::EndsWith("\t" + regret->best + "\n"));
}

// Another process of the case executes the same implementation, also if it is not the fastest
// there.
TEST_F(TunedOnednn, RepeatsTheChoiceOfAnotherProcess) { expect_repeated_choices(gemm_); }

// Before, all candidates of a convolution were the library's first implementation, because oneDNN
// answers with the one whose primitive is in its cache.
TEST_F(TunedOnednn, CandidatesOfAConvolutionAreTheImplementationsThatTheirNamesState) {
  expect_repeated_choices(problem("conv", "n1c64h14w14k64r3s3p1", DataType::f32));
}

// A choice among the candidates must not change what is computed.
TEST_F(TunedOnednn, ComputesTheSame) {
  const auto backend = make_onednn_backend();
  backend->set_tuning(8);
  for (const auto& [op, tokens] :
       std::vector<std::pair<const char*, const char*>>{{"gemm", "m33n17k20"},
                                                        {"conv", "n1c16h9w9k32r3s3p1"},
                                                        {"softmax", "4x10"},
                                                        {"pool", "max-n1c16h8w8r2"}}) {
    for (const Direction direction : {Direction::forward, Direction::backward_data}) {
      auto problem = try_problem(op, tokens, DataType::f32, direction);
      ASSERT_TRUE(problem.ok()) << op << ": " << problem.error().message();
      EXPECT_EQ(expect_computes(*backend, *problem), Outcome::computed);
    }
  }
}

}  // namespace
}  // namespace bench::ops::op_test
