// SPDX-License-Identifier: Apache-2.0
//
// The loops of conv2d_pairs_dsp.cpp. Four outputs of two positions take 14 registers: eight sums, two pointers, two
// words of weights, two of inputs. Compilers spill three of them, so that the loop takes 1.6 times as long. They also
// take twice as long to unpack short windows, for what they keep on the stack.
#if defined(RUSH_ASM)

  .syntax unified
  .thumb

  // The tile's fields as they lie on the stack, and what the loops have of their own.
  .equ kX, 0
  .equ kW, 4
  .equ kBlock, 8
  .equ kBlockEnd, 12
  .equ kOut, 16
  .equ kStride, 20
  .equ kRounding, 24
  .equ kSums, 32
  .equ kOffsets, 36
  .equ kFrom, 44
  .equ kStep, 48
  .equ kTiles, 52
  .equ kWindow, 56
  .equ kXEnd, 28
  .equ kEntry, 68
  .equ kFirstBlock, 72
  .equ kFirstOut, 76
  .equ kFrame, 80

  // Keeps the tile's fields, the inputs' end and where in the unrolled loop the first round begins, given the code's bytes
  // for a pair and how many pairs are unrolled. r8 are the weights, r5 is how many tiles there are to unpack.
  .macro begin_tile first, pair_bytes, unrolled, x_shift
  push {r4-r11, lr}
  sub sp, sp, #kFrame
  ldm r0!, {r1-r9}
  stm sp, {r1-r9}
  str r3, [sp, #kFirstBlock]
  str r5, [sp, #kFirstOut]
  add r10, r1, r8, lsl #\x_shift
  adr.w r11, \first
  rsb r8, r8, #0
  and r8, r8, #(\unrolled - 1)
  mov r12, #\pair_bytes
  mla r11, r8, r12, r11
  orr r11, r11, #1
  str r10, [sp, #kXEnd]
  str r11, [sp, #kEntry]
  mov r8, r2
  ldm r0, {r1-r7, r9}
  add r10, sp, #kOffsets
  stm r10, {r1-r7, r9}
  .endm

  .macro end_tile
  add sp, sp, #kFrame
  pop {r4-r11, pc}
  .endm

  // r0-r3 are the first two outputs, r4-r7 the others: the first's sum of each position, then 256 times the second's on
  // top of it. r8 weights, r9 inputs, r10 and r11 words of weights, r12 and lr pairs of inputs.
#if defined(RUSH_DUAL_ISSUE)
  // One multiply a cycle beside one load; the next pair's loads begin here.
  .macro pair_of_two is_last
  smlad r1, r10, r12, r1
  ldr.w r11, [r8], #4
  smlad r3, r10, lr, r3
  uxtb16 r10, r10
  smlad r5, r11, r12, r5
  smlad r7, r11, lr, r7
  uxtb16 r11, r11
  smlad r0, r10, r12, r0
  smlad r2, r10, lr, r2
  .if \is_last == 0
  ldr.w r10, [r8], #4
  .endif
  smlad r4, r11, r12, r4
  .if \is_last == 0
  ldr.w r12, [r9], #4
  .endif
  smlad r6, r11, lr, r6
  .if \is_last == 0
  ldr.w lr, [r9], #4
  .endif
  .endm

  .macro first_loads
  ldr.w r10, [r8], #4
  ldr.w r12, [r9], #4
  ldr.w lr, [r9], #4
  .endm
#else
  // Loads side by side, since the last of a row costs a cycle more. No result is used by the next instruction.
  .macro pair_of_two is_last
  ldr.w r10, [r8], #4
  ldr.w r11, [r8], #4
  ldr.w r12, [r9], #4
  ldr.w lr, [r9], #4
  smlad r1, r10, r12, r1
  smlad r3, r10, lr, r3
  uxtb16 r10, r10
  smlad r5, r11, r12, r5
  smlad r7, r11, lr, r7
  uxtb16 r11, r11
  smlad r0, r10, r12, r0
  smlad r2, r10, lr, r2
  smlad r4, r11, r12, r4
  smlad r6, r11, lr, r6
  .endm

  .macro first_loads
  .endm
#endif

  // Segments of bytes to every second word from r1 on; r10 becomes the sum of what is there. r2 points to how many bytes each
  // has, how many there are, and the bytes from one to the next.
  .macro unpack_word register, offset
  sxtb16 r9, \register
  sxtb16 \register, \register, ror #8
  str.w r9, [r1, #\offset]
  smlad r10, r9, r11, r10
  str.w \register, [r1, #(\offset + 8)]
  smlad r10, \register, r11, r10
  .endm

  .section .text.rush_conv2d_pairs_two, "ax", %progbits
  .balign 4
  .global rush_conv2d_pairs_unpack
  .type rush_conv2d_pairs_unpack, %function
  .thumb_func
rush_conv2d_pairs_unpack:
  push {r4-r11, lr}
  bl unpack_window
  mov r0, r10
  pop {r4-r11, pc}

  .thumb_func
unpack_window:
  ldm r2, {r2, r3, r12}
  sub r12, r12, r2
  mov r10, #0
  mov r11, #0x00010001
1:
  subs r8, r2, #16
  blo 3f
2:
  ldr r4, [r0], #4
  ldr r5, [r0], #4
  ldr r6, [r0], #4
  ldr r7, [r0], #4
  unpack_word r4, 0
  unpack_word r5, 16
  unpack_word r6, 32
  unpack_word r7, 48
  adds r1, r1, #64
  subs r8, r8, #16
  bhs 2b
3:
  // Carry: eight bytes more; negative: four.
  lsls r4, r2, #29
  bcc 4f
  ldr r4, [r0], #4
  ldr r5, [r0], #4
  unpack_word r4, 0
  unpack_word r5, 16
  add r1, r1, #32
4:
  bpl 5f
  ldr r4, [r0], #4
  unpack_word r4, 0
  add r1, r1, #16
5:
  // Carry: two bytes more; negative: one.
  lsls r4, r2, #31
  bcc 6f
  ldrsb r4, [r0], #1
  ldrsb r5, [r0], #1
  pkhbt r4, r4, r5, lsl #16
  smlad r10, r4, r11, r10
  str r4, [r1], #8
6:
  bpl 7f
  ldrsb r4, [r0], #1
  smlad r10, r4, r11, r10
  str r4, [r1], #8
7:
  add r0, r0, r12
  subs r3, r3, #1
  bne 1b
  bx lr
  .size rush_conv2d_pairs_unpack, . - rush_conv2d_pairs_unpack

  .section .text.rush_conv2d_pairs_two, "ax", %progbits
  .balign 4
  .global rush_conv2d_pairs_two
  .type rush_conv2d_pairs_two, %function
  .thumb_func
rush_conv2d_pairs_two:
  begin_tile 3f, 56, 8, 3
  cmp r5, #0
  beq 1f
7:
  // A tile: its windows first.
  ldr r0, [sp, #kFrom]
  ldr r1, [sp, #kX]
  add r2, sp, #kWindow
  bl unpack_window
  lsl r10, r10, #7
  rsb r10, r10, #0
  str r10, [sp, #kOffsets]
  ldr r0, [sp, #kFrom]
  ldr r3, [sp, #kStep]
  ldr r1, [sp, #kX]
  add r2, sp, #kWindow
  add r0, r0, r3
  add r3, r0, r3
  str r3, [sp, #kFrom]
  add r1, r1, #4
  bl unpack_window
  lsl r10, r10, #7
  rsb r10, r10, #0
  str r10, [sp, #(kOffsets + 4)]
  ldr r8, [sp, #kW]
1:
  ldr r12, [sp, #kBlock]
  ldr r9, [sp, #kX]
  ldr r10, [sp, #kOffsets]
  ldr r11, [sp, #(kOffsets + 4)]
  ldm r12, {r0, r1, r4, r5}
  add r2, r0, r11
  add r0, r0, r10
  add r3, r2, r1, lsl #8
  add r1, r0, r1, lsl #8
  add r6, r4, r11
  add r4, r4, r10
  add r7, r6, r5, lsl #8
  add r5, r4, r5, lsl #8
  first_loads
  ldr.w pc, [sp, #kEntry]
2:
  first_loads
  .balign 4
3:
  .rept 7
  pair_of_two 0
  .endr
  pair_of_two 1
  ldr r10, [sp, #kXEnd]
  cmp r9, r10
  bne.w 2b
  ldr lr, [sp, #kSums]
  ldr r9, [sp, #kBlock]
  ldr r12, [sp, #kRounding]
  cmp lr, #0
  bne 4f
  // From here on r0, r1, r4, r5 are the first position's outputs; the second of two is 256 times too large, so it is
  // shifted further. A scale's low byte is minus its shift, so its complement is the shift but one.
  sub r1, r1, r0
  sub r3, r3, r2
  sub r5, r5, r4
  sub r7, r7, r6
  add r9, r9, #16
  ldm r9!, {r10, r11}
  mvn lr, r10
  smmul r0, r0, r10
  smmul r2, r2, r10
  rsb r10, r11, #7
  smmul r1, r1, r11
  smmul r3, r3, r11
  asrs r0, lr
  asrs r2, lr
  asrs r1, r10
  asrs r3, r10
  ldm r9!, {r10, r11}
  str r9, [sp, #kBlock]
  mvn lr, r10
  smmul r4, r4, r10
  smmul r6, r6, r10
  rsb r10, r11, #7
  smmul r5, r5, r11
  smmul r7, r7, r11
  asrs r4, lr
  asrs r6, lr
  asrs r5, r10
  asrs r7, r10
  ldr lr, [sp, #kOut]
  ldr r10, [sp, #kStride]
  ldr r11, [sp, #kBlockEnd]
  add r0, r12
  add r1, r12
  add r4, r12
  add r5, r12
  add r2, r12
  add r3, r12
  add r6, r12
  add r7, r12
  ssat r0, #8, r0, asr #1
  ssat r1, #8, r1, asr #1
  ssat r4, #8, r4, asr #1
  ssat r5, #8, r5, asr #1
  ssat r2, #8, r2, asr #1
  ssat r3, #8, r3, asr #1
  ssat r6, #8, r6, asr #1
  ssat r7, #8, r7, asr #1
  add r10, lr, r10
  strb r0, [lr]
  strb r1, [lr, #1]
  strb r4, [lr, #2]
  strb r5, [lr, #3]
  strb r2, [r10]
  strb r3, [r10, #1]
  strb r6, [r10, #2]
  strb r7, [r10, #3]
  add lr, lr, #4
  str lr, [sp, #kOut]
  cmp r9, r11
  bne.w 1b
  ldr r0, [sp, #kTiles]
  ldr r1, [sp, #kFirstBlock]
  ldr r2, [sp, #kFirstOut]
  ldr r3, [sp, #kStride]
  subs r0, r0, #1
  ble 8f
  add r2, r2, r3, lsl #1
  str r0, [sp, #kTiles]
  str r1, [sp, #kBlock]
  str r2, [sp, #kFirstOut]
  str r2, [sp, #kOut]
  b.w 7b
4:
  stm lr, {r0-r7}
8:
  end_tile
  .size rush_conv2d_pairs_two, . - rush_conv2d_pairs_two

  // One position: two pairs at a time. r0 and r1 are the first two outputs, r2 and r3 the others, as above.
  .macro pairs_of_one
  ldr.w r4, [r8], #4
  ldr.w r5, [r8], #4
  ldr.w r6, [r8], #4
  ldr.w r7, [r8], #4
  ldr.w r10, [r9], #4
  ldr.w r11, [r9], #4
  smlad r1, r4, r10, r1
  smlad r3, r5, r10, r3
  uxtb16 r4, r4
  uxtb16 r5, r5
  smlad r1, r6, r11, r1
  smlad r3, r7, r11, r3
  uxtb16 r6, r6
  uxtb16 r7, r7
  smlad r0, r4, r10, r0
  smlad r2, r5, r10, r2
  smlad r0, r6, r11, r0
  smlad r2, r7, r11, r2
  .endm

  .section .text.rush_conv2d_pairs_one, "ax", %progbits
  .balign 4
  .global rush_conv2d_pairs_one
  .type rush_conv2d_pairs_one, %function
  .thumb_func
rush_conv2d_pairs_one:
  begin_tile 2f, 36, 8, 2
1:
  ldr r12, [sp, #kBlock]
  ldr r9, [sp, #kX]
  ldr r10, [sp, #kOffsets]
  ldm r12, {r0-r3}
  ldr r12, [sp, #kXEnd]
  add r0, r0, r10
  add r2, r2, r10
  add r1, r0, r1, lsl #8
  add r3, r2, r3, lsl #8
  ldr.w pc, [sp, #kEntry]
  .balign 4
2:
  .rept 4
  pairs_of_one
  .endr
  cmp r9, r12
  bne.w 2b
  ldr r12, [sp, #kSums]
  ldr r9, [sp, #kBlock]
  cmp r12, #0
  bne 4f
  add r9, r9, #16
  ldm r9!, {r4-r7}
  str r9, [sp, #kBlock]
  ldr r12, [sp, #kRounding]
  ldr r11, [sp, #kOut]
  ldr r10, [sp, #kBlockEnd]
  sub r1, r1, r0
  sub r3, r3, r2
  smmul r0, r0, r4
  smmul r1, r1, r5
  smmul r2, r2, r6
  smmul r3, r3, r7
  mvn r4, r4
  rsb r5, r5, #7
  mvn r6, r6
  rsb r7, r7, #7
  asrs r0, r4
  asrs r1, r5
  asrs r2, r6
  asrs r3, r7
  add r0, r12
  add r1, r12
  add r2, r12
  add r3, r12
  ssat r0, #8, r0, asr #1
  ssat r1, #8, r1, asr #1
  ssat r2, #8, r2, asr #1
  ssat r3, #8, r3, asr #1
  strb r0, [r11]
  strb r1, [r11, #1]
  strb r2, [r11, #2]
  strb r3, [r11, #3]
  add r11, r11, #4
  str r11, [sp, #kOut]
  cmp r9, r10
  bne.w 1b
  end_tile
4:
  stm r12, {r0-r3}
  end_tile
  .size rush_conv2d_pairs_one, . - rush_conv2d_pairs_one

#endif
