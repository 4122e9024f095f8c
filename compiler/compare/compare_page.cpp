// SPDX-License-Identifier: Apache-2.0
//
// The comparison as JSON, inside a template that draws it.
#include "compiler/compare/compare.h"
#include "compiler/firmware/process.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/target/target.h"

namespace rush {
namespace {

/// "</script>" in a layer's name must not end the script.
std::string inside_script(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos; at += 6) json.replace(at, 1, "\\u003c");
  return json;
}

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    if (c == '<')
      html += "&lt;";
    else if (c == '&')
      html += "&amp;";
    else
      html += c;
  }
  return html;
}

void replace_once(std::string& text, const std::string& mark, const std::string& with) {
  const size_t at = text.find(mark);
  internal_check(at != std::string::npos, "the page's template has no " + mark);
  text.replace(at, mark.size(), with);
}

}  // namespace

std::string comparison_page(const Comparison& comparison, const std::string& model) {
  std::string page = firmware::read_file(data_root() / "pages/compare.html");
  replace_once(page, "@MODEL@", escaped(model));
  replace_once(page, "@DATA@", inside_script(comparison_json(comparison)));
  return page;
}

}  // namespace rush
