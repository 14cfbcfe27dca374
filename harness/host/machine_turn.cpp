// SPDX-License-Identifier: Apache-2.0
#include "harness/host/machine_turn.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bench {
namespace {

constexpr const char* kTurnFileName = "bench.lock";
// A file that every user may lock and write into, whatever the umask of its creator.
constexpr ::mode_t kSharedFileMode = 0666;
// Maximum number of bytes that are read from the file, which any user can write.
constexpr std::size_t kMaxTurnFile = std::size_t{1} << 16;
constexpr std::size_t kMaxCommand = 100;
// How often a waiting measurement looks whether it may begin.
constexpr Nanoseconds kTurnPause = std::chrono::milliseconds(100);
constexpr std::string_view kUnknownMeasurement = "a process that did not give its name";

void fields(auto& archive, JsonOf<TurnEntry> auto& entry) {
  BENCH_MEMBERS(archive, entry, process, started_ticks);
  BENCH_OPTIONAL_MEMBERS(archive, entry, (name_space, "namespace"), since, command);
  BENCH_MEMBERS(archive, entry, is_profile);
}

std::string format_line(const TurnEntry& entry) {
  return json_object([&](JsonWriter& writer) { fields(writer, entry); }) + "\n";
}

// Returns the entries of the file. Skips what is not an entry: any user can write into the file.
std::vector<TurnEntry> read_entries(int file) {
  std::string text(kMaxTurnFile, '\0');
  const ::ssize_t size = ::pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<::ssize_t>(size, 0)));
  std::vector<TurnEntry> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto document = parse_json(line);
    if (!document.ok() || !document->root().is_object()) continue;
    TurnEntry entry;
    JsonReader reader(document->root());
    fields(reader, entry);
    if (reader.ok()) entries.push_back(std::move(entry));
  }
  return entries;
}

// The file may be read-only for this user. Its lock works nevertheless, only the entry is missing.
void write_at(int file, std::string_view text, ::off_t offset) {
  [[maybe_unused]] const ::ssize_t written = ::pwrite(file, text.data(), text.size(), offset);
}

void append_entry(int file, const TurnEntry& own) {
  struct stat state {};
  if (::fstat(file, &state) == 0) write_at(file, format_line(own), state.st_size);
}

// Replaces the content of the file by the entries of processes that run, and the own one.
void replace_entries(int file, const std::vector<TurnEntry>& others, const TurnEntry& own) {
  std::string text;
  for (const TurnEntry& entry : others) text += format_line(entry);
  if (::ftruncate(file, 0) == 0) write_at(file, text + format_line(own), 0);
}

// Opens the file and creates it if it is missing. A link, a device or a FIFO is refused: another
// user may have put it there. A file of another user is opened without O_CREAT, with which the
// kernel refuses it in a folder such as /tmp (fs.protected_regular).
Descriptor open_turn_file(const std::string& path) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int file = ::open(path.c_str(), O_RDWR | kFlags);
  if (file < 0 && errno == ENOENT) {
    file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, kSharedFileMode);
    if (file >= 0) {
      [[maybe_unused]] const int status = ::fchmod(file, kSharedFileMode);
    } else if (errno == EEXIST) {
      file = ::open(path.c_str(), O_RDWR | kFlags);
    }
  }
  if (file < 0 && errno == EACCES) file = ::open(path.c_str(), O_RDONLY | kFlags);
  Descriptor opened(file);
  struct stat state {};
  const bool is_regular =
      file >= 0 && ::fstat(file, &state) == 0 && (state.st_mode & S_IFMT) == S_IFREG;
  return is_regular ? std::move(opened) : Descriptor(-1);
}

bool try_lock(int file, const TurnEntry& own) {
  const int operation = own.is_profile ? LOCK_SH : LOCK_EX;
  int status = 0;
  do {
    status = ::flock(file, operation | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  return status == 0;
}

// The measurements that a request waits for at one moment.
struct TurnState {
  bool is_locked = false;    // whether this process has the lock
  bool is_included = false;  // whether the turn of the process that started this one includes it
  std::vector<TurnEntry> others;
};

TurnState look(int file, const TurnRequest& request, bool was_locked) {
  TurnState state;
  state.is_locked = was_locked || try_lock(file, request.own);
  for (const TurnEntry& entry : read_entries(file)) {
    const bool is_visible = entry.name_space == request.own.name_space;
    if (is_visible && entry.process == request.own.process) continue;
    // A process of another container cannot be seen. It runs if something has the lock.
    if (is_visible ? !request.is_alive(entry) : state.is_locked) continue;
    if (is_visible && request.holder == entry.process) {
      state.is_included = true;
      continue;
    }
    if (!(request.own.is_profile && entry.is_profile)) state.others.push_back(entry);
  }
  return state;
}

bool may_begin(const TurnState& state) {
  return state.is_included || (state.is_locked && state.others.empty());
}

// "10 min", "30.00 s"
std::string format_limit(Nanoseconds limit) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limit);
  return minutes == limit ? fmt::format("{} min", minutes.count()) : format_time(limit);
}

std::vector<std::string> list_texts(const std::vector<TurnEntry>& entries) {
  std::vector<std::string> texts;
  for (const TurnEntry& entry : entries) texts.push_back(entry.text());
  return texts;
}

std::vector<std::string> name_others(const TurnState& state) {
  if (state.others.empty()) return {std::string(kUnknownMeasurement)};
  return list_texts(state.others);
}

std::int64_t read_started_ticks(const std::string& process) {
  constexpr std::size_t kStartField = 22 - 3;
  const std::vector<std::string> fields = read_process_fields(SystemRoot{}, process);
  return fields.size() > kStartField ? parse_integer(fields[kStartField]).value_or(0) : 0;
}

std::string read_name_space() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/ns/pid", code).string();
}

// Returns whether every user can create files in the folder and remove only their own.
bool is_shared_folder(const std::string& folder) {
  constexpr ::mode_t kNeeded = S_ISVTX | S_IWOTH | S_IXOTH;
  struct stat state {};
  return ::stat(folder.c_str(), &state) == 0 && (state.st_mode & S_IFMT) == S_IFDIR &&
         (state.st_mode & kNeeded) == kNeeded;
}

}  // namespace

std::span<const std::string> turn_folders() {
  static const std::array<std::string, 2> kFolders = {"/run/lock", "/tmp"};
  return kFolders;
}

std::optional<std::string> find_turn_file(const Env& env, std::span<const std::string> folders) {
  if (auto file = env.variable(kTurnFileVariable))
    return file->empty() ? std::nullopt : std::move(file);
  const auto folder = std::ranges::find_if(folders, is_shared_folder);
  if (folder == folders.end()) return std::nullopt;
  return fmt::format("{}/{}", *folder, kTurnFileName);
}

std::string TurnEntry::text() const {
  std::string text = fmt::format("process {}", process);
  if (!command.empty()) text += fmt::format(", `{}`", shorten(command, kMaxCommand));
  return since.empty() ? text : fmt::format("{}, since {}", text, since);
}

TurnEntry make_turn_entry(std::string command, std::string since) {
  return {::getpid(), read_started_ticks("self"), read_name_space(), std::move(since),
          std::move(command)};
}

bool is_running(const TurnEntry& entry) {
  return entry.name_space == read_name_space() &&
         read_started_ticks(std::to_string(entry.process)) == entry.started_ticks;
}

Result<MachineTurn> MachineTurn::take(const TurnRequest& request, Clock& clock) {
  MachineTurn turn(request.file ? open_turn_file(*request.file) : Descriptor(-1), request.own);
  const int file = turn.file_.get();
  if (file < 0) return turn;
  const Nanoseconds begin = clock.now();
  TurnState state = look(file, request, false);
  const std::string others = fmt::format("{}", fmt::join(name_others(state), "; "));
  if (!may_begin(state) && request.beside == Beside::refuse) {
    return Error{fmt::format("another measurement runs on this machine: {}", others), "--beside",
                 "start again after its end, or with --beside wait or --beside run"};
  }
  const bool waits = !may_begin(state) && request.beside == Beside::wait;
  if (waits) {
    request.message(fmt::format(
        "waits at most {} for another measurement on this machine: {}; --beside run measures at "
        "once",
        format_limit(request.limit), others));
  }
  while (waits && !may_begin(state) && clock.now() - begin < request.limit) {
    if (request.interrupted && request.interrupted())
      return Error{"interrupted while it waited for another measurement", "", ""};
    request.pause(kTurnPause);
    state = look(file, request, state.is_locked);
  }
  if (!may_begin(state)) {
    turn.beside_ = name_others(state);
    request.message(
        fmt::format("measures beside {}, so times may be too long", fmt::join(turn.beside_, "; ")));
  } else if (waits) {
    request.message(fmt::format("measures now, after {}", format_time(clock.now() - begin)));
  }
  if (state.is_included) return turn;
  if (state.is_locked && !request.own.is_profile) {
    replace_entries(file, state.others, request.own);
  } else {
    append_entry(file, request.own);
  }
  turn.before_ = read_entries(file);
  return turn;
}

std::vector<std::string> MachineTurn::joined() const {
  if (file_.get() < 0) return {};
  std::vector<TurnEntry> entries = read_entries(file_.get());
  std::erase_if(entries, [&](const TurnEntry& entry) {
    const bool is_other_profile = own_.is_profile && entry.is_profile;
    return entry == own_ || is_other_profile || std::ranges::count(before_, entry) > 0;
  });
  return list_texts(entries);
}

std::vector<std::string> MachineTurn::all() const {
  std::vector<std::string> all = beside_;
  std::ranges::move(joined(), std::back_inserter(all));
  return all;
}

}  // namespace bench
