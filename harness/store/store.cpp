// SPDX-License-Identifier: Apache-2.0
#include "harness/store/store.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/lines.hpp"
#include "harness/stats/summary.hpp"
#include "harness/store/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bench {

namespace {

Error system_error(std::string_view action, const std::string& path, int code) {
  return {fmt::format("cannot {}: {}", action, std::generic_category().message(code)), path,
          "check the permissions and the space of this folder"};
}

bool ends_without_newline(int descriptor, ::off_t size) {
  char last = '\n';
  return size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Result<FolderLock> FolderLock::acquire(const std::string& folder, LockKind kind) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (opened.get() < 0) return system_error("open the folder", folder, errno);
  const int operation = kind == LockKind::exclusive ? LOCK_EX : LOCK_SH;
  while (::flock(opened.get(), operation) != 0 && errno == EINTR) continue;
  return FolderLock(std::move(opened));
}

Status append_line(const std::string& path, std::string_view line) {
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kNewFileMode));
  struct stat before {};
  if (file.get() < 0 || ::fstat(file.get(), &before) != 0)
    return system_error("open the file for writing", path, errno);
  const bool is_last_line_incomplete = ends_without_newline(file.get(), before.st_size);
  const std::string text = fmt::format("{}{}\n", is_last_line_incomplete ? "\n" : "", line);
  ::ssize_t written = 0;
  do {
    written = ::write(file.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<::ssize_t>(text.size())) return Done{};
  Error error = system_error("append to the file", path, written < 0 ? errno : ENOSPC);
  if (written > 0 && ::ftruncate(file.get(), before.st_size) != 0)
    error.what += " (and its last line is incomplete)";
  return error;
}

namespace {

namespace fs = std::filesystem;

// Maximum size in bytes of a file that the store reads. Several epochs of 30 runs take a few
// megabytes; a larger file probably does not belong to the store.
constexpr std::int64_t kMaxStoreFileSize = std::int64_t{1} << 26;

Error link_error(const std::string& path) {
  std::error_code ignored;
  const std::string_view what = fs::is_directory(path, ignored) ? "folder" : "file";
  return {"is a symbolic link, which a store does not follow", path,
          fmt::format("put the {} itself there", what)};
}

bool is_link(const std::string& path) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path, ignored));
}

bool exists_without_following_links(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Returns the file's text, or an empty text if there is no file. If the caller has not locked the
// folder, the last line may be incomplete.
Result<std::string> read_text(const std::string& path) {
  if (is_link(path)) return link_error(path);
  if (!exists_without_following_links(path)) return std::string();
  return read_file(path, kMaxStoreFileSize);
}

// Adds to the error of a folder of the store what the user can do.
Status advise_other_store(Status status) {
  if (status) return status;
  Error error = std::move(status).error();
  error.next = "choose another one with --baseline DIR";
  return error;
}

Status make_folder(const std::string& path) {
  if (is_link(path)) return link_error(path);
  return advise_other_store(create_folder(path));
}

// Checks that the line can be parsed and gives the same id and machine class.
Status check_readable(const BaselineRecord& record, const std::string& line) {
  const auto parsed = baseline_from_json_line(line);
  if (!parsed.ok()) return Error{parsed.error().what, record.measured.id, "measure the case again"};
  const bool is_same_location =
      parsed->measured.id == record.measured.id &&
      parsed->environment.machine_class == record.environment.machine_class;
  if (is_same_location) return Done{};
  return Error{"its id or machine class is not valid UTF-8", record.measured.id, ""};
}

// Returns an error if a file of ceilings has a bad line: it would be lost if the file were
// replaced.
Status check_readable(const PeakHistory& history) {
  if (history.problems.empty()) return Done{};
  return Error{history.problems.front(), "", "fix or remove the line"};
}

// Returns nullptr if the history does not contain the run.
const BaselineRecord* find_run(const BaselineHistory& history, const std::string& run_id) {
  const auto found = std::ranges::find(history.records, run_id, &BaselineRecord::run_id);
  return found == history.records.end() ? nullptr : &*found;
}

std::int64_t count_runs(const BaselineHistory& history, std::int64_t epoch) {
  return std::ranges::count(history.records, epoch, &BaselineRecord::epoch);
}

// Returns whether an accepted run opens an epoch. The only run of the current epoch does not, if it
// is accepted again. `stored` is the same run in the history, or nullptr.
bool opens_epoch(const BaselineHistory& history, const BaselineRecord* stored) {
  const std::int64_t current = history.last()->epoch;
  return stored == nullptr || stored->epoch != current || count_runs(history, current) > 1;
}

// Sets the record's epoch, and its anchor from the stored run. Returns what to do with the record.
Appended::Result assign_epoch(const BaselineHistory& history, EpochPolicy policy,
                              BaselineRecord& record) {
  const BaselineRecord* last = history.last();
  if (last == nullptr) return Appended::Result::appended;
  const BaselineRecord* stored = find_run(history, record.run_id);
  const bool changes_anchor =
      record.anchor && (stored == nullptr || record.anchor != stored->anchor);
  if (stored != nullptr && !record.anchor) record.anchor = stored->anchor;
  if (policy == EpochPolicy::new_epoch && opens_epoch(history, stored)) {
    record.epoch = last->epoch + 1;
    return Appended::Result::appended;
  }
  record.epoch = stored != nullptr ? stored->epoch : last->epoch;
  if (stored == nullptr && record.measured.case_hash != last->measured.case_hash)
    return Appended::Result::refused;
  return stored == nullptr || changes_anchor ? Appended::Result::appended
                                             : Appended::Result::duplicate;
}

// Returns the lines that prune() keeps: the last runs of each epoch, and all runs with an anchor.
std::vector<StoredLine> select_kept_lines(std::vector<StoredLine> lines) {
  std::map<std::int64_t, std::size_t> counts;  // runs without an anchor, by epoch
  std::vector<StoredLine> kept;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->record.anchor || ++counts[line->record.epoch] <= kRunsPerEpoch)
      kept.push_back(std::move(*line));
  }
  std::ranges::reverse(kept);
  return kept;
}

// Returns the sorted names in a folder.
std::vector<std::string> list_names(const std::string& folder, std::error_code& code) {
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);
  return names;
}

bool is_store_file(const std::string& name) {
  return name.size() > kStoreSuffix.size() && name.ends_with(kStoreSuffix) && name != kPeakFile &&
         name != kProofFile;
}

}  // namespace

bool BaselineStore::holds(std::string_view machine_class) const {
  if (machine_class.empty()) return false;
  std::error_code ignored;
  const auto names = list_names(fmt::format("{}/{}", folder_, store_name(machine_class)), ignored);
  return std::ranges::any_of(names, is_store_file);
}

std::string BaselineStore::file_path(const StoreFile& file) const {
  return fmt::format("{}/{}/{}", folder_, file.folder_name, file.file_name);
}

StoreFile BaselineStore::case_file(std::string_view machine_class, std::string_view id) {
  return {store_name(machine_class), store_file_name(id), std::string(id)};
}

Result<BaselineHistory> BaselineStore::read(const StoreFile& file) const {
  const std::string path = file_path(file);
  const std::string folder = folder_ + "/" + file.folder_name;
  if (is_link(folder)) return link_error(folder);
  if (!exists_without_following_links(path)) return BaselineHistory{path, {}, {}};
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::shared));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  return parse_baseline_file(text, path, file);
}

Result<std::vector<StoreFile>> BaselineStore::list() const {
  std::error_code code;
  const std::vector<std::string> folders = list_names(folder_, code);
  if (code) {
    return Error{fmt::format("no store of baselines: {}", code.message()), folder_,
                 "create one with `bench baseline save`, or name another one with --baseline DIR"};
  }
  std::vector<StoreFile> files;
  for (const std::string& folder : folders) {
    std::error_code unreadable;
    if (!fs::is_directory(folder_ + "/" + folder, unreadable)) continue;
    for (std::string& name : list_names(folder_ + "/" + folder, unreadable)) {
      if (is_store_file(name)) files.push_back({folder, std::move(name), std::nullopt});
    }
    if (unreadable)
      return Error{fmt::format("cannot be read: {}", unreadable.message()), folder_ + "/" + folder,
                   "check the permissions of the folder"};
  }
  return files;
}

SpeedLevels BaselineStore::speed_levels(std::string_view machine_class) const {
  if (machine_class.empty()) return {};
  std::map<int, std::map<Nanoseconds, std::size_t>> files;  // by threads and level
  const std::string folder_name = case_file(machine_class, "").folder_name;
  // Reads only this folder, because folders of other machine classes may be unreadable.
  std::error_code ignored;
  for (std::string& name : list_names(folder_ + "/" + folder_name, ignored)) {
    if (!is_store_file(name)) continue;
    const auto history = read({folder_name, std::move(name), std::nullopt});
    if (!history.ok()) continue;
    const auto first = std::ranges::find_if(history->records, [](const BaselineRecord& record) {
      return record.measured.at && record.measured.canary_threads;
    });
    if (first == history->records.end()) continue;
    ++files[*first->measured.canary_threads][first->measured.at->canary];
  }
  SpeedLevels levels;
  for (const auto& [threads, counts] : files) {
    const auto usual =
        std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    levels.emplace(threads, usual->first);
  }
  return levels;
}

std::optional<Error> BaselineStore::class_folder() const {
  const auto selection = open_store(folder_);
  if (!selection.ok() || selection->store.folder() == folder_) return std::nullopt;
  if (!selection->store.has_baselines(selection->files)) return std::nullopt;
  return Error{"is the folder of one machine class, not a store of baselines", folder_,
               "name its parent folder"};
}

// Checks the content, because result files have the same suffix. A file counts as baselines even if
// all its lines are malformed.
bool BaselineStore::has_baselines(const std::vector<StoreFile>& files) const {
  return std::ranges::any_of(files, [&](const StoreFile& file) {
    const auto text = read_text(file_path(file));
    return !text.ok() || is_baseline_file(*text);
  });
}

std::optional<Error> BaselineStore::foreign_content() const {
  std::error_code code;
  std::vector<std::string> names = list_names(folder_, code);
  const auto files = list();
  if (code || !files.ok()) return std::nullopt;
  if (files->empty()) {
    if (auto error = class_folder()) return error;
  } else if (has_baselines(*files)) {
    return std::nullopt;
  }
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with('.') || name.starts_with("README") ||
           exists_without_following_links(fmt::format("{}/{}/{}", folder_, name, kPeakFile)) ||
           exists_without_following_links(fmt::format("{}/{}/{}", folder_, name, kProofFile));
  });
  if (names.empty()) return std::nullopt;
  return Error{
      fmt::format("is not a store of baselines: it contains `{}`{} and no baseline", names.front(),
                  names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : ""),
      folder_, "create a store with `bench baseline save`; --baseline DIR names it"};
}

Result<Appended> BaselineStore::append(BaselineRecord record, EpochPolicy policy) const {
  if (record.measured.id.empty() || record.environment.machine_class.empty())
    return Error{"lacks the case id or machine class under which to store it", record.measured.id,
                 ""};
  const StoreFile file = case_file(record.environment.machine_class, record.measured.id);
  const std::string folder = folder_ + "/" + file.folder_name;
  const std::string path = file_path(file);
  BENCH_RETURN_IF_ERROR(make_folder(folder));
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::exclusive));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  BaselineHistory history = parse_baseline_file(text, path, file);
  record.epoch = 0;
  Appended result;
  result.result = assign_epoch(history, policy, record);
  result.path = path;
  result.epoch = record.epoch;
  result.problems = std::move(history.problems);
  if (result.result == Appended::Result::refused) {
    result.reason = fmt::format(
        "case_hash differs: {} and in the store {}; `bench baseline accept` "
        "opens an epoch for what it computes now",
        record.measured.case_hash, history.last()->measured.case_hash);
  }
  if (result.result != Appended::Result::appended) return result;
  const std::string line = to_json_line(record);
  BENCH_RETURN_IF_ERROR(check_readable(record, line));
  BENCH_RETURN_IF_ERROR(append_line(path, line));
  return result;
}

Result<Pruned> BaselineStore::prune(const StoreFile& file, Malformed malformed) const {
  const std::string folder = folder_ + "/" + file.folder_name;
  const std::string path = file_path(file);
  if (is_link(folder)) return link_error(folder);
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::exclusive));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  StoredLines parsed = parse_baseline_lines(text, path, file);
  if (!parsed.problems.empty() && malformed == Malformed::refuse) {
    return Error{parsed.problems.front(), "", "fix the line, or drop it with --force"};
  }
  const std::size_t runs = parsed.lines.size();
  const std::vector<StoredLine> kept = select_kept_lines(std::move(parsed.lines));
  const Pruned result{path, kept.size(), runs - kept.size()};
  if (result.dropped == 0 && parsed.repeated == 0 && parsed.problems.empty()) return result;
  std::string new_text;
  for (const StoredLine& line : kept) new_text += line.text + '\n';
  BENCH_RETURN_IF_ERROR(write_file(path, new_text, Existing::replace));
  return result;
}

Result<std::size_t> BaselineStore::remove_run(const StoreFile& file,
                                              std::string_view run_id) const {
  const std::string folder = folder_ + "/" + file.folder_name;
  const std::string path = file_path(file);
  if (is_link(folder)) return link_error(folder);
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::exclusive));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  std::string new_text;
  std::size_t removed = 0;
  for (const NumberedLine& line : Lines(text)) {
    const auto record = baseline_from_json_line(line.text);
    if (record.ok() && record->run_id == run_id) {
      ++removed;
    } else {
      new_text += fmt::format("{}\n", line.text);
    }
  }
  if (removed == 0) return removed;
  if (!new_text.empty()) {
    BENCH_RETURN_IF_ERROR(write_file(path, new_text, Existing::replace));
  } else if (::unlink(path.c_str()) != 0) {
    return system_error("remove the file", path, errno);
  }
  return removed;
}

Result<Adopted> BaselineStore::adopt(const StoreFile& file,
                                     const std::string& machine_class) const {
  BENCH_ASSIGN_OR_RETURN(BaselineHistory source, read(file));
  if (source.records.empty()) return Adopted{};
  const StoreFile target = case_file(machine_class, source.last()->measured.id);
  const std::string folder = folder_ + "/" + target.folder_name;
  const std::string path = file_path(target);
  BENCH_RETURN_IF_ERROR(make_folder(folder));
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::exclusive));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  if (!text.empty()) return Adopted{Adopted::Result::present, 0};
  std::string lines;
  for (BaselineRecord& record : source.records) {
    if (!record.adopted_from) record.adopted_from = record.environment.machine_class;
    record.environment.machine_class = machine_class;
    const std::string line = to_json_line(record);
    BENCH_RETURN_IF_ERROR(check_readable(record, line));
    lines += line + '\n';
  }
  BENCH_RETURN_IF_ERROR(write_file(path, lines, Existing::replace));
  return Adopted{Adopted::Result::adopted, source.records.size()};
}

Status BaselineStore::check_peaks(std::string_view machine_class) const {
  const std::string folder = folder_ + "/" + store_name(machine_class);
  for (const std::string& path : {folder_, folder}) {
    if (is_link(path)) return link_error(path);
  }
  BENCH_RETURN_IF_ERROR(advise_other_store(check_output_folder(folder)));
  BENCH_ASSIGN_OR_RETURN(const PeakHistory history, peaks(machine_class));
  return check_readable(history);
}

Result<FoundPeaks> find_peaks(const std::string& store, std::string_view machine_class) {
  BENCH_ASSIGN_OR_RETURN(PeakHistory found, BaselineStore(store).peaks(machine_class));
  if (found.records.empty() && found.problems.empty()) {
    const std::string fallback(kDefaultStore);
    auto other = BaselineStore(fallback).peaks(machine_class);
    if (other.ok() && !other->records.empty()) return FoundPeaks{*std::move(other), fallback};
  }
  return FoundPeaks{std::move(found), store};
}

Result<PeakHistory> BaselineStore::peaks(std::string_view machine_class) const {
  const std::string folder = folder_ + "/" + store_name(machine_class);
  const std::string path = fmt::format("{}/{}", folder, kPeakFile);
  if (is_link(folder)) return link_error(folder);
  if (machine_class.empty() || !exists_without_following_links(path))
    return PeakHistory{path, {}, {}};
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::shared));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  return parse_peaks(text, path, store_name(machine_class));
}

std::vector<std::string> BaselineStore::peak_problems() const {
  std::vector<std::string> problems;
  std::error_code unreadable;
  for (const std::string& folder : list_names(folder_, unreadable)) {
    const std::string path = fmt::format("{}/{}/{}", folder_, folder, kPeakFile);
    if (is_link(folder_ + "/" + folder) || !exists_without_following_links(path)) continue;
    const auto text = read_text(path);
    if (!text.ok()) {
      problems.push_back(text.error().message());
      continue;
    }
    const PeakHistory history = parse_peaks(*text, path, folder);
    problems.insert(problems.end(), history.problems.begin(), history.problems.end());
  }
  return problems;
}

Result<std::string> BaselineStore::add_peaks(const std::vector<PeakRecord>& records) const {
  if (records.empty() || records.front().machine_class.empty())
    return Error{"there are no ceilings of a known machine class to store", folder_, ""};
  const std::string folder = folder_ + "/" + store_name(records.front().machine_class);
  const std::string path = fmt::format("{}/{}", folder, kPeakFile);
  BENCH_RETURN_IF_ERROR(make_folder(folder));
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::exclusive));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  PeakHistory history = parse_peaks(text, path, store_name(records.front().machine_class));
  BENCH_RETURN_IF_ERROR(check_readable(history));
  history.records.insert(history.records.end(), records.begin(), records.end());
  std::string lines;
  for (const PeakRecord& record : select_last_values(std::move(history.records)))
    lines += to_json_line(record) + "\n";
  BENCH_RETURN_IF_ERROR(write_file(path, lines, Existing::replace));
  return path;
}

std::vector<std::string> BaselineStore::proof_problems() const {
  std::error_code ignored;
  std::vector<std::string> problems;
  for (const std::string& folder : list_names(folder_, ignored)) {
    const std::string path = fmt::format("{}/{}/{}", folder_, folder, kProofFile);
    if (is_link(folder_ + "/" + folder) || !exists_without_following_links(path)) continue;
    const auto text = read_text(path);
    const auto proof = text.ok() ? parse_proofs(*text, path) : text.error();
    if (!proof.ok()) problems.push_back(proof.error().message());
  }
  return problems;
}

Result<std::optional<ProofOfLife>> BaselineStore::proof(std::string_view machine_class) const {
  if (machine_class.empty()) return std::optional<ProofOfLife>();
  const std::string folder = folder_ + "/" + store_name(machine_class);
  const std::string path = fmt::format("{}/{}", folder, kProofFile);
  if (is_link(folder)) return link_error(folder);
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  BENCH_ASSIGN_OR_RETURN(std::optional<ProofOfLife> proof, parse_proofs(text, path));
  if (proof && proof->machine_class != machine_class) {
    return Error{fmt::format("its machine class {} does not belong here", proof->machine_class),
                 path, "remove the file; `bench selftest` writes it again"};
  }
  return proof;
}

Result<std::string> BaselineStore::set_proof(const ProofOfLife& proof) const {
  const std::string folder = folder_ + "/" + store_name(proof.machine_class);
  const std::string path = fmt::format("{}/{}", folder, kProofFile);
  BENCH_RETURN_IF_ERROR(make_folder(folder));
  BENCH_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::acquire(folder, LockKind::exclusive));
  if (is_link(path)) return link_error(path);
  BENCH_RETURN_IF_ERROR(write_file(path, to_json_line(proof) + "\n", Existing::replace));
  return path;
}

Result<std::optional<ProofOfLife>> find_proof(const std::string& store,
                                              std::string_view machine_class) {
  BENCH_ASSIGN_OR_RETURN(std::optional<ProofOfLife> proof,
                         BaselineStore(store).proof(machine_class));
  if (proof || store == kDefaultStore) return proof;
  return BaselineStore(std::string(kDefaultStore)).proof(machine_class);
}

Result<StoreSelection> open_store(const std::string& path) {
  std::error_code code;
  const std::vector<std::string> names = list_names(path, code);
  if (code) return Error{fmt::format("cannot be read: {}", code.message()), path, "check the path"};
  if (!std::ranges::any_of(names, is_store_file)) {
    BaselineStore store(path);
    BENCH_ASSIGN_OR_RETURN(std::vector<StoreFile> files, store.list());
    return StoreSelection{std::move(store), std::move(files)};
  }
  // Without canonical(), filename() would not be the folder's name after a trailing slash or ".".
  const fs::path folder = fs::canonical(path, code);
  if (code) return Error{fmt::format("cannot be read: {}", code.message()), path, "check the path"};
  BaselineStore store(folder.parent_path().string());
  std::vector<StoreFile> files;
  for (const std::string& name : names) {
    if (is_store_file(name)) files.push_back({folder.filename().string(), name, std::nullopt});
  }
  return StoreSelection{std::move(store), std::move(files)};
}

Result<StoreSelection> open_baselines(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(StoreSelection selection, open_store(path));
  // `path` may also be the folder of one machine class instead of a whole store.
  if (!selection.store.has_baselines(selection.files)) {
    if (auto foreign = BaselineStore(path).foreign_content()) return *std::move(foreign);
  }
  return selection;
}

}  // namespace bench
