// Rows of a run with the poses of all bodies, and the file: the front end with the data in it.
//
// The data are texts that no browser runs, <script type="text/plain" id="sarrus-NAME">, each deflated and in base64. Nothing that a
// model says can become markup there. The front end has the place for them, and the hash of its own script in its security policy.
#include "page/page.h"

#include <string.h>

#include "base/file.h"

#define MOST_FRONT (64 << 20)
static const char mark[] = "<!-- sarrus: data -->";

typedef struct Mode {
  double re, im, frequency, damping, amplitude;
  int multiplicity, index;
  const char* largest;  // joint coordinate that moves by the amplitude; NULL: none
} Mode;

struct srPage {
  const srModel* m;
  srPageWish wish;
  srColumns* columns;
  bool given;  // the columns are those of a table, in the pool of the wish
  size_t rows, room;
  double* t;      // rows
  float* column;  // rows x (columns - 1): without t
  float* pose;    // rows x nbody x SR_POSE_NUMBERS
  Mode* mode;
  int nmode, room_mode;
  size_t phases, room_phase;  // of all modes together
  float* phase;               // phases x nbody x SR_POSE_NUMBERS
};

srStatus sr_page_create(const srModel* m, const char* const* record, int n, srMessages* messages, srPage** out) {
  srPage* p = sr_alloc(sizeof *p);
  *out = NULL;
  if (p == NULL) return SR_MEMORY;
  p->m = m;
  const srStatus status = sr_page_wish(m, record, n, &p->wish)
                              ? sr_record_columns_create(m, p->wish.record, p->wish.n, messages, &p->columns)
                              : SR_MEMORY;
  if (status != SR_OK) {
    sr_page_destroy(p);
    return status;
  }
  *out = p;
  return SR_OK;
}

static bool copy_columns(srPage* p, const srColumns* columns) {
  jmp_buf failed;
  p->wish.pool.on_fail = &failed;
  if (setjmp(failed) != 0) return false;
  const char **names = sr_pool_alloc(&p->wish.pool, (size_t)(columns->count + 1) * sizeof *names), **units = names;
  units = sr_pool_alloc(&p->wish.pool, (size_t)(columns->count + 1) * sizeof *units);
  for (int i = 0; i < columns->count; i++) {
    names[i] = sr_pool_text(&p->wish.pool, columns->names[i]);
    units[i] = sr_pool_text(&p->wish.pool, columns->units[i]);
  }
  p->columns = sr_pool_alloc(&p->wish.pool, sizeof *p->columns);
  *p->columns = (srColumns){columns->count, names, units};
  return true;
}

// t, then q.NAME of all coordinates, as every run writes them.
static bool begins_with_coordinates(const srModel* m, const srColumns* columns) {
  if (columns->count < m->nq + 1) return false;
  for (int i = 0; i < m->nq; i++) {
    const char* name = columns->names[i + 1];
    if (strncmp(name, "q.", 2) != 0 || strcmp(name + 2, m->q_name[i]) != 0) return false;
  }
  return strcmp(columns->names[0], "t") == 0;
}

srStatus sr_page_create_table(const srModel* m, const srColumns* columns, srMessages* messages, srPage** out) {
  *out = NULL;
  if (m->formulation != SR_FORMULATION_RELATIVE || !begins_with_coordinates(m, columns)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the table is not of a run of the model '%s': it must begin with t and the coordinates, q.NAME, in "
                    "their order",
                    m->name != NULL ? m->name : "");
    return SR_INPUT;
  }
  srPage* p = sr_alloc(sizeof *p);
  if (p == NULL) return SR_MEMORY;
  p->m = m;
  p->given = true;
  sr_pool_init(&p->wish.pool);
  const bool copied = copy_columns(p, columns);
  p->wish.pool.on_fail = NULL;
  if (copied)
    *out = p;
  else
    sr_page_destroy(p);
  return copied ? SR_OK : SR_MEMORY;
}

void sr_page_destroy(srPage* p) {
  if (p == NULL) return;
  if (!p->given) sr_columns_destroy(p->columns);
  sr_free(p->t);
  sr_free(p->column);
  sr_free(p->pose);
  sr_free(p->phase);
  sr_page_wish_free(&p->wish);
  sr_free(p);
}

const char* const* sr_page_record(const srPage* p, int* n) {
  *n = p->wish.n;
  return p->wish.record;
}

// ---- rows --------------------------------------------------------------------------------------------------------------------
static size_t row_columns(const srPage* p) { return (size_t)(p->columns->count - 1); }
static size_t row_poses(const srPage* p) { return (size_t)p->m->nbody * SR_POSE_NUMBERS; }

static bool widen(void* array, size_t item, size_t n, size_t room) {
  void** x = array;
  void* wider = room > SIZE_MAX / (item + 1) ? NULL : sr_alloc(room * item + 1);
  if (wider == NULL) return false;
  if (n > 0) memcpy(wider, *x, n * item);
  sr_free(*x);
  *x = wider;
  return true;
}

static bool make_room(srPage* p) {
  const size_t room = p->room > 0 ? 2 * p->room : 256;
  if (p->rows < p->room) return true;
  if (!widen(&p->t, sizeof *p->t, p->rows, room) ||
      !widen(&p->column, row_columns(p) * sizeof *p->column, p->rows, room) ||
      !widen(&p->pose, row_poses(p) * sizeof *p->pose, p->rows, room))
    return false;
  p->room = room;
  return true;
}

srStatus sr_page_row(srPage* p, const srData* d, const double* row) {
  const size_t columns = row_columns(p), poses = row_poses(p);
  if (!make_room(p)) return SR_MEMORY;
  p->t[p->rows] = row[0];
  for (size_t i = 0; i < columns; i++) p->column[p->rows * columns + i] = (float)row[i + 1];
  float* now = p->pose + p->rows * poses;
  sr_page_poses(d, p->rows > 0 ? now - poses : NULL, now);
  p->rows++;
  return SR_OK;
}

srStatus sr_page_table_row(srPage* p, srData* d, const double* row) {
  if (sr_evaluate(p->m, d, row[0], row + 1, NULL, NULL, SR_STAGE_POSITION) != 0) return SR_FAILED;
  return sr_page_row(p, d, row);
}

// ---- modes -------------------------------------------------------------------------------------------------------------------
static const char* largest(const srModel* m, const srMode* mode) {
  int best = -1;
  for (int i = 0; i < m->njv; i++) {
    if (mode->shape[i].modulus > 0 && (best < 0 || mode->shape[i].modulus > mode->shape[best].modulus)) best = i;
  }
  return best < 0 ? NULL : m->v_name[best];
}

srStatus sr_page_mode(srPage* p, const srMode* mode, int index, double amplitude) {
  jmp_buf failed;
  p->wish.pool.on_fail = &failed;
  const bool good = setjmp(failed) == 0;
  if (good)
    SR_PUSH(&p->wish.pool, p->mode, p->nmode, p->room_mode) = (Mode){
        mode->re, mode->im, mode->frequency, mode->damping, amplitude, mode->multiplicity, index, largest(p->m, mode)};
  p->wish.pool.on_fail = NULL;
  return good ? SR_OK : SR_MEMORY;
}

srStatus sr_page_phase(srPage* p, srData* d) {
  const size_t poses = row_poses(p), room = p->room_phase > 0 ? 2 * p->room_phase : 64;
  if (sr_evaluate(p->m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION) != 0) return SR_FAILED;
  if (p->phases == p->room_phase) {
    if (!widen(&p->phase, poses * sizeof *p->phase, p->phases, room)) return SR_MEMORY;
    p->room_phase = room;
  }
  float* now = p->phase + p->phases * poses;
  sr_page_poses(d, p->phases % SR_PAGE_PHASES == 0 ? NULL : now - poses, now);
  p->phases++;
  return SR_OK;
}

srPageRows sr_page_rows(const srPage* p) { return (srPageRows){p->m, p->rows, p->t, p->pose}; }
const float* sr_page_phases(const srPage* p) { return p->phase; }

// ---- file --------------------------------------------------------------------------------------------------------------------
static void add_base64(srText* to, const unsigned char* x, size_t n) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    const uint32_t three =
        (uint32_t)x[i] << 16 | (i + 1 < n ? (uint32_t)x[i + 1] << 8 : 0) | (i + 2 < n ? x[i + 2] : 0);
    const char four[4] = {letters[three >> 18], letters[three >> 12 & 63], i + 1 < n ? letters[three >> 6 & 63] : '=',
                          i + 2 < n ? letters[three & 63] : '='};
    sr_text_add(to, four, 4);
  }
}

static bool add_block(srText* to, const char* name, const void* data, size_t n) {
  srText small = {0};
  const bool good = sr_deflate(data, n, &small);
  sr_text_print(to, "<script type=\"text/plain\" id=\"sarrus-%s\">", name);
  if (good) add_base64(to, (const unsigned char*)small.data, small.n);
  sr_text_print(to, "</script>\n");
  sr_text_free(&small);
  return good && !to->failed;
}

static bool put_block(FILE* to, const char* name, const void* data, size_t n) {
  srText text = {0};
  const bool good = add_block(&text, name, data, n);
  if (good) fwrite(text.data, 1, text.n, to);
  sr_text_free(&text);
  return good;
}

static bool put_packed(FILE* to, const char* name, const void* x, size_t rows, size_t columns, int width) {
  const size_t n = rows * columns * (size_t)width;
  unsigned char* packed = sr_alloc(n + 1);
  if (packed == NULL) return false;
  sr_pack(x, rows, columns, width, packed);
  const bool good = put_block(to, name, packed, n);
  sr_free(packed);
  return good;
}

void sr_page_put_modes(srJson* json, const srPage* p, const char* stability) {
  if (p->nmode == 0) return;
  sr_json_object(json, "modes");
  sr_json_int(json, "phases", SR_PAGE_PHASES);
  sr_json_text(json, "stability", stability);
  sr_json_array(json, "list");
  for (int i = 0; i < p->nmode; i++) {
    const Mode* x = &p->mode[i];
    sr_json_object(json, NULL);
    sr_json_int(json, "index", x->index);
    sr_json_number(json, "re", x->re);
    sr_json_number(json, "im", x->im);
    sr_json_number(json, "frequency", x->frequency);
    sr_json_number(json, "damping", x->damping);
    sr_json_int(json, "multiplicity", x->multiplicity);
    sr_json_number(json, "amplitude", x->amplitude);
    sr_json_text(json, "largest", x->largest);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_object_end(json);
}

// As behind the ? of an address: nothing there is markup.
static bool are_options(const char* text) {
  static const char taken[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=&.:_-";
  return text == NULL || strspn(text, taken) == strlen(text);
}

static bool put_data(FILE* to, const srPage* p, const srPageDef* def) {
  srText text = {0}, triangles = {0};
  srJson json = sr_json_begin(&text);
  sr_json_int(&json, "format", 1);
  sr_json_text(&json, "file", def->file);
  sr_json_text(&json, "provenance", def->provenance);
  sr_json_int(&json, "rows", (long long)p->rows);
  sr_page_put_columns(&json, p->columns);
  sr_page_put_modes(&json, p, def->stability);
  sr_page_describe(def->described != NULL ? def->described : p->m, &json, &triangles);
  sr_json_end(&json);
  const char* report = def->report != NULL ? def->report : "{}";
  const bool good = !text.failed && !triangles.failed && put_block(to, "model", text.data, text.n) &&
                    put_block(to, "triangles", triangles.data != NULL ? triangles.data : "", triangles.n) &&
                    put_block(to, "report", report, strlen(report)) &&
                    put_packed(to, "times", p->t, p->rows, 1, sizeof *p->t) &&
                    put_packed(to, "columns", p->column, p->rows, row_columns(p), sizeof *p->column) &&
                    put_packed(to, "poses", p->pose, p->rows, row_poses(p), sizeof *p->pose) &&
                    (p->nmode == 0 || put_packed(to, "modes", p->phase, p->phases, row_poses(p), sizeof *p->phase));
  if (def->options != NULL)
    fprintf(to, "<script type=\"text/plain\" id=\"sarrus-options\">%s</script>\n", def->options);
  sr_text_free(&text);
  sr_text_free(&triangles);
  return good;
}

static srStatus read_front(const char* path, srMessages* messages, srText* out) {
  srReason reason;
  char part[1 << 14];
  FILE* file = sr_file_open(path, &reason);
  if (file == NULL) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path}, "%s", reason.text);
    return SR_IO;
  }
  for (size_t n; out->n < MOST_FRONT && (n = fread(part, 1, sizeof part, file)) > 0;) sr_text_add(out, part, n);
  fclose(file);
  if (out->failed) return SR_MEMORY;
  if (out->data != NULL && strstr(out->data, mark) != NULL) return SR_OK;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path},
                  "is not the front end of pages: it has no place for the data, '%s'", mark);
  return SR_INPUT;
}

srStatus sr_page_write(const srPage* p, const srPageDef* def, const char* path, srMessages* messages, size_t* size) {
  srText front = {0};
  srOutput* output = NULL;
  if (!are_options(def->options)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "options of a page are NAME=VALUE&NAME=VALUE of letters, digits, '.', ':', '-' and '_', not '%s'",
                    def->options);
    return SR_INPUT;
  }
  srStatus status = read_front(def->front, messages, &front);
  if (status == SR_OK) status = sr_output_create(path, messages, &output);
  if (status != SR_OK) {
    sr_text_free(&front);
    return status;
  }
  FILE* to = sr_output_stream(output);
  const size_t head = (size_t)(strstr(front.data, mark) - front.data), rest = head + strlen(mark);
  fwrite(front.data, 1, head, to);
  const bool good = put_data(to, p, def);
  fwrite(front.data + rest, 1, front.n - rest, to);
  sr_text_free(&front);
  if (!good) {
    sr_output_discard(output);
    return SR_MEMORY;
  }
  const long end = ftell(to);
  if (size != NULL) *size = end > 0 ? (size_t)end : 0;
  return sr_output_close(output, messages);
}

// ---- live ----------------------------------------------------------------------------------------------------------------------
// The policy of the front end allows no connection: that of a live page allows those to where it comes from.
srStatus sr_page_live(const char* front, const char* live, const char* connect, srMessages* messages, srText* out) {
  static const char none[] = "default-src 'none';";
  srText text = {0};
  const srStatus status = read_front(front, messages, &text);
  const char* policy = status == SR_OK ? strstr(text.data, none) : NULL;
  const char* at = status == SR_OK ? strstr(text.data, mark) : NULL;
  bool good = status == SR_OK;
  if (good && (policy == NULL || policy > at)) policy = text.data;
  if (good && policy > text.data) {
    const char* rest = policy + strlen(none);
    sr_text_add(out, text.data, (size_t)(rest - text.data));
    sr_text_print(out, " connect-src %s;", connect);
    sr_text_add(out, rest, (size_t)(at - rest));
  } else if (good) {
    sr_text_add(out, text.data, (size_t)(at - text.data));
  }
  good = good && add_block(out, "live", live, strlen(live));
  if (good) sr_text_add(out, at + strlen(mark), text.n - (size_t)(at - text.data) - strlen(mark));
  sr_text_free(&text);
  return status != SR_OK ? status : good && !out->failed ? SR_OK : SR_MEMORY;
}
