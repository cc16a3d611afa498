#include "compressors/buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace breakeven {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kVector = 64;

}  // namespace

std::shared_ptr<std::byte> allocate_pages(std::size_t bytes) {
  const bool huge = bytes >= 2 * kHugePage;
  const std::size_t unit = huge ? kHugePage : kVector;
  if (bytes > SIZE_MAX - unit) {
    throw std::bad_alloc();
  }
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  const std::align_val_t alignment{unit};
  void* const pages = ::operator new(rounded, alignment);
  if (huge) {
    // Advice: nothing is lost where it is refused. The heap may hand out pages that something small has
    // touched: given back first, or they stay small, and kernels take up to twice as long.
    ::madvise(pages, rounded, MADV_DONTNEED);
    ::madvise(pages, rounded, MADV_HUGEPAGE);
  }
  std::memset(pages, 0, rounded);
  return {static_cast<std::byte*>(pages),
          [alignment](std::byte* memory) { ::operator delete(memory, alignment); }};
}

}  // namespace breakeven
