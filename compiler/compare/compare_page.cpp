// SPDX-License-Identifier: Apache-2.0
//
// The comparison as JSON, inside a template that draws it.
#include "compiler/compare/compare.h"
#include "compiler/report/page.h"

namespace rush {
namespace {

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

}  // namespace

std::string comparison_page(const Comparison& comparison, const std::string& model) {
  std::string page = read_page("compare");
  fill_in(page, "@MODEL@", escaped(model));
  fill_in(page, "@DATA@", inside_script(comparison_json(comparison)));
  return page;
}

}  // namespace rush
