#!/usr/bin/env bash
# Who includes what: dependencies point one way (cli -> profiles, compressors -> model), no third-party type reaches a header
# of ours, model/ includes the standard library only and does no I/O. One header is C, for plugins; what vector code shares
# (compressors/simd/*-inl.h, compiled once for each target, not installed) is Highway's.
#   includes.sh ROOT            names each offence and fails
#   includes.sh --self-check    runs on a tree that offends in every way, and fails unless all of that is found
set -euo pipefail

declare -A may_include=(
  [model]='model'
  [compressors]='model|compressors'
  [profiles]='model|profiles'
  [cli]='model|compressors|profiles|cli'
)

# report FILE WHY REGEX: the lines that match, with their place.
report() {
  { grep -nE "^ *# *include +$3" "$1" || true; } | sed -E "s|^([0-9]+):.*(<[^>]*>).*|$1:\1: $2: \2|"
}

check_file() {
  local file=$1 folder=${1%%/*} include header=no
  if [[ $file == *.h && $file != compressors/simd/*-inl.h ]]; then header=yes; fi
  for include in $(sed -nE 's|^ *# *include +"([^"]+)".*|\1|p' "$file"); do
    if [[ ! $include =~ ^(${may_include[$folder]})/ ]]; then
      echo "$file: $folder/ may not include \"$include\""
    elif [[ ! -f $include ]]; then
      echo "$file: no file \"$include\" from the root"
    fi
  done
  if [[ $file == compressors/breakeven_plugin.h ]]; then
    report "$file" "C's integer types only" '<[^>]*>' | { grep -v '<stdint\.h>$' || true; }
  elif [[ $header == yes || $folder == model ]]; then
    report "$file" "the standard library only" '<[^>]*[/.][^>]*>'
  fi
  if [[ $header == yes ]] && ! grep -qx '#pragma once' "$file"; then
    echo "$file: no #pragma once"
  fi
  case $folder in
    model | compressors) report "$file" "no I/O here" '<(iostream|istream|ostream|fstream|filesystem|print)>' ;;
  esac
  # Whatever else <cstdio> offers shows in the library's symbols.
  if [[ $folder == model ]] && ! grep -q 'snprintf(' "$file"; then
    report "$file" "only snprintf is taken from it" '<cstdio>'
  fi
}

check() {
  cd "$1"
  local file
  find model compressors profiles cli \( -name '*.h' -o -name '*.cpp' \) | sort | while read -r file; do
    check_file "$file"
  done
}

self_check() {
  local tree
  tree=$(mktemp -d)
  trap "rm -rf '$tree'" EXIT
  mkdir -p "$tree"/{model,compressors/simd,profiles,cli}
  printf '#pragma once\n#include <vector>\n' >"$tree/model/good.h"
  printf '#include "model/good.h"\n#include <cstdio>\nauto f = snprintf(0, 0, "");\n' >"$tree/model/good.cpp"
  printf '#include <fmt/format.h>\n#include "model/good.h"\n' >"$tree/cli/good.cpp"
  printf '#include <hwy/highway.h>\n' >"$tree/compressors/simd/good-inl.h"
  printf '#pragma once\n#include <stdint.h>\n#include <stdlib.h>\n' >"$tree/compressors/breakeven_plugin.h"  # more of C
  printf '#include <fmt/format.h>\n' >"$tree/cli/third_party.h"                            # third party, no #pragma once
  printf '#pragma once\n  #  include <nlohmann/json.hpp>\n' >"$tree/profiles/third_party.h"  # third party
  printf '#include "compressors/a.h"\n#include "model/gone.h"\n' >"$tree/model/upwards.cpp"  # upwards, no such file
  printf '#include <fstream>\n#include <cstdio>\n#include <unistd.h>\n' >"$tree/model/io.cpp"  # I/O, cstdio, a system header
  printf '#include "profiles/a.h"\n#include <iostream>\n' >"$tree/compressors/sideways.cpp"  # sideways, I/O
  printf '#include "../model/good.h"\n' >"$tree/cli/relative.cpp"                          # not from the root
  local found expected=12
  found=$(check "$tree")
  if [[ $(wc -l <<<"$found") -ne $expected ]] || grep -q 'good\(-inl\)\?\.\(h\|cpp\):' <<<"$found"; then
    printf 'not the %s offences that are there:\n%s\n' "$expected" "$found"
    exit 1
  fi
}

if [[ $1 == --self-check ]]; then
  self_check
else
  found=$(check "$1")
  if [[ -n $found ]]; then
    echo "$found"
    exit 1
  fi
fi
