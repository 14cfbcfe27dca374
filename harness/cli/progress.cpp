// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.hpp"

#include "base/inherited_signals.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <sys/signalfd.h>
#include <unistd.h>

namespace bench {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr int kDefaultWidth = 80;

std::string format_clock(Nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string format_case_line(const CaseRecord& record) {
  const std::string result =
      record.time ? format_time(record.time->median) : std::string(to_string(record.outcome));
  std::string line = fmt::format("{}: {}", record.id, result);
  if (record.reason) line += fmt::format(" ({})", *record.reason);
  return line;
}

class TerminalProgress final : public RunObserver {
 public:
  explicit TerminalProgress(Env& env) : env_(env), start_(env.clock->now()) {}
  ~TerminalProgress() override { *env_.err << kEraseLine << std::flush; }

  void step(std::int64_t done, std::int64_t total, const std::string& id,
            std::optional<Nanoseconds> remaining) override {
    const std::string head =
        fmt::format("[{}/{}] {}, ", done + 1, total, format_clock(env_.clock->now() - start_));
    const std::string tail =
        remaining ? fmt::format("about {} left, ", format_clock(*remaining)) : "";
    redraw(head + tail, id);
  }
  void case_finished(const CaseRecord& record) override {
    if (record.outcome != Outcome::ok) message(fit(format_case_line(record)));
  }
  void message(const std::string& text) override {
    *env_.err << kEraseLine;
    print_sentence(env_, text);
    env_.err->flush();
  }
  void phase(const std::string& text) override { redraw("", text); }

 private:
  // Shortens a line to the width of the terminal. The table after the run has the complete reason.
  std::string fit(const std::string& line) const {
    return shorten(printable(line),
                   static_cast<std::size_t>(env_.terminal_width.value_or(kDefaultWidth)));
  }
  // Shows `head` and as much of `text` as fits into the line.
  void redraw(const std::string& head, const std::string& text) {
    const auto width = static_cast<std::size_t>(env_.terminal_width.value_or(kDefaultWidth));
    const std::size_t used = display_width(head) + 1;
    *env_.err << kEraseLine << head << shorten(printable(text), width > used ? width - used : 0)
              << std::flush;
  }

  Env& env_;
  Nanoseconds start_;
};

class LineProgress final : public RunObserver {
 public:
  explicit LineProgress(Env& env) : env_(env) {}
  void step(std::int64_t, std::int64_t, const std::string&, std::optional<Nanoseconds>) override {}
  void case_finished(const CaseRecord& record) override { message(format_case_line(record)); }
  void message(const std::string& text) override {
    print_line(*env_.err, text);
    env_.err->flush();
  }

 private:
  Env& env_;
};

class NoProgress final : public RunObserver {
 public:
  void step(std::int64_t, std::int64_t, const std::string&, std::optional<Nanoseconds>) override {}
  void case_finished(const CaseRecord&) override {}
  void message(const std::string&) override {}
};

}  // namespace

std::unique_ptr<RunObserver> make_progress(Verbosity verbosity, Env& env) {
  if (verbosity == Verbosity::quiet) return std::make_unique<NoProgress>();
  if (env.err_is_terminal) return std::make_unique<TerminalProgress>(env);
  return std::make_unique<LineProgress>(env);
}

WaitingLine::WaitingLine(const std::string& text, Env& env) : env_(env) {
  if (!env_.err_is_terminal) return;
  const auto width = static_cast<std::size_t>(env_.terminal_width.value_or(kDefaultWidth));
  *env_.err << kEraseLine << shorten(printable(text), width) << std::flush;
}

WaitingLine::~WaitingLine() {
  if (env_.err_is_terminal) *env_.err << kEraseLine << std::flush;
}

InterruptWatch::InterruptWatch() {
  sigset_t signals;
  sigemptyset(&signals);
  // The descriptor would also report blocked signals that are ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!ignores_signal(signal)) sigaddset(&signals, signal);
  }
  sigprocmask(SIG_BLOCK, &signals, &previous_);
  descriptor_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

InterruptWatch::~InterruptWatch() {
  if (descriptor_ >= 0) close(descriptor_);
  sigprocmask(SIG_SETMASK, &previous_, nullptr);
}

bool InterruptWatch::is_interrupted() {
  signalfd_siginfo info;
  while (descriptor_ >= 0 &&
         read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    was_interrupted_ = true;
  return was_interrupted_;
}

}  // namespace bench
