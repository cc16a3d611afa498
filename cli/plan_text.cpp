// The answer of `plan` in words, tables and JSON.
#include <fmt/format.h>

#include <algorithm>

#include "cli/json_writer.h"
#include "cli/planned.h"

namespace breakeven::cli {
namespace {

/// By what share the step gets shorter by taking the best buckets instead.
double gain(const Planned& planned, const Breakdown& parts) {
  return parts.step() / planned.plan.best.step - 1;
}

std::string label(const Division& division) {
  const std::string name(split_spec(division.schedule).name);
  return name == "ddp"      ? "DDP as it comes (1 MiB, then 25 MiB)"
         : name == "mgwfbp" ? "MG-WFBP"
         : name == "bsp"    ? "one bucket after backward"
         : name == "wfbp"   ? "a bucket a tensor"
                            : "optimal by network times alone";
}

std::string cap_text(const Setting& ddp) {
  return ddp.size > 0 ? "bucket_cap_mb=" + exact(ddp.size) : "its default buckets";
}

bool matters(const Planned& planned) {
  return gain(planned, planned.usual()) > planned.setup.judge.margin;
}

std::string best_text(std::size_t buckets) {
  return buckets == 1 ? "a single bucket" : "the best " + std::to_string(buckets) + " buckets";
}

/// Rows of the comparison: label and division.
std::vector<std::pair<std::string, Division>> comparison(const Planned& planned) {
  const BucketPlan& plan = planned.plan;
  std::vector<std::pair<std::string, Division>> rows = {
      {"the best", {"", plan.best.parts, plan.best.messages.size()}}};
  for (const Division& division : plan.compared) {
    rows.emplace_back(label(division), division);
  }
  if (plan.ddp.size > 0) {
    rows.emplace_back("DDP, " + cap_text(plan.ddp), plan.ddp.division);
  }
  rows.emplace_back("Horovod, as below", plan.horovod.division);
  rows.emplace_back("DeepSpeed, as below", plan.deepspeed.division);
  return rows;
}

/// DeepSpeed gathers the updated weights after backward, where nothing hides them: in one piece, within the
/// memory that its default allows.
std::size_t allgather_elements(const Planned& planned) {
  constexpr std::size_t kDefault = 500000000;
  return std::min(planned.setup.scenario.workload.elements(), kDefault);
}

void write_settings(JsonWriter& json, const Planned& planned) {
  const BucketPlan& plan = planned.plan;
  json.key("settings").begin_object();
  json.key("pytorch").begin_object().key("bucket_cap_mb");
  plan.ddp.size > 0 ? json.value(plan.ddp.size) : json.null();
  write_parts(json, plan.ddp.division.parts);
  json.member("step_with_small_first_bucket_s", plan.ddp_small_first.parts.step().base()).end_object();
  json.key("horovod").begin_object().member("HOROVOD_FUSION_THRESHOLD", plan.horovod.size);
  json.member("HOROVOD_CYCLE_TIME", plan.horovod.cycle.base() * 1e3);
  write_parts(json, plan.horovod.division.parts);
  json.end_object();
  json.key("deepspeed").begin_object().member("overlap_comm", true);
  json.member("reduce_bucket_size", plan.deepspeed.size);
  json.member("allgather_bucket_size", static_cast<double>(allgather_elements(planned)));
  write_parts(json, plan.deepspeed.division.parts);
  json.end_object().end_object();
}

}  // namespace

double saved_share(Seconds best, Seconds step) {
  constexpr double kRounding = 1e-9;
  const double share = 1 - best / step;
  return share > kRounding ? share : 0;
}

void write_parts(JsonWriter& json, const Breakdown& parts) {
  json.member("step_s", parts.step().base());
  json.key("parts").begin_object(true).member("forward_s", parts.forward.base());
  json.member("backward_s", parts.backward.base()).member("other_s", parts.other.base());
  json.member("slowdown_s", parts.slowdown.base()).member("exposed_codec_s", parts.exposed_codec.base());
  json.member("exposed_communication_s", parts.exposed_communication.base()).end_object();
}

std::string words(const Planned& planned) {
  const Prediction& best = planned.plan.best;
  const Seconds usual = planned.usual().step();
  const Seconds bound = step_without_network(planned.setup.scenario);
  if (planned.setup.scenario.workload.tensors.size() < 2) {
    return "There is nothing to divide: the gradient is one tensor here, and buckets hold whole tensors. "
           "--model names one whose tensors are known.";
  }
  if (usual / bound - 1 <= planned.setup.judge.margin) {
    return fmt::format(
        "Buckets do not matter here: plain all-reduce is hidden already. DDP as it comes takes {} a step, "
        "and "
        "no network at all would make that {}.",
        to_string(usual), to_string(bound));
  }
  const std::string left = fmt::format("No network at all would make it {}.", to_string(bound));
  if (saved_share(best.step, usual) == 0) {
    return fmt::format("DDP's buckets are the best that there are here: a step takes {}. {}",
                       to_string(usual), left);
  }
  if (!matters(planned)) {
    return fmt::format("Buckets hardly matter here: {} would shorten DDP's step of {} by {}. {}",
                       best_text(best.messages.size()), to_string(usual),
                       rough_percent(saved_share(best.step, usual)), left);
  }
  const Division& ddp = planned.plan.ddp.division;
  const std::string cap =
      planned.plan.ddp.size > 0
          ? fmt::format("DDP reaches {} with {}", to_string(ddp.parts.step()), cap_text(planned.plan.ddp))
          : "no bucket_cap_mb of DDP shortens it";
  return fmt::format("Buckets matter here: {} {} DDP's step of {} to {}, by {}; {}. {}",
                     best_text(best.messages.size()), best.messages.size() == 1 ? "shortens" : "shorten",
                     to_string(usual), to_string(best.step), rough_percent(saved_share(best.step, usual)),
                     cap, left);
}

Screen comparison_table(const Planned& planned) {
  Screen screen;
  screen.columns = {{"buckets", false},   {"count", true},       {"step", true},
                    {"best saves", true}, {"exposed net", true}, {"slowdown", true}};
  for (const auto& row : comparison(planned)) {
    const Breakdown& parts = row.second.parts;
    screen.rows.push_back({{row.first},
                           {std::to_string(row.second.buckets)},
                           {to_string(parts.step())},
                           {rough_percent(saved_share(planned.plan.best.step, parts.step()))},
                           {to_string(parts.exposed_communication)},
                           {to_string(parts.slowdown)}});
  }
  return screen;
}

Screen bucket_table(const Planned& planned) {
  Screen screen;
  screen.columns = {{"bucket", true}, {"from tensor", false}, {"to tensor", false}, {"tensors", true},
                    {"size", true},   {"ready", true},        {"sent", true},       {"arrived", true}};
  for (std::size_t i = 0; i < planned.buckets.size(); ++i) {
    const BucketRow& row = planned.buckets[i];
    screen.rows.push_back({{std::to_string(i + 1)},
                           {row.first},
                           {row.last},
                           {std::to_string(row.tensors)},
                           {to_string(row.size)},
                           {to_string(row.ready)},
                           {to_string(row.sent)},
                           {to_string(row.arrived)}});
  }
  return screen;
}

Screen settings_table(const Planned& planned) {
  const BucketPlan& plan = planned.plan;
  const auto step = [](const Division& division) { return to_string(division.parts.step()); };
  Screen screen;
  screen.columns = {{"framework", false}, {"step", true}, {"setting", false}};
  if (plan.ddp.size > 0) {
    screen.rows.push_back(
        {{"PyTorch DDP"},
         {step(plan.ddp.division)},
         {fmt::format("DistributedDataParallel(model, bucket_cap_mb={})", exact(plan.ddp.size))}});
    screen.rows.push_back({{"  older releases"},
                           {step(plan.ddp_small_first)},
                           {"the same; their first bucket stays at 1 MiB whatever the cap"}});
  } else {
    screen.rows.push_back(
        {{"PyTorch DDP"}, {step(plan.ddp.division)}, {"DistributedDataParallel(model), no bucket_cap_mb"}});
  }
  screen.rows.push_back({{"Horovod"},
                         {step(plan.horovod.division)},
                         {fmt::format("HOROVOD_FUSION_THRESHOLD={:.0f} HOROVOD_CYCLE_TIME={}",
                                      plan.horovod.size, exact(plan.horovod.cycle.base() * 1e3))}});
  screen.rows.push_back(
      {{"DeepSpeed"},
       {step(plan.deepspeed.division)},
       {fmt::format("\"zero_optimization\": {{\"overlap_comm\": true, \"reduce_bucket_size\": {:.0f}, "
                    "\"allgather_bucket_size\": {}}}",
                    plan.deepspeed.size, allgather_elements(planned))}});
  return screen;
}

Rows rows_of(const Planned& planned) {
  Rows rows;
  rows.columns = {"bucket",     "first_tensor", "last_tensor", "tensors",  "elements",
                  "size_bytes", "ready_s",      "sent_s",      "arrived_s"};
  for (std::size_t i = 0; i < planned.buckets.size(); ++i) {
    const BucketRow& row = planned.buckets[i];
    rows.rows.push_back({static_cast<double>(i + 1), row.first, row.last, static_cast<double>(row.tensors),
                         static_cast<double>(row.elements), row.size.base(), row.ready.base(),
                         row.sent.base(), row.arrived.base()});
  }
  return rows;
}

void write_objects(JsonWriter& json, const Rows& rows) {
  for (const auto& row : rows.rows) {
    json.begin_object(true);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto* text = std::get_if<std::string>(&row[i]);
      json.key(rows.columns[i]);
      text != nullptr ? json.value(*text) : json.value(std::get<double>(row[i]));
    }
    json.end_object();
  }
}

std::string plan_json(const Planned& planned) {
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.plan").member("schema_version", 1.0);
  json.member("title", planned.setup.title).member("answer", words(planned));
  json.member("matters", matters(planned));
  json.member("step_without_network_s", step_without_network(planned.setup.scenario).base());
  json.key("best").begin_object();
  write_parts(json, planned.plan.best.parts);
  json.key("buckets").begin_array();
  write_objects(json, rows_of(planned));
  json.end_array().end_object().key("compared").begin_array();
  for (const Division& division : planned.plan.compared) {
    json.begin_object().member("schedule", division.schedule);
    json.member("buckets", static_cast<double>(division.buckets));
    json.member("best_speedup", 1 + gain(planned, division.parts));
    write_parts(json, division.parts);
    json.end_object();
  }
  json.end_array();
  write_settings(json, planned);
  json.key("warnings").begin_array();
  for (const std::string& warning : planned.setup.warnings) {
    json.value(warning);
  }
  return json.end_array().end_object().take();
}

}  // namespace breakeven::cli
