// SPDX-License-Identifier: Apache-2.0
// Finds out what the workers of both sides load, and whether the loader obeyed their variables.
#include "base/characters.hpp"
#include "base/file.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/gate/sides.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/system_files.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/wire/messages.hpp"
#include "ops/blas_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {
namespace {

void add_library(const ops::LibraryInfo& library, GateSide& side) {
  if (library.name.empty()) return;
  side.libraries[library.name] = library.version;
  if (library.path.empty()) return;
  side.loaded.push_back({library.name, resolve_path(library.path), library.detail});
}

// Adds what the worker has loaded to the side.
void add_loaded(const HelloReply& worker, const std::optional<ProcessFiles>& files,
                GateSide& side) {
  side.build = worker.build;
  if (files) {
    // A launcher may set variables, so sides with different launchers are not the same.
    const bool has_launcher = resolve_path(side.program) != files->program;
    side.loaded.push_back({std::string(kProgramFile), files->program,
                           has_launcher ? "started by " + side.program : ""});
  }
  add_library(worker.library, side);
  for (const ops::LibraryInfo& plugin : worker.plugins) add_library(plugin, side);
  if (!files) return;
  for (const std::string& path : files->libraries) {
    if (std::ranges::find(side.loaded, path, &LoadedFile::path) == side.loaded.end())
      side.other_files.push_back(path);
  }
}

// Adds what is known of a side whose worker did not answer: its program, and the oneDNN that this
// program loads.
void add_unanswered(const std::function<bool()>& must_abort, Env& env, GateSide& side) {
  side.loaded.push_back({std::string(kProgramFile), resolve_path(side.program), ""});
  const auto library =
      find_loaded_onednn({side.program, side.environment, allowed_cores()}, must_abort, *env.clock);
  if (library) add_library(*library, side);
}

// Returns the message of a base that cannot be measured: its files, the reason, and what to do.
std::string explain_base_failure(Error error, const GateSide& base) {
  error.where = base.program;
  for (const LoadedFile& file : base.loaded) {
    if (file.name == kProgramFile) continue;
    error.where += fmt::format(" with {} from {}", file.name, file.path);
  }
  if (error.next.empty()) {
    error.next = fmt::format("see what `{}{} doctor` says", shell_variables(base.environment),
                             shell_quoted(base.program));
  }
  return error.message();
}

bool computes_on_gpu(const Plan& plan) {
  return std::ranges::any_of(plan.cases,
                             [](const Case& spec) { return is_cuda_backend(spec.key.backend); });
}

// Adds the plugin of the GPU and the libraries that compute there. The worker loads them only for a
// case, so another child of the side's program states them. Without a GPU nothing is added, because
// the cases are skipped.
void add_gpu_libraries(const std::function<bool()>& must_abort, Env& env, GateSide& side) {
  const CudaStatus status =
      ask_cuda(side.program, side.environment, ops::cuda::ProbeExtent::libraries, env, must_abort);
  if (cuda_unavailable_reason(status) || !status.report) return;
  side.loaded.push_back({std::string(kGpuPluginFile), resolve_path(status.plugin), status.version});
  for (const ops::LibraryReport& library : status.report->libraries) {
    const std::string name = lower_case(library.name);
    if (!library.usable() || !is_cuda_backend(name)) continue;
    add_library({name, library.version, library.path, ""}, side);
  }
}

// Adds the libraries of matrix products that the plan's cases use. A worker loads them only for a
// case, so a description by the side's program states them. Those that were not found are missing,
// because their cases are skipped.
void add_product_libraries(const Plan& plan, const std::function<bool()>& must_abort, Env& env,
                           GateSide& side) {
  std::set<std::string> used;
  for (const Case& spec : plan.cases) {
    if (ops::find_blas_library(spec.key.backend) != nullptr) used.insert(spec.key.backend);
  }
  if (used.empty()) return;
  // An older program ignores the names and states all libraries.
  std::vector<std::string> arguments = {"--describe"};
  arguments.insert(arguments.end(), used.begin(), used.end());
  const auto text = read_worker_document(
      {side.program, std::move(arguments), side.environment, kDescribeLimit, must_abort}, env);
  if (!text) return;
  const auto document = parse_worker_document(*text);
  if (!document) return;
  for (const WorkerDocument::Device& device : document->devices) {
    if (device.library && used.contains(device.backend)) add_library(*device.library, side);
  }
}

// The answer of a side's worker. `reply` may have any protocol version.
struct SideAnswer {
  HelloReply reply;
  std::optional<ProcessFiles> files;
};

Result<SideAnswer> ask_worker(const WorkerFactory& start, const HelloRequest& hello,
                              const std::function<bool()>& must_abort) {
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerLink> worker, start({1}));
  Result<HelloReply> reply = request_hello(*worker, hello, must_abort);
  std::optional<ProcessFiles> files;
  if (reply.ok() && worker->process_id())
    files = read_process_files(SystemRoot{}, *worker->process_id());
  worker->finish();
  if (!reply.ok()) return reply.error();
  return SideAnswer{*std::move(reply), std::move(files)};
}

// Sets the digests of files that may be copies of each other.
void add_digests(GateSide& base, GateSide& candidate) {
  for (LoadedFile& file : base.loaded) {
    const auto other = std::ranges::find(candidate.loaded, file.name, &LoadedFile::name);
    if (other == candidate.loaded.end() || other->path == file.path) continue;
    std::error_code code, other_code;
    const auto size = std::filesystem::file_size(file.path, code);
    if (size != std::filesystem::file_size(other->path, other_code) || code || other_code) continue;
    file.digest = digest_file(file.path);
    other->digest = digest_file(other->path);
  }
}

// Returns the parts of a list of paths. Like the loader, does not skip spaces in `:` lists.
std::vector<std::string> split_paths(std::string_view list, std::string_view separators) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

// The loader replaces names such as $ORIGIN, which only it knows.
bool has_loader_variable(std::string_view text) { return text.find('$') != text.npos; }

std::set<std::string> loaded_paths(const GateSide& side) {
  std::set<std::string> paths(side.other_files.begin(), side.other_files.end());
  for (const LoadedFile& file : side.loaded) paths.insert(file.path);
  return paths;
}

// Returns the libraries in a folder: name -> path without symbolic links.
std::map<std::string, std::string> libraries_in(const std::string& folder) {
  std::map<std::string, std::string> libraries;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".so") != std::string::npos)
      libraries[name] = resolve_path(entry.path().string());
  }
  return libraries;
}

// Returns the library under test; nullptr if the side has none in a file of its own.
const LoadedFile* find_tested_library(const GateSide& side) {
  const auto found = std::ranges::find_if(
      side.loaded, [](const LoadedFile& file) { return file.name != kProgramFile; });
  return found == side.loaded.end() ? nullptr : &*found;
}

// Returns the name by which the loader searches for a library: "libdnnl.so.3" for
// "/lib/libdnnl.so.3.2". Returns nullopt for a program, which contains its library.
std::optional<std::string> searched_name(const std::string& path) {
  constexpr std::string_view kSuffix = ".so.";
  const std::string file = std::filesystem::path(path).filename().string();
  const std::size_t suffix = file.find(kSuffix);
  if (suffix != std::string::npos) return file.substr(0, file.find('.', suffix + kSuffix.size()));
  return file.ends_with(".so") ? std::optional(file) : std::nullopt;
}

// Returns why the side did not load its library from the folders.
std::string explain_ignored_folders(const std::vector<std::string>& folders,
                                    const LoadedFile& loaded) {
  const std::optional<std::string> searched = searched_name(loaded.path);
  if (!searched) return "the program contains its library";
  const std::string stem = searched->substr(0, searched->find(".so"));
  std::string similar;
  for (const std::string& folder : folders) {
    std::error_code code;
    if (!std::filesystem::is_directory(folder, code))
      return fmt::format("`{}` is not a folder", folder);
    for (const auto& [name, path] : libraries_in(folder)) {
      if (name == *searched) {
        return fmt::format(
            "the loader did not take its {}, perhaps because the program has an RPATH", name);
      }
      if (name.starts_with(stem + ".so.")) similar = name;
    }
  }
  const std::string instead = similar.empty() ? "" : fmt::format(", but {}", similar);
  return fmt::format("it has no {}{}", *searched, instead);
}

Status check_library_path(const std::string& value, const GateSide& side, const GateSide* other) {
  const std::vector<std::string> folders = split_paths(value, ":;");
  if (folders.empty() || has_loader_variable(value)) return Done{};
  const std::set<std::string> loaded = loaded_paths(side);
  const bool is_other_known = other != nullptr && !other->loaded.empty();
  const std::set<std::string> elsewhere =
      is_other_known ? loaded_paths(*other) : std::set<std::string>();
  const LoadedFile* const tested = find_tested_library(side);
  for (const std::string& folder : folders) {
    for (const auto& [name, path] : libraries_in(folder)) {
      const bool is_tested = tested != nullptr && path == tested->path;
      const bool is_own = is_other_known && loaded.contains(path) && !elsewhere.contains(path);
      if (is_tested || is_own) return Done{};
    }
  }
  if (tested == nullptr) return Error{"no library was loaded from these folders", "", ""};
  return Error{fmt::format("{}; {} was loaded from {}", explain_ignored_folders(folders, *tested),
                           tested->name, tested->path),
               "",
               "name the folder of a library that this program can load, or set the variable for "
               "the whole gate"};
}

Status check_preloaded(const std::string& value, const GateSide& side) {
  const std::set<std::string> loaded = loaded_paths(side);
  for (const std::string& library : split_paths(value, ": ")) {
    if (has_loader_variable(library)) continue;
    const bool is_path = library.find('/') != std::string::npos;
    const bool is_loaded = std::ranges::any_of(loaded, [&](const std::string& path) {
      return is_path ? path == resolve_path(library)
                     : std::filesystem::path(path).filename().string().starts_with(library);
    });
    if (!is_loaded) {
      return Error{fmt::format("the loader did not load `{}`", library), "",
                   "name a library that exists and suits this program"};
    }
  }
  return Done{};
}

Status check_existing(const std::string& value) {
  for (const std::string& path : split_paths(value, ":")) {
    std::error_code code;
    if (!std::filesystem::exists(path, code))
      return Error{fmt::format("`{}` does not exist", path), "", "name an existing path"};
  }
  return Done{};
}

// The libraries of a GPU are unknown for a plan without such cases and on a machine without a GPU.
// Then only the paths are checked.
Status check_gpu_libraries(const std::string& value, const GateSide& side) {
  BENCH_RETURN_IF_ERROR(check_existing(value));
  std::vector<std::string> folders;
  for (const std::string& path : split_paths(value, ":")) folders.push_back(resolve_path(path));
  const LoadedFile* outside = nullptr;
  for (const LoadedFile& file : side.loaded) {
    if (!is_cuda_backend(file.name)) continue;
    const std::string folder = std::filesystem::path(file.path).parent_path().string();
    if (std::ranges::find(folders, folder) != folders.end()) return Done{};
    outside = &file;
  }
  if (outside == nullptr) return Done{};
  return Error{fmt::format("no library of the GPU was loaded from there; {} was loaded from `{}`",
                           outside->name, outside->path),
               "", "name the folders that contain libcudnn.so.9 and libcublasLt.so.13"};
}

// Checks the libraries of both options. `base`: nullptr if the base did not answer.
Status check_libraries(const GateSides& sides, const GateSide* base) {
  const auto check = [](const std::optional<SideLibrary>& library, const GateSide* side,
                        const char* option) -> Status {
    if (!library || side == nullptr) return Done{};
    const Status status = check_side_library(*library, *side);
    return status ? status : Status(at_option(status.error(), option));
  };
  BENCH_RETURN_IF_ERROR(check(sides.candidate_library, &sides.candidate, "--cand-library"));
  BENCH_RETURN_IF_ERROR(check(sides.base_library, base, "--base-library"));
  std::vector<std::string> names;
  for (const auto* library : {&sides.base_library, &sides.candidate_library}) {
    if (*library) names.insert(names.end(), (*library)->names.begin(), (*library)->names.end());
  }
  if (names.empty() || base == nullptr) return Done{};
  const Status status = check_libraries_differ(names, *base, sides.candidate);
  if (status) return status;
  return at_option(status.error(), sides.base_library ? "--base-library" : "--cand-library");
}

}  // namespace

Status check_variables(const GateSide& side, const GateSide* other) {
  if (side.loaded.empty() || side.loaded.front().name != kProgramFile) return Done{};
  struct Row {
    std::string_view name;
    Status (*check)(const std::string& value, const GateSide& side, const GateSide* other);
  };
  constexpr auto kPreloaded = [](const std::string& value, const GateSide& from, const GateSide*) {
    return check_preloaded(value, from);
  };
  constexpr auto kGpuLibraries = [](const std::string& value, const GateSide& from,
                                    const GateSide*) { return check_gpu_libraries(value, from); };
  constexpr auto kExisting = [](const std::string& value, const GateSide&, const GateSide*) {
    return check_existing(value);
  };
  std::vector<Row> rows = {{"LD_LIBRARY_PATH", check_library_path},
                           {"LD_PRELOAD", kPreloaded},
                           {"LD_AUDIT", kPreloaded},
                           {"BENCH_CUDA_LIBS", kGpuLibraries},
                           {"BENCH_CUDA_PLUGIN", kExisting}};
  for (const ops::BlasLibrary& library : ops::blas_libraries())
    rows.push_back({library.variable, kExisting});
  for (const Row& row : rows) {
    const auto variable = side.environment.find(std::string(row.name));
    if (variable == side.environment.end()) continue;
    if (const Status status = row.check(variable->second, side, other); !status) {
      Error error = status.error();
      error.where = fmt::format("{}={}", row.name, variable->second);
      return error;
    }
  }
  return Done{};
}

Status inspect_sides(GateSides& sides, const Plan& plan, const std::function<bool()>& must_abort,
                     Env& env) {
  const GateParts parts = real_gate_parts(sides.candidate, sides.base, plan, env);
  const auto candidate = ask_worker(parts.start_candidate, parts.hello, must_abort);
  const bool has_gpu = computes_on_gpu(plan);
  if (candidate.ok()) {
    add_loaded(candidate->reply, candidate->files, sides.candidate);
    if (has_gpu) add_gpu_libraries(must_abort, env, sides.candidate);
    add_product_libraries(plan, must_abort, env, sides.candidate);
  } else {
    add_unanswered(must_abort, env, sides.candidate);
  }
  bool has_base = false;
  if (sides.base) {
    const auto base = ask_worker(parts.start_base, parts.hello, must_abort);
    const Status usable = base.ok() ? check_protocol(base->reply, parts.hello) : base.error();
    has_base = usable.ok();
    if (has_base) {
      add_loaded(base->reply, base->files, *sides.base);
      if (has_gpu) add_gpu_libraries(must_abort, env, *sides.base);
      add_product_libraries(plan, must_abort, env, *sides.base);
      add_digests(*sides.base, sides.candidate);
    } else if (base.ok()) {
      add_loaded(base->reply, base->files, *sides.base);
    } else {
      add_unanswered(must_abort, env, *sides.base);
    }
    if (!has_base && (!must_abort || !must_abort())) {
      // A base that answers has another protocol version; one that does not answer has died.
      sides.base_failure =
          SideFailure{SideFailure::Side::base, base.ok() ? Outcome::unsupported : Outcome::failed,
                      explain_base_failure(usable.error(), *sides.base)};
    }
  }
  const auto check = [](const GateSide& side, const GateSide* other, const char* option) {
    const Status status = check_variables(side, other);
    return status ? status : Status(at_option(status.error(), option));
  };
  BENCH_RETURN_IF_ERROR(check_libraries(sides, has_base ? &*sides.base : nullptr));
  // What a side without an answer has loaded is not known completely.
  if (candidate.ok())
    BENCH_RETURN_IF_ERROR(check(sides.candidate, has_base ? &*sides.base : nullptr, "--cand-env"));
  if (!has_base) return Done{};
  return check(*sides.base, candidate.ok() ? &sides.candidate : nullptr, "--base-env");
}

}  // namespace bench
