// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of depthwise_patch_s8_mve. GCC 12 keeps the four vectors of VLD4 and VST4 in memory, and neither
// compiler overlaps the requantization of one patch with the sums of the next, though they need other units: 1.8 (clang
// 19) to 4 times (GCC 12) as fast as the intrinsics in depthwise_patch_mve.cpp.
#ifdef RUSH_ASM
  .syntax unified
  .thumb

// Offsets in PatchRows.
#define ZERO_POINTS 0
#define FILL 4
#define ROW 16
#define RUN 52
#define BELOW 60
#define GROUPS 88

// One row of four columns: what lies in the map, zero points elsewhere. q5 is the complement of the columns, so that
// one comparison finds both sides' padding.
.macro fill_row to, row, limit
  vpte.u32 hi, q5, \limit
  vldrwt.u32 \to, [\row, q6]
  vorre \to, q4, q4
.endm

// The sums of four channels' windows that begin at byte \first of their sixteen weights.
.macro sum first, spare
  vldrb.8 q4, [r5, #\first]
  vmladav.s8 r2, q0, q4
  vldrb.8 \spare, [r5, #\first + 16]
  vmladav.s8 r4, q1, \spare
  vldrb.8 q4, [r5, #\first + 32]
  vmladav.s8 r6, q2, q4
  vldrb.8 \spare, [r5, #\first + 48]
  vmladav.s8 r8, q3, \spare
.endm

  .section .text.rush_depthwise_patch_rows, "ax", %progbits
  .global rush_depthwise_patch_rows
  .type rush_depthwise_patch_rows, %function
  .p2align 2
rush_depthwise_patch_rows:
  push {r4-r12, lr}
  vpush {d8-d15}

  add r1, r0, #FILL
.Lgroup:
  // Interleave four rows of four channels.
  ldm r1, {r1-r12}
  cbz r2, .Lfilled
  ldr lr, [r0, #ZERO_POINTS]
  vddup.u32 q5, r12, #1
  vdup.32 q4, lr
  vmul.i32 q6, q5, r3
  dls lr, r2
.Lfill:
  fill_row q0, r4, r8
  fill_row q1, r5, r9
  fill_row q2, r6, r10
  fill_row q3, r7, r11
  vst40.8 {q0, q1, q2, q3}, [r1]
  vddup.u32 q5, r12, #1
  vst41.8 {q0, q1, q2, q3}, [r1]
  vmul.i32 q6, q5, r3
  vst42.8 {q0, q1, q2, q3}, [r1]
  vst43.8 {q0, q1, q2, q3}, [r1]!
  le lr, .Lfill
  adds r4, r4, #4
  adds r5, r5, #4
  adds r6, r6, #4
  adds r7, r7, #4
  add r1, r0, #ROW
  stm r1, {r4-r7}
.Lfilled:

  // The pointers of these four channels; those of the next ones are put back at once. The first patches.
  add r1, r0, #RUN
  ldm r1, {r1, r2, r3, r5, r7, r9, r10, r11, r12}
  vld40.32 {q0, q1, q2, q3}, [r1]
  add r8, r7, #4
  vld41.32 {q0, q1, q2, q3}, [r1]
  add lr, r9, #32
  vld42.32 {q0, q1, q2, q3}, [r1]
  add r7, r0, #BELOW
  add r6, r5, #64
  vld43.32 {q0, q1, q2, q3}, [r1]
  adds r4, r3, #4
  add r1, r10
  vldrw.32 q5, [r9, #16]
  stm r7, {r4, r6, r8, lr}
  sub r7, r8, #4
  sub lr, r2, #1
  cmp r3, r7
  beq .Lsingle

  // The upper sums of a patch end in q6, the lower ones in r2, r4, r6, r8; its codes are made while the next patch is
  // summed.
  sub r3, r12
  sum 1, q7
  vmov q6[2], q6[0], r2, r6
  vmov q6[3], q6[1], r4, r8
  sum 0, q7
  wls lr, lr, .Lpair_last
.Lpair:
  vld40.32 {q0, q1, q2, q3}, [r1]
  vmov q7[2], q7[0], r2, r6
  vld41.32 {q0, q1, q2, q3}, [r1]
  vmov q7[3], q7[1], r4, r8
  vldrw.32 q4, [r9]
  vadd.i32 q6, q6, q4
  vld42.32 {q0, q1, q2, q3}, [r1]
  vadd.i32 q7, q7, q4
  vld43.32 {q0, q1, q2, q3}, [r1]
  vmulh.s32 q6, q6, q5
  vldrb.8 q4, [r5, #1]
  vmulh.s32 q7, q7, q5
  vrshl.s32 q6, q6, q5
  vmladav.s8 r2, q0, q4
  vldrb.8 q4, [r5, #17]
  vrshl.s32 q7, q7, q5
  vmladav.s8 r4, q1, q4
  vldrb.8 q4, [r5, #33]
  vqmovnb.s32 q7, q7
  vmladav.s8 r6, q2, q4
  vldrb.8 q4, [r5, #49]
  vqmovnt.s32 q7, q6
  vmladav.s8 r8, q3, q4
  vmov q6[2], q6[0], r2, r6
  vldrb.8 q4, [r5]
  vqadd.s16 q7, q7, r11
  vmladav.s8 r2, q0, q4
  vmov q6[3], q6[1], r4, r8
  vldrb.8 q4, [r5, #16]
  vqmovnb.s16 q7, q7
  vmladav.s8 r4, q1, q4
  vldrb.8 q4, [r5, #32]
  add r3, r12
  vmladav.s8 r6, q2, q4
  vstrb.32 q7, [r3]
  vshr.u32 q7, q7, #16
  vldrb.8 q4, [r5, #48]
  add r1, r10
  vmladav.s8 r8, q3, q4
  vstrb.32 q7, [r7]
  add r7, r12
  le lr, .Lpair
.Lpair_last:
  vmov q7[2], q7[0], r2, r6
  vmov q7[3], q7[1], r4, r8
  vldrw.32 q0, [r9]
  vadd.i32 q7, q7, q0
  vmulh.s32 q7, q7, q5
  vadd.i32 q6, q6, q0
  ldr r1, [r0, #GROUPS]
  subs r1, r1, #1
  vrshl.s32 q7, q7, q5
  vmulh.s32 q6, q6, q5
  vqmovnb.s32 q7, q7
  str r1, [r0, #GROUPS]
  vrshl.s32 q6, q6, q5
  add r1, r0, #FILL
  vqmovnt.s32 q7, q6
  vqadd.s16 q7, q7, r11
  add r3, r12
  vqmovnb.s16 q7, q7
  vstrb.32 q7, [r3]
  vshr.u32 q7, q7, #16
  vstrb.32 q7, [r7]
  bne .Lgroup
  vpop {d8-d15}
  pop {r4-r12, pc}

.Lsingle:
  vldrw.32 q7, [r9]
  sum 1, q6
  wls lr, lr, .Lsingle_last
.Lone:
  vld40.32 {q0, q1, q2, q3}, [r1]
  vmov q6[2], q6[0], r2, r6
  vld41.32 {q0, q1, q2, q3}, [r1]
  vmov q6[3], q6[1], r4, r8
  vld42.32 {q0, q1, q2, q3}, [r1]
  vadd.i32 q6, q6, q7
  vld43.32 {q0, q1, q2, q3}, [r1]
  vmulh.s32 q6, q6, q5
  vldrb.8 q4, [r5, #1]
  vmladav.s8 r2, q0, q4
  vrshl.s32 q6, q6, q5
  vldrb.8 q4, [r5, #17]
  vmladav.s8 r4, q1, q4
  vadd.i32 q6, q6, r11
  vldrb.8 q4, [r5, #33]
  vqmovnb.s32 q6, q6
  vmladav.s8 r6, q2, q4
  vldrb.8 q4, [r5, #49]
  add r1, r10
  vqmovnb.s16 q6, q6
  vmladav.s8 r8, q3, q4
  vstrb.32 q6, [r7]
  add r7, r12
  le lr, .Lone
.Lsingle_last:
  // As the upper sums of a last pair, whose lower codes lie in the same place.
  vmov q6[2], q6[0], r2, r6
  vmov q6[3], q6[1], r4, r8
  sub r3, r7, r12
  b .Lpair_last
  .size rush_depthwise_patch_rows, . - rush_depthwise_patch_rows
#endif
