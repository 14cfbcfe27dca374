// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/host/channel.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/wire/worker_document.hpp"
#include "harness/worker/cuda_plugin.hpp"
#include "harness/worker/worker.hpp"
#include "ops/network/network.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <variant>
#include <vector>

namespace bench {
namespace {

ExitStatus probe_command(const std::string& extent_name, Env& env) {
  if (extent_name == kOnednnProbe) {
    *env.out << identify_onednn() << '\n';
    return ExitStatus::success;
  }
  const auto extent = enumerator_from_name<ops::cuda::ProbeExtent>(extent_name);
  if (!extent) {
    print_line(*env.err,
               fmt::format("bench worker: --probe takes devices, libraries or onednn, not {}",
                           quote(extent_name)));
    return ExitStatus::usage;
  }
  *env.out << format_cuda_status(inspect_cuda(own_path(), *extent, env.variable)) << '\n';
  return ExitStatus::success;
}

// Loads the network of a case id as a plan does.
Result<ops::Network> load_network(const std::string& id, const Arguments& arguments) {
  LoadRequest request = make_load_request(arguments);
  request.arguments = {id};
  if (arguments.networks)
    request.network_folders.insert(request.network_folders.begin(), *arguments.networks);
  const auto plan = load_plan(request);
  if (!plan.ok()) return Error{plan.error().front().message(), "", ""};
  const Case& spec = plan->cases.front();
  ops::Network network = *std::get<std::shared_ptr<const ops::Network>>(spec.work);
  network.input_layout = spec.key.layout;
  return network;
}

ExitStatus support_command(const Arguments& arguments, Env& env) {
  CudaSupportQuestion question{arguments.inputs, arguments.gpu.value_or(std::string())};
  if (!arguments.gpu && arguments.architecture) {
    const auto platform = ops::parse_platform(*arguments.architecture);
    question.architecture = platform.value().architecture->name;
  }
  const auto supports =
      inspect_cuda_support(own_path(), env.variable, question,
                           [&](const std::string& id) { return load_network(id, arguments); });
  if (!supports) {
    print_line(*env.err, fmt::format("bench worker: {}", supports.error().message()));
    return ExitStatus::usage;
  }
  *env.out << format_cuda_support(*supports) << '\n';
  return ExitStatus::success;
}

ExitStatus describe_command(const Arguments& arguments, Env& env) {
  const auto context = make_worker_context(arguments.plugins);
  if (context->fault) {
    print_line(*env.err, fmt::format("bench worker: {}", context->fault->message()));
    return ExitStatus::usage;
  }
  std::optional<std::vector<std::string>> probed;
  if (!arguments.inputs.empty()) probed = arguments.inputs;
  *env.out << describe(*context, probed) << '\n';
  return ExitStatus::success;
}

}  // namespace

ExitStatus worker_command(const Arguments& arguments, Env& env) {
  if (arguments.describe) {
    return describe_command(arguments, env);
  }
  if (arguments.probe) return probe_command(*arguments.probe, env);
  if (arguments.support) return support_command(arguments, env);
  int in = STDIN_FILENO, out = STDOUT_FILENO;
  if (const auto path = env.variable(kChannelVariable)) {
    const auto channel = connect_channel(*path);
    if (!channel) {
      print_line(*env.err, fmt::format("bench worker: {}", channel.error().message()));
      return ExitStatus::not_measured;
    }
    in = out = *channel;
  }
  const auto make_context = [&] {
    return make_worker_context(arguments.plugins,
                               [&] { return find_cuda_plugin(own_path(), env.variable); });
  };
  return static_cast<ExitStatus>(serve(in, out, make_context, *env.clock));
}

}  // namespace bench
