// Does all that a library must not: the symbol check has to find every one of these.
#include <cstdio>
#include <cstdlib>
#include <iostream>

void offend(int how, const char* text) {
  std::cout << text;
  std::cerr << text;
  std::clog << text;
  std::printf("%s %d", text, how);
  std::fprintf(stderr, "%s %d", text, how);
  std::fclose(std::fopen(text, "r"));
  std::puts(std::getenv(text));
  if (how == 1) {
    std::abort();
  }
  std::exit(how);
}
