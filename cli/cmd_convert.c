// sarrus convert: a model in the format of another program, and the list of what it cannot express.
#include <stdio.h>
#include <string.h>

#include "cli.h"

typedef struct Wish {
  const char* format;  // --to; NULL: by the name of the output
  const char* file;    // NULL: standard output
} Wish;

// The format, from --to or from the name of the output; NULL after an error.
static const char* format_of(Cli* cli, const Wish* wish) {
  static const char* const words[] = {"sarrus", "urdf", "mjcf"};
  if (wish->format) return word_exists(cli, "--to", wish->format, words, 3, 3) ? wish->format : NULL;
  const char* dot = wish->file ? strrchr(wish->file, '.') : NULL;
  for (int i = 0; dot && i < 3; i++)
    if (strcmp(dot + 1, words[i]) == 0) return words[i];
  if (dot && strcmp(dot, ".xml") == 0)
    cli_error(cli, "a file named .xml may be sarrus or mjcf; choose one with --to");
  else
    cli_error(cli, "choose the format with --to: sarrus, urdf or mjcf");
  return NULL;
}

static const char* effect_text(srLossEffect effect) {
  return effect == SR_LOSS_MOTION ? " (changes the motion)" : effect == SR_LOSS_START ? " (changes the start)" : "";
}

static void put_lost(srJson* json, const srLost* lost) {
  static const char* const effects[] = {"none", "start", "motion"};
  sr_json_object(json, NULL);
  sr_json_text(json, "what", lost->what);
  sr_json_text(json, "reason", lost->reason);
  sr_json_text(json, "changes", effects[lost->effect]);
  sr_json_text(json, "file", lost->place.file);
  sr_json_int(json, "line", lost->place.line);
  sr_json_int(json, "column", lost->place.column);
  sr_json_object_end(json);
}

static void print_json(const Cli* cli, const srConversion* c, const Wish* wish) {
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_json_text(&json, "file", wish->file);
  sr_json_text(&json, "format", c->format);
  sr_json_text(&json, "base", c->base);
  sr_json_array(&json, "lost");
  for (int i = 0; i < c->nlost; i++) put_lost(&json, &c->lost[i]);
  sr_json_array_end(&json);
  sr_json_warnings(&json, cli->messages);
  if (!wish->file) sr_json_text(&json, "text", c->text);
  sr_json_end(&json);
  cli_print(cli, &text);
}

// Those that change the motion first, down to those of the least effect that is wanted.
static void print_lost(FILE* out, const srConversion* c, int least) {
  for (int effect = SR_LOSS_MOTION; effect >= least; effect--)
    for (int i = 0; i < c->nlost; i++) {
      const srLost* lost = &c->lost[i];
      if ((int)lost->effect != effect) continue;
      if (lost->place.file && lost->place.line > 0)
        fprintf(out, "%s:%d:%d: ", lost->place.file, lost->place.line, lost->place.column);
      fprintf(out, "%s: %s%s\n", lost->what, lost->reason, effect_text(lost->effect));
    }
}

static void print_people(const Cli* cli, const srConversion* c, const Wish* wish) {
  FILE* out = wish->file ? stdout : stderr;
  if (!wish->file) fwrite(c->text, 1, c->size, stdout);
  if (cli->quiet) {
    print_lost(stderr, c, SR_LOSS_MOTION);
    return;
  }
  if (wish->file) fprintf(out, "%s: %s, %zu bytes\n", wish->file, c->format, c->size);
  if (c->base && strcmp(c->base, "floating") == 0) fprintf(out, "its root floats: read it with --base floating\n");
  if (c->nlost > 0) fprintf(out, "what %s cannot express, or expresses differently:\n", c->format);
  print_lost(out, c, SR_LOSS_NOTHING);
}

// MJCF has the initial state in a key, and MuJoCo does not close loops itself. NULL: the spec as it is.
static srSpec* assembled(Cli* cli, const Model* m, const char* format) {
  srSpec* spec = NULL;
  if (strcmp(format, "mjcf") == 0 && sr_assembled_spec(m->spec, NULL, &spec) == SR_INPUT)
    sr_messages_add(cli->messages, SR_SEVERITY_WARNING, (srPlace){.file = m->path},
                    "its loops cannot be closed: the initial state is written as the model has it");
  return spec;
}

static void pass_errors(Cli* cli, const srMessages* from) {
  for (int i = 0; from && i < sr_messages_count(from); i++) {
    const srMessage* x = sr_messages_get(from, i);
    if (x->severity == SR_SEVERITY_ERROR) sr_messages_add(cli->messages, x->severity, x->place, "%s", x->text);
  }
}

static int convert(Cli* cli, Model* m, const Wish* wish, const char* format) {
  srConversion* c = NULL;
  srMessages* written = sr_messages_create();  // the warnings of the model are reported already
  srSpec* started = assembled(cli, m, format);
  const srSpec* spec = started ? started : m->spec;
  const srStatus status =
      wish->file ? sr_save_as(spec, format, wish->file, written, &c) : sr_convert(spec, format, NULL, NULL, &c);
  srs_destroy(started);
  pass_errors(cli, written);
  sr_messages_destroy(written);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  cli_show(cli);
  if (cli->json)
    print_json(cli, c, wish);
  else
    print_people(cli, c, wish);
  sr_conversion_destroy(c);
  return EXIT_DONE;
}

int cmd_convert(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  Wish wish = {0};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--to", OPTION_TEXT, &wish.format, "FORMAT", "sarrus, urdf or mjcf (default: by the name of the output)"},
      OUT_OPTIONS(&wish.file, "FILE", "the new file (default, and -: standard output)"),
      MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    const char* format = format_of(cli, &wish);
    const bool good =
        format && output_is_free(cli, wish.file, m.path) && output_begin(cli, "--out", &wish.file, SR_CONTENT_MODEL);
    if (output_is_stdout(wish.file)) wish.file = NULL;
    status = good ? model_open(cli, &m) : cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE && !model_is_safe(cli, &m, wish.file)) status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = convert(cli, &m, &wish, format);
  }
  model_close(&m);
  return status;
}
