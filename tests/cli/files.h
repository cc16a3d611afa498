// Files that a test makes and that go with it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace breakeven::cli {

class WithFiles : public testing::Test {
 protected:
  WithFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "breakeven-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~WithFiles() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  [[nodiscard]] static std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

inline std::string plugin(const std::string& name) {
  return std::string(BREAKEVEN_PLUGINS) + "/" + name + ".so";
}
inline std::string described(const std::string& name) {
  return std::string(BREAKEVEN_SOURCE_DIR) + "/docs/schemes/" + name + ".json";
}

}  // namespace breakeven::cli
