// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "compiler/emit/account_json.h"
#include "compiler/firmware/size.h"

namespace rush::firmware {
namespace {

nlohmann::ordered_json model_json(const ModelSize& model) {
  nlohmann::ordered_json out = {{"name", model.name}, {"bytes", model.image_bytes}};
  out.update(account_json(model.account));
  return out;
}

}  // namespace

std::string size_json(const SizeReport& size) {
  nlohmann::ordered_json out = {{"flash_bytes", size.flash_bytes},
                                {"ram_bytes", size.ram_bytes},
                                {"stack_bytes", size.stack_bytes},
                                {"declared_stack_bytes", size.declared_stack_bytes},
                                {"vector_bytes", size.vector_bytes},
                                {"startup_bytes", size.startup_bytes},
                                {"core_bytes", size.core_bytes},
                                {"kernel_bytes", size.kernel_bytes},
                                {"model_bytes", size.model_bytes},
                                {"table_bytes", size.table_bytes},
                                {"library_bytes", size.library_bytes},
                                {"padding_bytes", size.padding_bytes},
                                {"region_bytes", size.region_bytes},
                                {"static_bytes", size.static_bytes},
                                {"harness_bytes", size.harness_bytes},
                                {"kernels", size.kernels},
                                {"library", size.library},
                                {"functions", size.functions},
                                {"stack_path", size.stack_path}};
  out["models"] = nlohmann::ordered_json::array();
  for (const ModelSize& model : size.models) out["models"].push_back(model_json(model));
  return out.dump(2);
}

}  // namespace rush::firmware
