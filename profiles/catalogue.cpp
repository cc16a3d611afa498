#include "profiles/catalogue.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "model/error.h"
#include "profiles/embedded.h"
#include "profiles/grid.h"
#include "profiles/option_values.h"
#include "profiles/published.h"
#include "profiles/read.h"
#include "profiles/text_file.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kKinds = {"models", "devices", "fabrics",
                                                    "codecs", "sweeps",  "published"};

/// "models" -> "model": the option and the word for one of them.
std::string one(std::string_view kind) {
  return kind == "published" ? "source" : std::string(kind.substr(0, kind.size() - 1));
}

bool looks_like_file(const std::string& text) {
  if (text == "-" || text.find('/') != std::string::npos || text.ends_with(".json")) {
    return true;
  }
  std::error_code error;
  return !text.empty() && fs::is_regular_file(text, error);
}

const EmbeddedProfile* embedded(std::string_view kind, std::string_view name) {
  const auto profiles = embedded_profiles();
  const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const EmbeddedProfile& profile) {
    return profile.kind == kind && profile.name == name;
  });
  return found == profiles.end() ? nullptr : &*found;
}

/// A profile of the catalogue bears the name of its file: timings and codec curves refer to it by that.
void check_name(const std::string& name, const std::string& name_or_file, const std::string& where) {
  if (!looks_like_file(name_or_file) && name != name_or_file) {
    throw Error(Fault::file, where + ": /name", "is \"" + name + "\"",
                "\"" + name_or_file + "\", as the file's name has it");
  }
}

/// The sources of a profile whose numbers each have one.
std::string all_sources(const std::map<std::string, std::string>& sources) {
  std::set<std::string> distinct;
  for (const auto& [key, source] : sources) {
    if (!source.empty()) {
      distinct.insert(source);
    }
  }
  std::string text;
  for (const std::string& source : distinct) {
    text += (text.empty() ? "" : "; ") + source;
  }
  return text;
}

}  // namespace

struct Catalogue::Cache {
  template <class Profile>
  using Read = std::map<std::string, std::shared_ptr<const Profile>, std::less<>>;

  template <class Profile, class Reader>
  Profile get(Read<Profile>& known, const std::string& name, Reader&& read) {
    std::shared_ptr<const Profile> profile;
    {
      const std::lock_guard lock(mutex);
      std::shared_ptr<const Profile>& entry = known[name];
      if (!entry) {
        entry = std::make_shared<const Profile>(read());
      }
      profile = entry;
    }
    return *profile;  // copied outside the lock
  }

  std::mutex mutex;
  Read<ModelProfile> models;
  Read<DeviceProfile> devices;
  Read<FabricProfile> fabrics;
  Read<CodecProfile> codecs;
  Read<BackwardLog> logs;
};

Catalogue::Catalogue() : cache_(std::make_shared<Cache>()) {}

void Catalogue::add_directory(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw Error(Fault::file, directory.string(),
                fs::exists(directory, error) ? "is not a directory" : "no such directory",
                "a directory of profiles");
  }
  cache_ = std::make_shared<Cache>();  // a name may now mean another file
  bool any = false;
  for (const std::string_view kind : kKinds) {
    const fs::path folder = directory / kind;
    if (!fs::is_directory(folder, error)) {
      continue;
    }
    any = true;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      // Hidden files are an editor's, and what is no file (a pipe) could wait for ever.
      std::error_code unreadable;
      if (entry->path().extension() == ".json" && !entry->path().filename().string().starts_with(".") &&
          entry->is_regular_file(unreadable)) {
        files_[std::string(kind)][entry->path().stem().string()] = entry->path().string();
      }
    }
    if (error) {
      throw Error(Fault::file, folder.string(), "cannot be read (" + error.message() + ")",
                  "a directory of profiles");
    }
  }
  if (!any) {
    throw Error(Fault::file, directory.string(), "holds no profiles",
                "a folder models, devices, fabrics, codecs, sweeps or published in it");
  }
}

void Catalogue::add_source(const std::string& name_or_file) {
  std::error_code error;
  const auto known = files_.find("published");
  const bool added = known != files_.end() && known->second.contains(name_or_file);
  const std::string file = added ? known->second.find(name_or_file)->second : name_or_file;
  if ((added || looks_like_file(name_or_file)) && file != "-") {
    const fs::path folder = fs::path(file).replace_extension();
    if (folder != file && fs::is_directory(folder, error)) {
      add_directory(folder);
    }
    return;
  }
  cache_ = std::make_shared<Cache>();
  sources_.push_back("published/" + name_or_file);
}

void Catalogue::add_codec(CodecProfile profile) {
  if (profile.costs.empty()) {
    return;
  }
  const std::vector<std::string> taken = names("codecs");
  if (std::find(taken.begin(), taken.end(), profile.name) != taken.end()) {
    throw Error(Fault::value, {}, "codec profile " + quote(profile.name) + " exists already",
                "a name of its own");
  }
  std::string name = profile.name;
  added_codecs_.emplace(std::move(name), std::move(profile));
}

Catalogue::Text Catalogue::find(std::string_view kind, const std::string& name_or_file) const {
  if (const auto files = files_.find(kind); files != files_.end()) {
    if (const auto file = files->second.find(name_or_file); file != files->second.end()) {
      return {read_text(file->second, "a profile"), file->second};
    }
  }
  const auto built_in = [](const EmbeddedProfile& profile) {
    return Text{std::string(profile.json),
                "built-in " + std::string(profile.kind) + "/" + std::string(profile.name) + ".json"};
  };
  for (const std::string& source : sources_) {
    if (const EmbeddedProfile* profile = embedded(source + "/" + std::string(kind), name_or_file)) {
      return built_in(*profile);
    }
  }
  if (const EmbeddedProfile* profile = embedded(kind, name_or_file)) {
    return built_in(*profile);
  }
  if (looks_like_file(name_or_file)) {
    return {read_text(name_or_file, "a profile"), place_of(name_or_file)};
  }
  // Grids and published cases are named by themselves, everything else by an option.
  const std::string place = kind == "sweeps" ? "sweep" : kind == "published" ? "validate" : "--" + one(kind);
  throw Error(Fault::value, place, "unknown " + one(kind) + " " + quote(name_or_file),
              one_of(names(kind), name_or_file));
}

ModelProfile Catalogue::model(const std::string& name_or_file) const {
  return cache_->get(cache_->models, name_or_file, [&] {
    const Text text = find("models", name_or_file);
    ModelProfile profile = read_model(text.json, text.where);
    check_name(profile.name, name_or_file, text.where);
    return profile;
  });
}

DeviceProfile Catalogue::device(const std::string& name_or_file) const {
  return cache_->get(cache_->devices, name_or_file, [&] {
    const Text text = find("devices", name_or_file);
    DeviceProfile profile = read_device(text.json, text.where);
    check_name(profile.device.name, name_or_file, text.where);
    return profile;
  });
}

FabricProfile Catalogue::fabric(const std::string& name_or_file) const {
  return cache_->get(cache_->fabrics, name_or_file, [&] {
    const Text text = find("fabrics", name_or_file);
    FabricProfile profile = read_fabric(text.json, text.where);
    check_name(profile.fabric.name, name_or_file, text.where);
    return profile;
  });
}

CodecProfile Catalogue::codec(const std::string& name_or_file) const {
  if (const auto added = added_codecs_.find(name_or_file); added != added_codecs_.end()) {
    return added->second;
  }
  return cache_->get(cache_->codecs, name_or_file, [&] {
    const Text text = find("codecs", name_or_file);
    CodecProfile profile = read_codec(text.json, text.where);
    check_name(profile.name, name_or_file, text.where);
    return profile;
  });
}

BackwardLog Catalogue::backward_log(const std::string& file) const {
  return cache_->get(cache_->logs, file, [&] {
    return read_backward_log(read_text(file, "a log of gradients"), place_of(file));
  });
}

Catalogue::Text Catalogue::sweep(const std::string& name_or_file) const {
  return find("sweeps", name_or_file);
}

Catalogue::Text Catalogue::published(const std::string& name_or_file) const {
  return find("published", name_or_file);
}

std::vector<CodecCosts> Catalogue::codecs_for(std::string_view device) const {
  std::vector<CodecCosts> result;
  for (const std::string& name : names("codecs")) {
    for (CodecCosts& costs : codec(name).costs) {
      if (costs.device == device) {
        result.push_back(std::move(costs));
      }
    }
  }
  return result;
}

std::vector<std::string> Catalogue::names(std::string_view kind) const {
  std::set<std::string> names;
  for (const EmbeddedProfile& profile : embedded_profiles()) {
    const auto added = [&](const std::string& source) {
      return profile.kind.starts_with(source) &&
             profile.kind.substr(source.size()) == "/" + std::string(kind);
    };
    if (profile.kind == kind || std::any_of(sources_.begin(), sources_.end(), added)) {
      names.emplace(profile.name);
    }
  }
  if (const auto files = files_.find(kind); files != files_.end()) {
    for (const auto& [name, path] : files->second) {
      names.insert(name);
    }
  }
  if (kind == "codecs") {
    for (const auto& [name, profile] : added_codecs_) {
      names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<Listing> Catalogue::list(std::string_view kind) const {
  std::vector<Listing> rows;
  for (const std::string& name : names(kind)) {
    if (kind == "models") {
      const ModelProfile profile = model(name);
      rows.push_back({name, profile.summary, profile.source});
    } else if (kind == "devices") {
      const DeviceProfile profile = device(name);
      rows.push_back({name, profile.summary, all_sources(profile.sources)});
    } else if (kind == "fabrics") {
      const FabricProfile profile = fabric(name);
      rows.push_back(
          {name, profile.summary, profile.source.empty() ? all_sources(profile.sources) : profile.source});
    } else if (kind == "codecs") {
      const CodecProfile profile = codec(name);
      rows.push_back({name, profile.summary, profile.source});
    } else if (kind == "sweeps") {
      const Text text = sweep(name);
      const Grid grid = read_grid(text.json, text.where);
      rows.push_back({name, grid.summary, grid.source});
    } else if (kind == "published") {
      const Text text = published(name);
      const Published source = read_published(text.json, text.where);
      check_name(source.name, name, text.where);
      rows.push_back({name, source.summary, source.source});
    }
  }
  return rows;
}

}  // namespace breakeven
