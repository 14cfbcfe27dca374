// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::test {
namespace {

[[noreturn]] void become(const ProgramCall& call, const std::string& out, const std::string& err) {
  const int in_file = open("/dev/null", O_RDONLY);
  const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(in_file, STDIN_FILENO);
  dup2(out_file, STDOUT_FILENO);
  dup2(err_file, STDERR_FILENO);
  // Tests run at the same time and do not wait for each other (harness/host/machine_turn.hpp).
  setenv("BENCH_LOCK", "", 1);
  for (const auto& [name, value] : call.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : call.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (chdir(call.folder.c_str()) == 0) execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

ProgramResult run_program(const ProgramCall& call) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become(call, folder.file("out"), folder.file("err"));
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_text(folder.file("out")), read_text(folder.file("err"))};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "bench-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& content) const {
  const std::string path = file(name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace bench::test
