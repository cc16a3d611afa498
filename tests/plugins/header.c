// The C interface before everything else, twice.
#include "compressors/breakeven_plugin.h"
#include "compressors/breakeven_plugin.h"  // NOLINT

int main(void) { return breakeven_plugin_v1() == 0 ? BREAKEVEN_RAW_BYTES : BREAKEVEN_CHOICE; }
