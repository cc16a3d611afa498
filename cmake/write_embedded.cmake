# Script: writes the embedded profile table. Raw strings keep the JSON readable in a debugger; literals that know their
# length spare the compiler counting a megabyte at compile time, which clang refuses.
set(text "#include \"profiles/embedded.h\"\n\nnamespace breakeven {\nnamespace {\nusing namespace std::string_view_literals;\n\nconstexpr EmbeddedProfile kProfiles[] = {\n")
foreach(file IN LISTS FILES)
  string(REGEX REPLACE "^profiles/(.+)/[^/]+$" "\\1" kind "${file}")
  get_filename_component(name "${file}" NAME_WLE)
  file(READ ${ROOT}/${file} content)
  string(APPEND text "    {\"${kind}\", \"${name}\", R\"~json~(${content})~json~\"sv},\n")
endforeach()
string(APPEND text "};\n}  // namespace\n\nstd::span<const EmbeddedProfile> embedded_profiles() { return kProfiles; }\n\n}  // namespace breakeven\n")
file(WRITE ${OUT} "${text}")
