// A state given as numbers: lists of the command line, or a JSON file. Wrong lengths are refused with the coordinates'
// names; quaternions are normalised, and that is reported.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

State state_none(void) { return (State){.t = NOT_GIVEN}; }

void state_free(State* s) {
  numbers_free(&s->q);
  numbers_free(&s->v);
  numbers_free(&s->y);
  numbers_free(&s->tau);
  numbers_free(&s->approach_velocity);
  numbers_free(&s->instances);
}

// -------------------------------------------------------------------------------------------------------------- file
// A list of the command line wins over the file's.
static void keep(NumberList* list, JsonWanted* wanted) {
  if (list->x || !wanted->x)
    free(wanted->x);
  else
    *list = (NumberList){wanted->x, wanted->n};
}

static bool state_read(Cli* cli, State* s) {
  size_t size;
  char* text = json_file(cli, "the state file", s->file, &size);
  if (!text) return false;
  JsonWanted wanted[] = {{.key = "t"},
                         {.key = "q", .list = true},
                         {.key = "v", .list = true},
                         {.key = "y", .list = true},
                         {.key = "tau", .list = true},
                         {.key = "approach_velocity", .list = true},
                         {.key = "instances", .list = true}};
  srJsonError error_message;
  bool good = json_read(text, size, wanted, 7, &error_message);
  free(text);
  const srPlace place = {s->file, error_message.line, error_message.column};
  if (!good) sr_messages_add(cli->messages, SR_SEVERITY_ERROR, place, "%s", error_message.text);
  bool found = false;
  for (int i = 0; i < 5; i++) found = found || wanted[i].x;
  if (good && !found) {
    sr_messages_add(cli->messages, SR_SEVERITY_ERROR, place, "none of the keys t, q, v, y, tau is in this file");
    good = false;
  }
  if (wanted[0].x && isnan(s->t)) s->t = wanted[0].x[0];
  free(wanted[0].x);
  keep(&s->q, &wanted[1]);
  keep(&s->v, &wanted[2]);
  keep(&s->y, &wanted[3]);
  keep(&s->tau, &wanted[4]);
  keep(&s->approach_velocity, &wanted[5]);
  keep(&s->instances, &wanted[6]);
  return good;
}

// ----------------------------------------------------------------------------------------------------------- lengths
// "a, b, c" of the coordinates' names, cut where it gets long.
static void name_list(const char* const* names, int n, char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < n && used < size; i++) {
    if (used + strlen(names[i]) + 8 > size) {
      snprintf(text + used, size - used, ", ...");
      return;
    }
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
  }
}

static bool put_list(Cli* cli, const NumberList* list, const char* what, const char* const* names, int n, double* out) {
  if (!list->x) return true;
  if (list->n == n) {
    if (n > 0) memcpy(out, list->x, (size_t)n * sizeof *out);
    return true;
  }
  char text[400];
  name_list(names, n, text, sizeof text);
  if (n == 0)
    cli_error(cli, "%s has %d number%s; this model has none", what, list->n, list->n == 1 ? "" : "s");
  else
    cli_error(cli, "%s has %d number%s, expected %d: %s", what, list->n, list->n == 1 ? "" : "s", n, text);
  return false;
}

// ------------------------------------------------------------------------------------------------------- quaternions
static bool normalize(Cli* cli, const srModel* m, double* q) {
  bool good = true;
  for (int j = 0; j < m->njoint; j++) {
    if (m->joint_type[j] != SR_JOINT_BALL && m->joint_type[j] != SR_JOINT_FREE) continue;
    const double* p = q + m->joint_q[j] + (m->joint_type[j] == SR_JOINT_FREE ? 3 : 0);
    const double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    if (norm == 0) {
      cli_error(cli, "the quaternion of joint '%s' is zero", m->joint_name[j]);
      good = false;
    } else if (fabs(norm - 1) > 1e-12) {  // what printing with 15 digits leaves is no news
      cli_warning(cli, "the quaternion of joint '%s' has length %.9g; it is normalised", m->joint_name[j], norm);
    }
  }
  if (good) sr_normalize(m, q);
  return good;
}

// ---------------------------------------------------------------------------------------------------------- contacts
// What a run knows of contacts beyond q, v, y: it belongs to the positions and velocities of the same file.
static bool put_approach_velocity(Cli* cli, const NumberList* list, const srModel* m, srData* d) {
  int n = 0;
  for (int i = 0; i < m->nforce; i++) {
    if (m->force[i].z < 0) continue;
    if (list->x && n < list->n) {
      d->z[m->force[i].z + SR_Z_SPEED] = list->x[n];
      d->z[m->force[i].z + SR_Z_CLOSED] = list->x[n] > 0;
    }
    n++;
  }
  if (!list->x || list->n == n) return true;
  cli_error(cli, "approach_velocity has %d number%s, and the model has %d contact%s", list->n, list->n == 1 ? "" : "s",
            n, n == 1 ? "" : "s");
  return false;
}

static bool put_instances(Cli* cli, const NumberList* list, const srModel* m, srData* d) {
  if (!list->x || sr_put_instances(m, d, list->x, list->n)) return true;
  cli_error(cli, "instances are not those of a run of this model");
  return false;
}

bool state_apply(Cli* cli, State* s, const srModel* m, srData* d) {
  const bool moved = s->q.x || s->v.x;
  if (s->file && !state_read(cli, s)) return false;
  if (!isnan(s->t)) d->t = s->t;
  bool good = put_list(cli, &s->q, "q", m->q_name, m->nq, d->q);
  good = put_list(cli, &s->v, "v", m->v_name, m->nv, d->v) && good;
  good = put_list(cli, &s->y, "y", m->y_name, m->ny - m->ny_slot, d->y) && good;
  good = put_list(cli, &s->tau, "tau", m->v_name, m->nv, d->tau) && good;
  if (!moved) good = put_approach_velocity(cli, &s->approach_velocity, m, d) && good;
  if (!moved) good = put_instances(cli, &s->instances, m, d) && good;
  return good && normalize(cli, m, d->q);
}

int state_at_time(Cli* cli, const State* s, const Model* m) {
  const srStatus status = sr_state_at_time(m->model, m->data, s->q.x != NULL, s->v.x != NULL, cli->messages, NULL);
  return status == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(status));
}

// ---- contacts at rest -----------------------------------------------------------------------------------------------------

RestContact rest_contact_none(void) { return (RestContact){.gap = NOT_GIVEN}; }

bool rest_contact_check(Cli* cli, RestContact* c, bool exchanged) {
  static const char* const words[] = {"continuous", "event"};
  bool good = !c->word || word_exists(cli, "--contact", c->word, words, 2, 2);
  c->rigid = c->word && strcmp(c->word, "event") == 0;
  if (!isnan(c->gap) && !(c->rigid && c->gap > 0)) {
    cli_error(cli, "--tol-gap is a distance above 0 in m, and goes with --contact event");
    good = false;
  }
  if (c->rigid && exchanged) {
    cli_error(cli,
              "--contact event finds positions at rest: --exchange, --speed, --equation, --unknown and --steady go "
              "with --contact continuous");
    good = false;
  }
  if (isnan(c->gap)) c->gap = 0;
  return good;
}
