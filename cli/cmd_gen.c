// sarrus gen: the equations of a model as source code.
#include <math.h>
#include <string.h>

#include "cli.h"

typedef struct Wishes {
  const char *what, *languages, *folder;
  double snap;
} Wishes;

// One file in the folder; its path goes to the report.
static bool write_file(Cli* cli, const Model* m, const char* folder, const srGeneratedFile* file, srJson* json,
                       srText* text) {
  char path[4200];
  srOutput* output = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, file->name);
  if (!model_is_safe(cli, m, path) || sr_output_create(path, cli->messages, &output) != SR_OK) return false;
  fwrite(file->text, 1, file->size, sr_output_stream(output));
  if (sr_output_close(output, cli->messages) != SR_OK) return false;
  if (json) sr_json_text(json, NULL, path);
  if (text) sr_text_print(text, "%s: %zu bytes\n", path, file->size);
  return true;
}

static void put_counts(srJson* json, const srGeneratedFunction* f, bool before) {
  sr_json_object(json, f->name);
  sr_json_int(json, "add", before ? f->add_before : f->add);
  sr_json_int(json, "mul", before ? f->mul_before : f->mul);
  sr_json_int(json, "div", before ? f->div_before : f->div);
  sr_json_int(json, "sincos", before ? f->angle_before : f->angle);
  if (!before) sr_json_int(json, "other", f->other);
  sr_json_object_end(json);
}

static void put_operations(srJson* json, const srGenerated* g) {
  sr_json_object(json, "operations");
  for (int after = 0; after < 2; after++) {
    sr_json_object(json, after ? "after" : "before");
    for (int i = 0; i < g->nfunction; i++) put_counts(json, &g->function[i], !after);
    sr_json_object_end(json);
  }
  sr_json_object_end(json);
}

static void show_operations(srText* text, const srGenerated* g) {
  sr_text_print(text, "%-12s %22s %12s %6s %8s\n", "operations", "add (before)", "mul (before)", "div", "sincos");
  for (int i = 0; i < g->nfunction; i++) {
    const srGeneratedFunction* f = &g->function[i];
    sr_text_print(text, "  %-10s %11ld (%8ld) %6ld (%6ld) %4ld %8ld\n", f->name, f->add, f->add_before, f->mul,
                  f->mul_before, f->div, f->angle);
  }
}

static int generate(Cli* cli, const Model* m, const Wishes* w) {
  srText report = {0};
  srJson json = {0};
  int status = EXIT_DONE;
  if (cli->json) {
    json = sr_json_begin(&report);
    sr_json_array(&json, "files");
  }
  srGenerated* kept = NULL;
  for (const char* c = w->languages ? w->languages : "c"; *c != 0 && status == EXIT_DONE;
       c += strcspn(c, ","), c += *c == ',') {
    char word[40];
    srGenerated* made = NULL;
    snprintf(word, sizeof word, "%.*s", (int)(strcspn(c, ",") < 39 ? strcspn(c, ",") : 39), c);
    const srGenerateOptions options = {.what = w->what, .language = word, .snap = isnan(w->snap) ? 0 : w->snap};
    const srStatus answer = sr_generate(m->model, &options, cli->messages, &made);
    if (answer != SR_OK) status = cli_status(answer);
    for (int i = 0; made && i < made->nfile && status == EXIT_DONE; i++) {
      if (!write_file(cli, m, w->folder, &made->file[i], cli->json ? &json : NULL, cli->json ? NULL : &report))
        status = EXIT_FAILED;
    }
    sr_generated_destroy(kept);
    kept = made;
  }
  if (status == EXIT_DONE && kept) {
    cli_show(cli);
    if (cli->json) {
      sr_json_array_end(&json);
      put_operations(&json, kept);
      sr_json_number(&json, "snapped", kept->snapped);
      sr_json_warnings(&json, cli->messages);
      sr_json_end(&json);
    } else {
      show_operations(&report, kept);
    }
    status = cli_print(cli, &report);
  } else {
    sr_text_free(&report);
    status = cli_refuse(cli, status);
  }
  sr_generated_destroy(kept);
  return status;
}

int cmd_gen(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  Wishes w = {.snap = NAN};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--what", OPTION_TEXT, &w.what, "LIST",
       "functions: accel, invdyna, dirdyna, mass, qdot (default: these), dinvdyna, daccel"},
      {"--lang", OPTION_TEXT, &w.languages, "LIST", "languages: c (default), js, python, octave, cuda"},
      {"--snap", OPTION_NUMBER, &w.snap, "X",
       "take numbers of the model this near to 0 and +-1 as that: fewer operations for a file with rounded angles; "
       "default 1e-13"},
      OUT_OPTIONS(&w.folder, "DIR", "folder of the files; default: the current one"),
      MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    double snap = 0;
    if (!w.folder) w.folder = ".";
    if (!folder_begin(cli, "--out", w.folder) || !number_take(cli, "--snap", w.snap, false, &snap))
      status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = model_open(cli, &m);
    if (status == EXIT_DONE) status = generate(cli, &m, &w);
  }
  model_close(&m);
  return status;
}
