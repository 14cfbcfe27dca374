// SPDX-License-Identifier: Apache-2.0
#include "harness/store/database_url.hpp"

#include "base/quote.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kHidden = "***";

struct UrlScheme {
  std::string_view prefix;
  DatabaseKind kind;
};
constexpr std::array kUrlSchemes = {UrlScheme{"sqlite:", DatabaseKind::sqlite},
                                    UrlScheme{"postgresql://", DatabaseKind::postgresql},
                                    UrlScheme{"postgres://", DatabaseKind::postgresql}};

// Returns the password of `USER:PASSWORD@HOST`, or of the parameter `password`. Empty if there is
// none. A user name, a password and a host contain no `/`, so the first one ends them; a password
// with a bare `@` ends at the last one.
std::string_view find_password(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  const std::string_view authority = url.substr(begin, url.find_first_of("/?", begin) - begin);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::size_t colon = authority.find(':');
    if (colon < at) return authority.substr(colon + 1, at - colon - 1);
  }
  constexpr std::string_view kParameter = "password=";
  const std::size_t parameter = url.find(kParameter);
  if (parameter == std::string_view::npos) return {};
  const std::string_view value = url.substr(parameter + kParameter.size());
  return value.substr(0, value.find('&'));
}

std::string decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char code = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      decoded += static_cast<char>(code);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::string replace_all(std::string text, std::string_view part, std::string_view by) {
  if (part.empty()) return text;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

}  // namespace

Result<DatabaseUrl> DatabaseUrl::parse(std::string_view url) {
  for (const UrlScheme& scheme : kUrlSchemes) {
    if (!url.starts_with(scheme.prefix) || url.size() == scheme.prefix.size()) continue;
    DatabaseUrl parsed;
    parsed.kind_ = scheme.kind;
    parsed.target_ = scheme.kind == DatabaseKind::sqlite ? url.substr(scheme.prefix.size()) : url;
    if (scheme.kind == DatabaseKind::postgresql) {
      parsed.password_ = find_password(url);
      parsed.decoded_password_ = decode_percent(parsed.password_);
    }
    parsed.shown_ = parsed.redact(std::string(url));
    return parsed;
  }
  // The text may contain a password, so only what precedes the first colon is repeated.
  const std::string_view scheme = url.substr(0, url.find(':'));
  const bool has_scheme = scheme.size() < url.size();
  return Error{has_scheme ? fmt::format("{} is not the address of a database",
                                        quote(std::string(scheme) + ":"))
                          : std::string("the address of the database has no scheme"),
               "--db",
               "expected sqlite:FILE or postgresql://USER@HOST/DATABASE, for example --db "
               "sqlite:history.db"};
}

std::string DatabaseUrl::redact(std::string text) const {
  // Short passwords such as `a` occur in many words, so the URL is replaced as a whole first.
  if (!shown_.empty()) text = replace_all(std::move(text), target_, shown_);
  for (const std::string& password : {password_, decoded_password_}) {
    if (password.empty()) continue;
    text = replace_all(std::move(text), ":" + password + "@", fmt::format(":{}@", kHidden));
    text =
        replace_all(std::move(text), "password=" + password, fmt::format("password={}", kHidden));
    text = replace_all(std::move(text), "\"" + password + "\"", fmt::format("\"{}\"", kHidden));
  }
  return text;
}

}  // namespace bench
