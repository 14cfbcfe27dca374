// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/cuda_support.hpp"

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"

namespace bench {

void fields(auto& archive, JsonOf<CudaSupport> auto& support) {
  archive.required("runs", support.runs);
  archive.required("by", support.by);
  archive.required("reason", support.reason);
  archive.required("engines", support.engines);
  archive.optional("basis", support.basis);
  archive.optional("steps", support.steps);
}

namespace {

constexpr std::string_view kSupportSchema = "bench.cuda_support/1";

struct SupportDocument {
  CudaSupports cases;
};
void fields(auto& archive, JsonOf<SupportDocument> auto& document) {
  archive.constant("schema", kSupportSchema);
  archive.required("cases", document.cases);
}

}  // namespace

std::string format_cuda_support(const CudaSupports& supports) {
  return format_json(SupportDocument{supports});
}

Result<CudaSupports> parse_cuda_support(std::string_view text) {
  BENCH_ASSIGN_OR_RETURN(SupportDocument document,
                         read_json_document<SupportDocument>(text, kSupportSchema));
  return std::move(document.cases);
}

Result<CudaSupport> parse_one_cuda_support(std::string_view text) {
  CudaSupport support;
  const Status status =
      read_json_object(text, [&](JsonReader& reader) { fields(reader, support); });
  if (!status.ok())
    return Error{"the CUDA plugin's answer is invalid: " + status.error().what, "", ""};
  return support;
}

}  // namespace bench
