// Contact problems as text (docs/using/contact-problems.md): words and numbers separated by blanks, # to the end of a line is a comment. An
// element is its word, then keys with their numbers; a table has them all, for reader and writer. Counting first, then reading: nothing
// grows, and a text cannot ask for more memory than it has numbers for.
#include <limits.h>
#include <math.h>
#include <sarrus/io.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "expr/expr.h"
#include "io/file.h"
#include "math/vector3.h"

#define MAX_SIZE ((size_t)1 << 30)  // bytes of a file

// ---- words --------------------------------------------------------------------------------------------------------------

// Of a contact between bodies with two coefficients of friction. mu2 NaN, along 0: not given.
typedef struct Direction {
  double mu2, along[3];
} Direction;

typedef struct Reader {
  const char *at, *end;
  const char* word;  // the last one, n bytes
  size_t n;
  srPlace place, here;  // of the last word; of `at`
  srMessages* messages;
  srContactProblem* p;
  srPlace *body, *equation, *contact;  // where each of them is
  Direction* direction;                // of each contact
  int bodies, equations, contacts, rows_read;
  bool failed;
} Reader;

static void step(Reader* r) {
  if (*r->at == '\n') {
    r->here.line++;
    r->here.column = 0;
  }
  r->here.column++;
  r->at++;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The next word; false at the end.
static bool next(Reader* r) {
  while (r->at < r->end && (is_blank(*r->at) || *r->at == '#')) {
    const bool comment = *r->at == '#';
    step(r);
    while (comment && r->at < r->end && *r->at != '\n') step(r);
  }
  r->place = r->here;
  r->word = r->at;
  while (r->at < r->end && !is_blank(*r->at) && *r->at != '#') step(r);
  r->n = (size_t)(r->at - r->word);
  return r->n > 0;
}

static bool is(const Reader* r, const char* word) { return strlen(word) == r->n && memcmp(r->word, word, r->n) == 0; }

static void error(Reader* r, const char* expected) {
  r->failed = true;
  if (r->n == 0) {
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, r->place, "the file ends here; expected %s", expected);
  } else {
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, r->place, "'%.*s': expected %s", (int)(r->n < 60 ? r->n : 60),
                    r->word, expected);
  }
}

static bool number(Reader* r, double* out) {
  char text[64];
  if (!next(r)) return error(r, "a finite number"), false;
  if (r->n < sizeof text) {
    memcpy(text, r->word, r->n);
    text[r->n] = 0;
    const char* stop = sr_number_read_signed(text, out);
    if (stop != NULL && *stop == 0 && isfinite(*out)) return true;
  }
  error(r, "a finite number");
  return false;
}

static bool integer(Reader* r, int least, int* out) {
  double x;
  if (!number(r, &x)) return false;
  if (x >= least && x < INT_MAX && x == (double)(int)x) {
    *out = (int)x;
    return true;
  }
  error(r, "a whole number");
  return false;
}

// ---- elements -----------------------------------------------------------------------------------------------------------

// A key of an element: `count` numbers at an offset of its struct; whole numbers where `whole`.
typedef struct Key {
  const char* name;
  int count;
  bool whole, required;
  size_t offset;
} Key;

#define NUMBERS(type, field, name_, count_, required_)                                                                 \
  { name_, count_, false, required_, offsetof(type, field) }
static const Key body_keys[] = {NUMBERS(srContactBody, inverse_mass, "inverse_mass", 1, true),
                                NUMBERS(srContactBody, inverse_inertia, "inverse_inertia", 6, true),
                                NUMBERS(srContactBody, velocity, "velocity", 6, true)};
static const Key equation_keys[] = {{"bodies", 2, true, true, offsetof(srContactEquation, body)},
                                    NUMBERS(srContactEquation, row[0], "row_a", 6, true),
                                    NUMBERS(srContactEquation, row[1], "row_b", 6, true),
                                    NUMBERS(srContactEquation, shift, "shift", 1, false)};
static const Key point_keys[] = {{"bodies", 2, true, true, offsetof(srContactPoint, body)},
                                 NUMBERS(srContactPoint, normal, "normal", 3, true),
                                 NUMBERS(srContactPoint, arm[0], "arm_a", 3, true),
                                 NUMBERS(srContactPoint, arm[1], "arm_b", 3, true)};
static const Key direction_keys[] = {NUMBERS(Direction, mu2, "mu2", 1, false),
                                     NUMBERS(Direction, along, "along", 3, false)};
static const Key scaled_keys[] = {{"bodies", 2, true, true, offsetof(srContactPoint, body)}};
static const Key row_keys[] = {{"rows_a", 18, false, true, 0}, {"rows_b", 18, false, true, 18 * sizeof(double)}};
static const Key rows_keys[] = {{"rows", 1, true, true, offsetof(srContactCone, rows)}};
static const Key cone_keys[] = {
    NUMBERS(srContactCone, mu, "mu", 1, true),        NUMBERS(srContactCone, restitution, "restitution", 1, false),
    NUMBERS(srContactCone, shift, "shift", 1, false), NUMBERS(srContactCone, lower, "lower", 1, false),
    NUMBERS(srContactCone, slip, "slip", 2, false),   NUMBERS(srContactCone, compliance, "soft", 2, false)};

// One or two structs that an element fills.
typedef struct Target {
  const Key* keys;
  int n;
  void* to;
} Target;

static const Key* find_key(const Reader* r, const Target* targets, int ntarget, void** to, int* index) {
  *index = 0;
  for (int t = 0; t < ntarget; ++t) {
    for (int k = 0; k < targets[t].n; ++k, ++*index) {
      if (!is(r, targets[t].keys[k].name)) continue;
      *to = (char*)targets[t].to + targets[t].keys[k].offset;
      return &targets[t].keys[k];
    }
  }
  return NULL;
}

static bool fill(Reader* r, const Key* key, void* to) {
  for (int i = 0; i < key->count; ++i) {
    if (key->whole ? !integer(r, SR_CONTACT_FIXED, (int*)to + i) : !number(r, (double*)to + i)) return false;
  }
  return true;
}

// Keys until a word that is none of them, which is then the next element: it is read again.
static bool read_keys(Reader* r, const char* element, const Target* targets, int ntarget) {
  const srPlace start = r->place;
  unsigned seen = 0;
  while (true) {
    const Reader before = *r;
    void* to;
    int index;
    const Key* key = next(r) ? find_key(r, targets, ntarget, &to, &index) : NULL;
    if (key == NULL) {
      r->at = before.at;
      r->here = before.here;
      break;
    }
    if (seen & 1u << index) return error(r, "each key once"), false;
    seen |= 1u << index;
    if (!fill(r, key, to)) return false;
  }
  for (int t = 0, index = 0; t < ntarget; ++t) {
    for (int k = 0; k < targets[t].n; ++k, ++index) {
      if (!targets[t].keys[k].required || (seen & 1u << index)) continue;
      sr_messages_add(r->messages, SR_SEVERITY_ERROR, start, "%s has no %s", element, targets[t].keys[k].name);
      r->failed = true;
    }
  }
  return true;
}

static bool read_body(Reader* r) {
  r->body[r->bodies] = r->place;
  const Target target = {body_keys, SR_COUNT(body_keys), &r->p->body[r->bodies++]};
  return read_keys(r, "body", &target, 1);
}

static bool read_equation(Reader* r) {
  r->equation[r->equations] = r->place;
  const Target target = {equation_keys, SR_COUNT(equation_keys), &r->p->equation[r->equations++]};
  return read_keys(r, "equation", &target, 1);
}

static bool read_contact(Reader* r) {
  const int i = r->contacts++;
  r->contact[i] = r->place;
  Target targets[3] = {{cone_keys, SR_COUNT(cone_keys), &r->p->cone[i]}};
  if (r->p->row != NULL) {
    targets[1] = (Target){scaled_keys, SR_COUNT(scaled_keys), &r->p->point[i]};
    targets[2] = (Target){row_keys, SR_COUNT(row_keys), r->p->row[i]};
    return read_keys(r, "contact", targets, 3);
  }
  if (r->p->W != NULL) {
    targets[1] = (Target){rows_keys, SR_COUNT(rows_keys), &r->p->cone[i]};
    return read_keys(r, "contact", targets, 2);
  }
  targets[1] = (Target){point_keys, SR_COUNT(point_keys), &r->p->point[i]};
  targets[2] = (Target){direction_keys, SR_COUNT(direction_keys), &r->direction[i]};
  return read_keys(r, "contact", targets, 3);
}

static bool read_numbers(Reader* r, double* out, int n) {
  for (int i = 0; i < n; ++i) {
    if (!number(r, &out[i])) return false;
  }
  return true;
}

// Lists over all rows come after the contacts, which determine how many there are.
static bool read_list(Reader* r, double* out) {
  if (r->contacts < r->p->ncontact) return error(r, "this after all contacts"), false;
  return read_numbers(r, out, sr_contact_rows(r->p));
}

static bool read_solution(Reader* r) {
  r->p->has_solution = true;
  return read_list(r, r->p->solution);
}

static bool read_row(Reader* r) {
  const int n = sr_contact_rows(r->p);
  if (r->rows_read >= n) return error(r, "as many rows as equations and rows of contacts"), false;
  return read_list(r, r->p->W + (size_t)r->rows_read++ * (size_t)n);
}

static bool read_element(Reader* r) {
  int count;
  const bool matrix = r->p->W != NULL;
  if (is(r, "compliance")) return number(r, &r->p->compliance);
  if (is(r, "contact")) return read_contact(r);
  if (is(r, "start")) return read_list(r, r->p->start);
  if (is(r, "solution")) return read_solution(r);
  if (is(r, "tolerance")) return number(r, &r->p->tolerance);
  if (matrix && is(r, "equations")) return integer(r, 0, &count);
  if (matrix && is(r, "row")) return read_row(r);
  if (matrix && is(r, "right")) return read_list(r, r->p->q);
  if (!matrix && is(r, "body")) return read_body(r);
  if (!matrix && is(r, "equation")) return read_equation(r);
  error(r, matrix
               ? "compliance, contact, equations, row, right, start, solution or tolerance; a problem with bodies has "
                 "no row"
               : "body, equation, contact, compliance, start, solution or tolerance");
  return false;
}

// ---- a file -------------------------------------------------------------------------------------------------------------

// What a first pass counts. Wrong words are left to the second.
typedef struct Counts {
  int body, equation, contact, row, equations, scaled;
  double rows;  // of all contacts
} Counts;

static void count(Reader r, Counts* c) {
  *c = (Counts){0};
  r.messages = NULL;
  while (next(&r)) {
    c->body += is(&r, "body");
    c->equation += is(&r, "equation");
    c->contact += is(&r, "contact");
    c->row += is(&r, "row");
    c->scaled += is(&r, "rows_a");
    double x;
    if (is(&r, "equations")) {
      if (!number(&r, &x)) continue;
      c->equations = x >= 0 && x <= c->row + 1e6 ? (int)x : 0;
    } else if (is(&r, "rows") && number(&r, &x)) {
      c->rows += x;
    }
  }
}

// The rows of W are there before memory is taken for them.
static bool plausible(Reader* r, const Counts* c) {
  if (c->row == 0) return true;
  if (c->row == c->equations + c->rows && c->contact <= c->row && c->equation == 0 && c->body == 0 &&
      (double)c->row * c->row <= (double)(r->end - r->at))
    return true;
  sr_messages_add(r->messages, SR_SEVERITY_ERROR, r->place,
                  "there are %d rows of the matrix; %d equations and the rows of the contacts make %.0f, and a matrix "
                  "goes without bodies",
                  c->row, c->equations, c->equations + c->rows);
  return false;
}

static bool begin(Reader* r) {
  double version;
  if (!next(r) || !is(r, "contact-problem")) return error(r, "contact-problem 1 at the beginning of the file"), false;
  if (!number(r, &version)) return false;
  if (version == 1) return true;
  error(r, "version 1");
  return false;
}

// Memory for what was counted. False: there is none.
static bool take_memory(Reader* r, const Counts* c) {
  r->p = sr_contact_problem_create(c->body, c->row > 0 ? c->equations : c->equation, c->contact, c->row > 0);
  r->body = sr_alloc(((size_t)c->body + 1) * sizeof *r->body);
  r->equation = sr_alloc(((size_t)c->equation + 1) * sizeof *r->equation);
  r->contact = sr_alloc(((size_t)c->contact + 1) * sizeof *r->contact);
  r->direction = sr_alloc(((size_t)c->contact + 1) * sizeof *r->direction);
  if (r->p == NULL || r->body == NULL || r->equation == NULL || r->contact == NULL || r->direction == NULL)
    return false;
  for (int i = 0; i < c->contact; ++i) r->direction[i].mu2 = NAN;
  return c->scaled == 0 || c->scaled < c->contact || c->row > 0 || sr_contact_problem_take_rows(r->p);
}

// ---- two coefficients of friction -----------------------------------------------------------------------------------------
// (p_1/mu)^2 + (p_2/mu2)^2 <= p_N^2, p_2 along the direction, is the cone of mu in the tangents t_1 and mu2/mu t_2 (docs/theory/contact-problem.md): a problem with such a
// contact is one with rows.

// The tangents of contact i, the second one times its factor. False: there is no direction in the tangent plane, and it was said.
static bool find_tangents(Reader* r, int i, double t[2][3], double* factor) {
  const Direction* d = &r->direction[i];
  const srContactCone* cone = &r->p->cone[i];
  const double* n = r->p->point[i].normal;
  double frame[9];
  *factor = 1;
  if (isnan(d->mu2) && srm_norm3(d->along) == 0) {
    sr_contact_frame(n, frame);
    srm_set3(t[0], frame + 3);
    srm_set3(t[1], frame + 6);
    return true;
  }
  srm_add_scaled3(d->along, -srm_dot3(n, d->along), n, t[1]);
  const double length = srm_norm3(t[1]);
  if (!(d->mu2 >= 0) || !(cone->mu > 0) || !(length > 1e-9 * srm_norm3(d->along)) || cone->compliance[1] != 0) {
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, r->contact[i],
                    "contact %d: mu2 is 0 or positive and goes with 'along', a direction that is not the normal, with "
                    "mu > 0, and without a tangential compliance",
                    i);
    return false;
  }
  *factor = d->mu2 / cone->mu;
  srm_scale3(1 / length, t[1], t[1]);
  srm_cross3(t[1], n, t[0]);
  srm_scale3(*factor, t[1], t[1]);
  return true;
}

static bool put_rows(Reader* r, int i) {
  const srContactPoint* at = &r->p->point[i];
  double d[3][3], factor;
  srm_set3(d[0], at->normal);
  if (!find_tangents(r, i, d + 1, &factor)) return false;
  r->p->cone[i].slip[1] *= factor;
  for (int k = 0; k < 3; ++k) {
    for (int side = 0; side < 2; ++side) {
      double* row = r->p->row[i][side][k];
      srm_cross3(at->arm[side], d[k], row);
      srm_set3(row + 3, d[k]);
      for (int j = 0; j < 6 && side == 0; ++j) row[j] = -row[j];
    }
  }
  return true;
}

static srStatus put_directions(Reader* r) {
  bool some = false, good = true;
  for (int i = 0; i < r->contacts; ++i)
    some = some || !isnan(r->direction[i].mu2) || srm_norm3(r->direction[i].along) > 0;
  if (!some) return SR_OK;
  if (!sr_contact_problem_take_rows(r->p)) return SR_MEMORY;
  for (int i = 0; i < r->contacts; ++i) good = put_rows(r, i) && good;
  return good ? SR_OK : SR_INPUT;
}

static srStatus read_problem(Reader* r) {
  bool good = true;
  while (good && next(r)) good = read_element(r);
  if (!good || r->failed) return SR_INPUT;
  if (!sr_contact_check(r->p, &(srContactPlaces){r->body, r->equation, r->contact}, r->messages)) return SR_INPUT;
  return put_directions(r);
}

srStatus sr_contact_problem_parse(const char* text, size_t n, const char* file, srMessages* messages,
                                  srContactProblem** out) {
  Reader r = {.at = text, .end = text + n, .here = {file, 1, 1}, .messages = messages};
  Counts c;
  *out = NULL;
  if (!begin(&r)) return SR_INPUT;
  count(r, &c);
  if (!plausible(&r, &c)) return SR_INPUT;
  const srStatus status = take_memory(&r, &c) ? read_problem(&r) : SR_MEMORY;
  if (status == SR_OK) {
    *out = r.p;
  } else {
    sr_contact_problem_destroy(r.p);
  }
  sr_free(r.body);
  sr_free(r.equation);
  sr_free(r.contact);
  sr_free(r.direction);
  return status;
}

srStatus sr_contact_problem_load(const char* path, srMessages* messages, srContactProblem** out) {
  srPool pool;
  jmp_buf no_memory;
  srStatus status = SR_MEMORY;
  *out = NULL;
  sr_pool_init(&pool);
  pool.on_fail = &no_memory;
  if (setjmp(no_memory) == 0) {
    size_t n;
    const char* reason;
    const char* text = sr_file_read(&pool, path, MAX_SIZE, &n, &reason);
    if (text == NULL) {
      sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){path, 0, 0}, "%s", reason);
      status = SR_IO;
    } else {
      status = sr_contact_problem_parse(text, n, path, messages, out);
    }
  }
  sr_pool_free(&pool);
  return status;
}

// ---- writing ------------------------------------------------------------------------------------------------------------

static void put_number(srText* out, double x) {
  char text[SR_NUMBER_TEXT];
  sr_number_text(x, text, sizeof text);
  sr_text_print(out, " %s", text);
}

static void put_keys(srText* out, const Key* keys, int n, const void* from) {
  for (int k = 0; k < n; ++k) {
    sr_text_print(out, " %s", keys[k].name);
    for (int i = 0; i < keys[k].count; ++i) {
      const void* at = (const char*)from + keys[k].offset;
      if (keys[k].whole) {
        sr_text_print(out, " %d", ((const int*)at)[i]);
      } else {
        put_number(out, ((const double*)at)[i]);
      }
    }
  }
}

static void put_list(srText* out, const char* word, const double* x, int n) {
  sr_text_print(out, "%s", word);
  for (int i = 0; i < n; ++i) put_number(out, x[i]);
  sr_text_print(out, "\n");
}

void sr_contact_problem_text(const srContactProblem* p, srText* out) {
  const int n = sr_contact_rows(p);
  sr_text_print(out, "contact-problem 1\n");
  put_list(out, "compliance", &p->compliance, 1);
  if (p->tolerance > 0) put_list(out, "tolerance", &p->tolerance, 1);
  if (p->W != NULL) sr_text_print(out, "equations %d\n", p->nequation);
  for (int i = 0; i < p->nbody; ++i) {
    sr_text_print(out, "body");
    put_keys(out, body_keys, SR_COUNT(body_keys), &p->body[i]);
    sr_text_print(out, "\n");
  }
  for (int i = 0; p->W == NULL && i < p->nequation; ++i) {
    sr_text_print(out, "equation");
    put_keys(out, equation_keys, SR_COUNT(equation_keys), &p->equation[i]);
    sr_text_print(out, "\n");
  }
  for (int i = 0; i < p->ncontact; ++i) {
    sr_text_print(out, "contact");
    if (p->W != NULL) {
      put_keys(out, rows_keys, SR_COUNT(rows_keys), &p->cone[i]);
    } else if (p->row != NULL) {
      put_keys(out, scaled_keys, SR_COUNT(scaled_keys), &p->point[i]);
      put_keys(out, row_keys, SR_COUNT(row_keys), p->row[i]);
    } else {
      put_keys(out, point_keys, SR_COUNT(point_keys), &p->point[i]);
    }
    put_keys(out, cone_keys, SR_COUNT(cone_keys), &p->cone[i]);
    sr_text_print(out, "\n");
  }
  for (int i = 0; p->W != NULL && i < n; ++i) put_list(out, "row", p->W + (size_t)i * (size_t)n, n);
  if (p->W != NULL) put_list(out, "right", p->q, n);
  put_list(out, "start", p->start, n);
  if (p->has_solution) put_list(out, "solution", p->solution, n);
}
