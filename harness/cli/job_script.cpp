// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/job_script.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace bench {
namespace {

// At least two: SIGTERM comes a minute before the limit.
std::int64_t count_minutes(Nanoseconds limit) {
  return std::max<std::int64_t>(std::chrono::ceil<std::chrono::minutes>(limit).count(), 2);
}

std::string quote_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += ' ' + shell_quoted(word);
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Fills the places @NAME@ and the like. A template has the braces of its own language.
std::string fill(std::string_view text, const JobRequest& request, std::string_view run_words) {
  std::string filled(text);
  replace_all(filled, "@NAME@", request.name);
  replace_all(filled, "@SHARDS@", std::to_string(request.shards));
  replace_all(filled, "@MINUTES@", std::to_string(count_minutes(request.limit)));
  replace_all(filled, "@SECONDS@", std::to_string(60 * count_minutes(request.limit)));
  // Texts of the user come last, so that nothing in them is a place.
  replace_all(filled, "@COMMAND@", printable(request.command));
  replace_all(filled, "@IMAGE@", request.image);
  replace_all(filled, "@RUN@", run_words);
  return filled;
}

// The script submits itself twice, so that one file is the whole job.
constexpr std::string_view kSlurmScript = R"(#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Written by `@COMMAND@`.
#   bash @NAME@.slurm.sh      submits @SHARDS@ shards, one per node, and a job that merges them
#   bash @NAME@.slurm.sh 1    submits only shard 1, or several (1,3-5): each measures what its file lacks
# Submit it in a folder that all nodes share. SBATCH_PARTITION, SBATCH_ACCOUNT and the other variables
# of sbatch apply. BENCH: the program on the nodes. BENCH_RESULTS: the folder of the results.
set -euo pipefail
export BENCH_SHARDS=@SHARDS@
bench=${BENCH:-bench}
results=${BENCH_RESULTS:-@NAME@}

submit() {
  mkdir -p -- "$results"
  local shards
  shards=$(sbatch --parsable --job-name=@NAME@ --array="$1" --nodes=1 --exclusive --time=@MINUTES@ \
    --requeue --open-mode=append --signal=B:TERM@60 --output="$results/shard-%a.log" "$0" measure)
  printf 'job %s measures the shards %s of @SHARDS@\n' "${shards%%;*}" "$1"
  # afterany: a report of incomplete shards says what they lack.
  local merge
  merge=$(sbatch --parsable --job-name=@NAME@-merge --dependency="afterany:${shards%%;*}" --nodes=1 \
    --time=10 --output="$results/merge.log" "$0" merge)
  printf 'job %s then writes %s/all.json; its log is %s/merge.log\n' "${merge%%;*}" "$results" \
    "$results"
}

# A requeued task continues its file. The shell becomes bench, which ends with its results when the
# time limit or a preemption sends SIGTERM.
measure() {
  local file=$results/shard-$SLURM_ARRAY_TASK_ID.jsonl output=--out
  [[ ! -s $file ]] || output=--resume
  exec "$bench" run@RUN@ --shard auto "$output" "$file" --quiet
}

merge() {
  exec "$bench" report "$results"/shard-*.jsonl -o "$results/all.json" --force
}

case ${1:-} in
  measure) measure ;;
  merge) merge ;;
  *) submit "${1:-1-@SHARDS@}" ;;
esac
)";

// The second job waits suspended: Kubernetes has no dependencies between jobs.
constexpr std::string_view kKubernetesManifest = R"(# Written by `@COMMAND@`.
#   kubectl apply -f @NAME@.job.yaml
#   kubectl wait --for=condition=complete --timeout=-1s job/@NAME@
#   kubectl patch job/@NAME@-merge --patch '{"spec":{"suspend":false}}'   # writes all.json
#   kubectl logs job/@NAME@-merge
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: @NAME@
spec:
  accessModes: [ReadWriteMany]
  resources:
    requests:
      storage: 1Gi
---
apiVersion: batch/v1
kind: Job
metadata:
  name: @NAME@
  labels: {app: @NAME@}
spec:
  completionMode: Indexed
  completions: @SHARDS@
  parallelism: @SHARDS@
  backoffLimit: @SHARDS@
  podFailurePolicy:
    rules:
      - action: FailJob  # wrong options or configuration: another pod fails in the same way
        onExitCodes: {containerName: bench, operator: In, values: [2]}
      - action: Ignore  # a drained or preempted node: the next pod continues the shard's file
        onPodConditions: [{type: DisruptionTarget, status: "True"}]
  template:
    metadata:
      labels: {app: @NAME@}
    spec:
      restartPolicy: Never
      activeDeadlineSeconds: @SECONDS@
      affinity:
        podAntiAffinity:  # one shard per node: two measurements would disturb each other
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels: {app: @NAME@}
      containers:
        - name: bench
          image: @IMAGE@
          env:
            - {name: BENCH_SHARDS, value: "@SHARDS@"}
          # Status 3 means that a case failed: another pod would not change it, and the report shows it.
          command:
            - /bin/sh
            - -c
            - |
              file=/results/shard-$JOB_COMPLETION_INDEX.jsonl
              output=--out
              [ ! -s "$file" ] || output=--resume
              bench run@RUN@ --shard auto "$output" "$file" --quiet
              status=$?
              [ "$status" -ne 3 ] || status=0
              exit "$status"
          volumeMounts:
            - {name: results, mountPath: /results}
      volumes:
        - name: results
          persistentVolumeClaim: {claimName: @NAME@}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: @NAME@-merge
spec:
  suspend: true
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: bench
          image: @IMAGE@
          command:
            - /bin/sh
            - -c
            - exec bench report /results/shard-*.jsonl -o /results/all.json --force
          volumeMounts:
            - {name: results, mountPath: /results}
      volumes:
        - name: results
          persistentVolumeClaim: {claimName: @NAME@}
)";

}  // namespace

std::string job_name(std::string_view config) {
  std::string name = "bench";
  bool is_open = true;  // a dash precedes the next character
  for (const char character : config) {
    const bool is_upper = character >= 'A' && character <= 'Z';
    const char lower = is_upper ? static_cast<char>(character - 'A' + 'a') : character;
    if ((lower < 'a' || lower > 'z') && (lower < '0' || lower > '9')) {
      is_open = true;
      continue;
    }
    if (is_open && name.size() + 1 < kMaxJobName) name += '-';
    is_open = false;
    if (name.size() == kMaxJobName) break;
    name += lower;
  }
  return name;
}

std::string slurm_script(const JobRequest& request) {
  return fill(kSlurmScript, request, quote_words(request.run_words));
}

std::string kubernetes_manifest(const JobRequest& request) {
  std::string words = quote_words(request.run_words);
  replace_all(words, "$(", "$$(");  // Kubernetes expands $(NAME) in commands
  return fill(kKubernetesManifest, request, words);
}

}  // namespace bench
