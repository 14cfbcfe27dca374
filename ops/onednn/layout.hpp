// SPDX-License-Identifier: Apache-2.0
// Memory descriptors: data types, the layouts that users name, and their text form.
#pragma once

#include "base/data_type.hpp"
#include "ops/problem.hpp"

#include <dnnl.hpp>

#include <optional>
#include <string>

namespace bench::ops {

// Returns nullopt for types that oneDNN does not support on a CPU (f64) or added after 3.0 (8-bit
// floats).
std::optional<dnnl::memory::data_type> find_onednn_type(DataType type);
dnnl::memory::data_type onednn_type(DataType type);  // asserts that there is one

dnnl::memory::desc any_desc(const Dims& dims, DataType type);
// Row-major: the last dimension is contiguous.
dnnl::memory::desc row_major_desc(const dnnl::memory::dims& dims, dnnl::memory::data_type type);
dnnl::memory::desc plain_desc(const Dims& dims, DataType type);
// Channels (dimension 1) contiguous, then the spatial dimensions: nhwc, and its equivalents in
// other ranks.
dnnl::memory::desc channels_last_desc(const Dims& dims, DataType type);
// Returns the descriptor that `layout` determines; any_desc for Layout::any.
dnnl::memory::desc make_layout_desc(Layout layout, const Dims& dims, DataType type);

// Whether a tensor has n, c and at least one spatial dimension, so that nhwc differs from plain.
inline bool is_spatial(const Dims& dims) { return dims.size() >= 3; }

// Whether both layouts order the elements identically, so that a buffer of one can be read as the
// other. They are equal or differ only in notation (acdb, aBcd8b and abcd of 1x1 images).
bool same_order(const dnnl::memory::desc& a, const dnnl::memory::desc& b);

// The order of dimensions and blocks as in oneDNN's verbose mode: "acdb" (nhwc), "aBcd16b". The
// strides follow if the elements are not dense. "any" and "opaque" have no order.
std::string format_layout(const dnnl::memory::desc& desc);
// The inverse, for layouts that have a tag in the library; nullopt for others.
std::optional<dnnl::memory::desc> parse_desc(const std::string& text, const Dims& dims,
                                             DataType type);

}  // namespace bench::ops
