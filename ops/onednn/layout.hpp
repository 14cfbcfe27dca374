// SPDX-License-Identifier: Apache-2.0
// Memory descriptors: data types, the layouts that users name, and text for people.
#pragma once

#include "base/data_type.hpp"
#include "ops/problem.hpp"

#include <dnnl.hpp>

#include <optional>
#include <string>

namespace bench::ops {

// Absent for what oneDNN does not compute on a CPU (f64) or what came after 3.0 (8-bit floats).
std::optional<dnnl::memory::data_type> find_onednn_type(DataType type);
dnnl::memory::data_type onednn_type(DataType type);  // asserts that there is one

dnnl::memory::desc any_desc(const Dims& dims, DataType type);
// Row-major: the last dimension is contiguous.
dnnl::memory::desc row_major_desc(const dnnl::memory::dims& dims, dnnl::memory::data_type type);
dnnl::memory::desc plain_desc(const Dims& dims, DataType type);
// Channels (dimension 1) contiguous, then the spatial dimensions: nhwc and its kin of other ranks.
dnnl::memory::desc channels_last_desc(const Dims& dims, DataType type);
// What `layout` fixes; any_desc for Layout::any.
dnnl::memory::desc desc_of_layout(Layout layout, const Dims& dims, DataType type);

// n, c, then at least one spatial dimension: where nhwc has a meaning of its own.
inline bool is_spatial(const Dims& dims) { return dims.size() >= 3; }

// Whether the elements of both stand in the same order, so that a buffer of one can be read as the
// other: equal, or different only in words (acdb, aBcd8b and abcd of 1x1 images).
bool same_order(const dnnl::memory::desc& a, const dnnl::memory::desc& b);

// The order of dimensions and blocks as oneDNN's verbose mode writes it: "acdb" (nhwc), "aBcd16b".
// Followed by the strides where the elements are not dense; "any" and "opaque" have no order.
std::string layout_text(const dnnl::memory::desc& desc);
// The inverse for layouts that the library has a tag for; absent for others.
std::optional<dnnl::memory::desc> desc_of_text(const std::string& text, const Dims& dims,
                                               DataType type);

}  // namespace bench::ops
