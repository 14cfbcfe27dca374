// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/parse.hpp"

#include "harness/cli/help.hpp"
#include "harness/cli/option.hpp"
#include "harness/config/reader.hpp"
#include "profiler/switches.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Result<std::variant<ParsedCommand, HelpOrVersionText>> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "bench");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

ParsedCommand parsed(std::vector<const char*> words) {
  auto result = parse(std::move(words));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  return std::get<ParsedCommand>(*result);
}

std::string error_of(std::vector<const char*> words) {
  const auto result = parse(std::move(words));
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message();
}

TEST(ParseTest, OptionsMayStandBeforeAndBehindOperands) {
  const ParsedCommand command = parsed({"run", "--filter", "conv/*", "a.yaml", "--filter=gemm/*",
                                        "b.yaml", "-o", "out.jsonl", "--quiet"});
  EXPECT_EQ(command.command->name, "run");
  EXPECT_THAT(command.arguments.inputs, testing::ElementsAre("a.yaml", "b.yaml"));
  EXPECT_THAT(command.arguments.filters, testing::ElementsAre("conv/*", "gemm/*"));
  EXPECT_EQ(command.arguments.out, "out.jsonl");
  EXPECT_EQ(command.arguments.verbosity, Verbosity::quiet);
}

TEST(ParseTest, AnOptionOfAnotherProfilerIsAnsweredWithOurs) {
  EXPECT_THAT(error_of({"analyze", "a.jsonl", "--opr-name", "conv"}),
              HasSubstr("`bench analyze` has no option `--opr-name`; use `--name REGEX`"));
  EXPECT_THAT(error_of({"analyze", "a.jsonl", "--input-dtype=float32"}),
              HasSubstr("use `--dtype NAME`, which is `--input-dtype` of MegEngine's"));
  EXPECT_THAT(error_of({"analyze", "a.jsonl", "--show-host"}), HasSubstr("`--kind operator`"));
  EXPECT_THAT(error_of({"analyze", "a.jsonl", "--copy-time"}), HasSubstr("`--kind memcpy`"));
  EXPECT_THAT(error_of({"analyze", "a.jsonl", "--wiki"}), HasSubstr("`--format markdown`"));
  EXPECT_THAT(error_of({"analyze", "a.csv", "--csv"}),
              HasSubstr("use `--format csv`, which is `--csv` of PyProf's prof"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--wiki"}), Not(HasSubstr("markdown")));
}

TEST(ParseTest, ADataTypeMayHaveTheNameOfAnotherFramework) {
  const auto dtypes = [](const char* name) {
    return parsed({"analyze", "a.jsonl", "--dtype", name}).arguments.analysis.dtypes;
  };
  using testing::ElementsAre;
  EXPECT_THAT(dtypes("f32"), ElementsAre("f32"));
  EXPECT_THAT(dtypes("float32"), ElementsAre("float32", "f32"));
  EXPECT_THAT(dtypes("torch.half"), ElementsAre("torch.half", "f16"));
  EXPECT_THAT(dtypes("bfloat16"), ElementsAre("bfloat16", "bf16"));
  EXPECT_THAT(dtypes("int8"), ElementsAre("int8", "s8"));
  EXPECT_THAT(dtypes("int32"), ElementsAre("int32", "s32"));
  EXPECT_THAT(dtypes("complex64"), ElementsAre("complex64"));  // a file may contain it
  EXPECT_THAT(error_of({"analyze", "a.jsonl", "--dtype", "fp8"}), HasSubstr("f8_e5m2"));
}

TEST(ParseTest, ColumnsToGroupByAreAList) {
  const Arguments arguments =
      parsed({"analyze", "a.jsonl", "--aggregate-by", "layer,direction"}).arguments;
  EXPECT_THAT(arguments.analysis.aggregate_by, testing::ElementsAre("layer", "direction"));
}

TEST(ParseTest, ValuesAreTyped) {
  const Arguments arguments = parsed({"run", "a.yaml", "--budget", "90s", "--shard", "2/3",
                                      "--seed", "7", "--require", "gpu"})
                                  .arguments;
  EXPECT_EQ(arguments.budget, std::chrono::seconds(90));
  ASSERT_TRUE(arguments.shard);
  EXPECT_EQ(arguments.shard->index, 2);
  EXPECT_EQ(arguments.shard->count, 3);
  EXPECT_EQ(arguments.seed, 7u);
  EXPECT_TRUE(arguments.require_gpu);
}

TEST(ParseTest, BareProfileAsksForNoCountersPass) {
  const auto kinds_of = [](std::vector<const char*> words) {
    ProfileSwitches switches;
    for (const auto& [name, value] : parsed(std::move(words)).arguments.profile.switches) {
      EXPECT_TRUE(find_switch(name)->apply(switches, value).ok()) << value;
    }
    return switches.groups;
  };
  EXPECT_EQ(kinds_of({"run", "a.yaml", "--profile"}), ProfileSwitches().groups);
  EXPECT_EQ(parsed({"run", "a.yaml", "--profile"}).arguments.profile.mode,
            ProfileArguments::Mode::enabled);
  EXPECT_TRUE(kinds_of({"run", "a.yaml", "--profile=counters"}).contains(RecordGroup::counters));
  EXPECT_TRUE(
      kinds_of({"run", "a.yaml", "--profile=device,counters"}).contains(RecordGroup::counters));
}

TEST(ParseTest, MinTimeIsSecondsInScientificNotationAsMegengineHasIt) {
  const auto min_time = [](const char* text) {
    return parsed({"analyze", "a.log", "--min-time", text}).arguments.analysis.min_time;
  };
  EXPECT_EQ(min_time("1e-4"), std::chrono::microseconds(100));
  EXPECT_EQ(min_time("0.0001"), std::chrono::microseconds(100));
  EXPECT_EQ(min_time("2E3"), std::chrono::seconds(2000));
  EXPECT_EQ(min_time("1e2us"), std::chrono::microseconds(100));
  EXPECT_THAT(error_of({"analyze", "a.log", "--min-time", "1e"}), HasSubstr("--min-time"));
}

TEST(ParseTest, WrongWordsAreNamedWithTheNearestValidOne) {
  EXPECT_THAT(error_of({"rnu", "a.yaml"}), HasSubstr("unknown command `rnu`; did you mean `run`?"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--fitler", "x"}),
              HasSubstr("no option `--fitler`; did you mean `--filter`?"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--device", "cdua"}),
              HasSubstr("unknown device `cdua`; did you mean `cuda`?"));
  EXPECT_THAT(error_of({"run"}), HasSubstr("needs CONFIG|CASE..."));
  EXPECT_THAT(error_of({"doctor", "now"}), HasSubstr("does not accept `now`"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--shard", "3/2"}),
              HasSubstr("expected I/N, 1 <= I <= N"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--shard", "x"}), HasSubstr("--shard"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--budget", "90"}), HasSubstr("90"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--set", "=3"}), HasSubstr("expected key=value"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--out"}), HasSubstr("--out"));
}

// These messages used to name neither the option nor what it needs.
TEST(ParseTest, AMissingOrInvalidValueIsReportedWithItsOption) {
  EXPECT_EQ(error_of({"run", "a.yaml", "-o"}),
            "`--out` needs a value: FILE; `bench run --help` explains it");
  EXPECT_THAT(error_of({"run", "a.yaml", "--budget", "5"}),
              testing::StartsWith("--budget: `5` has no unit; "));
  EXPECT_THAT(error_of({"doctor", "--watch", "-3"}),
              testing::StartsWith("--watch: `-3` is not a duration; "));
  EXPECT_THAT(error_of({"run", "a.yaml", "--benchmark_filter=conv"}),
              HasSubstr("use `--filter '/REGEX/'`, which is `--benchmark_filter` of Google"));
  EXPECT_THAT(error_of({"run", "a.yaml", "--mode=P"}), HasSubstr("omit it: `bench run` checks"));
  EXPECT_THAT(error_of({"run", "a.yaml", "-x"}), HasSubstr("`bench run` has no option `-x`; "));
}

// Regression test: `--quick=3` and even `--quick=false` used to be accepted.
TEST(ParseTest, AFlagAcceptsNoValue) {
  EXPECT_EQ(error_of({"run", "a.yaml", "--quick=3"}),
            "`--quick` does not accept a value; write `--quick` instead of `--quick=3`");
  EXPECT_TRUE(parsed({"run", "a.yaml", "--quick"}).arguments.quick);
  EXPECT_EQ(parsed({"run", "a.yaml", "--filter=a=b"}).arguments.filters,
            std::vector<std::string>{"a=b"});
}

// One of the two was ignored silently.
TEST(ParseTest, OptionsThatContradictEachOtherAreRefusedWithBothNames) {
  EXPECT_EQ(error_of({"run", "a.yaml", "--profile", "--no-profile"}),
            "--no-profile and --profile contradict each other; omit one of them");
  EXPECT_EQ(error_of({"run", "a.yaml", "--no-profile", "--sample-rate", "2"}),
            "--no-profile and --sample-rate contradict each other; omit one of them");
  EXPECT_EQ(error_of({"run", "a.yaml", "--resume", "a.jsonl", "-o", "b.jsonl"}),
            "--resume and --out contradict each other; omit one of them");
  EXPECT_EQ(error_of({"compare", "a", "b", "--json", "--format", "text"}),
            "--json and --format text contradict each other; omit one of them");
  EXPECT_EQ(parsed({"compare", "a", "b", "--json", "--format", "json"}).arguments.format, "json");
}

TEST(ParseTest, EveryContradictionIsOfOptionsThatExist) {
  for (const Contradiction& pair : contradictions()) {
    EXPECT_NE(find_option(pair.first), nullptr) << pair.first;
    EXPECT_NE(find_option(pair.second), nullptr) << pair.second;
  }
}

// A time near 2^63 ns overflowed in any addition.
TEST(ParseTest, ABudgetOfMoreThanAYearIsRefused) {
  EXPECT_EQ(parsed({"run", "a.yaml", "--budget", "8760h"}).arguments.budget, kMaxDuration);
  EXPECT_EQ(error_of({"run", "a.yaml", "--budget", "9223372036854775807ns"}),
            "--budget: `9223372036854775807ns` is longer than a year; give at most 8760h");
}

TEST(WithoutFlag, LettersBesideItAndWhatIsNoOptionStay) {
  const Option& flag = *find_option("dry-run");
  const std::vector<std::string> words = {"run", "-n",    "-nq",    "--dry-run", "-qo", "n",
                                          "-on", "--set", "name=n", "--",        "-n"};
  EXPECT_THAT(without_flag(words, flag),
              testing::ElementsAre("run", "-q", "-qo", "n", "-on", "--set", "name=n", "--", "-n"));
}

TEST(ParseTest, EveryOptionOfEveryCommandExists) {
  for (const Command& command : commands()) {
    EXPECT_THAT(options_of(command), Not(Contains(testing::IsNull()))) << command.name;
  }
}

// Neither a misspelt command nor a command without the option would be noticed otherwise.
TEST(ParseTest, WhatAnOptionSaysOfACommandIsOfACommandThatHasIt) {
  for (const Option& option : options()) {
    for (const InCommand& row : option.details.in) {
      if (row.command.empty()) continue;
      const Command* command = find_command(row.command);
      ASSERT_NE(command, nullptr) << row.command;
      EXPECT_THAT(options_of(*command), Contains(&option)) << row.command << " " << option.name;
    }
  }
}

TEST(ParseTest, EverySwitchWithAnOptionHasIt) {
  for (const SwitchRow& row : switch_rows()) {
    if (row.option.empty()) continue;
    EXPECT_NE(find_option(row.option), nullptr) << row.option;
  }
}

TEST(ParseTest, HelpOfEveryCommandNamesAllItsOptions) {
  for (const Command& command : commands()) {
    const std::string help = command_help(command);
    for (const Option* option : options_of(command))
      EXPECT_THAT(help, HasSubstr("--" + std::string(option->name)));
    const auto asked = parse({std::string(command.name).c_str(), "--help"});
    ASSERT_TRUE(asked.ok());
    EXPECT_EQ(std::get<HelpOrVersionText>(*asked).text, help);
  }
}

// Returns the first line of a text that is wider than a terminal; empty if there is none.
std::string too_wide(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 80) return line;
  }
  return "";
}

TEST(HelpTest, EveryTextFitsATerminalOf80Columns) {
  EXPECT_EQ(too_wide(program_help()), "");
  EXPECT_EQ(too_wide(format_manual()), "");
  for (const Command& command : commands()) {
    EXPECT_EQ(too_wide(command_help(command)), "") << command.name;
  }
}

TEST(HelpTest, AnOptionSaysOnlyWhatIsTrueOfItsCommand) {
  for (const Command& command : commands()) {
    const std::string help = command_help(command);
    const std::string options = help.substr(std::min(help.find("\nOptions:\n"), help.size()));
    const std::string own = options.substr(0, options.find("\nExamples:\n"));
    for (const Command& other : commands()) {
      // For example "run: of each case", "; analyze: csv", "(gate: a folder)".
      for (const char* before : {"  ", "; ", "("}) {
        EXPECT_EQ(own.find(fmt::format("{}{}: ", before, other.name)), std::string::npos)
            << command.name << " describes " << other.name << "\n"
            << own;
      }
    }
  }
  const auto help_of = [](std::string_view command, std::string_view option) {
    return option_help(command, *find_option(option)).help;
  };
  EXPECT_THAT(help_of("run", "out"), HasSubstr("bench-NAME-RUNID.jsonl"));
  EXPECT_THAT(help_of("gate", "out"), HasSubstr("folder"));
  EXPECT_THAT(help_of("duet", "out"), Not(HasSubstr("folder")));
  EXPECT_THAT(help_of("compare", "format"), HasSubstr("markdown"));
  EXPECT_THAT(help_of("list", "quiet"), Not(HasSubstr("progress")));
  EXPECT_THAT(help_of("list", "shard"), Not(HasSubstr("concatenate")));
  // --quiet suppresses messages, never a result.
  for (const char* command : {"run", "list", "compare", "analyze", "gate", "history", "peak"})
    EXPECT_THAT(help_of(command, "quiet"), HasSubstr("only results and errors")) << command;
}

TEST(HelpTest, TheManualHoldsEveryCommandAndIsNamedByTheHelp) {
  const std::string manual = format_manual();
  for (const Command& command : commands()) {
    if (command.visibility != Visibility::shown) continue;
    EXPECT_THAT(manual, HasSubstr(command_help(command)));
  }
  EXPECT_THAT(program_help(), HasSubstr("`bench man` is the manual"));
  EXPECT_THAT(manual, HasSubstr("NO_COLOR"));
}

// Returns the names of the variables that sources outside of tests contain as texts.
std::set<std::string> variables_in_sources() {
  std::set<std::string> names;
  const std::regex quoted("\"(BENCH_[A-Z_]*[A-Z])\"");
  for (const char* folder : {"base", "profiler", "ops", "harness"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::string(BENCH_SOURCE_DIR "/") + folder)) {
      const std::string path = entry.path().string();
      const bool is_source = path.ends_with(".cpp") || path.ends_with(".hpp");
      if (!is_source || path.ends_with("_test.cpp") || path.find("/fakes/") != std::string::npos)
        continue;
      const std::string text = test::read_text(path);
      for (std::sregex_iterator match(text.begin(), text.end(), quoted), end; match != end; ++match)
        names.insert((*match)[1]);
    }
  }
  return names;
}

// Earlier, the manual lacked BENCH_CUDA_LIBS, BENCH_CUDA_PLUGIN and BENCH_SLOWDOWN.
TEST(HelpTest, TheManualHasEveryVariableThatAUserMaySet) {
  // `bench` sets these for its child processes, and the launcher for `bench`.
  const std::set<std::string> internal = {"BENCH_CALLED_AS", "BENCH_COORDINATOR",
                                          "BENCH_LOCK_HOLDER", "BENCH_STREAMS",
                                          "BENCH_WORKER_CHANNEL"};
  const std::set<std::string> names = variables_in_sources();
  EXPECT_THAT(names, Contains("BENCH_SLOWDOWN"));
  const std::string manual = format_manual();
  const std::string page = manual_page();
  for (const std::string& name : names) {
    if (internal.contains(name) || name.starts_with("BENCH_CAPTURE_")) continue;
    EXPECT_THAT(manual, HasSubstr("  " + name));
    EXPECT_THAT(page, HasSubstr(".B " + name));
  }
}

TEST(HelpTest, TheManualNamesTheFilesThatComeWithTheProgram) {
  EXPECT_THAT(format_manual(), HasSubstr("share/bench/configs"));
  EXPECT_THAT(manual_page(), HasSubstr("share/bench/configs"));
}

TEST(HelpTest, ExamplesHaveTheirCommentAboveThem) {
  EXPECT_THAT(command_help(*find_command("doctor")),
              HasSubstr("\nExamples:\n  bench doctor\n  # without observing the machine\n"
                        "  bench doctor --watch 0s\n"));
}

TEST(HelpTest, ManPageAndCompletionHoldEveryShownCommand) {
  for (const Command& command : commands()) {
    const std::string name(command.name);
    const bool shown = command.visibility == Visibility::shown;
    EXPECT_EQ(manual_page().find("\n.SS " + name + " ") != std::string::npos, shown) << name;
    EXPECT_EQ(bash_completion().find("    " + name + ") options=") != std::string::npos, shown)
        << name;
    EXPECT_EQ(zsh_completion().find("    '" + name + ":") != std::string::npos, shown) << name;
  }
}

TEST(MainTest, TheLauncherNamesTheProgramOfItsOwnProcessOnly) {
  MonotonicClock clock;
  Env env = real_env(clock);
  std::optional<std::string> launcher;
  env.variable = [&launcher](const std::string& name) {
    return name == kProgramNameVariable ? launcher : std::nullopt;
  };
  EXPECT_EQ(program_name("bench", 7, env), "bench");
  EXPECT_EQ(program_name("/opt/bench/bin/bench", 7, env), "/opt/bench/bin/bench");
  launcher = "7 ./bench";
  EXPECT_EQ(program_name("/src/build/release/bench", 7, env), "./bench");
  launcher = "7 ../my checkout/bench";
  EXPECT_EQ(program_name("/src/build/release/bench", 7, env), "../my checkout/bench");
  // Inherited from another process, or not set by the launcher.
  for (const char* other : {"71 ./bench", "6 ./bench", "7 ", "7", "", "./bench"}) {
    launcher = other;
    EXPECT_EQ(program_name("bench", 7, env), "bench") << other;
  }
}

TEST(MainTest, UsageErrorsGoToStderrAndExit2) {
  MonotonicClock clock;
  std::ostringstream out;
  std::ostringstream err;
  Env env = real_env(clock);
  env.out = &out;
  env.err = &err;
  const char* words[] = {"bench", "frobnicate"};
  EXPECT_EQ(bench_main(2, words, env), 2);
  EXPECT_EQ(out.str(), "");
  EXPECT_THAT(err.str(), HasSubstr("bench: unknown command `frobnicate`"));
  const char* version[] = {"bench", "--version"};
  EXPECT_EQ(bench_main(2, version, env), 0);
  EXPECT_THAT(out.str(), HasSubstr("bench 0."));
}

}  // namespace
}  // namespace bench
