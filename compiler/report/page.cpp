// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/page.h"

#include "compiler/firmware/process.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/target/target.h"

namespace rush {

std::string read_page(const std::string& name) { return firmware::read_file(data_root() / "pages" / (name + ".html")); }

void fill_in(std::string& page, const std::string& mark, const std::string& text) {
  const size_t at = page.find(mark);
  internal_check(at != std::string::npos, "the page's template has no " + mark);
  page.replace(at, mark.size(), text);
}

std::string inside_script(const std::string& json) {
  std::string text;
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

}  // namespace rush
