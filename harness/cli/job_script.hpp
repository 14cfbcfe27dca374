// SPDX-License-Identifier: Apache-2.0
// The jobs that `bench submit` writes, as text: for Slurm a shell script, for Kubernetes a
// manifest. Pure functions of the request. Both measure one shard per node and then merge the
// results; a shard that starts again resumes its file.
#pragma once

#include "base/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct JobRequest {
  std::string name;     // job_name()
  std::string command;  // the command that wrote the job, for its first line
  int shards = 1;
  Nanoseconds limit{0};                // time limit of a shard
  std::vector<std::string> run_words;  // words after `bench run`: configurations and options
  std::string image;                   // only for Kubernetes
};

// Converts the name of a configuration to "bench-NAME", a valid name of a Kubernetes object: at
// most kMaxJobName lower-case letters, digits and single dashes.
std::string job_name(std::string_view config);
inline constexpr std::size_t kMaxJobName = 40;

std::string slurm_script(const JobRequest& request);
std::string kubernetes_manifest(const JobRequest& request);

}  // namespace bench
