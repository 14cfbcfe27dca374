// SPDX-License-Identifier: Apache-2.0
// The order of calls follows NVIDIA's own use of the interface (NVIDIA/nvbench,
// cupti_profiler_host.cxx). First come initialise, chip, availability and host configuration. Then
// come enable, data image and configuration, and for each pass start, push, pop and stop. Decode
// and evaluate come last.
#include "profiler/cupti/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {
namespace {

using Step = Result<Done, CounterError>;

constexpr const char* kRangeName = "bench";
constexpr std::size_t kRanges = 1;
// CUPTI may need more executions than it planned passes. This limit ends the loop if it never
// reports that all passes are submitted.
constexpr std::size_t kMaxRepetitions = 4;

Step step(const CounterLibrary& library, std::string_view what, CUptiResult result) {
  if (result == CUPTI_SUCCESS) return Done{};
  return counter_error(library.cupti, what, result);
}

CounterError failure(std::string what, std::string next = "") {
  return {CounterObstacle::failed, {std::move(what), "GPU counters", std::move(next)}};
}

// One field of CUPTI's reply that states why a device cannot be profiled, and its meaning in words.
struct SupportFlag {
  CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*level;
  std::string_view meaning;
};
using Supported = CUpti_Profiler_DeviceSupported_Params;
constexpr std::array<SupportFlag, 6> kSupportFlags = {{
    {&Supported::architecture, "CUPTI does not support counters of this architecture"},
    {&Supported::sli, "not with SLI"},
    {&Supported::vGpu, "a virtual GPU without profiling"},
    {&Supported::confidentialCompute, "not with confidential computing"},
    {&Supported::cmp, "not on mining processors"},
    {&Supported::wsl, "not in WSL"},
}};

// The profiler on a context, and the image that receives its counter data.
class RangeProfiler {
 public:
  explicit RangeProfiler(const CounterLibrary& library) : library_(library) {}
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  Step prepare(CUcontext context, const CounterConfig& config);
  Step run(const std::function<Status()>& execute, std::size_t passes);
  Step decode();
  std::span<const std::uint8_t> data() const { return data_; }

 private:
  Step make_data(const CounterConfig& config);
  Step set_config(const CounterConfig& config);
  Step begin_pass();
  Step end_pass();
  Step stop();

  const CounterLibrary& library_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> data_;
  bool submitted_ = false;  // whether all passes were submitted
};

RangeProfiler::~RangeProfiler() {
  if (object_ == nullptr) return;
  CUpti_RangeProfiler_Disable_Params parameters{};
  parameters.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  library_.api.disable(&parameters);
}

Step RangeProfiler::prepare(CUcontext context, const CounterConfig& config) {
  CUpti_RangeProfiler_Enable_Params parameters{};
  parameters.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
  parameters.ctx = context;
  BENCH_RETURN_IF_ERROR(
      step(library_, "cannot start the range profiler", library_.api.enable(&parameters)));
  object_ = parameters.pRangeProfilerObject;
  BENCH_RETURN_IF_ERROR(make_data(config));
  return set_config(config);
}

Step RangeProfiler::make_data(const CounterConfig& config) {
  std::vector<const char*> metrics = config.metric_pointers();
  CUpti_RangeProfiler_GetCounterDataSize_Params size{};
  size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
  size.pRangeProfilerObject = object_;
  size.pMetricNames = metrics.data();
  size.numMetrics = metrics.size();
  size.maxNumOfRanges = kRanges;
  size.maxNumRangeTreeNodes = kRanges;
  BENCH_RETURN_IF_ERROR(
      step(library_, "cannot get the size of the counter data", library_.api.data_size(&size)));
  data_.assign(size.counterDataSize, 0);
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params image{};
  image.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
  image.pRangeProfilerObject = object_;
  image.counterDataSize = data_.size();
  image.pCounterData = data_.data();
  return step(library_, "cannot initialise the counter data", library_.api.initialize_data(&image));
}

Step RangeProfiler::set_config(const CounterConfig& config) {
  CUpti_RangeProfiler_SetConfig_Params parameters{};
  parameters.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  parameters.configSize = config.image().size();
  parameters.pConfig = config.image().data();
  parameters.counterDataImageSize = data_.size();
  parameters.pCounterDataImage = data_.data();
  parameters.range = CUPTI_UserRange;
  parameters.replayMode = CUPTI_UserReplay;
  parameters.maxRangesPerPass = kRanges;
  parameters.numNestingLevels = 1;
  parameters.minNestingLevel = 1;
  parameters.passIndex = 0;
  parameters.targetNestingLevel = 1;
  return step(library_, "cannot configure the device's counters",
              library_.api.set_config(&parameters));
}

Step RangeProfiler::begin_pass() {
  CUpti_RangeProfiler_Start_Params start{};
  start.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
  start.pRangeProfilerObject = object_;
  BENCH_RETURN_IF_ERROR(step(library_, "cannot start a pass", library_.api.start(&start)));
  CUpti_RangeProfiler_PushRange_Params push{};
  push.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE;
  push.pRangeProfilerObject = object_;
  push.pRangeName = kRangeName;
  Step pushed = step(library_, "cannot start a range", library_.api.push_range(&push));
  if (!pushed) static_cast<void>(stop());
  return pushed;
}

Step RangeProfiler::stop() {
  CUpti_RangeProfiler_Stop_Params parameters{};
  parameters.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  Step stopped = step(library_, "cannot end a pass", library_.api.stop(&parameters));
  submitted_ = parameters.isAllPassSubmitted != 0;
  return stopped;
}

Step RangeProfiler::end_pass() {
  CUpti_RangeProfiler_PopRange_Params pop{};
  pop.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE;
  pop.pRangeProfilerObject = object_;
  Step popped = step(library_, "cannot end a range", library_.api.pop_range(&pop));
  Step stopped = stop();
  return popped ? stopped : popped;
}

Step RangeProfiler::run(const std::function<Status()>& execute, std::size_t passes) {
  for (std::size_t i = 0; !submitted_; ++i) {
    if (i == passes * kMaxRepetitions) {
      return failure(fmt::format("{} passes did not suffice, {} were planned", i, passes));
    }
    BENCH_RETURN_IF_ERROR(begin_pass());
    Status executed = execute();
    Step ended = end_pass();
    // The failure of the execution is the cause of what follows.
    if (!executed) return CounterError{CounterObstacle::failed, std::move(executed).error()};
    BENCH_RETURN_IF_ERROR(std::move(ended));
  }
  return Done{};
}

Step RangeProfiler::decode() {
  CUpti_RangeProfiler_DecodeData_Params decode{};
  decode.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
  decode.pRangeProfilerObject = object_;
  BENCH_RETURN_IF_ERROR(
      step(library_, "cannot decode the counter data", library_.api.decode(&decode)));
  if (decode.numOfRangeDropped > 0) return failure("the range was dropped", "run it again");
  CUpti_RangeProfiler_GetCounterDataInfo_Params info{};
  info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  BENCH_RETURN_IF_ERROR(
      step(library_, "cannot read the counter data", library_.api.data_info(&info)));
  if (info.numTotalRanges != kRanges) {
    return failure(fmt::format("{} ranges were counted, expected one", info.numTotalRanges));
  }
  return Done{};
}

}  // namespace

CounterSession::CounterSession(const CounterLibrary& library, const CounterDevice& device)
    : library_(library), device_(device) {}

CounterSession::~CounterSession() {
  config_.reset();
  if (!initialised_) return;
  CUpti_Profiler_DeInitialize_Params parameters{};
  parameters.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
  library_.api.deinitialize(&parameters);
}

Result<std::unique_ptr<CounterSession>, CounterError> CounterSession::start(
    const CounterLibrary& library, const CounterDevice& device,
    std::span<const LogicalCounter> counters) {
  std::unique_ptr<CounterSession> session(new CounterSession(library, device));
  BENCH_RETURN_IF_ERROR(session->initialise());
  BENCH_RETURN_IF_ERROR(session->check_device());
  BENCH_RETURN_IF_ERROR(session->name_chip());
  BENCH_RETURN_IF_ERROR(session->choose(counters));
  return session;
}

CounterSession::Step CounterSession::initialise() {
  CUpti_Profiler_Initialize_Params parameters{};
  parameters.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  const CUptiResult result = library_.api.initialize(&parameters);
  initialised_ = result == CUPTI_SUCCESS;
  if (initialised_) return Done{};
  CounterError error = counter_error(library_.cupti, "cannot start the profiler", result);
  if (result == CUPTI_ERROR_UNKNOWN || result == CUPTI_ERROR_NOT_INITIALIZED) {
    error.error.next = "is there an NVIDIA driver? `bench doctor` shows what it found";
  }
  return error;
}

CounterSession::Step CounterSession::check_device() {
  CUpti_Profiler_DeviceSupported_Params parameters{};
  parameters.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
  parameters.cuDevice = static_cast<CUdevice>(device_.index);
  parameters.api = CUPTI_PROFILER_RANGE_PROFILING;
  BENCH_RETURN_IF_ERROR(step(library_, "the device does not report whether it has counters",
                             library_.api.device_supported(&parameters)));
  if (parameters.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return Done{};
  const auto* const flag =
      std::find_if(kSupportFlags.begin(), kSupportFlags.end(), [&](const SupportFlag& row) {
        return parameters.*row.level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
      });
  const std::string_view meaning =
      flag == kSupportFlags.end() ? "this device has none" : flag->meaning;
  return CounterError{CounterObstacle::not_supported, {std::string(meaning), "GPU counters", ""}};
}

CounterSession::Step CounterSession::name_chip() {
  CUpti_Device_GetChipName_Params parameters{};
  parameters.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  parameters.deviceIndex = device_.index;
  BENCH_RETURN_IF_ERROR(
      step(library_, "the device does not name its chip", library_.api.chip_name(&parameters)));
  if (parameters.pChipName == nullptr) return failure("the device does not name its chip");
  chip_ = parameters.pChipName;
  BENCH_ASSIGN_OR_RETURN(const std::vector<std::string> chips, supported_chips(library_));
  if (std::find(chips.begin(), chips.end(), chip_) != chips.end()) return Done{};
  return CounterError{CounterObstacle::not_supported,
                      {fmt::format("CUPTI does not know the chip {}", chip_), "GPU counters",
                       "use the CUPTI of a later CUDA"}};
}

Result<CounterAvailability, CounterError> CounterSession::availability() {
  constexpr std::string_view kWhat = "the device does not report which counters it has";
  CounterAvailability image;
  CUpti_Profiler_GetCounterAvailability_Params parameters{};
  parameters.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
  parameters.ctx = device_.context;
  BENCH_RETURN_IF_ERROR(step(library_, kWhat, library_.api.availability(&parameters)));
  image.resize(parameters.counterAvailabilityImageSize);
  parameters.pCounterAvailabilityImage = image.data();
  BENCH_RETURN_IF_ERROR(step(library_, kWhat, library_.api.availability(&parameters)));
  image.resize(parameters.counterAvailabilityImageSize);
  return image;
}

CounterSession::Step CounterSession::choose(std::span<const LogicalCounter> counters) {
  BENCH_ASSIGN_OR_RETURN(CounterAvailability available, availability());
  BENCH_ASSIGN_OR_RETURN(const CounterHost host,
                         CounterHost::open(library_, chip_, std::move(available)));
  plan_ =
      plan_counters(chip_, counters, [&](std::string_view metric) { return host.offers(metric); });
  if (plan_.answers.empty()) return Done{};
  BENCH_ASSIGN_OR_RETURN(CounterConfig config, host.configure(plan_.metrics()));
  config_ = std::make_unique<CounterConfig>(std::move(config));
  return Done{};
}

Result<CounterReadings, CounterError> CounterSession::measure(
    const std::function<Status()>& execute) {
  if (!config_) return read_counters(plan_, {});
  RangeProfiler profiler(library_);
  BENCH_RETURN_IF_ERROR(profiler.prepare(device_.context, *config_));
  BENCH_RETURN_IF_ERROR(profiler.run(execute, config_->passes()));
  BENCH_RETURN_IF_ERROR(profiler.decode());
  BENCH_ASSIGN_OR_RETURN(const std::vector<double> values, config_->evaluate(profiler.data()));
  return read_counters(plan_, values);
}

}  // namespace bench
