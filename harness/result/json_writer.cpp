// SPDX-License-Identifier: Apache-2.0
#include "harness/result/field_writer.hpp"
#include "harness/result/fields.hpp"
#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Encoder {
  OrderedJson operator()(const RunRecord& run) const {
    OrderedJson object = {{"record", "run"}, {"schema", kResultSchema}};
    FieldWriter writer(object);
    run_fields(writer, run);
    return object;
  }
  OrderedJson operator()(const ProcessRecord& process) const {
    OrderedJson object = {{"record", "process"}};
    FieldWriter writer(object);
    process_fields(writer, process);
    return object;
  }
  OrderedJson operator()(const CaseRecord& record) const {
    OrderedJson object = {{"record", "case"}};
    FieldWriter writer(object);
    case_fields(writer, record);
    return object;
  }
  OrderedJson operator()(const ProfilePassRecord& pass) const {
    OrderedJson object = {{"record", "profile_pass"}};
    FieldWriter writer(object);
    profile_pass_fields(writer, pass);
    return object;
  }
  OrderedJson operator()(const CanaryRecord& canary) const {
    OrderedJson object = {{"record", "canary"}};
    FieldWriter writer(object);
    canary_fields(writer, canary);
    return object;
  }
  OrderedJson operator()(const EndRecord& end) const {
    OrderedJson object = {{"record", "end"}};
    FieldWriter writer(object);
    end_fields(writer, end);
    return object;
  }
};

template <class T>
OrderedJson encode_all(const std::vector<T>& records) {
  OrderedJson array = OrderedJson::array();
  for (const T& record : records) array.push_back(Encoder{}(record));
  return array;
}

}  // namespace

std::string to_json_line(const Record& record) { return text_line(std::visit(Encoder{}, record)); }

namespace {

template <class T>
void put(OrderedJson& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}
void put(OrderedJson& object, const char* name, const std::optional<Nanoseconds>& time) {
  if (time) object[name] = time->count();
}

// Derived from the cases: the network summaries that the console prints.
OrderedJson networks_of(const Report& report) {
  OrderedJson array = OrderedJson::array();
  for (const NetworkSummary& summary : summarise_networks(report)) {
    OrderedJson object = {{"network", summary.network}};
    if (!summary.network_id.empty()) object["id"] = summary.network_id;
    if (!summary.cache.empty()) object["cache"] = summary.cache;
    put(object, "network_ns", summary.network_time);
    if (summary.layers_total > 0) {
      object["layers_ns"] = summary.layers_time.count();
      object["layers_measured"] = summary.layers_measured;
      object["layers_total"] = summary.layers_total;
    }
    if (!summary.missing.empty()) object["missing"] = summary.missing;
    if (!summary.lacks.empty()) object["lacks"] = summary.lacks;
    put(object, "rest", summary.rest);
    array.push_back(std::move(object));
  }
  return array;
}

OrderedJson document_of(const Report& report) {
  OrderedJson document = {{"schema", kResultSchema}};
  document["runs"] = encode_all(report.runs);
  document["processes"] = encode_all(report.processes);
  document["cases"] = encode_all(report.cases);
  if (!report.profile_passes.empty()) {
    document["profile_passes"] = encode_all(report.profile_passes);
  }
  if (!report.canaries.empty()) document["canaries"] = encode_all(report.canaries);
  document["ends"] = encode_all(report.ends);
  if (OrderedJson networks = networks_of(report); !networks.empty()) {
    document["networks"] = std::move(networks);
  }
  return document;
}

std::string text_of(const OrderedJson& document) {
  return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json_document(const Report& report) { return text_of(document_of(report)); }

std::string to_json_document(const Report& report, std::string_view profile_summary) {
  OrderedJson document = document_of(report);
  document["profile_summary"] = OrderedJson::parse(profile_summary);
  return text_of(document);
}

}  // namespace bench
