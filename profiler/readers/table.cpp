// SPDX-License-Identifier: Apache-2.0
// table: one row per format; the first reader that recognises a file reads it
#include "profiler/readers/foreign_files.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <array>

namespace bench {

std::span<const ActivityReader> activity_readers() {
  static const std::array kReaders = {
      profile_reader,       capture_reader,     gpu_records_reader, result_reader, kineto_reader,
      benchmark_reader,     pyprof_reader,      pyprof_dict_reader, nvprof_reader, nsys_reader,
      nvprof_sqlite_reader, nsys_sqlite_reader, onednn_reader};
  return kReaders;
}

Result<const ActivityReader*> find_reader(TextSource& source) {
  const std::string_view head = source.head();
  if (head.empty()) {
    BENCH_RETURN_IF_ERROR(source.status());
    return Error{"is empty", source.name(),
                 "name a file that `bench run --profile` or `bench profile` wrote"};
  }
  std::string formats;
  for (const ActivityReader& reader : activity_readers()) {
    if (reader.recognises(head)) return &reader;
    formats += fmt::format("\n  {:<14}{}", reader.name, reader.help);
  }
  if (const ForeignFile* const file = find_foreign_file(head)) {
    return Error{fmt::format("is {}", file->what), source.name(), std::string(file->next)};
  }
  return Error{"the format of the file is unknown", source.name(),
               "expected one of these:" + formats};
}

Result<ReadReport> read_activities(TextSource& source, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(const ActivityReader* const reader, find_reader(source));
  return reader->read(source, sink);
}

ActivityInput input_of(TextSource& source) {
  return {source.name(), [&source](ActivitySink& sink) { return read_activities(source, sink); },
          [] { return std::vector<std::string>(); }};
}

void ReadReport::note(std::string text) {
  if (notes.size() < kMaxNotes) notes.push_back(std::move(text));
}

}  // namespace bench
