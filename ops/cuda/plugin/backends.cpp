// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/plugin/backends.hpp"

#include "base/env.hpp"
#include "ops/cuda/availability.hpp"
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/kernels/device/device_launcher.hpp"
#include "ops/cuda/library_report.hpp"
#include "ops/cuda/nvml.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/cuda_runtime.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"
#include "ops/cuda/runtime/device_counters.hpp"
#include "ops/cuda/runtime/lazy_backend.hpp"
#include "ops/cuda/runtime/nvml_conditions.hpp"
#include "ops/cuda/runtime/sampler.hpp"
#include "ops/operator_registry.hpp"
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/cudnn/cudnn_backend.hpp"
#endif

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace bench::ops::cuda {
namespace {

using MadeBackend = Result<std::unique_ptr<Backend>, BackendError>;
using BackendMaker = std::function<MadeBackend(const DeviceParts& device)>;

// What the backends of a process share.
struct Shared {
  std::vector<SearchStep> search;
  Variables variables;
  std::shared_ptr<DeviceSession> session;
  std::shared_ptr<DeviceTracer> tracer;
  std::shared_ptr<DeviceCounters> counters;
};

Result<DeviceParts, BackendError> make_device(const std::vector<SearchStep>& search,
                                              const std::shared_ptr<AllocationLog>& allocations) {
  BENCH_ASSIGN_OR_RETURN(std::shared_ptr<Runtime> runtime, make_cuda_runtime());
  runtime->log_allocations(allocations);
  ConditionWatch watch =
      watch_by_nvml(search, runtime->traits().bus_id, [] { return MonotonicClock().now(); });
  auto sampler = Sampler::create(runtime, std::move(watch));
  if (!sampler) {
    return BackendError{BackendError::Kind::failed,
                        "the plugin's helper kernels cannot run: " + sampler.error().message()};
  }
  return DeviceParts{std::move(runtime), *std::move(sampler)};
}

// Returns the bus id of the device that make_cuda_runtime() uses. Creates no context.
Result<std::string> bus_id_of_device() {
  std::array<char, 32> text{};
  const cudaError_t code = cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), 0);
  if (code == cudaSuccess) return std::string(text.data());
  cudaGetLastError();
  return Error{fmt::format("cudaDeviceGetPCIBusId: {}", cudaGetErrorString(code)), "", ""};
}

std::shared_ptr<const Shared> make_shared_parts(const std::vector<SearchStep>& search,
                                                const Variables& variables) {
  auto shared = std::make_shared<Shared>();
  shared->search = search;
  shared->variables = variables;
  const auto allocations = std::make_shared<AllocationLog>();
  shared->session = std::make_shared<DeviceSession>(
      [search, allocations] { return make_device(search, allocations); });
  const AdditionalSources besides = {
      std::make_shared<DeviceReadings>(readings_by_nvml(search, bus_id_of_device), make_pacer(),
                                       [] { return MonotonicClock().now(); }),
      allocations};
  shared->tracer = make_cupti_tracer(
      [search] { return load_cupti(cupti_candidates(search)); }, CuptiProcess::current(),
      [session = shared->session] { return session->synchronise(); }, besides);
  shared->counters = make_device_counters(search);
  return shared;
}

// The CUDA runtime is part of the plugin.
std::vector<LibraryInfo> cuda_libraries(std::span<const SearchStep> search) {
  int runtime = 0, driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  LibraryInfo of_driver{"nvidia_driver", "", "", "CUDA " + format_cuda_version(driver)};
  LibraryInfo of_nvml{"nvml", "", "", ""};
  if (const auto nvml = Nvml::open(search)) {
    of_driver.version = nvml->driver_version().value_or("");
    of_nvml.version = nvml->library_version().value_or("");
    of_nvml.path = nvml->path();
  } else {
    of_nvml.detail = nvml.error().reason;
  }
  constexpr std::string_view kDriver[] = {"libcuda.so.1"};
  const SearchStep loader{"", "the loader's path"};
  if (const auto library = DynamicLibrary::open(kDriver, std::span(&loader, 1))) {
    of_driver.path = library->path();
  }
  return {{"cuda_runtime", format_cuda_version(runtime), own_folder() + "/libbench_cuda.so",
           "linked into the plugin"},
          of_driver,
          of_nvml};
}

// A library's function table. BackendError: the library was not found.
template <class Api>
using Loaded = Result<std::shared_ptr<const Api>, BackendError>;

// What happens to a backend whose library was not found.
enum class WithoutLibrary { refused, opened };

// The library of a backend that is not open yet.
template <class Api>
struct Library {
  std::string_view name;  // of library_specs()
  Result<std::shared_ptr<const Api>, LoadFailure> (*load)(std::span<const SearchStep> search);
  MadeBackend (*make)(const DeviceParts& device, const Loaded<Api>& api, const Shared& shared);
  WithoutLibrary without = WithoutLibrary::refused;
};

template <class Api>
Loaded<Api> load_library(const Library<Api>& library, std::span<const SearchStep> search) {
  auto loaded = library.load(search);
  if (loaded) return *std::move(loaded);
  return BackendError{BackendError::Kind::unsupported, std::move(loaded).error().reason};
}

template <class Api>
LibraryInfo library_info(const std::string& backend, const Library<Api>& library,
                         const Loaded<Api>& loaded, std::span<const SearchStep> search) {
  if (!loaded) return {backend, "", "", loaded.error().reason};
  const LibraryReport report = report_library(library_spec(library.name), search, {});
  return {backend, report.version, report.path, ""};
}

template <class Api>
MadeBackend open_backend(const std::string& name, const Library<Api>& library,
                         const std::shared_ptr<const Shared>& shared) {
  MonotonicClock clock;
  const Nanoseconds begin = clock.now();
  Loaded<Api> loaded = load_library(library, shared->search);
  if (!loaded && library.without == WithoutLibrary::refused) return std::move(loaded).error();
  const Nanoseconds load_time = clock.now() - begin;
  LazyBackendParts parts;
  parts.name = name;
  parts.library = library_info(name, library, loaded, shared->search);
  parts.further_libraries = cuda_libraries(shared->search);
  parts.session = shared->session;
  parts.tracer = shared->tracer;
  parts.counters = shared->counters;
  parts.make = [api = std::move(loaded), library, shared,
                load_time](const DeviceParts& device) -> MadeBackend {
    device.runtime->note_setup("library", load_time);
    return library.make(device, api, *shared);
  };
  return make_lazy_backend(std::move(parts));
}

template <class Api>
OfferedBackend offer(const std::string& name, std::vector<std::string> operators,
                     const Library<Api>& library, const std::shared_ptr<const Shared>& shared) {
  return {name, std::move(operators), [shared] { return why_no_device(shared->variables); },
          [name, library, shared] { return open_backend(name, library, shared); }};
}

ProductSetting product_setting(const DeviceParts& device, const Variables& variables) {
  return {device, variables, make_device_launcher(device.runtime)};
}

const Library<CublasLtApi> kCublasLt = {
    "cuBLASLt", load_cublaslt,
    [](const DeviceParts& device, const Loaded<CublasLtApi>& api, const Shared& shared) {
      return make_cublaslt_backend(product_setting(device, shared.variables), *api);
    }};

const Library<CublasApi> kCublas = {
    "cuBLAS", load_cublas,
    [](const DeviceParts& device, const Loaded<CublasApi>& api, const Shared& shared) {
      return make_cublas_backend(product_setting(device, shared.variables), *api);
    }};

#ifdef BENCH_HAS_CUDNN
// The first network with a matrix product loads cuBLASLt.
ProductMaker product_maker(const DeviceParts& device, const Shared& shared) {
  using Created = Result<std::unique_ptr<Kernel>, BackendError>;
  auto made = std::make_shared<std::optional<MadeBackend>>();
  return [made, device, search = shared.search, variables = shared.variables](
             const Problem& problem, std::int64_t tuning) -> Created {
    if (!*made) {
      auto api = load_cublaslt(search);
      if (!api) {
        made->emplace(BackendError{BackendError::Kind::unsupported, std::move(api).error().reason});
      } else {
        made->emplace(make_cublaslt_backend(product_setting(device, variables), *api));
      }
    }
    if (!**made) return (*made)->error();
    Backend& backend = ****made;
    backend.set_tuning(tuning);
    return backend.create(problem);
  };
}

const Library<CudnnApi> kCudnn = {
    "cuDNN", load_cudnn,
    [](const DeviceParts& device, const Loaded<CudnnApi>& api, const Shared& shared) {
      return make_cudnn_backend({.device = device,
                                 .api = api,
                                 .launcher = make_device_launcher(device.runtime),
                                 .products = product_maker(device, shared)});
    },
    WithoutLibrary::opened};
#endif

}  // namespace

std::optional<std::string> why_no_device(const Variables& variables) {
  const Verdict verdict = decide(ask_runtime(variables));
  if (verdict.availability != Availability::available) {
    return verdict.remedy.empty() ? verdict.reason
                                  : fmt::format("{}; {}", verdict.reason, verdict.remedy);
  }
  // Reading the properties does not need a context.
  cudaDeviceProp properties{};
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, 0); code != cudaSuccess) {
    cudaGetLastError();
    return fmt::format("the device's properties cannot be read: {} ({})", cudaGetErrorString(code),
                       cudaGetErrorName(code));
  }
  std::string no_code =
      code_unavailable_reason(BENCH_CUDA_ARCHITECTURES, properties.major, properties.minor);
  if (no_code.empty()) return std::nullopt;
  return fmt::format("{}: {}", properties.name, no_code);
}

std::vector<OfferedBackend> cuda_backends(const std::vector<SearchStep>& search,
                                          const Variables& variables) {
  const auto shared = make_shared_parts(search, variables);
  std::vector<OfferedBackend> backends;
#ifdef BENCH_HAS_CUDNN
  std::vector<std::string> served = operators_on("cudnn");
  served.emplace_back(kNetworkOperator);
  backends.push_back(offer("cudnn", std::move(served), kCudnn, shared));
#endif
  backends.push_back(offer("cublaslt", operators_on("cublaslt"), kCublasLt, shared));
  backends.push_back(offer("cublas", operators_on("cublas"), kCublas, shared));
  return backends;
}

std::vector<std::string> served_operators(std::span<const OfferedBackend> backends) {
  std::vector<std::string> all;
  for (const OfferedBackend& backend : backends) {
    for (const std::string& name : backend.operators) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return all;
}

}  // namespace bench::ops::cuda
