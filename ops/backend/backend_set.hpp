// SPDX-License-Identifier: Apache-2.0
// The backends of one worker, each made when a case first asks for it.
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
  using Maker = std::function<Result<std::unique_ptr<Backend>, Refusal>()>;
  // Why it cannot run here; absent where it can, as far as can be told without making it.
  using Probe = std::function<std::optional<std::string>()>;

  // `backend` is the first one, and outlives the set or belongs to it.
  explicit BackendSet(Backend& backend) : first_(&backend) {}
  explicit BackendSet(std::unique_ptr<Backend> backend)
      : owned_(std::move(backend)), first_(owned_.get()) {}

  // `name` is not in the set. `make` is asked once, its refusal remembered.
  void add(std::string name, std::string device, Maker make, Probe probe);

  Backend& first() { return *first_; }
  // The first one for names that the set does not have: it refuses such cases with its own words.
  Result<Backend*, Refusal> find(std::string_view name);

  struct Availability {
    std::string name;
    std::string device;
    std::optional<std::string> missing;  // why it cannot run here
  };
  // All but the first.
  std::vector<Availability> others() const;

 private:
  struct Entry {
    std::string name;
    std::string device;
    Maker make;
    Probe probe;
    std::unique_ptr<Backend> backend;
    std::optional<Refusal> refusal;
  };

  std::unique_ptr<Backend> owned_;
  Backend* first_;
  std::vector<Entry> entries_;
};

}  // namespace bench::ops
