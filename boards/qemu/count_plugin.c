/* SPDX-License-Identifier: Apache-2.0
 *
 * QEMU TCG plugin: how often each translation block followed each other one between bench_begin and bench_end.
 *
 * QEMU calls on_block() before it executes a translated block. Inside a region we count the pair (block before,
 * this block); the host side multiplies the counts with what the pair costs on the core.
 *
 * Arguments: begin=ADDRESS,end=ADDRESS,out=FILE. The file has, for each region, lines
 *   block ID ADDRESS INSTRUCTIONS     (once, before the first edge that names ID)
 *   edge FROM TO COUNT                (FROM is -1 for the first block of the region)
 *   end
 *
 * Debian ships no qemu-plugin.h, so the few entry points used are declared here; they are the same in every API
 * version. RUSH_PLUGIN_API is the version to announce: QEMU 5 to 8 accept 1, QEMU 9 and later 2 and above. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
typedef void translate_callback(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
typedef void execute_callback(unsigned int cpu, void* user);
typedef void exit_callback(qemu_plugin_id_t id, void* user);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translate_callback* callback);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, execute_callback* callback, int flags,
                                                 void* user);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_callback* callback, void* user);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* tb);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = RUSH_PLUGIN_API;

struct block;

struct edge {
  struct block* to;
  uint64_t count;
  struct edge* next;
};

struct block {
  uint32_t id, address, instructions;
  int written;
  struct edge* edges; /* the one followed last comes first */
  struct block* next;
};

enum { kBuckets = 1 << 14 };
static struct block* buckets[kBuckets];
static struct block** blocks;
static uint32_t block_count, block_capacity;
static struct block entry; /* stands for "before the region" */
static struct block* previous;
static uint32_t begin_address, end_address;
static FILE* out;

static void* allocate(size_t bytes) {
  void* const memory = calloc(1, bytes);
  if (memory == NULL) abort();
  return memory;
}

static struct edge* find_edge(struct block* from, const struct block* to) {
  struct edge** link = &from->edges;
  while (*link != NULL && (*link)->to != to) link = &(*link)->next;
  struct edge* const found = *link;
  if (found != NULL) *link = found->next;
  return found;
}

static void count_edge(struct block* from, struct block* to) {
  if (from->edges != NULL && from->edges->to == to) {
    from->edges->count++;
    return;
  }
  struct edge* edge = find_edge(from, to);
  if (edge == NULL) {
    edge = allocate(sizeof *edge);
    edge->to = to;
  }
  edge->count++;
  edge->next = from->edges;
  from->edges = edge;
}

static void write_block(struct block* block) {
  if (block->written || block == &entry) return;
  block->written = 1;
  fprintf(out, "block %u %u %u\n", block->id, block->address, block->instructions);
}

static void write_edges(struct block* from) {
  for (struct edge* edge = from->edges; edge != NULL; edge = edge->next) {
    if (edge->count == 0) continue;
    write_block(from);
    write_block(edge->to);
    fprintf(out, "edge %d %u %llu\n", from == &entry ? -1 : (int)from->id, edge->to->id,
            (unsigned long long)edge->count);
    edge->count = 0;
  }
}

static void write_region(void) {
  write_edges(&entry);
  for (uint32_t i = 0; i < block_count; i++) write_edges(blocks[i]);
  fputs("end\n", out);
}

static void on_block(unsigned int cpu, void* user) {
  struct block* const block = user;
  (void)cpu;
  if (previous == NULL) {
    if (block->address == begin_address) previous = &entry;
  } else if (block->address == end_address) {
    write_region();
    previous = NULL;
  } else {
    count_edge(previous, block);
    previous = block;
  }
}

static void remember(struct block* block) {
  if (block_count == block_capacity) {
    block_capacity = block_capacity == 0 ? 1024 : block_capacity * 2;
    blocks = realloc(blocks, block_capacity * sizeof *blocks);
    if (blocks == NULL) abort();
  }
  block->id = block_count;
  blocks[block_count++] = block;
}

/* QEMU translates the same code again after a flush: the block must keep its counts. */
static struct block* find_block(uint32_t address, uint32_t instructions) {
  struct block** const bucket = &buckets[((address >> 1) ^ (instructions << 7)) % kBuckets];
  for (struct block* block = *bucket; block != NULL; block = block->next) {
    if (block->address == address && block->instructions == instructions) return block;
  }
  struct block* const block = allocate(sizeof *block);
  block->address = address;
  block->instructions = instructions;
  block->next = *bucket;
  *bucket = block;
  remember(block);
  return block;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  void* const block = find_block((uint32_t)qemu_plugin_tb_vaddr(tb), (uint32_t)qemu_plugin_tb_n_insns(tb));
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, 0, block);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  fclose(out);
}

static void parse_argument(const char* argument) {
  if (strncmp(argument, "begin=", 6) == 0) begin_address = (uint32_t)strtoul(argument + 6, NULL, 0) & ~1u;
  if (strncmp(argument, "end=", 4) == 0) end_address = (uint32_t)strtoul(argument + 4, NULL, 0) & ~1u;
  if (strncmp(argument, "out=", 4) == 0) out = fopen(argument + 4, "w");
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++) parse_argument(argv[i]);
  if (out == NULL) return -1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
