#include "code.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_file(const char* folder, const srGeneratedFile* file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file->name);
  FILE* to = fopen(path, "w");
  const bool good = to != NULL && fwrite(file->text, 1, file->size, to) == file->size;
  return to != NULL && fclose(to) == 0 && good;
}

// The folder is emptied again: what is loaded stays.
bool bench_code_load(const srGenerated* g, const char* march, BenchCode* code, char* reason, size_t size) {
  char folder[] = "/tmp/sarrus-bench-XXXXXX", command[8192];
  *code = (BenchCode){0};
  if (!mkdtemp(folder)) return false;
  bool good = true;
  for (int i = 0; i < g->nfile; i++) {
    const char* dot = strrchr(g->file[i].name, '.');
    good = good && write_file(folder, &g->file[i]);
    if (dot && strcmp(dot, ".c") == 0)
      snprintf(code->stem, sizeof code->stem, "%.*s", (int)(dot - g->file[i].name), g->file[i].name);
  }
  snprintf(command, sizeof command,
           "cd '%s' && cc -std=gnu99 -O3 -march=%s -ffp-contract=fast -fno-math-errno -fPIC -shared -w -o code.so "
           "'%s.c' -lm",
           folder, march, code->stem);
  good = good && code->stem[0] && system(command) == 0;
  snprintf(command, sizeof command, "%s/code.so", folder);
  code->library = good ? dlopen(command, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!code->library) snprintf(reason, size, "generated code does not compile");
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command) != 0) fprintf(stderr, "%s stays\n", folder);
  return code->library != NULL;
}

bool bench_code_find(const BenchCode* code, const char* name, void* function) {
  char word[300];
  snprintf(word, sizeof word, "%s_%s", code->stem, name);
  void* symbol = dlsym(code->library, word);
  memcpy(function, &symbol, sizeof symbol);  // ISO C has no cast from an object to a function
  return symbol != NULL;
}

void bench_code_close(BenchCode* code) {
  if (code->library) dlclose(code->library);
}
