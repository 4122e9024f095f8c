// SPDX-License-Identifier: Apache-2.0
//
// Pages for people: a template of pages/ with data in place of marks such as @DATA@.
#pragma once

#include <string>

namespace rush {

/// pages/<name>.html.
std::string read_page(const std::string& name);

/// The first `mark` becomes `text`. InternalError if there is none.
void fill_in(std::string& page, const std::string& mark, const std::string& text);

/// JSON that ends no script element: "<" stands in strings only, and there it may be written otherwise.
std::string inside_script(const std::string& json);

}  // namespace rush
