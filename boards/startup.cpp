// SPDX-License-Identifier: Apache-2.0
//
// Start-up shared by all boards: the vector table, memory initialisation, and the coprocessors switched on.
// The linker script (sections.ld) defines the symbols; firmware_main() is the firmware's own.
#include <stdint.h>
#include <string.h>

extern "C" {
extern uint32_t __stack_top[], __data_load[], __data_start[], __data_end[], __bss_start[], __bss_end[];

/// The firmware itself; its value goes to rush_exit().
int firmware_main(void);

/// What happens after firmware_main() returns or on a fault: nothing, unless a harness replaces it.
void rush_exit(int code);
void rush_fault(void);
void reset_handler(void);
}

extern "C" __attribute__((weak, noreturn)) void rush_exit(int) {
  for (;;) {
  }
}

extern "C" __attribute__((weak)) void rush_fault(void) { rush_exit(1); }

namespace {

// CPACR gives full access to CP10 and CP11, which are the FPU and Helium; CCR.LOB (bit 19) lets low-overhead loops
// be cached. Armv8.1-M Architecture Reference Manual (DDI 0553), chapter D1.
inline void enable_coprocessors() {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  volatile uint32_t* const cpacr = reinterpret_cast<volatile uint32_t*>(0xE000ED88u);
  *cpacr = *cpacr | (0xFu << 20);
  __asm volatile("dsb\n isb" ::: "memory");
#endif
#if defined(__ARM_FEATURE_MVE)
  volatile uint32_t* const ccr = reinterpret_cast<volatile uint32_t*>(0xE000ED14u);
  *ccr = *ccr | (1u << 19);
  __asm volatile("dsb\n isb" ::: "memory");
#endif
}

inline uint32_t bytes_between(const uint32_t* begin, const uint32_t* end) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(end) - reinterpret_cast<uintptr_t>(begin));
}

}  // namespace

extern "C" void reset_handler(void) {
  enable_coprocessors();
  memcpy(__data_start, __data_load, bytes_between(__data_start, __data_end));
  memset(__bss_start, 0, bytes_between(__bss_start, __bss_end));
  rush_exit(firmware_main());
}

typedef void (*Vector)(void);

// The 16 entries that every Cortex-M has; none of the firmware uses interrupts.
extern "C" __attribute__((section(".vectors"), used))
const Vector rush_vectors[16] = {reinterpret_cast<Vector>(reinterpret_cast<uintptr_t>(__stack_top)),
                                 reset_handler,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault,
                                 rush_fault};
