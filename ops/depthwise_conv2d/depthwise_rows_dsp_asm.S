// SPDX-License-Identifier: Apache-2.0
//
// The planes of depthwise_rows_dsp.cpp in blocks of 2x2 outputs, or of 2x1 for stride 2. Six words of weights, four sums,
// two words of inputs and two pointers are 14 registers; compilers spill the weights, which costs a third more, and GCC
// does not form PKHBT.
#if defined(RUSH_ASM)

  .syntax unified
  .thumb

  .equ kPlaneBytes, 72
  .equ kColumnsBytes, 288
  .equ kScales, 16  // from a channel's bias to its scale

  // The tile's fields as they lie on the stack, and what each channel, column and block has of its own.
  .equ kX, 0
  .equ kW, 4
  .equ kChannels, 8
  .equ kOut, 12
  .equ kOutStep, 16
  .equ kRowBytes, 20
  .equ kPixelBytes, 24
  .equ kRows, 28
  .equ kColumns, 32
  .equ kCount, 36
  .equ kRounding, 40
  .equ kBias, 44
  .equ kScale, 48
  .equ kAddend, 52
  .equ kShift, 56
  .equ kRowStep, 60    // 0 in a block without a second row
  .equ kPixelStep, 64  // 0 in a block without a second column
  .equ kXEnd, 68
  .equ kLeft, 72
  .equ kColumnX, 76
  .equ kColumnOut, 80
  .equ kFrame, 84

  // r0-r5 weights (w0, w1) and (w1, w2) of the three kernel rows; r6, r7 the sums of the first output row, r8, r9 of the
  // second; r10 and r11 two pairs of columns; r12 inputs, lr outputs.
  .macro load_row row
  ldr.w r10, [r12, #(4 * \row)]
  ldr.w r11, [r12, #(4 * \row + kColumnsBytes)]
  .endm

  .macro add_row first, second, left, right
  smlad \first, r10, \left, \first
  smlad \second, r11, \right, \second
  smlabt \first, r11, \right, \first
  smlatb \second, r10, \left, \second
  .endm

  .macro add_one sum, left, right
  smlad \sum, r10, \left, \sum
  smlabt \sum, r11, \right, \sum
  .endm

  .macro block_of_stride_1
  load_row 0
  ldr r9, [sp, #kBias]
  smlad r6, r10, r0, r9
  smlad r7, r11, r1, r9
  smlabt r6, r11, r1, r6
  smlatb r7, r10, r0, r7
  load_row 1
  smlad r8, r10, r0, r9
  smlad r9, r11, r1, r9
  smlabt r8, r11, r1, r8
  smlatb r9, r10, r0, r9
  add_row r6, r7, r2, r3
  load_row 2
  add_row r6, r7, r4, r5
  add_row r8, r9, r2, r3
  load_row 3
  add_row r8, r9, r4, r5
  ldr r10, [sp, #kScale]
  ldr r11, [sp, #kAddend]
  add r12, r12, #8
  smmla r6, r6, r10, r11
  smmla r7, r7, r10, r11
  smmla r8, r8, r10, r11
  smmla r9, r9, r10, r11
  ldr r10, [sp, #kShift]
  ldr r11, [sp, #kRowStep]
  asrs r6, r10
  asrs r7, r10
  asr r8, r8, r10
  asr r9, r9, r10
  ldr r10, [sp, #kPixelStep]
  add r11, lr, r11
  ssat r9, #8, r9
  ssat r8, #8, r8
  ssat r7, #8, r7
  ssat r6, #8, r6
  // What lies outside is overwritten by what follows.
  strb r9, [r11, r10]
  strb r8, [r11]
  strb r7, [lr, r10]
  strb r6, [lr]
  .endm

  .macro block_of_stride_2
  load_row 0
  ldr r8, [sp, #kBias]
  smlad r6, r10, r0, r8
  smlabt r6, r11, r1, r6
  load_row 1
  add_one r6, r2, r3
  load_row 2
  add_one r6, r4, r5
  add_one r8, r0, r1
  load_row 3
  add_one r8, r2, r3
  load_row 4
  add_one r8, r4, r5
  ldr r10, [sp, #kScale]
  ldr r11, [sp, #kAddend]
  add r12, r12, #16
  smmla r6, r6, r10, r11
  smmla r8, r8, r10, r11
  ldr r10, [sp, #kShift]
  ldr r11, [sp, #kRowStep]
  asrs r6, r10
  asr r8, r8, r10
  add r11, lr, r11
  ssat r8, #8, r8
  ssat r6, #8, r6
  strb r8, [r11]
  strb r6, [lr]
  .endm

  .macro planes stride
  push {r4-r11, lr}
  sub sp, sp, #kFrame
  ldm r0!, {r1-r8}
  stm sp, {r1-r8}
  ldm r0, {r1-r3}
  add r4, sp, #kColumns
  stm r4, {r1-r3}
1:
  // A channel. A scale's low byte is minus its shift, so its complement is the shift but one.
  ldr r12, [sp, #kChannels]
  ldr r9, [sp, #kW]
  ldr r11, [sp, #kRounding]
  ldr r6, [r12, #kScales]
  ldr r7, [r12], #4
  ldr r0, [r9], #4
  ldr r2, [r9], #4
  ldr r4, [r9], #4
  str r12, [sp, #kChannels]
  str r9, [sp, #kW]
  mvn r8, r6
  lsl r11, r11, r8
  rsb r8, r6, #0
  str r7, [sp, #kBias]
  str r6, [sp, #kScale]
  str r11, [sp, #kAddend]
  str r8, [sp, #kShift]
  sxtb16 r1, r0, ror #8
  sxtb16 r3, r2, ror #8
  sxtb16 r5, r4, ror #8
  sxtb16 r0, r0
  sxtb16 r2, r2
  sxtb16 r4, r4
  ldr r6, [sp, #kColumns]
  ldr r12, [sp, #kX]
  ldr lr, [sp, #kOut]
  ldr r7, [sp, #kPixelBytes]
2:
  // The columns of a block, all rows.
  str r6, [sp, #kLeft]
  ldr r8, [sp, #kRows]
  ldr r9, [sp, #kRowBytes]
  .if \stride == 1
  cmp r6, #1
  it eq
  moveq r7, #0
  str r7, [sp, #kPixelStep]
  .endif
  add r10, r12, #kColumnsBytes
  str r10, [sp, #kColumnX]
  .if \stride == 1
  add r10, lr, r7, lsl #1
  .else
  add r10, lr, r7
  .endif
  str r10, [sp, #kColumnOut]
  lsrs r8, r8, #1
  beq 5f
  .if \stride == 1
  add r8, r12, r8, lsl #3
  .else
  add r8, r12, r8, lsl #4
  .endif
  str r9, [sp, #kRowStep]
3:
  str r8, [sp, #kXEnd]
4:
  block_of_stride_\stride
  ldr r10, [sp, #kXEnd]
  rsb lr, lr, r11, lsl #1
  cmp r12, r10
  bne 4b
  ldr r8, [sp, #kRows]
  ldr r9, [sp, #kRowStep]
  lsls r8, r8, #31
  beq 6f
  cmp r9, #0
  beq 6f
5:
  // A last row of its own.
  movs r8, #0
  str r8, [sp, #kRowStep]
  add r8, r12, #(8 * \stride)
  b 3b
6:
  ldr r6, [sp, #kLeft]
  ldr r12, [sp, #kColumnX]
  ldr lr, [sp, #kColumnOut]
  ldr r7, [sp, #kPixelBytes]
  subs r6, r6, #(3 - \stride)
  bgt 2b
  ldr r8, [sp, #kCount]
  ldr r9, [sp, #kX]
  ldr r10, [sp, #kOut]
  ldr r11, [sp, #kOutStep]
  subs r8, r8, #1
  add r9, r9, #kPlaneBytes
  add r10, r10, r11
  str r8, [sp, #kCount]
  str r9, [sp, #kX]
  str r10, [sp, #kOut]
  bne 1b
  add sp, sp, #kFrame
  pop {r4-r11, pc}
  .endm

  // Four channels of r2 pairs of columns, from r0 on, to a word of each plane from r1 on. r3 points to the first column,
  // the columns of the map, the bytes of a pixel and what lies outside the map.
  .section .text.rush_depthwise_unpack, "ax", %progbits
  .balign 4
  .global rush_depthwise_unpack
  .type rush_depthwise_unpack, %function
  .thumb_func
rush_depthwise_unpack:
  push {r4-r9, lr}
  ldm r3, {r4-r7}
1:
  mov r8, r7
  mov r9, r7
  cmp r4, r5
  it lo
  ldrlo r8, [r0]
  adds r4, r4, #1
  add r0, r0, r6
  cmp r4, r5
  it lo
  ldrlo r9, [r0]
  adds r4, r4, #1
  add r0, r0, r6
  sxtb16 r3, r8
  sxtb16 r12, r9
  sxtb16 r8, r8, ror #8
  sxtb16 r9, r9, ror #8
  pkhbt lr, r3, r12, lsl #16
  pkhtb r3, r12, r3, asr #16
  pkhbt r12, r8, r9, lsl #16
  pkhtb r8, r9, r8, asr #16
  str lr, [r1]
  str r12, [r1, #kPlaneBytes]
  str r3, [r1, #(2 * kPlaneBytes)]
  str r8, [r1, #(3 * kPlaneBytes)]
  adds r1, r1, #kColumnsBytes
  subs r2, r2, #1
  bne 1b
  pop {r4-r9, pc}
  .size rush_depthwise_unpack, . - rush_depthwise_unpack

  .section .text.rush_depthwise_rows_1, "ax", %progbits
  .balign 4
  .global rush_depthwise_rows_1
  .type rush_depthwise_rows_1, %function
  .thumb_func
rush_depthwise_rows_1:
  planes 1
  .size rush_depthwise_rows_1, . - rush_depthwise_rows_1

  .section .text.rush_depthwise_rows_2, "ax", %progbits
  .balign 4
  .global rush_depthwise_rows_2
  .type rush_depthwise_rows_2, %function
  .thumb_func
rush_depthwise_rows_2:
  planes 2
  .size rush_depthwise_rows_2, . - rush_depthwise_rows_2

#endif
