// SPDX-License-Identifier: Apache-2.0
//
// Integers computed from a symbolic batch: once it is bound, they are numbers.
#include <fmt/format.h>

#include <array>

#include "compiler/import/aten_map.h"

namespace rush {
namespace {

void translate_size(Call& call) {
  const Shape shape = call.shape(call.tensor("self"));
  const int64_t axis = call.axis("dim", shape.size());
  if (shape.empty()) call.fail("a scalar has no dimensions");
  call.define_integer(shape[static_cast<size_t>(axis)]);
}

// Arguments are below 2^33 each, and a symbolic result is checked when it is used.
void translate_product(Call& call) {
  int64_t product;
  if (__builtin_mul_overflow(call.integer("a"), call.integer("b"), &product)) call.fail("the product is too large");
  call.define_integer(product);
}

void translate_sum(Call& call) { call.define_integer(call.integer("a") + call.integer("b")); }

void translate_difference(Call& call) { call.define_integer(call.integer("a") - call.integer("b")); }

void translate_quotient(Call& call) {
  const int64_t a = call.integer("a"), b = call.integer("b");
  if (b == 0) call.fail("division by zero");
  call.define_integer(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

constexpr auto kOperators = std::to_array<AtenOperator>({
    {"aten.sym_size.int", translate_size},
    {"_operator.mul", translate_product},
    {"_operator.add", translate_sum},
    {"_operator.sub", translate_difference},
    {"_operator.floordiv", translate_quotient},
});

}  // namespace

std::span<const AtenOperator> symbolic_operators() { return kOperators; }

}  // namespace rush
