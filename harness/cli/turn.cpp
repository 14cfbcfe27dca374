// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/turn.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <thread>
#include <unistd.h>

namespace bench {
namespace {

constexpr std::string_view kProfileCommand = "profile";

}  // namespace

Result<MachineTurn> take_turn(const Arguments& arguments, std::optional<Nanoseconds> budget,
                              const std::function<bool()>& interrupted, Env& env) {
  const std::string command = arguments.command_line.empty() ? "" : arguments.command_line.front();
  TurnRequest request;
  request.file = find_turn_file(env, turn_folders());
  request.beside = arguments.beside;
  request.own = make_turn_entry(shell_command("bench", arguments.command_line), env.utc_now());
  request.own.is_profile = command == kProfileCommand;
  if (const auto holder = env.variable(kTurnHolderVariable))
    request.holder = parse_number<std::int64_t>(*holder);
  request.limit = std::min(kTurnLimit, budget.value_or(kTurnLimit));
  request.interrupted = interrupted;
  request.message = [&](const std::string& text) {
    if (arguments.verbosity == Verbosity::quiet) return;
    print_sentence(env, fmt::format("bench {}: {}", command, text));
    env.err->flush();
  };
  request.pause = [](Nanoseconds time) { std::this_thread::sleep_for(time); };
  request.is_alive = is_running;
  return MachineTurn::take(request, *env.clock);
}

Result<MachineTurn> take_turn(const Arguments& arguments, std::optional<Nanoseconds> budget,
                              Env& env) {
  InterruptWatch watch;
  return take_turn(
      arguments, budget, [&watch] { return watch.is_interrupted(); }, env);
}

void include_in_turn(std::map<std::string, std::string>& environment) {
  environment[kTurnHolderVariable] = std::to_string(::getpid());
}

}  // namespace bench
