// SPDX-License-Identifier: Apache-2.0
#include "rushlight/kernel.h"

namespace rush {
namespace {

bool feed_extents(const void* params, Extents* extents) {
  const FeedParams& p = *static_cast<const FeedParams*>(params);
  if (!rows_hold(p.map, p.rows) || p.rows > 0xffffu) return false;
  extents->bytes[0] = rows_bytes(p.map);
  extents->rows = p.rows;
  return true;
}

}  // namespace

extern const KernelContract feed_contract;
const KernelContract feed_contract = {feed_extents, sizeof(FeedParams), 1, 0x0, 0x0};

}  // namespace rush
