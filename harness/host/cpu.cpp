// SPDX-License-Identifier: Apache-2.0
// Implements read_cpu() and machine_class() of environment.hpp.
#include "base/characters.hpp"
#include "base/text.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#define BENCH_TEXT_INNER(x) #x
#define BENCH_TEXT(x) BENCH_TEXT_INNER(x)

namespace bench {
namespace {

// The flags of /proc/cpuinfo by which libraries select instruction sets, oldest first.
constexpr std::array<std::string_view, 22> kDispatchFlags = {
    "sse4_1",         "sse4_2",       "avx",         "f16c",        "fma",      "avx2",
    "avx512f",        "avx512dq",     "avx512bw",    "avx512vl",    "avx512cd", "avx512ifma",
    "avx512_vnni",    "avx512_vbmi2", "avx512_bf16", "avx512_fp16", "avx_vnni", "avx_vnni_int8",
    "avx_ne_convert", "amx_tile",     "amx_int8",    "amx_bf16"};

// Names of Intel's microarchitectures, by model number of family 6. The machine class begins with
// such a name.
struct ModelName {
  int model;
  std::string_view name;
};
constexpr std::array<ModelName, 12> kIntelModels = {{{0x3f, "haswell-server"},
                                                     {0x4f, "broadwell-server"},
                                                     {0x55, "skylake-server"},
                                                     {0x6a, "icelake-server"},
                                                     {0x6c, "icelake-server"},
                                                     {0x8f, "sapphirerapids"},
                                                     {0xcf, "emeraldrapids"},
                                                     {0xad, "graniterapids"},
                                                     {0x8c, "tigerlake"},
                                                     {0x97, "alderlake"},
                                                     {0x9a, "alderlake"},
                                                     {0xb7, "raptorlake"}}};
constexpr int kIntelFamily = 6;
constexpr std::size_t kMaxReadableLength = 32;
#ifdef __clang__
constexpr std::string_view kCompiler = "clang-" BENCH_TEXT(__clang_major__);
#else
constexpr std::string_view kCompiler = "gcc-" BENCH_TEXT(__GNUC__);
#endif
constexpr int kClassSchema = 1;  // increment this when machine_class() hashes other properties

std::optional<int> parse_int(const std::optional<std::string>& text) {
  const auto value = text ? parse_integer(*text) : std::nullopt;
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::string processor_path(int processor) {
  return fmt::format("/sys/devices/system/cpu/cpu{}", processor);
}

void read_cpuinfo(const SystemRoot& root, CpuFacts& cpu) {
  const std::string text = read_text(root, "/proc/cpuinfo").value_or("");
  cpu.vendor = find_labelled_value(text, "vendor_id").value_or("");
  cpu.model = find_labelled_value(text, "model name").value_or("");
  cpu.family = parse_int(find_labelled_value(text, "cpu family"));
  cpu.model_number = parse_int(find_labelled_value(text, "model"));
  cpu.stepping = parse_int(find_labelled_value(text, "stepping"));
  std::istringstream words(find_labelled_value(text, "flags").value_or(""));
  const std::set<std::string, std::less<>> flags{std::istream_iterator<std::string>(words), {}};
  for (const std::string_view flag : kDispatchFlags) {
    if (flags.contains(flag)) cpu.isa.emplace_back(flag);
  }
  cpu.hypervisor = flags.contains("hypervisor");
}

// Returns the processors that this process may use, or else all online processors.
std::vector<int> list_allowed_processors(const SystemRoot& root) {
  const std::string status = read_text(root, "/proc/self/status").value_or("");
  std::vector<int> processors =
      parse_range_list(find_labelled_value(status, "Cpus_allowed_list").value_or(""));
  if (processors.empty()) {
    processors = parse_range_list(read_text(root, "/sys/devices/system/cpu/online").value_or("0"));
  }
  return processors;
}

void read_topology(const SystemRoot& root, const std::vector<int>& processors, CpuFacts& cpu) {
  std::set<std::string> cores;
  std::set<std::int64_t> sockets;
  for (const int processor : processors) {
    const std::string folder = processor_path(processor) + "/topology";
    const auto siblings = read_line(root, folder + "/thread_siblings_list");
    if (siblings) {
      cores.insert(*siblings);
      cpu.threads_per_core = std::max(cpu.threads_per_core.value_or(1),
                                      static_cast<int>(parse_range_list(*siblings).size()));
    }
    if (const auto socket = read_integer(root, folder + "/physical_package_id")) {
      sockets.insert(*socket);
    }
  }
  if (!cores.empty()) cpu.physical_cores = static_cast<int>(cores.size());
  if (!sockets.empty()) cpu.sockets = static_cast<int>(sockets.size());
  if (const auto nodes = read_text(root, "/sys/devices/system/node/online")) {
    cpu.numa_nodes = static_cast<int>(parse_range_list(*nodes).size());
  }
}

// A cache as one processor reports it.
struct Cache {
  std::string name;  // "L1d"
  std::int64_t level;
  Bytes size;
  std::string shared_by;  // list of the processors that share the cache
};

// Returns nullopt for an instruction cache, and if a value is missing.
std::optional<Cache> read_cache(const SystemRoot& root, const std::string& folder) {
  const auto level = read_integer(root, folder + "/level");
  const auto type = read_line(root, folder + "/type");
  const auto size = read_line(root, folder + "/size");
  const auto bytes = size ? parse_cache_size(*size) : std::nullopt;
  if (!level || !type || !bytes || *type == "Instruction") return std::nullopt;
  return Cache{fmt::format("L{}{}", *level, *type == "Data" && *level == 1 ? "d" : ""),
               *level,
               {*bytes},
               read_line(root, folder + "/shared_cpu_list").value_or("")};
}

void read_caches(const SystemRoot& root, const std::vector<int>& processors, CpuFacts& cpu) {
  std::int64_t last_level = 0;
  std::set<std::string> last_level_instances;
  for (const int processor : processors) {
    for (int index = 0;; ++index) {
      const std::string folder = fmt::format("{}/cache/index{}", processor_path(processor), index);
      if (!read_text(root, folder + "/level")) break;
      const std::optional<Cache> cache = read_cache(root, folder);
      if (!cache) continue;
      cpu.caches.emplace(cache->name, cache->size);
      if (cache->level > last_level) {
        last_level = cache->level;
        last_level_instances.clear();
        cpu.last_level.reset();
      }
      if (cache->level == last_level && last_level_instances.insert(cache->shared_by).second) {
        cpu.last_level = cpu.last_level.value_or(Bytes{0}) + cache->size;
      }
    }
  }
}

// Returns the readable part of the machine class.
std::string make_readable_name(const CpuFacts& cpu) {
  if (cpu.vendor == "GenuineIntel" && cpu.family == kIntelFamily) {
    for (const ModelName& row : kIntelModels) {
      if (row.model == cpu.model_number) return std::string(row.name);
    }
  }
  // For other processors, joins the words of the model name: "AMD EPYC 7763 64-Core Processor"
  // becomes "amd-epyc-7763-64-core-processor", shortened to the maximum length.
  std::string name;
  for (const char c : cpu.model.empty() ? cpu.vendor : cpu.model) {
    if (is_letter_or_digit(c)) {
      name += to_lower(c);
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name.resize(std::min(name.size(), kMaxReadableLength));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "cpu" : name;
}

std::string format_or_question_mark(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "?";
}

}  // namespace

CpuFacts read_cpu(const SystemRoot& root) {
  CpuFacts cpu;
  read_cpuinfo(root, cpu);
  const std::vector<int> processors = list_allowed_processors(root);
  cpu.logical = static_cast<int>(processors.size());
  read_topology(root, processors, cpu);
  read_caches(root, processors, cpu);
  return cpu;
}

BuildFacts build_facts() { return {kCompiler, BENCH_COMPILER_FLAGS}; }

std::string machine_class(const CpuFacts& cpu) {
  const BuildFacts build = build_facts();
  std::string identity = fmt::format(
      "schema={};vendor={};name={};family={};model={};stepping={};isa={};logical={};cores={};"
      "sockets={};smt={};numa={};hypervisor={};compiler={};flags={}",
      kClassSchema, cpu.vendor, cpu.model, format_or_question_mark(cpu.family),
      format_or_question_mark(cpu.model_number), format_or_question_mark(cpu.stepping),
      fmt::join(cpu.isa, ","), cpu.logical, format_or_question_mark(cpu.physical_cores),
      format_or_question_mark(cpu.sockets), format_or_question_mark(cpu.threads_per_core),
      format_or_question_mark(cpu.numa_nodes), cpu.hypervisor, build.compiler, build.flags);
  for (const auto& [name, size] : cpu.caches) {
    identity += fmt::format(";{}={}", name, size.count);
  }
  const int cores = cpu.physical_cores.value_or(cpu.logical);
  return fmt::format("{}-{}c-{}", make_readable_name(cpu), cores,
                     content_hash(identity).substr(0, 8));
}

}  // namespace bench
