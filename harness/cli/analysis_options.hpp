// SPDX-License-Identifier: Apache-2.0
// Functions that store the values of `bench analyze` options in the arguments. Rows of options()
// refer to them. An error names the option.
#pragma once

#include "base/result.hpp"
#include "harness/cli/arguments.hpp"

#include <string>

namespace bench {

Status set_top(Arguments& arguments, const std::string& value);
Status add_type(Arguments& arguments, const std::string& value);
Status add_kind(Arguments& arguments, const std::string& value);
Status set_name(Arguments& arguments, const std::string& value);
Status set_layer(Arguments& arguments, const std::string& value);
Status set_direction(Arguments& arguments, const std::string& value);
Status set_dtype(Arguments& arguments, const std::string& value);
Status set_min_time(Arguments& arguments, const std::string& value);
Status set_max_time(Arguments& arguments, const std::string& value);
Status set_phase(Arguments& arguments, const std::string& value);
Status set_aggregate_by(Arguments& arguments, const std::string& value);
Status set_aggregate(Arguments& arguments, const std::string& value);
Status set_order_by(Arguments& arguments, const std::string& value);
Status add_columns(Arguments& arguments, const std::string& value);
Status set_width(Arguments& arguments, const std::string& value);
Status set_peak_bandwidth(Arguments& arguments, const std::string& value);
Status set_peak_flops(Arguments& arguments, const std::string& value);

}  // namespace bench
