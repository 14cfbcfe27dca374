// SPDX-License-Identifier: Apache-2.0
// The order of calls, with the reasons:
//   subscribe: first, because it fails and names the tool if another tool uses CUPTI
//   thread ids, attributes, timestamps, buffers: before any kind is enabled
//   kinds: launch kinds before what refines them, because enabling a kind of calls undoes the
//     settings of single calls
//   flush: after synchronising, because CUPTI itself does not wait
//   disable: last kind first; the subscriber stays, and cuptiFinalize is never called
#include "profiler/cupti/collector.hpp"

#include "profiler/cupti/buffer_pool.hpp"
#include "profiler/cupti/record_decoder.hpp"
#include "profiler/cupti/traced_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace bench {

struct CuptiCollector::Shared {
  Shared(const CuptiApi& functions, const CuptiOptions& options)
      : api(functions), pool(options.buffer_bytes, options.most_bytes) {}

  std::optional<std::uint64_t> innermost(std::thread::id thread) const {
    const auto ids = regions.find(thread);
    if (ids == regions.end() || ids->second.empty()) return std::nullopt;
    return ids->second.back();
  }

  const CuptiApi api;
  BufferPool pool;
  std::atomic<std::int64_t> dropped{0};
  std::atomic<std::int64_t> unmarked{0};  // regions that CUPTI rejected
  std::mutex mutex;                       // protects the members below; not held during CUPTI calls
  std::map<std::thread::id, std::vector<std::uint64_t>> regions;  // regions of operators
  std::vector<GpuGraphNode> nodes;
};

namespace {

using Shared = CuptiCollector::Shared;

constexpr const char* kSubscriberName = "bench";

// CUPTI's callbacks for buffers carry no user data, so they find the session here. A call that
// began before the end of the session keeps what it needs.
class ActiveSession {
 public:
  std::shared_ptr<Shared> get() {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  void begin(std::shared_ptr<Shared> session) {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  void end(const std::shared_ptr<Shared>& session) {
    const std::lock_guard lock(mutex_);
    if (session_ == session) session_.reset();
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Shared> session_;
};

// Never destroyed: CUPTI's threads may still call after main() has returned.
ActiveSession& active_session() {
  static auto& session = *new ActiveSession();
  return session;
}

Nanoseconds clock_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

std::uint64_t CUPTIAPI timestamp() {
  return static_cast<std::uint64_t>(clock_time(CLOCK_MONOTONIC).count());
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  const auto session = active_session().get();
  *records = 0;  // no limit: as many as fit
  *buffer = session ? session->pool.request() : nullptr;
  *size = *buffer != nullptr ? session->pool.buffer_bytes() : 0;
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t, std::size_t valid) {
  const auto session = active_session().get();
  if (!session) return std::free(buffer);
  // This code holds no mutex: CUPTI holds its own here and acquires it again.
  std::size_t dropped = 0;
  if (session->api.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) {
    session->dropped += static_cast<std::int64_t>(dropped);
  }
  session->pool.complete(buffer, valid);
}

std::optional<std::uint64_t> node_id(const CuptiApi& api, CUgraphNode node) {
  std::uint64_t id = 0;
  if (node == nullptr || api.graph_node_id(node, &id) != CUPTI_SUCCESS) return std::nullopt;
  return id;
}

// Nodes are created while an operator's calls are captured, and copied when a graph is
// instantiated. A replay identifies them only by number.
void CUPTIAPI resource_changed(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void* data) {
  const bool created = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
  const auto session = active_session().get();
  if (!session || domain != CUPTI_CB_DOMAIN_RESOURCE ||
      (!created && id != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)) {
    return;
  }
  const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
  const auto& graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  const auto number = node_id(session->api, graph.node);
  if (!number) return;
  GpuGraphNode node;
  node.node = *number;
  if (!created) node.copied_from = node_id(session->api, graph.originalNode);
  const std::lock_guard lock(session->mutex);
  if (created) node.external_id = session->innermost(std::this_thread::get_id());
  session->nodes.push_back(node);
}

constexpr std::array kWatchedResources = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                          CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

CUpti_ExternalCorrelationKind external_kind(GpuExternalKind kind) {
  return kind == GpuExternalKind::operation ? CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
                                            : CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
}

// Memory allocated before the window still exists in it.
bool is_fact(const GpuRecord& record) {
  return std::holds_alternative<GpuDevice>(record) || std::holds_alternative<GpuContext>(record) ||
         std::holds_alternative<GpuGraphNode>(record) ||
         std::holds_alternative<GpuAllocation>(record);
}

Error cupti_error(const CuptiApi& api, std::string_view what, CUptiResult result) {
  std::string next = "kernels are timed without a profile";
  if (result == CUPTI_ERROR_UNKNOWN || result == CUPTI_ERROR_NOT_INITIALIZED) {
    next = "is there an NVIDIA driver? `bench doctor` shows what it found";
  }
  return Error{fmt::format("{}: {}", what, format_cupti_result(api, result)),
               std::string(kCuptiSubject), next};
}

}  // namespace

CuptiProcess& CuptiProcess::current() {
  static CuptiProcess process;
  return process;
}

Result<std::unique_ptr<CuptiCollector>> CuptiCollector::start(const CuptiLibrary& library,
                                                              const CuptiOptions& options,
                                                              CuptiProcess& process) {
  if (!process.claim()) {
    return Error{"a second traced session in one process", std::string(kCuptiSubject),
                 "its records cannot be trusted: profile in a separate process"};
  }
  std::unique_ptr<CuptiCollector> collector(new CuptiCollector(library, options));
  if (Status status = collector->subscribe(); !status.ok()) {
    process.release();  // nothing was set up that could affect a second attempt
    return std::move(status).error();
  }
  active_session().begin(collector->shared_);
  Status status = collector->configure();
  if (status.ok()) status = collector->enable_kinds();
  if (!status.ok()) {
    collector->stop();
    library.api.unsubscribe(std::exchange(collector->subscriber_, nullptr));
    return std::move(status).error();
  }
  collector->watch_graphs(1);
  return collector;
}

CuptiCollector::CuptiCollector(const CuptiLibrary& library, const CuptiOptions& options)
    : library_(library),
      api_(library.api),
      options_(options),
      shared_(std::make_shared<Shared>(library.api, options)) {}

CuptiCollector::~CuptiCollector() { stop(); }

Status CuptiCollector::subscribe() {
  std::array<char, 2 * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other{};
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = kSubscriberName;
  parameters.oldSubscriberName = other.data();
  parameters.oldSubscriberSize = other.size() - 1;
  const CUptiResult result = api_.subscribe(&subscriber_, resource_changed, nullptr, &parameters);
  if (result == CUPTI_SUCCESS) return Done{};
  subscriber_ = nullptr;
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    const std::string name = other[0] != '\0' ? fmt::format(" ({})", other.data()) : "";
    return Error{fmt::format("another profiler{} is attached to this process", name),
                 std::string(kCuptiSubject),
                 "stop it to record a profile; kernels are timed without one"};
  }
  return cupti_error(api_, "cannot subscribe", result);
}

Status CuptiCollector::configure() {
  // Uses the same thread ids as tracks: gettid, not pthread_self.
  CUptiResult result = api_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (result != CUPTI_SUCCESS)
    return cupti_error(api_, "cannot use the system's thread ids", result);
  // The buffers are already zeroed; otherwise CUPTI clears them in the program's threads.
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  result = api_.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  if (result != CUPTI_SUCCESS) {
    notes_.push_back(fmt::format("buffers are cleared: {}", format_cupti_result(api_, result)));
  }
  result = api_.register_timestamp(timestamp);
  if (result != CUPTI_SUCCESS) {
    return cupti_error(api_, "cannot use the clock of the profile", result);
  }
  result = api_.register_buffers(buffer_requested, buffer_completed);
  if (result != CUPTI_SUCCESS) return cupti_error(api_, "cannot register buffers", result);
  return Done{};
}

Status CuptiCollector::enable_kinds() {
  for (const TracedKind& row : traced_kinds()) {
    if (row.group != RecordGroup::operators && !options_.groups.contains(row.group)) continue;
    const CUptiResult result = api_.enable(row.kind);
    if (result == CUPTI_SUCCESS) {
      enabled_.push_back(row.kind);
      continue;
    }
    const std::string what = fmt::format("no records of {}", row.name);
    if (row.need == KindNeed::required) return cupti_error(api_, what, result);
    notes_.push_back(fmt::format("{}: {}", what, format_cupti_result(api_, result)));
  }
  silence_calls();
  if (options_.groups.contains(RecordGroup::memory)) api_.enable_allocation_source(1);
  return Done{};
}

// A failure here only adds rows without information, or loses one that is then unattributed.
void CuptiCollector::silence_calls() {
  for (const auto call : silent_runtime_calls()) api_.enable_runtime_api(call, 0);
  if (options_.groups.contains(RecordGroup::api)) {
    for (const auto call : silent_driver_calls()) api_.enable_driver_api(call, 0);
  } else {
    for (const auto call : driver_launches()) api_.enable_driver_api(call, 1);
  }
}

void CuptiCollector::watch_graphs(std::uint32_t enable) {
  for (const auto resource : kWatchedResources) {
    const CUptiResult result =
        api_.enable_callback(enable, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, resource);
    if (enable != 0 && result != CUPTI_SUCCESS) {
      notes_.push_back(
          fmt::format("graph nodes have no operator: {}", format_cupti_result(api_, result)));
      return;
    }
  }
}

// Idempotent.
void CuptiCollector::stop() {
  if (subscriber_ == nullptr) return;
  for (auto kind = enabled_.rbegin(); kind != enabled_.rend(); ++kind) api_.disable(*kind);
  enabled_.clear();
  // The features below are not kinds, so disabling the kinds does not stop them. Their records
  // would go to buffers that nothing provides.
  if (!options_.groups.contains(RecordGroup::api)) {
    for (const auto call : driver_launches()) api_.enable_driver_api(call, 0);
  }
  if (options_.groups.contains(RecordGroup::memory)) api_.enable_allocation_source(0);
  watch_graphs(0);
  active_session().end(shared_);
}

// Decodes the buffers that CUPTI has delivered.
void CuptiCollector::drain(GpuSession& session) {
  CuptiDecoder decoder(api_);
  const std::size_t first = session.records.size();
  for (const FilledBuffer& buffer : shared_->pool.take()) {
    decoder.decode(buffer.bytes.get(), buffer.valid, session);
  }
  note_devices(std::span(session.records).subspan(first));
  const std::lock_guard lock(shared_->mutex);
  for (const GpuGraphNode& node : std::exchange(shared_->nodes, {})) {
    session.records.emplace_back(node);
  }
}

void CuptiCollector::note_devices(std::span<const GpuRecord> records) {
  for (const GpuRecord& record : records) {
    if (const auto* kernel = std::get_if<GpuKernel>(&record)) {
      used_devices_.insert(kernel->place.device);
    } else if (const auto* device = std::get_if<GpuDevice>(&record)) {
      described_devices_.insert(device->device);
    }
  }
}

// Must be called after stop(), because the driver's calls would be traced.
void CuptiCollector::describe_devices(GpuSession& session) const {
  for (const std::int64_t device : used_devices_) {
    if (described_devices_.contains(device)) continue;
    if (auto description = options_.describe_device(device)) {
      session.records.emplace_back(*std::move(description));
    }
  }
}

Status CuptiCollector::open_window(const GpuSynchronise& synchronise) {
  BENCH_RETURN_IF_ERROR(synchronise());
  const CUptiResult result = api_.flush_all(0);
  if (result != CUPTI_SUCCESS) return cupti_error(api_, "cannot deliver its records", result);
  GpuSession before;
  drain(before);
  std::copy_if(before.records.begin(), before.records.end(), std::back_inserter(facts_), is_fact);
  std::size_t dropped = 0;  // from the warm-up; the query resets the count
  api_.dropped_records(nullptr, 0, &dropped);
  shared_->dropped = 0;
  facts_lost_ = shared_->pool.take_discarded() > 0;
  return Done{};
}

void CuptiCollector::collect(GpuSession& session) {
  const CUptiResult result = api_.flush_all(0);
  if (result != CUPTI_SUCCESS) {
    session.faults.push_back(
        fmt::format("records were not delivered: {}", format_cupti_result(api_, result)));
  }
  drain(session);
}

GpuSession CuptiCollector::finish(const GpuSynchronise& synchronise) {
  assert(subscriber_ != nullptr);
  GpuSession session;
  session.pid = getpid();
  session.tracer =
      fmt::format("CUPTI {}, {}", format_cupti_version(library_.version), library_.path);
  if (Status status = synchronise(); !status.ok()) {
    session.faults.push_back(
        fmt::format("the device did not finish: {}", status.error().message()));
  }
  // Read after all work: no record may end later.
  session.clock = {clock_time(CLOCK_MONOTONIC), clock_time(CLOCK_REALTIME)};
  // Flushes complete buffers first, then incomplete ones too, since no more records follow.
  for (const std::uint32_t how :
       {0u, static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)}) {
    const CUptiResult result = api_.flush_all(how);
    if (result == CUPTI_SUCCESS) continue;
    session.faults.push_back(
        fmt::format("records were not delivered: {}", format_cupti_result(api_, result)));
  }
  std::size_t dropped = 0;
  if (api_.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    shared_->dropped += static_cast<std::int64_t>(dropped);
  }
  stop();
  session.records = std::move(facts_);
  drain(session);
  describe_devices(session);
  session.dropped = shared_->dropped;
  if (facts_lost_ && options_.groups.contains(RecordGroup::memory)) {
    session.faults.push_back(
        "allocations of the warm-up are unknown: its records exceeded the buffers; shorten the "
        "warm-up");
  }
  if (const auto buffers = shared_->pool.take_discarded(); buffers > 0) {
    session.faults.push_back(fmt::format("lost {} record buffers: limit of {} MiB reached", buffers,
                                         options_.most_bytes >> 20));
  }
  if (const auto regions = shared_->unmarked.load(); regions > 0) {
    session.faults.push_back(fmt::format("{} operators could not be marked", regions));
  }
  return session;
}

CuptiRegion::CuptiRegion(CuptiCollector& collector, GpuExternalKind kind, std::uint64_t id)
    : shared_(*collector.shared_), kind_(kind) {
  open_ = shared_.api.push_external_id(external_kind(kind), id) == CUPTI_SUCCESS;
  if (!open_) {
    ++shared_.unmarked;
    return;
  }
  if (kind != GpuExternalKind::operation) return;
  const std::lock_guard lock(shared_.mutex);
  shared_.regions[std::this_thread::get_id()].push_back(id);
}

CuptiRegion::~CuptiRegion() {
  if (!open_) return;
  shared_.api.pop_external_id(external_kind(kind_), nullptr);
  if (kind_ != GpuExternalKind::operation) return;
  const std::lock_guard lock(shared_.mutex);
  shared_.regions[std::this_thread::get_id()].pop_back();
}

}  // namespace bench
