// Motion of joints from a table, such as that of an earlier run: the model with a driver in every independent joint coordinate, each on a cubic spline through the rows.
// Dependent coordinates follow from the loops; states of force elements are those of the table, linear between its rows.
#include <stdlib.h>
#include <string.h>

#include "cli.h"

// ------------------------------------------------------------------------------------------------------------- columns
static int column(const Motion* x, const char* prefix, const char* name) {
  char text[300];
  snprintf(text, sizeof text, "%s%s", prefix, name);
  return sr_table_column(x->table, text);
}

static bool read_table(Cli* cli, Motion* x) {
  if (sr_table_read(x->path, cli->messages, &x->table) != SR_OK) return false;
  x->time = sr_table_column(x->table, "t");
  if (x->time < 0) return (cli_error(cli, "'%s' has no column 't' with the time", x->path), false);
  if (x->table->nrow < 2)
    return (cli_error(cli, "'%s' has %d rows: a motion has two or more", x->path, x->table->nrow), false);
  const double* t = x->table->columns[x->time];
  for (int i = 0; i < x->table->nrow; i++)
    if (!isfinite(t[i]) || (i > 0 && !(t[i] > t[i - 1])))
      return (cli_error(cli, "'%s': the time of row %d, %.9g, is not later than that of the row before", x->path, i + 1,
                        t[i]),
              false);
  return true;
}

double motion_begin(const Motion* x) { return x->table->columns[x->time][0]; }
double motion_end(const Motion* x) { return x->table->columns[x->time][x->table->nrow - 1]; }

// The start: positions of the first row, those of the model where the table has none.
static bool start(Cli* cli, const Motion* x, Model* m, State* state) {
  const int n = m->model->njq;
  double* q = malloc(((size_t)n + 1) * sizeof *q);
  if (!q) return (cli_error(cli, "out of memory"), false);
  for (int i = 0; i < n; i++) {
    const int k = column(x, "q.", m->model->q_name[i]);
    q[i] = k >= 0 ? x->table->columns[k][0] : m->data->jq[i];
  }
  state->q = (NumberList){q, n};
  state->t = motion_begin(x);
  memcpy(m->data->q, q, (size_t)n * sizeof *q);
  m->data->t = state->t;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- drivers
// Joint and coordinate of velocity coordinate i of the joints, with the column of its position; false: there is none, or it is no number by itself.
typedef struct Place {
  int joint, coordinate, column;
} Place;

static bool find_place(const Motion* x, const srModel* m, int i, Place* out) {
  int j = 0;
  while (j < m->njoint && !(i >= m->joint_v[j] && i < m->joint_v[j] + m->joint_nv[j])) j++;
  if (j == m->njoint || m->joint_nq[j] != m->joint_nv[j]) return false;
  const int coordinate = i - m->joint_v[j];
  *out = (Place){j, coordinate, column(x, "q.", m->q_name[m->joint_q[j] + coordinate])};
  return out->column >= 0;
}

static bool add_driver(const Motion* x, const srModel* m, srSpec* spec, const Place* at, int number) {
  char name[40], formula[60];
  const int rows = x->table->nrow;
  double* points = malloc(2 * (size_t)rows * sizeof *points);
  if (!points) return false;
  for (int i = 0; i < rows; i++) {
    points[2 * i] = x->table->columns[x->time][i];
    points[2 * i + 1] = x->table->columns[at->column][i];
  }
  snprintf(name, sizeof name, "recorded_motion_%d", number);
  snprintf(formula, sizeof formula, "%s(t)", name);
  const srMotionDef motion = {.name = sr_text(name),
                              .type = sr_text("cubic"),
                              .points = sr_numbers(points, 2 * rows),
                              .ends = sr_text("not-a-knot")};
  const srDriverDef driver = {
      .joint = sr_text(m->joint_name[at->joint]), .coordinate = sr_number(at->coordinate), .motion = sr_text(formula)};
  const bool added = srs_add(spec, SR_ELEMENT_MOTION, SR_NO_OWNER, &motion, NULL) >= 0 &&
                     srs_add(spec, SR_ELEMENT_DRIVER, SR_NO_OWNER, &driver, NULL) >= 0;
  free(points);
  return added;
}

// Independent coordinates that the table has: as LU chooses them, or else, one after the other, those that can be so. Marks them (nv); the number, or -1: none.
static int choose(const Motion* x, Model* m, unsigned char* mark) {
  const srModel* model = m->model;
  srCoordinatePartition* p = NULL;
  Place at;
  srMessages* unsaid = sr_messages_create();
  int dof = -1, n = 0;
  if (unsaid && sr_partition_create(model, m->data, &(srPartitionOptions){0}, unsaid, &p) == SR_OK) {
    dof = p->dof_velocity;
    for (int k = 0; k < p->nindependent; k++) n += find_place(x, model, p->independent[k], &at);
    for (int k = 0; k < p->nindependent && n == dof; k++) mark[p->independent[k]] = 1;
  }
  sr_partition_destroy(p);
  if (dof >= 0 && n < dof) n = 0;
  for (int i = 0; i < model->nv && n < dof; i++) {
    if (!find_place(x, model, i, &at)) continue;
    mark[i] = 1;
    mark[i] = sr_partition_create(model, m->data, &(srPartitionOptions){.independent = mark}, unsaid, &p) == SR_OK;
    sr_partition_destroy(p);
    n += mark[i];
  }
  sr_messages_destroy(unsaid);
  return dof < 0 || n < dof ? -1 : n;
}

static bool drive(Cli* cli, const Motion* x, Model* m) {
  unsigned char* mark = calloc((size_t)m->model->nv + 1, 1);
  bool good = mark != NULL && choose(x, m, mark) >= 0;
  if (!mark) cli_error(cli, "out of memory");
  if (mark && !good)
    cli_error(cli, "'%s' does not give the motion of '%s': its columns q.JOINT are fewer than the degrees of freedom",
              x->path, m->model->name);
  for (int i = 0, number = 0; good && i < m->model->nv; i++) {
    Place at;
    if (mark[i] == 0 || !find_place(x, m->model, i, &at)) continue;
    good = add_driver(x, m->model, m->spec, &at, ++number);
    if (!good) cli_error(cli, "out of memory");
  }
  free(mark);
  return good;
}

// Once more, with the drivers: what there is to warn of is said already.
static srStatus compile(Cli* cli, Model* m) {
  srMessages* messages = sr_messages_create();
  const srStatus status = messages ? sr_compile(m->spec, messages, &m->model) : SR_MEMORY;
  for (int i = 0; messages && i < sr_messages_count(messages); i++) {
    const srMessage* said = sr_messages_get(messages, i);
    if (said->severity == SR_SEVERITY_ERROR)
      sr_messages_add(cli->messages, said->severity, said->place, "%s", said->text);
  }
  sr_messages_destroy(messages);
  return status;
}

int motion_open(Cli* cli, Motion* x, Model* m, State* state) {
  if (state->q.x || state->v.x || state->file || !isnan(state->t)) {
    cli_error(cli, "--motion begins with its first row: leave out --q, --v, --t and --state");
    return cli_refuse(cli, EXIT_INPUT);
  }
  if (!read_table(cli, x) || !start(cli, x, m, state) || !drive(cli, x, m)) return cli_refuse(cli, EXIT_INPUT);
  sr_data_destroy(m->data);
  sr_model_destroy(m->model);
  m->data = NULL;
  m->model = NULL;
  const srStatus status = compile(cli, m);
  if (status == SR_OK) m->data = sr_data_create(m->model);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  return m->data ? EXIT_DONE : cli_refuse(cli, cli_status(SR_MEMORY));
}

// -------------------------------------------------------------------------------------------------------------- states
void motion_states(const Motion* x, const srModel* m, srData* d, double t) {
  const double* at = x->table->columns[x->time];
  int low = 0, high = x->table->nrow - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    *(at[middle] <= t ? &low : &high) = middle;
  }
  const double part = (t - at[low]) / (at[high] - at[low]);
  for (int i = 0; i < m->ny - m->ny_slot; i++) {
    const int k = sr_table_column(x->table, m->y_name[i]);
    if (k >= 0) d->y[i] = (1 - part) * x->table->columns[k][low] + part * x->table->columns[k][high];
  }
}

void motion_free(Motion* x) { sr_table_destroy(x->table); }
