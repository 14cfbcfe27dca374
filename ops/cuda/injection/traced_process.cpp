// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/injection/traced_process.hpp"

#include "profiler/capture/spool_format.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

Nanoseconds clock_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

GpuSession make_session(std::string tracer) {
  GpuSession session;
  session.pid = getpid();
  session.tracer = std::move(tracer);
  session.clock = {clock_time(CLOCK_MONOTONIC), clock_time(CLOCK_REALTIME)};
  return session;
}

// Replaces the wait for the device at the end. A program that needs its last kernels waits for them
// itself. If the tracer waited, it might wait for a kernel that never ends.
Status skip_wait() { return Done{}; }

}  // namespace

void TracedProcess::begin(const std::function<Result<CuptiLibrary>()>& load,
                          const CuptiOptions& options, CuptiProcess& process) {
  auto library = load();
  if (!library.ok()) return write_failure(library.error());
  library_ = std::move(library).value();
  auto collector = CuptiCollector::start(*library_, options, process);
  if (!collector.ok()) return write_failure(collector.error());
  collector_ = std::move(collector).value();
  GpuSession session =
      make_session(fmt::format("CUPTI {}", format_cupti_version(library_->version)));
  for (const std::string& note : collector_->notes()) session.records.emplace_back(GpuNote{note});
  static_cast<void>(file_.append(gpu_session_line(session)));
  write(session);
}

void TracedProcess::write_failure(const Error& error) {
  GpuSession session = make_session(capture::kNoTracer);
  session.faults.push_back(error.message());
  static_cast<void>(file_.append(gpu_session_line(session) + gpu_session_end_line({0, {}})));
}

void TracedProcess::dump() {
  if (!collector_) return;
  GpuSession session;
  collector_->collect(session);
  write(session);
}

// Omits external ids: the program passes them to its own profiler, and they have no meaning here.
void TracedProcess::write(GpuSession& session) {
  std::erase_if(session.records, [](const GpuRecord& record) {
    return std::holds_alternative<GpuExternalId>(record);
  });
  faults_.insert(session.faults.begin(), session.faults.end());
  dropped_ += session.dropped;
  if (session.records.empty()) return;
  const Status status = file_.append(format_gpu_records(session.records));
  if (!status.ok()) faults_.insert(status.error().message());
}

void TracedProcess::write_end() {
  static_cast<void>(file_.append(
      gpu_session_end_line({dropped_, std::vector<std::string>(faults_.begin(), faults_.end())})));
}

void TracedProcess::end() {
  if (!collector_) return;
  GpuSession session = collector_->finish(skip_wait);
  write(session);
  write_end();
  collector_.reset();
}

DumpThread::DumpThread(TracedProcess& process, Nanoseconds period) : process_(process) {
  sigset_t all_signals{}, previous_mask{};
  sigfillset(&all_signals);
  pthread_sigmask(SIG_SETMASK, &all_signals, &previous_mask);
  std::thread([this, period] { run(period); }).detach();
  pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
}

void DumpThread::run(Nanoseconds period) {
  std::unique_lock lock(mutex_);
  while (!state_changed_.wait_for(lock, period, [this] { return stopping_; })) {
    lock.unlock();
    process_.dump();
    lock.lock();
  }
  stopped_ = true;
  state_changed_.notify_all();
}

bool DumpThread::stop(Nanoseconds grace_period) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  state_changed_.notify_all();
  return state_changed_.wait_for(lock, grace_period, [this] { return stopped_; });
}

namespace {

// Sets a switch to the value of an environment variable. Ignores missing and invalid values.
void apply_variable(const char* name, const char* variable, const Variables& variables,
                    ProfileSwitches& switches) {
  const auto value = variables(variable);
  ProfileSwitches changed = switches;
  if (value && find_switch(name)->apply(changed, *value).ok()) switches = changed;
}

}  // namespace

std::optional<InjectionSettings> injection_settings(const Variables& variables) {
  const auto spool = variables(capture::kSpoolVariable);
  if (!spool || spool->empty()) return std::nullopt;
  ProfileSwitches switches;
  apply_variable("kinds", capture::kKindsVariable, variables, switches);
  apply_variable("dump_period", capture::kDumpPeriodVariable, variables, switches);
  // This group is always recorded, because it attributes kernels to operators.
  switches.groups.insert(RecordGroup::operators);
  return InjectionSettings{*spool, switches.groups, switches.dump_period};
}

namespace {

// Maximum number of traced programs that one process can run one after the other (exec).
constexpr int kMaxFiles = 10'000;

// Describes the error in `errno`.
Error errno_error(std::string_view what, const std::string& path) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno)), path, ""};
}

Status write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t size = write(descriptor, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return errno_error("cannot be written", path);
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return Done{};
}

}  // namespace

Result<GpuSpoolWriter> GpuSpoolWriter::create(const std::string& spool, std::int64_t pid) {
  const std::string stem = fmt::format("{}{}{}", spool, capture::kGpuSpoolSuffix, pid);
  for (int number = 1; number <= kMaxFiles; ++number) {
    const std::string path = number == 1 ? stem : fmt::format("{}.{}", stem, number);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      close(descriptor);
      return GpuSpoolWriter(path);
    }
    if (errno != EEXIST) return errno_error("cannot be made", path);
  }
  return Error{"all names are taken", stem, ""};
}

Status GpuSpoolWriter::append(std::string_view text) const {
  const int descriptor = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return errno_error("cannot be opened", path_);
  Status status = write_all(descriptor, text, path_);
  close(descriptor);
  return status;
}

}  // namespace bench::ops::cuda
