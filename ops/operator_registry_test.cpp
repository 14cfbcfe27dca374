// SPDX-License-Identifier: Apache-2.0
#include "ops/operator_registry.hpp"

#include "ops/described_operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const Operator> named(const std::string& name) {
  OperatorDescription description;
  description.name = name;
  description.help = "for a test";
  description.directions = {Direction::forward};
  return make_described_operator(std::move(description), {});
}

PluginAddition addition(const std::string& op, BackendRow row) {
  return {"a.so", {named(op)}, {std::move(row)}};
}

TEST(OperatorRegistryTest, WithoutPluginsItHasWhatIsBuiltIn) {
  const OperatorRegistry& registry = built_in_operators();
  EXPECT_EQ(registry.operator_names(), operator_names());
  EXPECT_EQ(registry.find("inner_product"), find_operator("gemm"));
  EXPECT_EQ(registry.find("twice"), nullptr);
  EXPECT_THAT(registry.backend_names(), ElementsAre("onednn", "native", "openblas", "blis", "mkl",
                                                    "cudnn", "cublaslt", "cublas"));
}

// An operator that names a misspelt backend would never run on that backend.
TEST(OperatorRegistryTest, EveryCudaBackendThatAnOperatorNamesExistsAndServesIt) {
  for (const Operator* op : all_operators()) {
    for (const std::string_view name : op->cuda) {
      const BackendRow* backend = built_in_operators().find_backend(name);
      ASSERT_NE(backend, nullptr) << op->name << ": " << name;
      EXPECT_EQ(backend->device, "cuda") << op->name << ": " << name;
      EXPECT_THAT(backend->operators, testing::Contains(std::string(op->name)));
    }
  }
}

TEST(OperatorRegistryTest, TheDefaultBackendIsTheFirstThatServes) {
  const OperatorRegistry& registry = built_in_operators();
  EXPECT_EQ(registry.default_backend("cpu", "gemm"), "onednn");
  EXPECT_EQ(registry.default_backend("cuda", "gemm"), "cublaslt");
  EXPECT_EQ(registry.default_backend("cuda", "conv"), "cudnn");
  EXPECT_EQ(registry.default_backend("cuda", kNetworkOperator), "cudnn");
  const auto extended =
      OperatorRegistry::extended({addition("twice", {"own", "cpu", {"twice", "gemm"}})});
  ASSERT_TRUE(extended.ok());
  EXPECT_EQ(extended->default_backend("cpu", "twice"), "own");
  EXPECT_EQ(extended->default_backend("cpu", "gemm"), "onednn");
  // No backend has it. The device's first backend is the default and refuses it with a reason.
  EXPECT_EQ(extended->default_backend("cuda", "twice"), "cudnn");
}

TEST(OperatorRegistryTest, APluginProvidesABackendThatIsOnlyDeclared) {
  const auto extended =
      OperatorRegistry::extended({addition("twice", {"cudnn", "cuda", {"twice"}})});
  ASSERT_TRUE(extended.ok());
  EXPECT_EQ(extended->find_backend("cudnn")->source, "a.so");
  EXPECT_EQ(extended->default_backend("cuda", "twice"), "cudnn");
  const auto again =
      OperatorRegistry::extended({addition("twice", {"cudnn", "cuda", {"twice"}}),
                                  addition("thrice", {"cudnn", "cuda", {"thrice"}})});
  EXPECT_THAT(again.error().what, HasSubstr("has the name of one of a.so"));
}

TEST(OperatorRegistryTest, TakenNamesAreReportedWithThePluginsFile) {
  const auto error = [](PluginAddition added) {
    std::vector<PluginAddition> all;
    all.push_back(std::move(added));
    return OperatorRegistry::extended(std::move(all)).error();
  };
  EXPECT_THAT(error(addition("conv", {"own", "cpu", {}})).what, HasSubstr("a built-in one"));
  EXPECT_THAT(error(addition("inner_product", {"own", "cpu", {}})).what, HasSubstr("built-in"));
  EXPECT_THAT(error(addition("network", {"own", "cpu", {}})).what, HasSubstr("built-in"));
  EXPECT_THAT(error(addition("twice", {"onednn", "cpu", {}})).what, HasSubstr("built-in"));
  EXPECT_THAT(error(addition("twice", {"cudnn", "cpu", {}})).what, HasSubstr("for device cuda"));
  EXPECT_EQ(error(addition("conv", {"own", "cpu", {}})).where, "a.so");
  const auto twice = OperatorRegistry::extended(
      {addition("twice", {"own", "cpu", {}}), addition("twice", {"other", "cpu", {}})});
  EXPECT_THAT(twice.error().what, HasSubstr("another plugin's operator"));
}

}  // namespace
}  // namespace bench::ops
