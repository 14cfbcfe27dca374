// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_gpu/script.hpp"

#include "base/pattern.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace bench::fake_gpu {
namespace {

using nlohmann::json;

// Reads an object's keys; a key that remains unread is unknown. Throws, like the JSON library;
// parse_script catches this once.
class Reader {
 public:
  Reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw std::runtime_error(where_ + ": expected an object");
  }
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::ranges::find(read_, key) == read_.end()) {
        throw std::runtime_error(where_ + ": unknown key `" + key + "`");
      }
    }
  }

  const json* find(const std::string& key) {
    read_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  template <class Value>
  void read(const std::string& key, Value& value) {
    if (const json* found = find(key)) value = found->get<Value>();
  }
  void read(const std::string& key, Nanoseconds& value) {
    if (const json* found = find(key)) value = Nanoseconds(found->get<std::int64_t>());
  }
  void read(const std::string& key, Bytes& value) {
    if (const json* found = find(key)) value = {found->get<std::int64_t>()};
  }
  template <class Value>
  void read(const std::string& key, std::optional<Value>& value) {
    if (const json* found = find(key)) value = found->get<Value>();
  }
  void read(const std::string& key, GpuSize& value) {
    if (const json* found = find(key)) {
      value = {found->at(0).get<std::int64_t>(), found->at(1).get<std::int64_t>(),
               found->at(2).get<std::int64_t>()};
    }
  }
  // Reads one of `names`, in the order of the enumerators.
  template <class Enum, std::size_t kCount>
  void read(const std::string& key, Enum& value, const std::array<const char*, kCount>& names) {
    const json* found = find(key);
    if (found == nullptr) return;
    const auto name = std::ranges::find(names, found->get<std::string>());
    if (name == names.end()) {
      throw std::runtime_error(where_ + "." + key + ": unknown word " + found->dump());
    }
    value = static_cast<Enum>(name - names.begin());
  }
  template <class Row>
  void read_rows(const std::string& key, std::vector<Row>& rows, Row (*read_row)(Reader&)) {
    const json* found = find(key);
    if (found == nullptr) return;
    rows.clear();
    for (const json& row : *found) {
      Reader reader(row, where_ + "." + key + "[" + std::to_string(rows.size()) + "]");
      rows.push_back(read_row(reader));
      reader.finish();
    }
  }
  template <class Value>
  void read_object(const std::string& key, std::optional<Value>& value,
                   Value (*read_value)(Reader&)) {
    const json* found = find(key);
    if (found == nullptr) return;
    value.reset();
    if (found->is_null()) return;
    Reader reader(*found, where_ + "." + key);
    value = read_value(reader);
    reader.finish();
  }

 private:
  const json& object_;
  std::string where_;
  std::vector<std::string> read_;
};

constexpr std::array kErrorKinds = {"unsupported", "skipped", "failed"};
constexpr std::array kVerdicts = {"counted", "unsteady", "throttled", "void"};
constexpr std::array kFaultMoments = {"load", "open", "create", "execution", "sample", "traced"};
constexpr std::array kFaultKinds = {"fail", "sticky", "lost", "abort", "hang"};
constexpr std::array kMemorySources = {"process", "growth"};
// Default error text per kind of fault, in the order of kFaultKinds.
constexpr std::array kErrors = {"cudaErrorLaunchFailure: unspecified launch failure",
                                "cudaErrorIllegalAddress: an illegal memory access was encountered",
                                "cudaErrorDevicesUnavailable: the device fell off the bus", "abort",
                                "hang"};

DeviceScript read_device(Reader& reader) {
  DeviceScript device;
  reader.read("name", device.name);
  std::array<int, 2> compute = {device.major, device.minor};
  reader.read("compute", compute);
  device.major = compute[0];
  device.minor = compute[1];
  reader.read("multiprocessors", device.multiprocessors);
  reader.read("memory_bytes", device.memory);
  reader.read("cache_bytes", device.cache);
  reader.read("clock_hz", device.clock_hz);
  reader.read("memory_clock_khz", device.memory_clock_khz);
  reader.read("memory_bus_bits", device.memory_bus_bits);
  return device;
}

ops::BackendError read_error(Reader& reader) {
  ops::BackendError error{ops::BackendError::Kind::skipped, "the script says so"};
  reader.read("status", error.kind, kErrorKinds);
  reader.read("reason", error.reason);
  return error;
}

ops::cuda::Verdict read_verdict(Reader& reader) {
  ops::cuda::Verdict verdict{ops::cuda::Availability::no_device, "no device", ""};
  std::string name;
  reader.read("availability", name);
  if (!name.empty()) {
    const auto known = enumerator_from_name<ops::cuda::Availability>(name);
    if (!known) throw std::runtime_error("availability: unknown word " + name);
    verdict.availability = *known;
  }
  reader.read("reason", verdict.reason);
  reader.read("remedy", verdict.remedy);
  return verdict;
}

KernelScript read_kernel(Reader& reader) {
  KernelScript kernel;
  reader.read("name", kernel.name);
  reader.read("ns", kernel.time);
  reader.read("grid", kernel.grid);
  reader.read("block", kernel.block);
  reader.read("registers", kernel.registers);
  reader.read("shared_bytes", kernel.shared_bytes);
  return kernel;
}

SampleScript read_sample(Reader& reader) {
  SampleScript sample;
  reader.read("from", sample.first);
  reader.read("to", sample.last);
  reader.read("verdict", sample.verdict, kVerdicts);
  reader.read("reason", sample.reason);
  reader.read("clock_hz", sample.clock_hz);
  reader.read("factor", sample.factor);
  return sample;
}

CaseScript read_case(Reader& reader) {
  CaseScript row;
  reader.read("match", row.match);
  reader.read("launch_ns", row.launch);
  reader.read("implementation", row.implementation);
  reader.read("workspace", row.workspace);
  reader.read_object("refused", row.refused, read_error);
  reader.read("wrong_element", row.wrong_element);
  reader.read("unwritten_element", row.unwritten_element);
  reader.read("details", row.details);
  KernelScript default_kernel;
  reader.read("ns", default_kernel.time);
  row.kernels = {default_kernel};
  reader.read_rows("kernels", row.kernels, read_kernel);
  reader.read("spread", row.spread);
  reader.read_rows("samples", row.samples, read_sample);
  return row;
}

FaultScript read_fault(Reader& reader) {
  FaultScript fault;
  reader.read("at", fault.at, kFaultMoments);
  reader.read("match", fault.match);
  reader.read("after", fault.after);
  reader.read("kind", fault.kind, kFaultKinds);
  fault.error = kErrors[static_cast<std::size_t>(fault.kind)];
  reader.read("error", fault.error);
  return fault;
}

ReadingScript read_reading(Reader& reader) {
  ReadingScript reading;
  reader.read("after_ns", reading.after);
  reader.read("sm_clock_hz", reading.sm_clock_hz);
  reader.read("power_milliwatt", reading.power_milliwatt);
  reader.read("memory_bytes", reading.memory_bytes);
  reader.read("memory_source", reading.memory_source, kMemorySources);
  return reading;
}

TracerScript read_tracer(Reader& reader) {
  TracerScript tracer;
  reader.read("conflict", tracer.conflict);
  reader.read("realtime", tracer.realtime);
  reader.read("dropped", tracer.dropped);
  reader.read("faults", tracer.faults);
  reader.read("notes", tracer.notes);
  reader.read_rows("readings", tracer.readings, read_reading);
  return tracer;
}

CountersScript read_counters(Reader& reader) {
  CountersScript counters;
  reader.read_object("refused", counters.refused, read_error);
  reader.read("passes", counters.passes);
  reader.read("values", counters.values);
  reader.read("absent", counters.absent);
  return counters;
}

Script read_script(Reader& reader) {
  Script script;
  reader.read_object("device", script.device, read_device);
  std::optional<ops::cuda::Verdict> verdict;
  reader.read_object("verdict", verdict, read_verdict);
  if (!script.device) {
    script.verdict = verdict.value_or(
        ops::cuda::Verdict{ops::cuda::Availability::no_device, "a driver, but no device", ""});
  } else {
    script.verdict.availability = ops::cuda::Availability::available;
  }
  reader.read("absent", script.absent);
  reader.read_object("open", script.open, read_error);
  reader.read_rows("cases", script.cases, read_case);
  reader.read_rows("faults", script.faults, read_fault);
  std::optional<TracerScript> tracer;
  reader.read_object("tracer", tracer, read_tracer);
  script.tracer = tracer.value_or(TracerScript());
  std::optional<CountersScript> counters;
  reader.read_object("counters", counters, read_counters);
  script.counters = counters.value_or(CountersScript());
  return script;
}

}  // namespace

Nanoseconds CaseScript::time() const {
  return std::accumulate(
      kernels.begin(), kernels.end(), Nanoseconds(0),
      [](Nanoseconds sum, const KernelScript& kernel) { return sum + kernel.time; });
}

CaseScript Script::find_case(std::string_view problem, std::string_view node) const {
  const auto row = std::ranges::find_if(cases, [&](const CaseScript& candidate) {
    return glob_matches(candidate.match, problem) ||
           (!node.empty() && glob_matches(candidate.match, node));
  });
  CaseScript found = row == cases.end() ? CaseScript() : *row;
  if (found.kernels.empty()) found.kernels.emplace_back();
  for (KernelScript& kernel : found.kernels) {
    if (kernel.name.empty()) {
      kernel.name = "fake_" + std::string(problem.substr(0, problem.find('/'))) + "_kernel";
    }
  }
  return found;
}

Result<Script> parse_script(const std::string& text) {
  try {
    const json document = json::parse(text);
    Reader reader(document, "script");
    Script script = read_script(reader);
    reader.finish();
    return script;
  } catch (const std::exception& exception) {
    return Error{exception.what(), "", ""};
  }
}

}  // namespace bench::fake_gpu
