// SPDX-License-Identifier: Apache-2.0
//
// All outputs of a linear layer at one position, eight at a time: eight sums in the even core registers, so that an
// input is loaded once for eight weights and the load port is the only limit. The requantization of eight outputs is
// woven into the multiplies of the next ones. Compilers spill the sums, and leave LR to their loops. The intrinsics
// twin in linear_tiles_mve.cpp takes 1.6 to 2.1 times as long.
//
// r1: inputs. r5: weights. r7, r9: where the codes and constants of the sums in r0, r2, ... r12, lr are. r11: the
// output zero point. q4: the scale, where all outputs have the same.
#if defined(RUSH_ASM) && defined(__ARM_FEATURE_MVE)
  .syntax unified
  .thumb

// Fields of LinearRun (linear_tiles_mve.cpp), which is copied to the stack.
  .equ REST, 0
  .equ COUNT, 4
  .equ W_NOW, 8
  .equ X, 12
  .equ W_END, 16
  .equ WEIGHTS, 20
  .equ CHANNELS, 24
  .equ OUT, 28
  .equ ZERO, 32
  .equ LAST, 36
  .equ TILE, 44
  .equ SCALE, 48  // not copied
  .equ NOWHERE, 48
  .equ FRAME, 60

// A chunk of sixteen inputs; 68 bytes.
.macro CHUNK
  vldrb.u8 q0, [r1], #16
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q0, q2
.endm

// The scales of four outputs.
.macro SCALES q
.ifnc \q, q4
  vldrw.u32 \q, [r9], #16
.endif
.endm

// `first`, `second`: where the scales of a block's first four outputs and of the others are. q4 holds the one scale of a
// layer whose channels are biases only.
.macro LINEAR_RUN name, first, second
  .section .text.\name, "ax", %progbits
  .p2align 3
  .global \name
  .type \name, %function
\name:
.Lbase\@:
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #FRAME
  vldrw.u32 q0, [r0]
  vldrw.u32 q1, [r0, #16]
  vldrw.u32 q2, [r0, #32]
  ldr r3, [r0, #SCALE]
  vdup.32 q4, r3
  vstrw.32 q0, [sp]
  vstrw.32 q1, [sp, #16]
  vstrw.32 q2, [sp, #32]
  // Before the first tile there are no sums: what they would give goes nowhere.
  ldrd r5, r9, [sp, #WEIGHTS]
  ldr r1, [sp, #X]
  ldr r11, [sp, #ZERO]
  add r7, sp, #NOWHERE
  ldr pc, [sp, #TILE]

// Eight chunks.
.Leight\@:
  vldrb.u8 q1, [r5], #16
  vmov q5[2], q5[0], r0, r4
  vldrb.u8 q2, [r5], #16
  vmov q5[3], q5[1], r2, r6
  vldrb.u8 q0, [r1], #16
  vmladav.s8 r0, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladav.s8 r2, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r4, q0, q1
  vldrb.u8 q1, [r5], #16
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vmladav.s8 r6, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r8, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladav.s8 r10, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r12, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladav.s8 lr, q0, q2
  vldrb.u8 q2, [r5], #16
  vadd.i32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q0, q2
  SCALES \first
  vmladava.s8 r12, q0, q1
  vldrb.u8 q0, [r1], #16
  vmulh.s32 q5, q5, \first
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q0, q2
  vldrb.u8 q1, [r5], #16
  vrshl.s32 q5, q5, \first
  vldrb.u8 q2, [r5], #16
  vqmovnb.s32 q5, q5
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrw.u32 q3, [r9], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q0, q2
  vldrb.u8 q0, [r1], #16
  vadd.i32 q6, q6, q3
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q0, q2
  vldrb.u8 q0, [r1], #16
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q0, q2
  vldrb.u8 q0, [r1], #16
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q0, q1
  SCALES \second
  vmulh.s32 q6, q6, \second
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q6, q6, \second
  vldrb.u8 q1, [r5], #16
  vmladava.s8 lr, q0, q2
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q1
  vqmovnt.s32 q5, q6
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vqadd.s16 q5, q5, r11
  vldrb.u8 q1, [r5], #16
  vqmovnb.s16 q5, q5
  vmladava.s8 r8, q0, q1
  ldrd r3, r1, [sp, #W_NOW]
  vstrb.32 q5, [r7], #4
  vmladava.s8 r6, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  vshr.u32 q6, q5, #16
  vldrb.u8 q2, [r5], #16
  cmp r5, r3
  vmladava.s8 r12, q0, q1
  vstrb.32 q6, [r7], #4
  vmladava.s8 lr, q0, q2
  bne .Leight\@
  b .Ledge\@

// Any number.
.Ltile\@:
  vmov q5[2], q5[0], r0, r4
  vmov q5[3], q5[1], r2, r6
  vldrw.u32 q7, [r9], #16
  vadd.i32 q5, q5, q7
  vmov q6[2], q6[0], r8, r12
  SCALES \first
  vmov q6[3], q6[1], r10, lr
  vmulh.s32 q5, q5, \first
  vldrw.u32 q3, [r9], #16
  vadd.i32 q6, q6, q3
  SCALES \second
  vrshl.s32 q5, q5, \first
  vmulh.s32 q6, q6, \second
  vqmovnb.s32 q5, q5
  vldrb.u8 q0, [r1], #16
  vrshl.s32 q6, q6, \second
  vldrb.u8 q1, [r5], #16
  vqmovnt.s32 q5, q6
  vmladav.s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q2
  vldrb.u8 q1, [r5], #16
  vmladav.s8 r4, q0, q1
  vldrb.u8 q2, [r5], #16
  vqadd.s16 q5, q5, r11
  vmladav.s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  vqmovnb.s16 q5, q5
  vmladav.s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  ldr r3, [sp, #COUNT]
  vldrb.u8 q2, [r5], #16
  vshr.u32 q6, q5, #16
  vstrb.32 q5, [r7], #4
  vmladav.s8 r12, q0, q1
  vstrb.32 q6, [r7], #4
  vmladav.s8 lr, q0, q2
  cmp r3, #0
  blt .Lfew\@
.Lchunks\@:
  .rept 7
  CHUNK
  .endr
.Lchunks_end\@:
  subs r3, #1
  bpl .Lmore\@
.Lend\@:
  ldrd r3, r1, [sp, #W_NOW]
  cmp r5, r3
  bne .Ltile\@
  // After the first or the last tile.
.Ledge\@:
  ldr r3, [sp, #OUT]
  cbz r3, 1f
  mov r7, r3
  movs r3, #0
  str r3, [sp, #OUT]
  ldr r9, [sp, #CHANNELS]
  ldr r3, [sp, #W_END]
  str r3, [sp, #W_NOW]
  cmp r5, r3
  beq 1f
  ldr pc, [sp, #TILE]
1:
  vmov q5[2], q5[0], r0, r4
  vldrw.u32 q1, [r9], #16
  vmov q5[3], q5[1], r2, r6
  SCALES \first
  vmov q6[2], q6[0], r8, r12
  vadd.i32 q5, q5, q1
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q1, [r9], #16
  vmulh.s32 q5, q5, \first
  SCALES \second
  vadd.i32 q6, q6, q1
  ldrd r1, r3, [sp, #LAST]
  vmulh.s32 q6, q6, \second
  vrshl.s32 q5, q5, \first
  vrshl.s32 q6, q6, \second
  vqmovnb.s32 q5, q5
  vctp.32 r1
  vqmovnt.s32 q5, q6
  vqadd.s16 q5, q5, r11
  vqmovnb.s16 q5, q5
  vshr.u32 q6, q5, #16
  vpst
  vstrbt.32 q5, [r7]
  vctp.32 r3
  vpst
  vstrbt.32 q6, [r7, #4]
  add sp, #FRAME
  vpop {d8-d15}
  pop {r4-r11, pc}
.Lmore\@:
  CHUNK
  b .Lchunks\@
.Lfew\@:
  bic r3, r3, #0x80000000
  ldr pc, [sp, #REST]
  .size \name, . - \name

// Where a run may go on, from its beginning.
  .section .rodata.\name\()_entries, "a", %progbits
  .p2align 2
  .global \name\()_entries
  .type \name\()_entries, %object
\name\()_entries:
  .hword .Lend\@ - .Lbase\@, .Lmore\@ - .Lbase\@, .Lchunks_end\@ - .Lbase\@, .Ltile\@ - .Lbase\@, .Leight\@ - .Lbase\@
  .size \name\()_entries, . - \name\()_entries
.endm

  LINEAR_RUN rush_linear_run_mve, q7, q3
  LINEAR_RUN rush_linear_one_scale_run_mve, q4, q4

  .section .note.GNU-stack, "", %progbits
#endif
