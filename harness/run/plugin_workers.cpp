// SPDX-License-Identifier: Apache-2.0
#include "harness/run/plugin_workers.hpp"

#include "harness/config/case_template.hpp"
#include "harness/config/settings.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/wire/messages.hpp"
#include "harness/wire/worker_document.hpp"
#include "ops/described_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace bench {

// A worker that has loaded one plugin. Starts on first use, and again after stop() or a failure.
class PluginWorker {
 public:
  PluginWorker(std::string program, std::string file, Env& env)
      : program_(std::move(program)), file_(std::move(file)), env_(env) {}

  const std::string& file() const { return file_; }
  void stop() { link_.reset(); }

  // Returns the document that describes the plugin (worker_document.hpp).
  Result<std::string> describe() {
    // Only the operators and backends are used, so no backend is probed.
    const DescribeRequest request{.probed = std::vector<std::string>()};
    BENCH_ASSIGN_OR_RETURN(DescribeReply description, ask(request));
    return std::move(description.document);
  }

  Result<ops::Model> compute_model(const ModelRequest& request) {
    Result<ModelReply> reply = ask(request);
    if (reply) return std::move(reply->model);
    // Leaves `where` empty, since errors of models state a parameter there.
    return Error{fmt::format("plugin {}: {}", file_, reply.error().what), "", ""};
  }

 private:
  // Time limit per request: enough to load a library, or to compute a model.
  static constexpr Nanoseconds kRequestLimit = std::chrono::seconds(30);

  template <class Message>
  Result<typename Message::Answer> ask(const Message& request) {
    if (!link_) BENCH_RETURN_IF_ERROR(start());
    return call(request);
  }

  Status start() {
    const WorkerFactory factory =
        process_workers({program_, {}, allowed_cores(), {}, {file_}}, env_);
    BENCH_ASSIGN_OR_RETURN(link_, factory({}));
    BENCH_RETURN_IF_ERROR(call(HelloRequest{kProtocolVersion, {}, {}}));
    return Done{};
  }

  template <class Message>
  Result<typename Message::Answer> call(const Message& request) {
    auto answer = link_->ask(request, kRequestLimit, nullptr);
    if (answer) return *std::move(answer);
    std::string reason = answer.error().reason;
    if (answer.error().worker_is_gone()) {
      link_.reset();
    } else if (const std::size_t name = reason.find(file_ + ": "); name != std::string::npos) {
      reason.erase(0, name + file_.size() + 2);  // `where` already states the file
    }
    return Error{std::move(reason), file_, ""};
  }

  std::string program_;
  std::string file_;
  Env& env_;
  std::unique_ptr<WorkerLink> link_;
};

namespace {

// Returns an error if a parameter has the name of a key of every case, since it would hide the key.
Status check_names(const ops::OperatorDescription& op) {
  std::vector<std::string_view> reserved = setting_names(SettingsOwner::operator_case);
  for (const KeyInfo& key : case_keys()) reserved.push_back(key.name);
  for (const ops::ParameterDescription& parameter : op.parameters) {
    if (std::find(reserved.begin(), reserved.end(), parameter.name) == reserved.end()) continue;
    return Error{fmt::format("its operator `{}` has a parameter `{}`, which every case has",
                             op.name, parameter.name),
                 "", "rename it in the plugin"};
  }
  return Done{};
}

Result<ops::Model> ask_model(PluginWorker& worker, const ops::Problem& problem) {
  const ModelRequest request{std::string(problem.op->name),
                             problem.direction,
                             problem.dtype,
                             problem.layout,
                             problem.math,
                             ops::format_tokens(problem.parameters)};
  return worker.compute_model(request);
}

// Returns an operator whose model asks the worker.
std::shared_ptr<const ops::Operator> make_proxy(ops::OperatorDescription description,
                                                const std::shared_ptr<PluginWorker>& worker) {
  return ops::make_described_operator(
      std::move(description),
      {.model = [worker](const ops::Problem& problem) { return ask_model(*worker, problem); },
       .reference = [](const ops::Problem&, ops::ReferenceInputs, std::size_t,
                       std::span<const std::int64_t>) -> Result<std::vector<double>> {
         return Error{"references are computed in workers", "", ""};
       },
       .tolerance = [](const ops::Problem&) { return ops::Tolerance{}; }});
}

// Returns what the worker's plugin adds to the built-in operators and backends.
Result<ops::PluginAddition> extract_addition(const std::string& document,
                                             const std::shared_ptr<PluginWorker>& worker) {
  ops::PluginAddition addition{worker->file(), {}, {}};
  auto described = parse_worker_document(document);
  if (!described.ok()) {
    return Error{fmt::format("its worker's description cannot be read: {}", described.error().what),
                 worker->file(), "use a worker program of the same release"};
  }
  for (ops::OperatorDescription& op : described->operators) {
    if (ops::find_operator(op.name) != nullptr) continue;
    if (Status status = check_names(op); !status) {
      return Error{status.error().what, worker->file(), status.error().next};
    }
    addition.operators.push_back(make_proxy(std::move(op), worker));
  }
  for (WorkerDocument::Backend& backend : described->backends) {
    if (backend.source.empty()) continue;
    addition.backends.push_back(
        {std::move(backend.name), std::move(backend.device), std::move(backend.operators)});
  }
  return addition;
}

}  // namespace

Result<std::shared_ptr<const ops::OperatorRegistry>> PluginWorkers::registry(
    const std::vector<std::string>& files) {
  std::vector<ops::PluginAddition> additions;
  for (const std::string& file : files) {
    workers_.push_back(std::make_shared<PluginWorker>(program_, file, env_));
    BENCH_ASSIGN_OR_RETURN(const std::string document, workers_.back()->describe());
    BENCH_ASSIGN_OR_RETURN(ops::PluginAddition addition,
                           extract_addition(document, workers_.back()));
    additions.push_back(std::move(addition));
  }
  BENCH_ASSIGN_OR_RETURN(ops::OperatorRegistry extended,
                         ops::OperatorRegistry::extended(std::move(additions)));
  return std::make_shared<const ops::OperatorRegistry>(std::move(extended));
}

void PluginWorkers::rest() {
  for (const auto& worker : workers_) worker->stop();
}

}  // namespace bench
