// SPDX-License-Identifier: Apache-2.0
// Adds to the activities of a Kineto trace what other events state: names of processes and threads,
// the layer and direction in which an operator ran, the operator of a kernel, and how long a buffer
// lived.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/readers/kineto_row.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {

// The last `kMaxCount` entries that were added.
template <class Value, std::size_t kMaxCount>
class RecentEntries {
 public:
  void add(std::int64_t key, Value value) {
    const auto [entry, is_new] = entries_.insert_or_assign(key, std::move(value));
    if (!is_new) return;
    order_.push_back(key);
    if (order_.size() <= kMaxCount) return;
    entries_.erase(order_.front());
    order_.pop_front();
  }
  const Value* find(std::int64_t key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::int64_t, Value> entries_;
  std::deque<std::int64_t> order_;
};

// What the header of a trace says about all of its activities.
struct KinetoHeader {
  Nanoseconds base{0};  // the time 0 of the events
  std::optional<std::int64_t> rank;
};

class KinetoContext {
 public:
  KinetoContext(const KinetoNames& names, const KinetoHeader& header, ActivitySink& sink)
      : names_(names), header_(header), sink_(sink) {}
  // Rows come in the order of their starts; of those that begin at once, the longest first.
  Status consume(KinetoRow& row);
  // Forwards what still waits. Call this once, after the last row.
  Status finish();
  std::int64_t forwarded() const { return forwarded_; }

 private:
  // An execution of an operator. Its kernels have its facts.
  struct Operator {
    std::string name, scope, direction;
    Attributes facts;
  };
  using OperatorPointer = std::shared_ptr<const Operator>;
  // An activity that is open on a thread.
  struct Open {
    Nanoseconds end{0};
    std::string scope, direction;
    std::string place;          // innermost Python function outside PyTorch: "net.py:73"
    OperatorPointer innermost;  // operator
    OperatorPointer whole;      // the convolution whose steps `innermost` is one of
  };
  // Kernels of one operator that follow one another on a stream.
  struct Pending {
    OperatorPointer owner;
    std::vector<Activity> kernels;
  };
  using Address = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // pid, device, address

  Status consume_host(KinetoRow& row);
  Status consume_memory(Activity& change);
  Status consume_device(KinetoRow& row);
  std::vector<Open>& open_at(const Activity& activity);
  void enter(const KinetoRow& row, Activity& activity, std::vector<Open>& stack);
  void find_direction(Activity& activity, const Open* parent);
  static std::string find_place(Activity& activity, const Open* parent);
  Status forward(Pending& pending);
  Status forward(Activity& activity);

  static constexpr std::size_t kMaxOperators = 1 << 17;
  const KinetoNames& names_;
  KinetoHeader header_;
  ActivitySink& sink_;
  std::map<KinetoNames::Thread, std::vector<Open>> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, Pending> streams_;  // device, stream
  RecentEntries<OperatorPointer, kMaxOperators> operators_;           // by external id
  RecentEntries<std::string, kMaxOperators> layers_;  // by a forward operator's sequence number
  std::map<Address, Activity> buffers_;
  std::int64_t forwarded_ = 0;
};

}  // namespace bench
