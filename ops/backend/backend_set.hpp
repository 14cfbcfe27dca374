// SPDX-License-Identifier: Apache-2.0
// The backends of one worker process. The first exists from the start; the set creates each other
// one when a case first asks for it.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

class BackendSet {
 public:
  using Maker = std::function<Result<std::unique_ptr<Backend>, BackendError>()>;
  // Returns the library of the backend, as far as it is known, or why the backend cannot run here.
  // Does not create the backend.
  using Probe = std::function<Result<std::optional<LibraryInfo>, std::string>()>;

  // `backend` becomes the first backend. It must outlive the set unless the set owns it.
  explicit BackendSet(Backend& backend) : first_(&backend) {}
  explicit BackendSet(std::unique_ptr<Backend> backend)
      : owned_(std::move(backend)), first_(owned_.get()) {}

  // `name` must not be in the set yet. The set calls `make` once and remembers its error.
  // What `make` or `probe` throws becomes its error.
  void add(std::string name, std::string device, Maker make, Probe probe);

  Backend& first() { return *first_; }
  // Returns the backend, which it creates if necessary. If the set does not contain the name,
  // returns the first backend, which rejects such cases with its own message.
  Result<Backend*, BackendError> find(std::string_view name);

  struct Availability {
    std::string name;
    std::string device;
    std::optional<std::string> missing;  // why it cannot run here
    std::optional<LibraryInfo> library = std::nullopt;
  };
  // Probes backends other than the first, which loads their libraries: those of `names`, or all if
  // there are no names. Ignores names that the set does not contain.
  std::vector<Availability> others(const std::optional<std::vector<std::string>>& names = {}) const;

 private:
  struct Entry {
    std::string name;
    std::string device;
    Maker make;
    Probe probe;
    std::unique_ptr<Backend> backend;
    std::optional<BackendError> error;
  };

  std::unique_ptr<Backend> owned_;
  Backend* first_;
  std::vector<Entry> entries_;
};

}  // namespace bench::ops
