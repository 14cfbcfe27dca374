// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/job_script.hpp"

#include "harness/config/yaml.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

JobRequest sample_request() {
  return {
      "bench-suite", "bench submit --slurm suite.yaml --shards 8", 8,
      90s,           {"suite.yaml", "--filter", "conv/*"},         "registry.example/bench:0.1"};
}

TEST(JobName, IsAValidNameOfAKubernetesObject) {
  EXPECT_EQ(job_name("quick"), "bench-quick");
  EXPECT_EQ(job_name("ResNet 50 (v1.5)"), "bench-resnet-50-v1-5");
  EXPECT_EQ(job_name(""), "bench");
  EXPECT_EQ(job_name("--"), "bench");
  EXPECT_EQ(job_name(std::string(100, 'a')).size(), kMaxJobName);
  EXPECT_THAT(job_name(std::string(kMaxJobName - 7, 'a') + "-b"), Not(testing::EndsWith("-")));
}

TEST(SlurmScript, IsAScriptThatBashAccepts) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("job.sh", slurm_script(sample_request()));
  const test::ProgramResult result = test::run_program({{"bash", "-n", path}, ".", {}});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(SlurmScript, SubmitsAnArrayAndAMergeThatDependsOnIt) {
  const std::string script = slurm_script(sample_request());
  for (const char* part :
       {"export BENCH_SHARDS=8\n", "--exclusive", "--requeue", "--time=2 ", "submit \"${1:-1-8}\"",
        "--dependency=\"afterany:", "run suite.yaml --filter 'conv/*' --shard auto"})
    EXPECT_THAT(script, HasSubstr(part));
  EXPECT_THAT(script, Not(testing::ContainsRegex("@[A-Z]+@")));
}

// The documents of a manifest, which are separated by `---`.
std::vector<yaml::Document> documents_of(const std::string& manifest) {
  std::vector<yaml::Document> documents;
  for (std::size_t begin = manifest.find("---\n"); begin != std::string::npos;) {
    const std::size_t end = manifest.find("---\n", begin + 4);
    auto document = yaml::parse(manifest.substr(begin + 4, end - begin - 4));
    EXPECT_TRUE(document.ok());
    if (document.ok()) documents.push_back(std::move(*document));
    begin = end;
  }
  return documents;
}

// Returns the text at a path of keys; "0" is the first item of a list.
std::string text_at(const yaml::Document& document, const std::vector<std::string>& path) {
  const yaml::Node* node = &document.root();
  for (const std::string& key : path) {
    if (node->kind == yaml::Kind::sequence) {
      if (node->items.empty()) return "(empty list)";
      node = key == "last" ? node->items.back() : node->items.front();
      continue;
    }
    const yaml::Entry* entry = node->find(key);
    if (entry == nullptr) return "(no " + key + ")";
    node = entry->value;
  }
  return node->text;
}

TEST(KubernetesManifest, HasAClaimAnIndexedJobAndASuspendedMerge) {
  const auto documents = documents_of(kubernetes_manifest(sample_request()));
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(text_at(documents[0], {"kind"}), "PersistentVolumeClaim");
  const yaml::Document& job = documents[1];
  EXPECT_EQ(text_at(job, {"apiVersion"}), "batch/v1");
  EXPECT_EQ(text_at(job, {"kind"}), "Job");
  EXPECT_EQ(text_at(job, {"spec", "completionMode"}), "Indexed");
  EXPECT_EQ(text_at(job, {"spec", "completions"}), "8");
  EXPECT_EQ(text_at(job, {"spec", "parallelism"}), "8");
  const std::vector<std::string> pod = {"spec", "template", "spec"};
  const auto in_pod = [&](std::vector<std::string> path) {
    path.insert(path.begin(), pod.begin(), pod.end());
    return text_at(job, path);
  };
  EXPECT_EQ(in_pod({"activeDeadlineSeconds"}), "120");
  EXPECT_EQ(in_pod({"restartPolicy"}), "Never");
  EXPECT_EQ(in_pod({"containers", "0", "image"}), "registry.example/bench:0.1");
  EXPECT_EQ(in_pod({"containers", "0", "env", "0", "name"}), "BENCH_SHARDS");
  EXPECT_EQ(in_pod({"containers", "0", "env", "0", "value"}), "8");
  EXPECT_EQ(in_pod({"volumes", "0", "persistentVolumeClaim", "claimName"}), "bench-suite");
  EXPECT_EQ(text_at(documents[2], {"spec", "suspend"}), "true");
}

TEST(KubernetesManifest, WordsOfTheUserStayWords) {
  JobRequest request = sample_request();
  request.run_words = {"a.yaml", "--filter", "$(HOME)' @NAME@ x"};
  const std::string manifest = kubernetes_manifest(request);
  EXPECT_THAT(manifest, HasSubstr("$$(HOME)"));  // Kubernetes makes it $(HOME) again
  EXPECT_THAT(manifest, HasSubstr("@NAME@ x"));
  EXPECT_EQ(documents_of(manifest).size(), 3U);
}

}  // namespace
}  // namespace bench
