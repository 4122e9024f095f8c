// SPDX-License-Identifier: Apache-2.0
//
// The loop of depthwise_compact_s8_mve. GCC 12 sets the predicate anew in every turn and copies its pointers: 18 cycles
// a channel, here 11.
#ifdef RUSH_ASM
  .syntax unified
  .thumb

  .section .text.rush_spread_weights, "ax", %progbits
  .global rush_spread_weights
  .type rush_spread_weights, %function
  .p2align 2
rush_spread_weights:
  push {r4, r5, r6, lr}
  // Three rows of a channel.
  add r4, r1, r2
  add r5, r4, r2
  add r6, r2, r2, lsl #1
  vctp.32 r2
  dls lr, r3
.Lspread:
  vpsttt
  vldrbt.u32 q0, [r1]
  vldrbt.u32 q1, [r4]
  vldrbt.u32 q2, [r5]
  vshl.i32 q0, q0, #8
  add r1, r6
  vsli.32 q0, q1, #16
  add r4, r6
  vsli.32 q0, q2, #24
  add r5, r6
  vstrw.32 q0, [r0], #16
  le lr, .Lspread
  pop {r4, r5, r6, pc}
  .size rush_spread_weights, . - rush_spread_weights
#endif
