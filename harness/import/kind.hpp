// SPDX-License-Identifier: Apache-2.0
// The kinds of files that `bench import` reads: one row each.
#pragma once

#include "base/result.hpp"
#include "harness/import/imported.hpp"
#include "profiler/reader.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct ImportFile {
  std::string path;
  std::string text;  // empty for kinds that read a stream
};

struct ImportRequest {
  std::vector<ImportFile> files;
  // What the user says about files that do not show it themselves: benchdnn's driver. May be empty.
  std::string driver = {};
  // Sizes that the user gives for dimensions of a model: "batch=8".
  std::vector<std::string> dimensions = {};
  // Name of the new configuration or network. Empty: that of the first file.
  std::string name = {};
  // Reads a file that one of the files includes. Must limit the size of what it returns.
  std::function<Result<std::string>(const std::string& path)> read = {};
  // Opens a file of a kind that reads a stream.
  std::function<Result<std::unique_ptr<TextSource>>(const std::string& path)> open = {};
};

// Whether a kind gets whole texts, whose size is limited, opens the files itself, or gets whole
// files of up to kMaxImportBytes.
enum class ImportInput { text, stream, bytes };

// Maximum size of a file of the kind `bytes`, the same as that of a message of protobuf.
inline constexpr std::int64_t kMaxImportBytes = (std::int64_t{1} << 31) - 1;

// What an import gives.
struct ImportOutput {
  std::string text;  // content of the new file
  // The line of the imported files that each line of `text` comes from; element i belongs to line
  // i + 1.
  std::vector<std::optional<ImportPlace>> origins;
  Imported found;
};

struct ImportKind {
  std::string_view name;   // "benchdnn"
  std::string_view files;  // what it reads: "input files of benchdnn"
  std::string_view noun;   // what the files contain, in the singular: "problem"
  ImportInput input;
  std::string_view absent;  // the next step if the files contain none
  // Whether a file is of this kind, so that it can be used in place of a configuration.
  bool (*recognises)(std::string_view path, std::string_view text);
  // Error: nothing can be read at all (`where` is the place), or a limit is exceeded. What cannot
  // be expressed is not an error.
  Result<Imported> (*read)(const ImportRequest& request);
};

std::span<const ImportKind> import_kinds();
const ImportKind* find_import_kind(std::string_view name);  // nullptr if there is none
std::vector<std::string_view> import_kind_names();

// Returns the kind of a file that is used in place of a configuration, or nullptr: a configuration.
// A file NAME.yaml or NAME.yml is one, whatever it contains.
const ImportKind* recognise_import(std::string_view path, std::string_view text);

// Returns the configuration of all cases in the files. Its name is that of the first file. Error:
// as ImportKind::read.
Result<ImportOutput> import_files(const ImportKind& kind, const ImportRequest& request);

// The functions of the rows.
bool is_benchdnn_file(std::string_view path, std::string_view text);
Result<Imported> read_benchdnn(const ImportRequest& request);
bool is_tritonbench_file(std::string_view path, std::string_view text);
Result<Imported> read_tritonbench(const ImportRequest& request);
Result<Imported> read_profile(const ImportRequest& request);
Result<Imported> read_onnx(const ImportRequest& request);

}  // namespace bench
