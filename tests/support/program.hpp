// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user would and captures all its output.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bench::test {

struct ProgramResult {
  int status = -1;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};

struct ProgramCall {
  std::vector<std::string> command;                // program and arguments
  std::string folder = ".";                        // working folder
  std::map<std::string, std::string> environment;  // added to the inherited one
};

// Waits for the end; standard input is empty.
ProgramResult run_program(const ProgramCall& call);

// A new folder, removed with its content at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

std::string read_text(const std::string& path);

}  // namespace bench::test
