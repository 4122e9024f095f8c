// SPDX-License-Identifier: Apache-2.0
//
// The loops of softmax_dense_s8_mve. GCC 12 makes no tail-predicated loops, and compiled for size it moves every predicate
// through a core register.
#ifdef RUSH_ASM
  .syntax unified
  .thumb

// Offsets in SoftmaxRun.
#define MAX 20

// q0: the exponentials of the four codes at r1. q1 holds the maximum; `coarse` and `fine` are the halves of the table.
// Takes q2 and q3.
.macro exponentials coarse, fine
  vldrb.s32 q3, [r1], #4
  vsub.i32 q3, q1, q3
  vshl.i32 q0, q3, #24
  vshr.u32 q0, q0, #28
  vldrw.u32 q2, [\coarse, q0, uxtw #2]
  vshl.i32 q3, q3, #28
  vshr.u32 q3, q3, #28
  vldrw.u32 q0, [\fine, q3, uxtw #2]
  vmulh.s32 q0, q0, q2
.endm

  .section .text.rush_softmax_sum, "ax", %progbits
  .global rush_softmax_sum
  .type rush_softmax_sum, %function
  .p2align 2
rush_softmax_sum:
  push {r4-r6, lr}
  // table, count
  ldrd r4, r6, [r0]
  mov r2, r1
  mvn r3, #127
  dlstp.8 lr, r6
.Lmax:
  vldrb.8 q0, [r2], #16
  vmaxv.s8 r3, q0
  letp lr, .Lmax
  vdup.32 q1, r3
  str r3, [r0, #MAX]
  add r0, r4, #64
  movs r2, #0
  movs r3, #0
  dlstp.32 lr, r6
.Lsum:
  exponentials r4, r0
  vaddlva.u32 r2, r3, q0
  letp lr, .Lsum
  mov r0, r2
  mov r1, r3
  pop {r4-r6, pc}
  .size rush_softmax_sum, . - rush_softmax_sum

  .section .text.rush_softmax_codes, "ax", %progbits
  .global rush_softmax_codes
  .type rush_softmax_codes, %function
  .p2align 2
rush_softmax_codes:
  push {r4-r10, lr}
  vpush {d8-d13}
  // table, count, zero point, range, max, multiplier, shift
  ldm r0, {r3-r10}
  add r0, r3, #64
  vdup.32 q1, r8
  vdup.32 q4, r9
  vdup.32 q5, r6
  vdup.32 q6, r7
  dlstp.32 lr, r4
.Lcodes:
  exponentials r3, r0
  vmulh.s32 q0, q0, q4
  vrshl.s32 q0, r10
  vadd.i32 q0, q0, r5
  vmax.s32 q0, q0, q5
  vmin.s32 q0, q0, q6
  vstrb.32 q0, [r2], #4
  letp lr, .Lcodes
  vpop {d8-d13}
  pop {r4-r10, pc}
  .size rush_softmax_codes, . - rush_softmax_codes
#endif
