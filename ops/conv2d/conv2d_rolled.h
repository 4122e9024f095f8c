// SPDX-License-Identifier: Apache-2.0
//
// RUSH_ROLLED before a loop keeps the compiler from unrolling it: the kernels are unrolled by hand where it pays,
// and a compiler's further copies only spill registers and fill flash.
#ifndef RUSHLIGHT_OPS_CONV2D_ROLLED_H
#define RUSHLIGHT_OPS_CONV2D_ROLLED_H

#if defined(__clang__)
#define RUSH_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define RUSH_ROLLED _Pragma("GCC unroll 1")
#else
#define RUSH_ROLLED
#endif

#endif
