// SPDX-License-Identifier: Apache-2.0
// A trace as one HTML file that any browser shows, without a network: the page of timeline.html,
// .css and .js with the trace inside.
#pragma once

#include "profiler/export/byte_sink.hpp"

#include <memory>
#include <string>

namespace bench {

// What is written to it, a trace, becomes part of the page that goes to `next`: compressed and as
// base64, so that nothing in the trace can be taken for HTML or script.
std::unique_ptr<ByteSink> timeline_page_bytes(const std::string& title,
                                              std::unique_ptr<ByteSink> next);

}  // namespace bench
