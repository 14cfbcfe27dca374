// SPDX-License-Identifier: Apache-2.0
// For tests: a cuDNN that records its input, offers scripted engines, and executes plans as
// launches of a scripted device. As on an H100, a convolution multiplies its result by its factor,
// and the gradient of pooling in nchw demands source and result of the forward pass. Only one
// object may exist at a time, because a function table has no user data.
#pragma once

#include "base/data_type.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/runtime/scripted_runtime.hpp"

#include <cudnn_graph.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::cudnn_test {

struct FakeEngine {
  std::int64_t index = 0;
  std::vector<std::int32_t> notes = {};
  std::int64_t workspace = 0;
  Nanoseconds time{1000};
  bool finishes = true;  // whether a plan with this engine can be finalised
  bool executes = true;
  std::int64_t knob = 2;    // value of the engine's only setting, knob 7
  Nanoseconds planning{0};  // time on the host until a plan is finalised, or fails
  bool computes = true;     // whether it does what `FakeCudnn::work` says
};

class FakeCudnn {
 public:
  using Addresses = std::map<std::int64_t, void*>;

  explicit FakeCudnn(std::shared_ptr<test::ScriptedRuntime> runtime)
      : runtime_(std::move(runtime)) {
    current_ = this;
  }
  ~FakeCudnn() { current_ = nullptr; }
  FakeCudnn(const FakeCudnn&) = delete;
  FakeCudnn& operator=(const FakeCudnn&) = delete;

  std::vector<FakeEngine> engines = {{}};          // engines of heuristics modes A and B
  std::optional<std::vector<FakeEngine>> precise;  // engines of mode B, if they are others
  std::vector<FakeEngine> fallbacks = {};          // engines of the fallback mode
  // Engines of modes A and B for graphs of one operation. Empty: `engines`.
  std::vector<FakeEngine> engines_of_one = {};
  // Engines of modes A and B for convolutions whose source has this many channels.
  std::map<std::int64_t, std::vector<FakeEngine>> engines_by_channels = {};
  std::int64_t max_operations = 99;            // larger graphs have no engine
  std::function<void(const Addresses&)> work;  // called by each execution
  // Called by each execution with the graph's descriptor (graph_evaluation.hpp).
  std::function<void(cudnnBackendDescriptor_t graph, const Addresses&)> evaluate;
  std::vector<Addresses> executions;  // addresses of each enqueued execution
  std::vector<void*> workspaces;      // workspace of each enqueued execution
  std::int64_t heuristics = 0;        // number of queries
  std::int64_t plans = 0;             // number of finalised plans
  std::int64_t failed_plans = 0;
  std::int64_t handles = 0;  // number of handles that are not destroyed yet
  bool rejects_handle = false;
  void* stream = nullptr;
  // Returns the number of descriptors that are not destroyed yet.
  std::int64_t live() const { return static_cast<std::int64_t>(descriptors_.size()); }

  // Returns the values of a descriptor's attribute; none if it is not set.
  template <class T>
  static std::vector<T> attribute(cudnnBackendDescriptor_t descriptor,
                                  cudnnBackendAttributeName_t name) {
    return read_values<T>(to_fake(descriptor), name);
  }
  static cudnnBackendDescriptorType_t type_of(cudnnBackendDescriptor_t descriptor) {
    return to_fake(descriptor).type;
  }

  std::shared_ptr<const CudnnApi> api() const {
    auto api = std::make_shared<CudnnApi>();
    api->get_version = [] { return std::size_t{91900}; };
    api->get_error_string = [](cudnnStatus_t) { return "CUDNN_STATUS_FAKE"; };
    api->get_last_error_string = [](char* text, std::size_t size) {
      std::strncpy(text, "as the script says", size);
    };
    api->create = [](cudnnHandle_t* handle) {
      if (current_->rejects_handle) return CUDNN_STATUS_NOT_INITIALIZED;
      *handle = reinterpret_cast<cudnnHandle_t>(current_);
      ++current_->handles;
      return CUDNN_STATUS_SUCCESS;
    };
    api->destroy = [](cudnnHandle_t) {
      --current_->handles;
      return CUDNN_STATUS_SUCCESS;
    };
    api->set_stream = [](cudnnHandle_t, cudaStream_t new_stream) {
      current_->stream = new_stream;
      return CUDNN_STATUS_SUCCESS;
    };
    api->create_descriptor = [](cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t* descriptor) {
      auto fake = std::make_unique<FakeDescriptor>();
      fake->type = type;
      *descriptor = fake.get();
      const std::lock_guard lock(current_->mutex_);
      current_->descriptors_.emplace(fake.get(), std::move(fake));
      return CUDNN_STATUS_SUCCESS;
    };
    api->destroy_descriptor = [](cudnnBackendDescriptor_t descriptor) {
      const std::lock_guard lock(current_->mutex_);
      current_->descriptors_.erase(descriptor);
      return CUDNN_STATUS_SUCCESS;
    };
    api->set_attribute = [](cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values) {
      const auto* bytes = static_cast<const std::uint8_t*>(values);
      to_fake(descriptor)
          .values[name]
          .assign(bytes, bytes + static_cast<std::size_t>(count) * size_of(type));
      return CUDNN_STATUS_SUCCESS;
    };
    api->get_attribute = [](cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t, std::int64_t limit, std::int64_t* count,
                            void* values) {
      return current_->get(to_fake(descriptor), name, limit, *count, values);
    };
    api->finalize = [](cudnnBackendDescriptor_t descriptor) {
      const std::lock_guard lock(current_->mutex_);
      return current_->finish(to_fake(descriptor));
    };
    api->execute = [](cudnnHandle_t, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
      return current_->execute(to_fake(plan), to_fake(pack));
    };
    api->path = "fake";
    return api;
  }

 private:
  struct FakeDescriptor {
    cudnnBackendDescriptorType_t type{};
    std::map<int, std::vector<std::uint8_t>> values;
    FakeEngine engine;      // for configurations, engines and plans
    void* graph = nullptr;  // for configurations and plans
  };

  static std::size_t size_of(cudnnBackendAttributeType_t type) {
    static const std::set<int> kWide = {CUDNN_TYPE_HANDLE, CUDNN_TYPE_INT64, CUDNN_TYPE_DOUBLE,
                                        CUDNN_TYPE_VOID_PTR, CUDNN_TYPE_BACKEND_DESCRIPTOR};
    if (kWide.count(type) > 0) return 8;
    return type == CUDNN_TYPE_CHAR || type == CUDNN_TYPE_BOOLEAN ? 1 : 4;
  }
  static FakeDescriptor& to_fake(cudnnBackendDescriptor_t descriptor) {
    return *static_cast<FakeDescriptor*>(descriptor);
  }
  template <class T>
  static std::vector<T> read_values(const FakeDescriptor& descriptor, int name) {
    const auto found = descriptor.values.find(name);
    if (found == descriptor.values.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), found->second.size());
    return values;
  }
  template <class T>
  static cudnnStatus_t write_values(const std::vector<T>& source, std::int64_t& count,
                                    void* values) {
    count = static_cast<std::int64_t>(source.size());
    std::memcpy(values, source.data(), source.size() * sizeof(T));
    return CUDNN_STATUS_SUCCESS;
  }

  cudnnStatus_t get(FakeDescriptor& descriptor, cudnnBackendAttributeName_t name,
                    std::int64_t limit, std::int64_t& count, void* values) {
    auto* const targets = static_cast<cudnnBackendDescriptor_t*>(values);
    switch (name) {
      case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
        const std::vector<FakeEngine> list = list_engines(descriptor);
        count = std::min(limit, static_cast<std::int64_t>(list.size()));
        for (std::int64_t i = 0; i < count; ++i) {
          to_fake(targets[i]).engine = list[static_cast<std::size_t>(i)];
          to_fake(targets[i]).graph =
              read_values<void*>(descriptor, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).at(0);
        }
        return CUDNN_STATUS_SUCCESS;
      }
      case CUDNN_ATTR_ENGINECFG_ENGINE:
      case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
        count = 1;
        to_fake(targets[0]).engine = descriptor.engine;
        return CUDNN_STATUS_SUCCESS;
      case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
        // Like cuDNN, returns this attribute only to a request for one value.
        if (limit != 1) return CUDNN_STATUS_BAD_PARAM;
        return write_values(std::vector<std::int32_t>{7}, count, values);
      case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
        return write_values(std::vector<std::int64_t>{descriptor.engine.knob}, count, values);
      case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        return write_values(std::vector<std::int64_t>{descriptor.engine.index}, count, values);
      case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        return write_values(descriptor.engine.notes, count, values);
      case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        return write_values(std::vector<std::int64_t>{descriptor.engine.workspace}, count, values);
      default:
        count = 0;
        return CUDNN_STATUS_SUCCESS;
    }
  }

  std::vector<FakeEngine> list_engines(const FakeDescriptor& heuristic) const {
    const auto graph = read_values<void*>(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    const auto operations = read_values<void*>(to_fake(graph.at(0)), CUDNN_ATTR_OPERATIONGRAPH_OPS);
    if (static_cast<std::int64_t>(operations.size()) > max_operations) return {};
    const auto mode = read_values<std::int32_t>(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE);
    if (mode.at(0) == CUDNN_HEUR_MODE_FALLBACK) return fallbacks;
    if (mode.at(0) == CUDNN_HEUR_MODE_B && precise) return *precise;
    for (void* operation : operations) {
      const auto x =
          read_values<void*>(to_fake(operation), CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
      if (x.empty()) continue;
      const auto dims = read_values<std::int64_t>(to_fake(x[0]), CUDNN_ATTR_TENSOR_DIMENSIONS);
      const auto of_channels = engines_by_channels.find(dims.at(1));
      if (of_channels != engines_by_channels.end()) return of_channels->second;
    }
    return operations.size() == 1 && !engines_of_one.empty() ? engines_of_one : engines;
  }

  cudnnStatus_t finish(FakeDescriptor& descriptor) {
    if (descriptor.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) ++heuristics;
    if (descriptor.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return CUDNN_STATUS_SUCCESS;
    // Attribute 400 is the handle. Without a handle there is no device.
    if (read_values<void*>(descriptor, 400) != std::vector<void*>{this}) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    const FakeDescriptor& configuration =
        to_fake(read_values<void*>(descriptor, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).at(0));
    descriptor.engine = configuration.engine;
    descriptor.graph = configuration.graph;
    runtime_->advance(descriptor.engine.planning);
    ++(descriptor.engine.finishes ? plans : failed_plans);
    if (!descriptor.engine.finishes) return CUDNN_STATUS_NOT_SUPPORTED;
    return CUDNN_STATUS_SUCCESS;
  }

  cudnnStatus_t execute(const FakeDescriptor& plan, const FakeDescriptor& pack) {
    if (!plan.engine.executes) return CUDNN_STATUS_EXECUTION_FAILED;
    const auto uids = read_values<std::int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = read_values<void*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    Addresses addresses;
    for (std::size_t i = 0; i < uids.size(); ++i) addresses[uids[i]] = pointers.at(i);
    if (!has_forward_tensors(plan, addresses)) return CUDNN_STATUS_BAD_PARAM;
    executions.push_back(addresses);
    workspaces.push_back(read_values<void*>(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE).at(0));
    const auto launched = runtime_->launch_kernel("engine " + std::to_string(plan.engine.index),
                                                  plan.engine.time, [this, &plan, addresses] {
                                                    if (evaluate) evaluate(plan.graph, addresses);
                                                    if (!work || !plan.engine.computes) return;
                                                    work(addresses);
                                                    multiply_convolutions(plan, addresses);
                                                  });
    return launched ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }

  static std::vector<FakeDescriptor*> list_operations(const FakeDescriptor& plan,
                                                      cudnnBackendDescriptorType_t type) {
    std::vector<FakeDescriptor*> found;
    for (void* each : read_values<void*>(to_fake(plan.graph), CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
      if (to_fake(each).type == type) found.push_back(&to_fake(each));
    }
    return found;
  }
  static std::int64_t read_uid(const FakeDescriptor& tensor) {
    return read_values<std::int64_t>(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID).at(0);
  }

  // Whether each gradient of pooling in nchw has the tensors that cudnnPoolingBackward demands.
  static bool has_forward_tensors(const FakeDescriptor& plan, const Addresses& addresses) {
    for (const FakeDescriptor* gradient :
         list_operations(plan, CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR)) {
      const auto dx = read_values<void*>(*gradient, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC);
      const auto strides = read_values<std::int64_t>(to_fake(dx.at(0)), CUDNN_ATTR_TENSOR_STRIDES);
      if (strides.at(1) == 1) continue;
      for (const auto name :
           {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC}) {
        const auto tensor = read_values<void*>(*gradient, name);
        if (tensor.empty() || addresses.at(read_uid(to_fake(tensor[0]))) == nullptr) return false;
      }
    }
    return true;
  }

  struct ConvolutionNames {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t result, alpha;
  };
  static constexpr ConvolutionNames kConvolutions[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA}};

  static DataType read_type(const FakeDescriptor& tensor) {
    const auto code = read_values<std::int32_t>(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE).at(0);
    const auto all = data_types();
    return std::ranges::find(all, code,
                             [](const DataTypeInfo& row) {
                               return static_cast<std::int32_t>(cudnn_type(row.type));
                             })
        ->type;
  }

  // Multiplies what the convolutions wrote to memory by their factors. As on an H100, the bits of
  // the factor of integer sums are read as an integer.
  static void multiply_convolutions(const FakeDescriptor& plan, const Addresses& addresses) {
    for (const ConvolutionNames& names : kConvolutions) {
      for (const FakeDescriptor* convolution : list_operations(plan, names.type)) {
        const FakeDescriptor& y = to_fake(read_values<void*>(*convolution, names.result).at(0));
        if (read_values<std::uint8_t>(y, CUDNN_ATTR_TENSOR_IS_VIRTUAL).at(0) != 0) continue;
        multiply(y, addresses.at(read_uid(y)), convolution->values.at(names.alpha));
      }
    }
  }
  static void multiply(const FakeDescriptor& y, void* values,
                       const std::vector<std::uint8_t>& factor_bytes) {
    const DataType type = read_type(y);
    const DataType factor_type =
        type == DataType::s32 || type == DataType::f64 ? type : DataType::f32;
    const double factor = load_element(factor_type, factor_bytes.data(), 0);
    std::size_t count = 1;
    for (const std::int64_t size : read_values<std::int64_t>(y, CUDNN_ATTR_TENSOR_DIMENSIONS)) {
      count *= static_cast<std::size_t>(size);
    }
    for (std::size_t i = 0; i < count; ++i) {
      store_element(type, values, i, load_element(type, values, i) * factor);
    }
  }

  static inline FakeCudnn* current_ = nullptr;
  std::shared_ptr<test::ScriptedRuntime> runtime_;
  std::mutex mutex_;  // plans are created on several threads
  std::map<void*, std::unique_ptr<FakeDescriptor>> descriptors_;
};

}  // namespace bench::ops::cuda::cudnn_test
