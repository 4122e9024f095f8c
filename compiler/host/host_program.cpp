// SPDX-License-Identifier: Apache-2.0
#include "compiler/host/host_program.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "compiler/host/host_image.h"

namespace rush {
namespace {

constexpr uint64_t kMaxRam = uint64_t{1} << 30;
constexpr int kFreshByte = 0xA5;  // what memory holds before a program writes it

uint64_t ram_bytes(const ImageReader& image) {
  uint64_t bytes = 0;
  for (const ImageRegion& region : image.regions()) bytes += region.bytes;
  return bytes;
}

}  // namespace

PortFormat port_format(const ImagePort& port) {
  return {.name = port.name,
          .type = {port.dtype, port.memory_shape(), port.quant},
          .exported_dtype = port.exported_dtype,
          .exported_shape = port.exported_shape,
          .dim_order = port.dim_order,
          .border = port.border()};
}

HostProgram::HostProgram(std::span<const uint8_t> image, const std::string& name)
    : HostProgram(std::make_shared<const ImageReader>(image, name), nullptr, name) {}

HostProgram::HostProgram(Shared image, Shared host, const std::string& name)
    : image_(std::move(image)),
      host_(host ? std::move(host) : std::make_shared<const ImageReader>(host_image(*image_, name), name, true)),
      context_(RUSH_CONTEXT_BYTES(host_->header().max_chain_steps)) {
  if (ram_bytes(*host_) > kMaxRam)
    throw UserError(
        fmt::format("{} asks for {} bytes of RAM, the host gives at most {}", name, ram_bytes(*host_), kMaxRam),
        "compile the model again");
  for (const ImageRegion& region : host_->regions()) regions_.emplace_back(region.bytes);
  open(name);
  reset();
}

void HostProgram::open(const std::string& name) {
  std::vector<rush_memory> memories;
  for (AlignedBytes& region : regions_) memories.push_back({region.data(), static_cast<uint32_t>(region.size())});
  const rush_model model = {host_->bytes().data(), static_cast<uint32_t>(host_->bytes().size()),
                            &host_->host_kernels().table};
  const rush_status status =
      rush_open(context(), context_.size(), &model, memories.data(), static_cast<uint32_t>(memories.size()));
  internal_check(status == RUSH_OK, fmt::format("{}: rush_open: status {}", name, int(status)));
}

void HostProgram::reset() {
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (host_->regions()[i].kind != static_cast<uint8_t>(RegionKind::kWeights))  // rush_open() has made those
      std::memset(regions_[i].data(), kFreshByte, regions_[i].size());
  }
  if (const auto init = host_->find_entry("init")) drive(*init, {});
}

std::vector<HostTensor> HostProgram::run(size_t entry, const std::vector<HostTensor>& inputs,
                                         const BandObserver& observe) {
  internal_check(entry < host_->entries().size(), "no such entry");
  give_inputs(entry, inputs);
  drive(entry, observe);
  return take_outputs(entry);
}

void HostProgram::give_inputs(size_t entry, const std::vector<HostTensor>& inputs) {
  const std::vector<ImagePort> ports = host_->inputs(entry);
  internal_check(inputs.size() == ports.size(), fmt::format("{} inputs given of {}", inputs.size(), ports.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    internal_check(
        inputs[i].dtype() == ports[i].dtype && inputs[i].bytes() == ports[i].bytes,
        fmt::format("input \"{}\" is {} {}, not {} {}", ports[i].name, dtype_name(inputs[i].dtype()),
                    to_string(inputs[i].shape()), dtype_name(ports[i].dtype), to_string(ports[i].memory_shape())));
    auto* to = static_cast<uint8_t*>(rush_input(context(), static_cast<uint32_t>(entry), static_cast<uint32_t>(i)));
    if (to != nullptr) {
      std::copy_n(inputs[i].raw(), inputs[i].bytes(), to);
    } else {
      rows_to_feed_.assign(inputs[i].raw(), inputs[i].raw() + inputs[i].bytes());
    }
  }
}

std::vector<HostTensor> HostProgram::take_outputs(size_t entry) const {
  const auto* const context = reinterpret_cast<const rush_context*>(context_.data());
  const std::vector<ImagePort> ports = host_->outputs(entry);
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    HostTensor tensor(ports[i].dtype, ports[i].memory_shape());
    const void* from = rush_output(context, static_cast<uint32_t>(entry), static_cast<uint32_t>(i));
    std::copy_n(static_cast<const uint8_t*>(from), tensor.bytes(), tensor.raw());
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

void HostProgram::drive(size_t entry, const BandObserver& observe) {
  rush_status status = rush_begin(context(), static_cast<uint32_t>(entry));
  internal_check(status == RUSH_OK, fmt::format("rush_begin: status {}", int(status)));
  if (context()->chain == context()->chain_end) return;
  do {
    const rush_context before = *context();
    std::vector<uint16_t> rows_before;
    if (observe && before.in_chain != 0)
      rows_before.assign(context()->rows_done, context()->rows_done + host_->chains()[before.chain].step_count);
    status = rush_step(context());
    const bool is_fed = status == RUSH_NEEDS_ROWS;
    if (is_fed) status = feed_all();
    if (observe && !is_fed) show_band(before, rows_before, observe);
  } while (status == RUSH_RUNNING);
  internal_check(status == RUSH_OK, fmt::format("rush_step: status {}", int(status)));
}

/// All rows of the line-fed input; it is the only one, and no other can be waited for.
rush_status HostProgram::feed_all() {
  // More rows than there can be: those beyond the last are ignored, and the last is all that is read.
  return rush_feed_rows(context(), rows_to_feed_.data(), 0xffff);
}

/// Finds the step that ran by its row counter.
void HostProgram::show_band(const rush_context& before, const std::vector<uint16_t>& rows_before,
                            const BandObserver& observe) {
  const ImageChain& chain = host_->chains()[before.chain];
  if (chain.step_count == 1) {
    show_step(chain.first_step, {0, host_->steps()[chain.first_step].rows}, observe);
    return;
  }
  for (size_t place = 0; place < chain.step_count; ++place) {
    const int32_t begin = rows_before.empty() ? 0 : rows_before[place];
    const int32_t end = context()->rows_done[place];
    if (end != begin) show_step(chain.first_step + place, {begin, end}, observe);
  }
}

void HostProgram::show_step(size_t step, Band band, const BandObserver& observe) {
  const ImageStep& image_step = host_->steps()[step];
  const KernelFamily& family = host_->family(image_step);
  Extents extents = {};
  family.host->contract->extents(host_->params(image_step), &extents);
  std::vector<void*> operands;
  for (const uint32_t operand : host_->operands(image_step))
    operands.push_back(context()->regions[operand >> kOperandRegionShift] + (operand & kOperandOffsetMask));
  observe({step, band, family, host_->params(image_step), operands, extents});
}

}  // namespace rush
