// SPDX-License-Identifier: Apache-2.0
//
// The loops of softmax_dense_s8_mve. GCC 12 makes no tail-predicated loops, and compiled for size it moves every predicate
// through a core register.
#ifdef RUSH_ASM
  .syntax unified
  .thumb

// Offsets in SoftmaxRun.
#define MAX 20

// q0: the exponentials of the four codes at r1. q1 holds the maximum, q2 the table's last entry.
.macro exponentials
  vldrb.s32 q3, [r1], #4
  vsub.i32 q3, q1, q3
  vmin.u32 q3, q3, q2
  vldrw.u32 q0, [r3, q3, uxtw #2]
.endm

  .section .text.rush_softmax_sum, "ax", %progbits
  .global rush_softmax_sum
  .type rush_softmax_sum, %function
  .p2align 2
rush_softmax_sum:
  push {r4, r5, r6, lr}
  // in, out, table, last, count
  ldm r0, {r1-r5}
  vdup.32 q2, r4
  mov r2, r1
  mvn r6, #127
  dlstp.8 lr, r5
.Lmax:
  vldrb.8 q0, [r2], #16
  vmaxv.s8 r6, q0
  letp lr, .Lmax
  vdup.32 q1, r6
  str r6, [r0, #MAX]
  movs r2, #0
  movs r4, #0
  dlstp.32 lr, r5
  movs r5, #0
.Lsum:
  exponentials
  vaddlva.u32 r4, r5, q0
  letp lr, .Lsum
  mov r0, r4
  mov r1, r5
  pop {r4, r5, r6, pc}
  .size rush_softmax_sum, . - rush_softmax_sum

  .section .text.rush_softmax_codes, "ax", %progbits
  .global rush_softmax_codes
  .type rush_softmax_codes, %function
  .p2align 2
rush_softmax_codes:
  push {r4-r11, lr}
  vpush {d8-d13}
  // in, out, table, last, count, max, multiplier, shift, zero point, range
  ldm r0, {r1-r11}
  vdup.32 q1, r6
  vdup.32 q2, r4
  vdup.32 q4, r7
  vdup.32 q5, r10
  vdup.32 q6, r11
  dlstp.32 lr, r5
.Lcodes:
  exponentials
  vmulh.s32 q0, q0, q4
  vrshl.s32 q0, r8
  vadd.i32 q0, q0, r9
  vmax.s32 q0, q0, q5
  vmin.s32 q0, q0, q6
  vstrb.32 q0, [r2], #4
  letp lr, .Lcodes
  vpop {d8-d13}
  pop {r4-r11, pc}
  .size rush_softmax_codes, . - rush_softmax_codes
#endif
