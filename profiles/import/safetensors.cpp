// safetensors files, one or the several of an index -> a model profile. The data are never read.
#include "profiles/import/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "model/error.h"
#include "profiles/import/file_bytes.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"
#include "profiles/text_file.h"

namespace breakeven {
namespace {

constexpr std::size_t kLargestHead = (std::size_t{100} << 20) + 8;

struct Stored {
  std::vector<StoredTensor> tensors;
  double bytes = 0;
  std::vector<std::string> notes;
};

void add_file(const FileBytes& file, const std::string& where, Stored& stored) {
  const std::optional<double> size =
      file.size() ? std::optional(static_cast<double>(*file.size())) : std::nullopt;
  SafetensorsHead head = read_safetensors_head(file.bytes(), size, where);
  if (!head.data_is_there) {
    stored.notes.push_back(where + " ends before its data do, of which only the head is needed");
  }
  std::move(head.tensors.begin(), head.tensors.end(), std::back_inserter(stored.tensors));
  stored.bytes += head.bytes;
}

/// The files of an index, in the order in which it names them.
std::vector<std::string> files_of(const Json& map) {
  std::vector<std::string> files;
  std::set<std::string> known;
  for (const std::string& name : map.keys()) {
    const Json file = map.at(name, "");
    const std::string& text = file.text();
    if (text.find('/') != std::string::npos || text.starts_with('.')) {
      file.fail(quote(text) + " is no plain name", "the name of a file beside the index");
    }
    if (known.insert(text).second) {
      files.push_back(text);
    }
  }
  if (files.empty()) {
    map.fail("names no tensor", "names and files");
  }
  return files;
}

/// What the index says must be what the files hold.
void check_names(const Json& map, const std::map<std::string, std::string>& file_of) {
  for (const std::string& name : map.keys()) {
    const auto found = file_of.find(name);
    const Json stated = map.at(name, "");
    if (found == file_of.end() || found->second != stated.text()) {
      stated.fail("does not hold " + quote(name), "the file that does");
    }
  }
  for (const auto& [name, file] : file_of) {
    if (!map.find(name)) {
      map.fail("leaves out " + quote(name) + " of " + file, "every tensor of its files");
    }
  }
}

Stored read_index(std::string_view json, const std::string& path, const std::string& where) {
  const JsonDocument document(json, where);
  const Json map =
      document.root().at("weight_map", "an index of safetensors files, {\"weight_map\": {NAME: FILE}}");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::vector<std::string> files = files_of(map);
  Stored stored;
  std::map<std::string, std::string> file_of;
  for (const std::string& file : files) {
    const std::string beside = (folder / file).string();
    std::error_code ignored;
    if (path == "-" || !std::filesystem::exists(beside, ignored)) {
      throw Error(Fault::file, where, "has no shapes, and " + quote(file) + " is not beside it",
                  "its " + std::to_string(files.size()) +
                      " files in the same folder (their heads are enough), or the model's config.json: "
                      "import huggingface");
    }
    const std::size_t before = stored.tensors.size();
    add_file(FileBytes(beside, kLargestHead, kLargestHead), place_of(beside), stored);
    for (std::size_t i = before; i < stored.tensors.size(); ++i) {
      const std::string& name = stored.tensors[i].name;
      if (!file_of.emplace(name, file).second) {
        throw Error(Fault::file, place_of(beside), "holds " + quote(name) + ", which another file holds too",
                    "each tensor once");
      }
    }
  }
  check_names(map, file_of);
  stored.notes.push_back("the index's " + with_commas(files.size()) +
                         (files.size() == 1 ? " file was" : " files were") + " read for shapes");
  if (const auto metadata = document.root().find("metadata")) {
    const auto total = metadata->find("total_size");
    if (total && total->number() != stored.bytes) {
      stored.notes.push_back("the index states " + total->scalar() + " bytes, its files hold " +
                             exact(stored.bytes));
    }
  }
  return stored;
}

}  // namespace

ImportedModel import_safetensors(const std::string& path, const ModelOptions& options) {
  const std::string where = place_of(path);
  const FileBytes file(path, kLargestHead, kLargestHead);
  Stored stored;
  if (is_safetensors_index(file.bytes())) {
    if (!file.whole()) {
      throw Error(Fault::file, where, "is larger than 100 MiB",
                  "a safetensors file, or the index of several");
    }
    stored = read_index(without_byte_order_mark(file.bytes()), path, where);
  } else {
    add_file(file, where, stored);
  }
  sort_as_computed(stored.tensors);
  ImportedModel result = model_of(stored.tensors, options, where);
  result.model.source = "the names and shapes of a safetensors file, read by breakeven import safetensors";
  result.notes.insert(result.notes.end(), stored.notes.begin(), stored.notes.end());
  result.notes.emplace_back(
      "the order is that of the file with embeddings first, layers by their numbers, heads last; a tied "
      "tensor is "
      "there once, where it is stored");
  return result;
}

}  // namespace breakeven
