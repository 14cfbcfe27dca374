// SPDX-License-Identifier: Apache-2.0
// A trace as one HTML file that any browser shows without a network: the page from timeline.html,
// .css and .js with the trace embedded.
#pragma once

#include "profiler/export/byte_sink.hpp"

#include <memory>
#include <string>

namespace bench {

// Writes a page to `next` that contains the trace written to this sink. The trace is compressed and
// base64-encoded, so that nothing in it can be interpreted as HTML or script.
std::unique_ptr<ByteSink> timeline_page_bytes(const std::string& title,
                                              std::unique_ptr<ByteSink> next);

}  // namespace bench
