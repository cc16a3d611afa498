#include "compressors/builtin.h"

namespace breakeven {

#define SCHEME(name) Scheme name##_scheme();
#include "compressors/schemes.def"
#undef SCHEME

void add_builtin(Registry& registry) {
#define SCHEME(name) registry.add(name##_scheme());
#include "compressors/schemes.def"
#undef SCHEME
}

}  // namespace breakeven
