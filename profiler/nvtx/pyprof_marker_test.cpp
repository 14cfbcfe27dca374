// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/framework_range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::vector<std::int64_t>;

TEST(PyprofMarker, TellsAllArguments) {
  const auto marker = parse_pyprof_marker(
      "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', "
      "'shape': (32, 3, 224, 224), 'dtype': 'float16'}, {'name': '', 'type': 'NoneType', 'value': "
      "None}, {'name': 'stride', 'type': 'tuple', 'value': (2, 1)}, {'name': '', 'type': 'list', "
      "'value': []}, {'name': '', 'type': 'bool', 'value': True}, {'name': '', 'type': 'float', "
      "'value': 1e-05}, {'name': '', 'type': 'str', 'value': \"it's } [odd]\"}]}");
  ASSERT_TRUE(marker.has_value());
  EXPECT_EQ(marker->name, "conv2d");
  EXPECT_EQ(marker->module, "torch.nn.functional");
  EXPECT_EQ(marker->direction, FrameworkDirection::unknown);
  ASSERT_EQ(marker->arguments.size(), 7U);
  EXPECT_THAT(marker->arguments[0].shape, ElementsAre(32, 3, 224, 224));
  EXPECT_EQ(marker->arguments[0].dtype, "float16");
  EXPECT_EQ(marker->arguments[1].type, "NoneType");
  EXPECT_EQ(marker->arguments[2].name, "stride");
  EXPECT_EQ(marker->arguments[2].numbers, (Numbers{2, 1}));
  EXPECT_THAT(marker->arguments[3].numbers, IsEmpty());
  EXPECT_EQ(marker->arguments[4].numbers, Numbers{1});
  EXPECT_THAT(marker->arguments[5].numbers, IsEmpty());
  EXPECT_THAT(marker->arguments[6].numbers, IsEmpty());
  EXPECT_THAT(marker->inputs[0], ElementsAre(32, 3, 224, 224));
  EXPECT_THAT(marker->inputs[2], IsEmpty());
}

TEST(PyprofMarker, OtherTextsAreNone) {
  const std::string head = "{'mod': 'torch', 'op': 'mm', 'args': [";
  for (const std::string& text :
       {std::string(), std::string("{'mod': "), std::string("{'traceMarker': ['a.py:3']}"),
        std::string("{'mod': 'Linear', 'strRepr': 'in_features=3'}"), head, head + "]",
        head + "]} and more", head + "{'name': ''}]}",
        head + "{'name': '', 'type': 'tensor', 'shape': (2, -3), 'dtype': 'float16'}]}",
        head + "{'name': '', 'type': 'tensor', 'shape': (2, 3)}]}",
        head +
            "{'name': '', 'type': 'tensor', 'shape': (99999999999999999999,), 'dtype': 'half'}]}",
        head + "{'name': '', 'type': 'int', 'value': __import__('os').system('true')",
        std::string("{'mod': 'torch', 'op': '', 'args': []}")}) {
    EXPECT_FALSE(parse_pyprof_marker(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_pyprof_marker(head + "]}").has_value());
}

TEST(PyprofMarker, OfACallStackGivesItsPlaces) {
  EXPECT_EQ(parse_trace_marker("{'traceMarker': ['resnet.py:210', 'train.py:3']}"),
            "resnet.py:210,train.py:3");
  EXPECT_EQ(parse_trace_marker("{'traceMarker': ['train.py:3'], 'funcStack': ''}"), "train.py:3");
  for (const char* text : {"", "{'traceMarker': []}", "{'traceMarker': ['a.py:3'", "train.py:3",
                           "{'traceMarker': [3]}", "{'mod': 'torch', 'op': 'add', 'args': []}"}) {
    EXPECT_EQ(parse_trace_marker(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace bench
