// SPDX-License-Identifier: Apache-2.0
// A gate whose candidate or base lies. Every field of every reply is replaced by values that make
// no sense there, one at a time. Whatever a worker says, the gate ends, its file can be read again
// with the same verdicts, and a number that is impossible is never green.
#include "harness/gate/measurer.hpp"
#include "harness/judge/evidence_file.hpp"
#include "harness/judge/stage_one.hpp"
#include "tests/fakes/coordinator_fixture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::IsEmpty;

constexpr const char* kLyingCase = "gemm/forward/m2n2k2/f32/onednn/cpu/hot/t1";
// No gate of one case asks a worker so often whether to stop. A gate that does, would hang.
constexpr int kMaxPolls = 20'000;

// A reply of a worker and what replaces a part of it.
struct Lie {
  std::string command;       // the request that is answered with a lie
  json::json_pointer place;  // the replaced value; the root for the whole reply
  json value;                // discarded: the value is left out
  enum class Kind { impossible, odd };
  Kind kind = Kind::odd;  // impossible: the gate must not be green

  std::string text() const {
    return fmt::format("{}{} = {}", command, place.to_string(),
                       value.is_discarded() ? "(missing)" : value.dump());
  }
};

json parse_reply(const std::string& line) { return json::parse(line); }

std::string lying_line(const Lie& lie, const std::string& line) {
  json reply = parse_reply(line);
  if (!reply.contains(lie.place) && !lie.place.empty()) return line;
  if (!lie.value.is_discarded()) {
    reply[lie.place] = lie.value;
  } else if (reply.at(lie.place.parent_pointer()).is_object()) {
    reply.at(lie.place.parent_pointer()).erase(lie.place.back());
  } else {
    reply.at(lie.place.parent_pointer()).erase(std::size_t{0});
  }
  return reply.dump();
}

// The end of a gate.
struct GateEnd {
  bool has_conclusion = false;  // false: a worker did not start, so there is no gate
  ExitStatus status = ExitStatus::not_measured;
  std::string problem;  // why the gate's file is not as it must be
};

class LyingWorker : public test::CoordinatorTest {
 protected:
  using Side = SideFailure::Side;

  LyingWorker() {
    script_.run = [](std::int64_t) { return 20ms; };  // so that a duet has few rounds
    spec_ = test::make_case(kLyingCase, test::measure(1, 20ms), {1, 0ns});
    spec_.measure.min_iterations = 1;
  }

  WorkerFactory factory(Side side) {
    return [this, side](const WorkerThreads&) -> Result<std::unique_ptr<WorkerLink>> {
      auto backend =
          std::make_unique<test::FakeBackend>([this](Nanoseconds time) { clock_.advance(time); },
                                              [this](const std::string&) { return script_; });
      auto worker = std::make_unique<test::InProcessWorker>(
          std::move(backend), clock_, nullptr, [this](Nanoseconds time) { clock_.advance(time); });
      worker->set_tampering([this, side](const Request& request, std::string line) {
        const std::string command(command_name(request));
        if (side == Side::candidate) truths_.emplace(command, line);
        return lie_ != nullptr && side == liar_ && command == lie_->command
                   ? lying_line(*lie_, line)
                   : line;
      });
      return std::unique_ptr<WorkerLink>(std::move(worker));
    };
  }

  bool polled() { return ++polls_ > kMaxPolls; }

  // Carries out a gate as run_gate() does, and reads its file.
  GateEnd gate() {
    polls_ = 0;
    const Plan plan = test::make_plan({spec_});
    parts_.start_worker = factory(Side::candidate);
    options_.interrupted = [this] { return polled(); };
    test::VectorSink sink;
    const auto summary =
        execute_plan_with(plan, options_, parts_, sink, observer_, environment_.env);
    if (!summary) return {};
    EvidenceSeal seal;
    std::string text;
    for (const Record& record : sink.records) {
      const std::string line = to_json_line(record);
      seal.add(line);
      text += line + "\n";
    }
    const auto report = parse_report(text, "gate.jsonl");
    if (!report) return {true, ExitStatus::success, report.error().message()};
    if (!report->warnings.empty()) return {true, ExitStatus::success, report->warnings.front()};
    GateFacts facts;
    facts.run_id = options_.run_id;
    GateEvidence evidence;
    evidence.mode = GateEvidence::Mode::paired;
    evidence.cases = collect_stage_one(*report);
    const auto append = [&](std::string_view record) {
      text += seal.seal(record) + "\n";
      return Status(Done{});
    };
    (void)append(gate_line(facts, evidence));
    return end_gate(plan, evidence, append, text);
  }

  GateEnd end_gate(const Plan& plan, GateEvidence& evidence,
                   const std::function<Status(std::string_view)>& append, const std::string& text) {
    GateParts parts;
    parts.start_base = factory(Side::base);
    parts.start_candidate = factory(Side::candidate);
    parts.hello = {kProtocolVersion, Bytes{0}, std::nullopt};
    parts.pause = [this](Nanoseconds time) { clock_.advance(time); };
    parts.interrupted = [this] { return polled(); };
    parts.append = append;
    const GateTask task{&plan, options_.run_id, 1, std::nullopt};
    GateMeasurer measurer(task, parts, clock_);
    const auto decision = measurer.settle(evidence);
    if (!decision) return {true, ExitStatus::success, decision.error().message()};
    GateEnd end{true, conclude(evidence, decision->judgements, {}).status, ""};
    for (const CaseAssessment& judgement : decision->judgements)
      (void)append(verdict_line(options_.run_id, judgement));
    (void)append(gate_end_line(options_.run_id, evidence.stopped));
    if (polls_ > kMaxPolls) end.problem = "the gate does not end";
    const auto file = read_gate_file(text, "gate.jsonl");
    if (!file) {
      end.problem = file.error().message();
    } else if (lines_of(decide(file->evidence).judgements) != lines_of(decision->judgements)) {
      end.problem = "the file has other verdicts than the gate";
    }
    return end;
  }

  static std::string lines_of(const std::vector<CaseAssessment>& judgements) {
    std::string lines;
    for (const CaseAssessment& judgement : judgements) lines += verdict_line("", judgement) + "\n";
    return lines;
  }

  // Returns the fault of the gate in which this side lies; empty if there is none.
  std::string find_fault(Side side, const Lie& lie) {
    lie_ = &lie;
    liar_ = side;
    const GateEnd end = gate();
    lie_ = nullptr;
    const std::string who = side == Side::base ? "base: " : "candidate: ";
    if (!end.problem.empty()) return who + lie.text() + ": " + end.problem;
    if (end.has_conclusion && lie.kind == Lie::Kind::impossible &&
        end.status == ExitStatus::success)
      return who + lie.text() + ": the gate is green";
    return "";
  }
  std::vector<std::string> find_faults(const std::vector<Lie>& lies) {
    std::vector<std::string> faults;
    for (const Lie& lie : lies) {
      for (const Side side : {Side::candidate, Side::base}) {
        if (std::string fault = find_fault(side, lie); !fault.empty())
          faults.push_back(std::move(fault));
      }
    }
    return faults;
  }

  // Returns the replies of an honest candidate, by command.
  std::map<std::string, std::string> honest_replies() {
    const GateEnd end = gate();
    EXPECT_EQ(end.problem, "");
    EXPECT_EQ(end.status, ExitStatus::success);
    return truths_;
  }

  Case spec_;
  test::FakeScript script_;
  std::map<std::string, std::string> truths_;
  const Lie* lie_ = nullptr;
  Side liar_ = Side::candidate;
  int polls_ = 0;
};

// Values of outputs are data: the other side compares its own with them.
bool is_data(const json::json_pointer& place) {
  return place.to_string().starts_with("/output/values");
}

// Adds the lies about one value.
void add_lies(const std::string& command, const json::json_pointer& place, const json& truth,
              std::vector<Lie>& lies) {
  using Kind = Lie::Kind;
  const auto add = [&](json value, Kind kind) {
    if (value != truth) lies.push_back({command, place, std::move(value), kind});
  };
  const bool is_number = truth.is_number() && !is_data(place);
  const Kind of_number = is_number ? Kind::impossible : Kind::odd;
  for (const json& number : {json(-1), json(std::numeric_limits<std::int64_t>::min()),
                             json(std::numeric_limits<std::int64_t>::max()), json(1e300)})
    add(number, of_number);
  add(nullptr, of_number);
  add("text", of_number);
  add(json::object(), of_number);
  for (const json& odd : {json(0), json(1), json(1'000'000'000'000), json(""), json::array(),
                          json(std::string("\0\x1b[31m<b>", 9)), json(std::string(5000, 'x'))})
    add(odd, Kind::odd);
  lies.push_back({command, place, json(json::value_t::discarded), Kind::odd});
}

// Adds the lies about a value and what it contains. Of a list, only the first item.
void walk(const std::string& command, const json::json_pointer& place, const json& truth,
          std::vector<Lie>& lies) {
  if (!place.empty()) add_lies(command, place, truth, lies);
  if (truth.is_object()) {
    for (const auto& [name, value] : truth.items()) walk(command, place / name, value, lies);
  }
  if (truth.is_array() && !truth.empty()) walk(command, place / 0, truth.front(), lies);
}

TEST_F(LyingWorker, AFieldThatMakesNoSenseIsNeverGreenAndTheFileCanBeReadAgain) {
  for (const auto& [command, line] : honest_replies()) {
    std::vector<Lie> lies;
    walk(command, json::json_pointer(), parse_reply(line), lies);
    EXPECT_GT(lies.size(), 50U) << command;
    EXPECT_THAT(find_faults(lies), IsEmpty());
  }
}

// A candidate refused to compute a case, with the outcome `ok`, and the gate was green.
TEST_F(LyingWorker, ARefusalIsNeverGreenWhateverItsOutcomeIs) {
  for (const auto& [command, line] : honest_replies()) {
    std::vector<Lie> lies;
    for (const std::string_view outcome : enumerator_names<Outcome>()) {
      json refusal = {{"reply", "refused"}, {"outcome", outcome}, {"reason", "because"}};
      refusal["spent"] = parse_reply(line).at("spent");
      lies.push_back({command, json::json_pointer(), refusal, Lie::Kind::impossible});
    }
    EXPECT_THAT(find_faults(lies), IsEmpty());
  }
}

TEST_F(LyingWorker, AReplyOfAnotherKindIsNeverGreen) {
  const auto replies = honest_replies();
  for (const auto& [command, own] : replies) {
    std::vector<Lie> lies;
    for (const auto& [other, line] : replies) {
      const json reply = parse_reply(line);
      if (reply.at("reply") == parse_reply(own).at("reply")) continue;
      lies.push_back({command, json::json_pointer(), reply, Lie::Kind::impossible});
    }
    EXPECT_THAT(find_faults(lies), IsEmpty());
  }
}

}  // namespace
}  // namespace bench
