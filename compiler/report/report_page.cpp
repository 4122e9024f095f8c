// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/page.h"
#include "compiler/report/report.h"

namespace rush {

std::string report_page(const std::string& report, const std::string& size) {
  std::string page = read_page("report");
  fill_in(page, "@SIZE@", inside_script(size));
  fill_in(page, "@REPORT@", inside_script(report));
  return page;
}

}  // namespace rush
