// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/bounded_names.hpp"

#include <functional>

namespace bench::analysis {

// Two names with one hash count as one; the limit then admits one name more.
bool BoundedNames::is_within_limit(std::string_view name, Hashes& known) {
  const std::size_t hash = std::hash<std::string_view>()(name);
  if (known.size() < limit_) {
    known.insert(hash);
    return true;
  }
  return known.contains(hash);
}

const Activity& BoundedNames::bound(const Activity& activity) {
  const std::string_view domain = activity.attributes.text(Attribute::domain);
  const bool has_name = is_within_limit(activity.name, names_);
  const bool has_scope = activity.scope.empty() || is_within_limit(activity.scope, scopes_);
  const bool has_domain = domain.empty() || is_within_limit(domain, domains_);
  if (has_name && has_scope && has_domain) return activity;
  has_joined_ = true;
  renamed_ = activity;
  if (!has_name) renamed_.name = kFurtherNames;
  if (!has_scope) renamed_.scope = kFurtherNames;
  if (!has_domain) renamed_.attributes.set(Attribute::domain, kFurtherNames);
  return renamed_;
}

}  // namespace bench::analysis
