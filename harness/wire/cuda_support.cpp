// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/cuda_support.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"

namespace bench {

BENCH_FIELDS(CudaSupport, runs, by, reason, engines, (basis, kOptional), (steps, kOptional));

namespace {

constexpr std::string_view kSupportSchema = "bench.cuda_support/1";

struct SupportDocument {
  CudaSupports cases;
};
void fields(auto& archive, JsonOf<SupportDocument> auto& document) {
  archive.constant("schema", kSupportSchema);
  BENCH_MEMBERS(archive, document, cases);
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
