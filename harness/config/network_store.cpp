// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_store.hpp"

#include "base/nearest_name.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kSuffix = ".yaml";

std::string path_of(const std::string& folder, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(folder) / (name + std::string(kSuffix));
  return path.lexically_normal().string();
}

// Returns everything that decides what a network computes: problems and their connections.
std::string content_of(const ops::Network& network) {
  std::string text = network.name;
  for (const ops::Node& node : network.nodes) {
    text += fmt::format(";{}/{}/{}", node.problem.op->name, ops::problem_tokens(node.problem),
                        fmt::join(node.sources, ","));
  }
  return text;
}

}  // namespace

const NetworkFile* NetworkStore::find(const std::string& name,
                                      const std::vector<std::string>& folders, Spot spot) {
  if (!is_network_name(name)) {
    findings_.add(spot, fmt::format("`network`: found {}", quote(name)),
                  "a network's name has letters, digits and underscores");
    return nullptr;
  }
  std::vector<std::string> all = folders;
  all.insert(all.end(), request_.network_folders.begin(), request_.network_folders.end());
  for (const std::string& folder : all) {
    const std::string path = path_of(folder, name);
    auto known = files_.find(path);
    if (known == files_.end()) {
      const auto text = request_.read(path);
      if (!text.ok() && !lists(folder, name)) continue;
      if (!text.ok()) {
        findings_.add(
            spot, fmt::format("cannot read network {}: {}", quote(name), text.error().message()));
        return nullptr;
      }
      auto file = read_network(findings_, path, *text, catalogue_);
      if (file && file->definition.name != name) {
        findings_.add(
            {file->file, {1, 1}},
            fmt::format("the file contains a network named {}", quote(file->definition.name)),
            fmt::format("write `network: {}` or rename the file", name));
        file.reset();
      }
      known = files_.emplace(path, std::move(file)).first;
    }
    return known->second ? &*known->second : nullptr;
  }
  findings_.add(spot, fmt::format("unknown network {}", quote(name)), missing_hint(name, all));
  return nullptr;
}

// Whether the file exists, even if it cannot be read.
bool NetworkStore::lists(const std::string& folder, const std::string& name) const {
  if (!request_.list) return false;
  const std::vector<std::string> names = request_.list(folder);
  return std::ranges::find(names, name + std::string(kSuffix)) != names.end();
}

std::string NetworkStore::missing_hint(const std::string& name,
                                       const std::vector<std::string>& folders) const {
  std::vector<std::string> stems;
  for (const std::string& folder : folders) {
    if (!request_.list) break;
    for (const std::string& file : request_.list(folder)) {
      if (!file.ends_with(kSuffix)) continue;
      std::string stem = file.substr(0, file.size() - kSuffix.size());
      if (std::find(stems.begin(), stems.end(), stem) == stems.end()) stems.push_back(stem);
    }
  }
  const std::vector<std::string_view> names(stems.begin(), stems.end());
  if (!names.empty()) return expectation(name, names);
  return fmt::format("looked for {}{} in {}", name, kSuffix, fmt::join(folders, ", "));
}

const BoundNetwork* NetworkStore::bind(const NetworkFile& file, const NetworkSegment& segment,
                                       DataType dtype, Spot spot) {
  const auto [place, inserted] =
      bound_.try_emplace({&file, segment.batch, segment.fusion, segment.mode, dtype});
  if (inserted) place->second = make(file, segment, dtype, spot);
  return place->second.get();
}

std::unique_ptr<BoundNetwork> NetworkStore::make(const NetworkFile& file,
                                                 const NetworkSegment& segment, DataType dtype,
                                                 Spot spot) {
  auto network = ops::make_network(file.definition, segment.batch, dtype, segment.mode,
                                   segment.fusion, catalogue_);
  if (!network.ok()) {
    const Error& error = network.error();
    const std::string subject =
        fmt::format("{}, batch {}, {}", file.definition.name, segment.batch, info(dtype).name);
    findings_.add(
        file.spot_of(error.where),
        fmt::format("{} ({}, measured at {})", error.what, subject, findings_.place(spot).text()),
        error.next);
    return nullptr;
  }
  auto bound = std::make_unique<BoundNetwork>();
  bound->network = std::make_shared<const ops::Network>(*std::move(network));
  bound->layers = ops::distinct_layers(*bound->network);
  bound->segment = format_network_segment(segment);
  bound->content = content_of(*bound->network);
  PlannedNetwork planned;
  planned.definition = file.definition;
  planned.batch = segment.batch;
  planned.mode = segment.mode;
  planned.fusion = segment.fusion;
  planned.case_id_prefix = fmt::format("network/forward/{}/{}", bound->segment, info(dtype).name);
  bound->planned = std::make_shared<const PlannedNetwork>(std::move(planned));
  return bound;
}

}  // namespace bench
