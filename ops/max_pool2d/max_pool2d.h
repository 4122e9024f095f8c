// SPDX-License-Identifier: Apache-2.0
//
// out[y,x,c] = maximum of in over the window of (y, x). Taps outside the map never win; a window with no tap inside
// is the least value.
#ifndef RUSHLIGHT_OPS_MAX_POOL2D_H
#define RUSHLIGHT_OPS_MAX_POOL2D_H

#include "../avg_pool2d/pool.h"

namespace rush {

/// Operands: 0 in, 1 out. Maps [H,W,C] of any alignment. out may begin where in does if there is no padding above and
/// to the left: no window begins before its output.
struct MaxPool2dParams {
  PoolMap map;
  int32_t least;  ///< of int8 outputs
};

extern const KernelContract max_pool2d_s8_contract;
Kernel max_pool2d_s8_scalar, max_pool2d_s8_dsp, max_pool2d_s8_mve;

/// float32; operands 4-byte aligned; least is -infinity. NaN wins.
extern const KernelContract max_pool2d_f32_contract;
Kernel max_pool2d_f32_scalar;

}  // namespace rush
#endif
