// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity_file.hpp"

#include "base/json_writer.hpp"
#include "profiler/activity_json.hpp"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

namespace bench {
namespace {

// Large enough that system calls do not matter, small enough that a crash without a flush loses
// little.
constexpr std::size_t kBufferSize = 256 * 1024;

std::string header_line(const ProfileHeader& header) {
  return json_object([&](JsonWriter& writer) {
    writer.constant("record", "profile");
    writer.constant("schema", kProfileSchema);
    writer.required_object(
        "tool", [&](JsonWriter& tool) { tool.required("version", header.tool_version); });
    writer.optional("started", header.started);
    writer.object("environment", [&](JsonWriter& environment) {
      environment.optional("details", header.details);
    });
  });
}

std::string end_line(std::int64_t activities, const std::map<std::string, std::string>& details) {
  return json_object([&](JsonWriter& writer) {
    writer.constant("record", "profile_end");
    writer.required("activities", activities);
    if (details.empty()) return;
    writer.object("environment",
                  [&](JsonWriter& environment) { environment.optional("details", details); });
  });
}

}  // namespace

struct ActivityFile::State {
  std::mutex mutex;
  RecordFile file;
  std::string buffer = {};
  std::int64_t activities = 0;

  explicit State(RecordFile opened) : file(std::move(opened)) {}

  Status write() {
    if (buffer.empty()) return Done{};
    Status status = file.append_lines(buffer);
    buffer.clear();
    return status;
  }
};

Result<std::unique_ptr<ActivityFile>> ActivityFile::create(const std::string& path,
                                                           Existing existing,
                                                           const ProfileHeader& header) {
  BENCH_ASSIGN_OR_RETURN(RecordFile file, RecordFile::create(path, existing));
  std::unique_ptr<ActivityFile> created(new ActivityFile(std::make_unique<State>(std::move(file))));
  const Status status = created->state_->file.append(header_line(header));
  if (status.ok()) return created;
  created->remove();
  return status.error();
}

ActivityFile::ActivityFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

// Callers that need to know whether the last lines were written must call flush() first.
ActivityFile::~ActivityFile() { static_cast<void>(flush()); }

Status ActivityFile::consume(const Activity& activity) {
  const std::lock_guard lock(state_->mutex);
  append_json(activity, "", state_->buffer);
  state_->buffer += '\n';
  ++state_->activities;
  if (state_->buffer.size() < kBufferSize) return Done{};
  return state_->write();
}

Status ActivityFile::flush() {
  const std::lock_guard lock(state_->mutex);
  return state_->write();
}

Status ActivityFile::finish(const std::map<std::string, std::string>& details) {
  const std::lock_guard lock(state_->mutex);
  BENCH_RETURN_IF_ERROR(state_->write());
  return state_->file.append(end_line(state_->activities, details));
}

void ActivityFile::remove() {
  const std::lock_guard lock(state_->mutex);
  state_->buffer.clear();
  std::error_code ignored;
  const std::filesystem::path path(state_->file.path());
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored))) {
    std::filesystem::remove(path, ignored);
  }
}

const std::string& ActivityFile::path() const { return state_->file.path(); }

}  // namespace bench
