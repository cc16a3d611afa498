#!/usr/bin/env bash
# Does a library print, end the process, or (LEVEL io) touch the outside world at all? Looks at what its object files refer to.
#   symbols.sh ARCHIVE prints|io                       fails and names each offence
#   symbols.sh ARCHIVE prints|io --must-find SYMBOL... fails unless exactly these are found: the check of the check
set -euo pipefail
archive=$1 level=$2
shift 2

prints='_ZSt4cout|_ZSt4cerr|_ZSt4clog|_ZSt5wcout|_ZSt5wcerr|_ZSt5wclog|stdout|stderr'
prints+='|printf|vprintf|fprintf|vfprintf|dprintf|vdprintf|puts|putchar|putc|perror'
prints+='|abort|exit|_exit|_Exit|quick_exit|assert_fail'
io='_ZSt3cin|_ZNSt8ios_base4InitC1Ev|stdin|fopen|fopen64|fdopen|freopen|freopen64|fread|fwrite|fgets|fputs|fputc'
io+='|open|open64|openat|read|write|getenv|secure_getenv|system|popen|remove|rename|.*basic_filebuf.*|_ZNK?St10filesystem.*'
forbidden=$prints
if [[ $level == io ]]; then forbidden+="|$io"; fi

# What the functions of header-only libraries refer to (fmt's and nlohmann's assertions, in a debug build) is not ours.
# snprintf writes to memory and std::terminate is the compiler's, in noexcept functions: neither is listed above.
# An inline function has a section of its own (.text._ZN3fmt...); those in the shared ones show when disassembled.
shared=(.text .text.unlikely .text.startup .text.hot .text.exit)
found=$({
  objdump -dr --no-show-raw-insn "${shared[@]/#/--section=}" "$archive"
  objdump -r "$archive"
} | awk -v forbidden="^(${forbidden})$" '
  /file format/ { object = $1; sub(/:$/, "", object); records = 0 }
  /^[0-9a-f]+ <.*>:$/ { where = $2; gsub(/^<|>:$/, "", where) }
  /^RELOCATION RECORDS FOR/ { records = 1; where = $4; gsub(/[][]|:$/, "", where) }
  records && where ~ /^\.(text|text\.(unlikely|startup|hot|exit)|debug.*|eh_frame)$/ { next }
  where ~ /^(\.text.*\.)?_Z+NK?(3fmt|8nlohmann)/ { next }
  $2 ~ /^R_/ {
    symbol = $3
    sub(/[-+]0x[0-9a-f]+$/, "", symbol); sub(/@.*$/, "", symbol)
    if (symbol ~ /^__.*_chk$/) { sub(/^__/, "", symbol); sub(/_chk$/, "", symbol) }  # _FORTIFY_SOURCE
    sub(/^__assert/, "assert", symbol)
    if (symbol ~ forbidden) { print object ": " where ": " symbol }
  }' | sort -u)

# Two doors to the outside: the plugin door looks at its file before dlopen does, and a scheme that may crash is checked in a
# child process, which must end.
found=$(grep -vE '^(plugin_file\.cpp\.o: .*: open(64)?|apart\.cpp\.o: .*: _exit)$' <<<"$found" || true)

if [[ ${1-} == --must-find ]]; then
  shift
  diff <(printf '%s\n' "$@" | sort) <(sed 's/.*: //' <<<"$found" | sort -u)
elif [[ -n $found ]]; then
  echo "$archive refers to what a library must not (object: function: symbol):"
  c++filt <<<"$found"
  exit 1
fi
