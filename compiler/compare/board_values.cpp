// SPDX-License-Identifier: Apache-2.0
//
// The firmware writes what each band has written, without names: the host knows which bands run in which order, since
// that depends on no value, and how many bytes lie behind each operand.
#include "compiler/compare/board_values.h"

#include "compiler/emit/image_reader.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/host/host_program.h"
#include "compiler/ir/diagnostic.h"

namespace rush {
namespace {

struct StepBand {
  size_t step;
  Band band;
};

std::vector<StepBand> band_order(std::span<const uint8_t> image, const Sample& any) {
  HostProgram program(image);
  std::vector<StepBand> order;
  (void)program.run(0, any, [&](const BandView& view) { order.push_back({view.step, view.band}); });
  return order;
}

/// The bytes that a firmware has written, from the front.
class Dump {
 public:
  explicit Dump(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  std::span<const uint8_t> take(size_t count) {
    internal_check(count <= bytes_.size() - at_, "the board wrote less than its bands have");
    at_ += count;
    return std::span(bytes_).subspan(at_ - count, count);
  }
  bool is_empty() const { return at_ == bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
  size_t at_ = 0;
};

void take_band(const ImageReader& image, const StepBand& ran, Dump& dump, ProgramValues& values) {
  const ImageStep& step = image.steps()[ran.step];
  const KernelContract& contract = *image.family(step).host->contract;
  Extents extents{};
  contract.extents(image.params(step), &extents);
  for (size_t k = 0; k < contract.operand_count; ++k) {
    if ((contract.written >> k & 1) != 0) values.add(ran.step, k, ran.band, dump.take(extents.bytes[k]));
  }
}

}  // namespace

std::vector<Values> board_values(const Compilation& made, const firmware::BuildRequest& request,
                                 const std::vector<Sample>& inputs) {
  if (inputs.empty()) return {};
  std::vector<uint8_t> bytes;
  for (const Sample& sample : inputs) {
    for (const HostTensor& tensor : sample) bytes.insert(bytes.end(), tensor.raw(), tensor.raw() + tensor.bytes());
  }
  Dump dump(firmware::band_outputs(request, bytes));
  const ImageReader image(made.image);
  const std::vector<StepBand> order = band_order(made.image, inputs.front());
  std::vector<Values> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ProgramValues values(made.program);
    for (const StepBand& ran : order) take_band(image, ran, dump, values);
    all.push_back(values.take());
  }
  internal_check(dump.is_empty(), "the board wrote more than its bands have");
  return all;
}

}  // namespace rush
