// Result rows: columns with names and units, and their values at an evaluated state. Both walk the model in one order:
//   t | q | v | y | driving forces | other multipliers | sensors | kinetic, potential, residual
// Behind these come the columns on request (record/recorder.h).
#include "record/columns.h"

#include <math.h>
#include <sarrus/dynamics.h>
#include <sarrus/record.h>
#include <string.h>

#define FRAME_COLUMNS 9  // x y z, vx vy vz, wx wy wz
static const char* const frame_words[FRAME_COLUMNS] = {"x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"};
static const char* const frame_units[FRAME_COLUMNS] = {"m", "m", "m", "m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"};

// Constraint equations of the file: not those of closures that represent joints.
static int multiplier_count(const srModel* m) {
  int count = m->ncoupling + m->nformula_row;
  for (int i = 0; i < m->nclosure; ++i) {
    if (m->closure[i].joint < 0) count += m->closure[i].np + m->closure[i].nvel;
  }
  return count;
}

static int column_count(const srModel* m) {
  int count = 1 + m->njq + m->njv + m->ny - m->ny_slot + m->ndriver + multiplier_count(m) + 3;
  for (int i = 0; i < m->nsensor; ++i) count += m->sensor[i].point >= 0 ? FRAME_COLUMNS : 1;
  return count;
}

// ---- names ----------------------------------------------------------------------------------------------------------

typedef struct Table {  // what the caller sees, and its memory
  srColumns columns;
  srPool pool;
  const char** names;
  const char** units;
} Table;

static void add(Table* table, const char* name, const char* unit) {
  const int i = table->columns.count++;
  table->names[i] = name;
  table->units[i] = unit != NULL ? unit : "";
}

static void add_sensor(Table* table, const srSensor* sensor) {
  if (sensor->point < 0) {
    add(table, sr_pool_text(&table->pool, sensor->name), sr_pool_text(&table->pool, sensor->unit));
    return;
  }
  for (int i = 0; i < FRAME_COLUMNS; ++i) {
    add(table, sr_pool_printf(&table->pool, "%s.%s", sensor->name, frame_words[i]), frame_units[i]);
  }
}

// Force on a coordinate: Nm on an angle, N on a length.
static const char* force_unit(const char* position_unit) { return strcmp(position_unit, "m") == 0 ? "N" : "Nm"; }

static void name_closures(const srModel* m, Table* table, bool velocity) {
  for (int i = 0; i < m->nclosure; ++i) {
    const srClosure* c = &m->closure[i];
    const int first = velocity ? c->np : 0, last = velocity ? c->np + c->nvel : c->np;
    for (int k = first; k < last && c->joint < 0; ++k) {
      const bool moment = strncmp(c->row_name[k], "rotation", 8) == 0;
      add(table, sr_pool_printf(&table->pool, "lambda.%s.%d", c->name, k), moment ? "Nm" : "N");
    }
  }
}

static void name_formulas(const srModel* m, Table* table, bool velocity) {
  for (int i = 0; i < m->nformula_row; ++i) {
    const srFormulaRow* row = &m->formula_row[i];
    if (row->velocity == velocity) add(table, sr_pool_printf(&table->pool, "lambda.%s", row->name), "");
  }
}

// Multipliers of all constraint equations of the file but the drivers': lambda.NAME of a coupling or formula, lambda.NAME.k of equation k of a
// closure; position equations, then velocity equations.
static void name_multipliers(const srModel* m, Table* table) {
  name_closures(m, table, false);
  for (int i = 0; i < m->ncoupling; ++i) {
    const srCoupling* c = &m->coupling[i];
    add(table, sr_pool_printf(&table->pool, "lambda.%s", c->name), force_unit(m->q_unit[c->qdof[0]]));
  }
  name_formulas(m, table, false);
  name_closures(m, table, true);
  name_formulas(m, table, true);
}

static void name_columns(const srModel* m, const srRecorder* more, Table* table) {
  srPool* pool = &table->pool;
  const size_t count = (size_t)column_count(m) + (more != NULL ? (size_t)more->n : 0);
  table->names = sr_pool_alloc(pool, count * sizeof *table->names);
  table->units = sr_pool_alloc(pool, count * sizeof *table->units);
  add(table, "t", "s");
  for (int i = 0; i < m->njq; ++i)
    add(table, sr_pool_printf(pool, "q.%s", m->q_name[i]), sr_pool_text(pool, m->q_unit[i]));
  for (int i = 0; i < m->njv; ++i)
    add(table, sr_pool_printf(pool, "v.%s", m->v_name[i]), sr_pool_text(pool, m->v_unit[i]));
  for (int i = 0; i < m->ny - m->ny_slot; ++i) add(table, sr_pool_text(pool, m->y_name[i]), "");
  for (int i = 0; i < m->ndriver; ++i) {
    const srDriver* driver = &m->driver[i];
    add(table, sr_pool_printf(pool, "driver.%s", m->q_name[driver->qdof]), force_unit(m->q_unit[driver->qdof]));
  }
  name_multipliers(m, table);
  for (int i = 0; i < m->nsensor; ++i) add_sensor(table, &m->sensor[i]);
  add(table, "kinetic", "J");
  add(table, "potential", "J");
  add(table, "residual", "J");
  for (int i = 0; more != NULL && i < more->n; ++i) add(table, sr_pool_text(pool, more->names[i]), more->units[i]);
  SR_ASSERT((size_t)table->columns.count == count);
}

static srColumns* create_columns(const srModel* m, const srRecorder* more) {
  Table* table = sr_alloc(sizeof *table);
  if (table == NULL) return NULL;
  jmp_buf out_of_memory;
  sr_pool_init(&table->pool);
  table->pool.on_fail = &out_of_memory;
  if (setjmp(out_of_memory) != 0) {
    sr_columns_destroy(&table->columns);
    return NULL;
  }
  name_columns(m, more, table);
  table->pool.on_fail = NULL;
  table->columns.names = table->names;
  table->columns.units = table->units;
  return &table->columns;
}

srColumns* sr_columns_create(const srModel* m) {
  srColumns* columns;
  return sr_record_columns_create(m, NULL, 0, NULL, &columns) == SR_OK ? columns : NULL;
}

srStatus sr_record_columns_create(const srModel* m, const char* const* record, int n, srMessages* messages,
                                  srColumns** out) {
  srRecording* x;
  *out = NULL;
  const srStatus status = sr_recording_create(m, record, n, messages, &x);
  if (status != SR_OK) return status;
  *out = create_columns(m, x->recorder);
  sr_recording_destroy(x);
  return *out != NULL ? SR_OK : SR_MEMORY;
}

void sr_columns_destroy(srColumns* columns) {
  if (columns == NULL) return;
  Table* table = (Table*)columns;  // columns is its first member
  sr_pool_free(&table->pool);
  sr_free(table);
}

// ---- on request -----------------------------------------------------------------------------------------------------

// The requests of the model, then those of a run.
static srStatus resolve(const srModel* m, const char* const* record, int n, srMessages* messages, srRecorder** out) {
  const int own = m->priv->nrecord, all = own + n;
  srColumns* columns = all > 0 ? create_columns(m, NULL) : NULL;
  srRecordRequest* requests = all > 0 ? sr_alloc((size_t)all * sizeof *requests) : NULL;
  srStatus status = SR_MEMORY;
  *out = NULL;
  if (all == 0) {
    status = sr_recorder_create(m, NULL, 0, NULL, 0, messages, out);
  } else if (columns != NULL && requests != NULL) {
    for (int i = 0; i < all; ++i)
      requests[i] = i < own ? m->priv->record[i] : (srRecordRequest){.pattern = record[i - own]};
    status = sr_recorder_create(m, requests, all, columns->names, columns->count, messages, out);
  }
  sr_free(requests);
  sr_columns_destroy(columns);
  return status;
}

// Powers to be integrated: of the columns, then of the sensors.
static bool gather_meters(srRecording* x) {
  const int late = x->late != NULL ? x->late->recorder->nmeter : 0, own = x->recorder->nmeter;
  x->nmeter = own + late;
  x->meter = sr_alloc(((size_t)x->nmeter + 1) * sizeof *x->meter);
  if (x->meter == NULL) return false;
  if (own > 0) memcpy(x->meter, x->recorder->meter, (size_t)own * sizeof *x->meter);
  if (late > 0) memcpy(x->meter + own, x->late->recorder->meter, (size_t)late * sizeof *x->meter);
  if (late > 0) x->late->recorder->first_meter = own;
  return true;
}

static srStage higher(srStage a, srStage b) { return a > b ? a : b; }

srStatus sr_recording_create(const srModel* m, const char* const* record, int n, srMessages* messages,
                             srRecording** out) {
  *out = NULL;
  srRecording* x = sr_alloc(sizeof *x);
  if (x == NULL) return SR_MEMORY;
  x->m = m;
  srStatus status = resolve(m, record, n, messages, &x->recorder);
  if (status == SR_OK) status = sr_late_create(m, messages, &x->late);
  if (status == SR_OK && !gather_meters(x)) status = SR_MEMORY;
  if (status != SR_OK) {
    sr_recording_destroy(x);
    return status;
  }
  x->ncolumn = column_count(m) + x->recorder->n;
  x->stage = higher(SR_STAGE_ACCELERATION, x->recorder->stage);
  if (x->late != NULL) x->stage = higher(x->stage, x->late->recorder->stage);
  *out = x;
  return SR_OK;
}

void sr_recording_destroy(srRecording* x) {
  if (x == NULL) return;
  sr_recorder_destroy(x->recorder);
  sr_late_destroy(x->late);
  sr_free(x->meter);
  sr_free(x);
}

srStatus sr_record_check(const srModel* m, srMessages* messages) {
  srRecording* x;
  if (m->priv->nrecord == 0 && m->priv->nlate == 0) return SR_OK;
  const srStatus status = sr_recording_create(m, NULL, 0, messages, &x);
  sr_recording_destroy(x);
  return status;
}

// ---- values ---------------------------------------------------------------------------------------------------------

static double* put(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  return to + n;
}

static double* put_sensor(const srModel* m, const srData* d, const srSensor* sensor, const double* late, double* to) {
  if (sensor->late >= 0) return put(to, late + sensor->late, 1);
  if (sensor->point < 0) return put(to, d->formula + sensor->formula, 1);
  srFrameMotion motion;
  sr_frame_motion(m, d, sensor->point, sensor->relative_to, &motion);
  to = put(to, motion.position, 3);
  to = put(to, motion.velocity, 3);
  return put(to, motion.angular_velocity, 3);
}

static double* put_closures(const srModel* m, const srData* d, bool velocity, double* to) {
  for (int i = 0; i < m->nclosure; ++i) {
    const srClosure* c = &m->closure[i];
    if (c->joint >= 0) continue;
    if (velocity) {
      to = put(to, d->lambda + c->vrow, c->nvel);
    } else {
      to = put(to, c->soft ? d->soft_lambda + 6 * i : d->lambda + c->row, c->np);
    }
  }
  return to;
}

static double* put_formulas(const srModel* m, const srData* d, bool velocity, double* to) {
  for (int i = 0; i < m->nformula_row; ++i) {
    if (m->formula_row[i].velocity == velocity) to = put(to, d->lambda + m->formula_row[i].row, 1);
  }
  return to;
}

static double* put_multipliers(const srModel* m, const srData* d, double* to) {
  to = put_closures(m, d, false, to);
  for (int i = 0; i < m->ncoupling; ++i) to = put(to, d->lambda + m->coupling[i].row, 1);
  to = put_formulas(m, d, false, to);
  to = put_closures(m, d, true, to);
  return put_formulas(m, d, true, to);
}

void sr_record(srRecording* x, srData* d, const srRowEnergy* energy, double* row) {
  const srModel* m = x->m;
  const double* late = x->late != NULL ? sr_late_values(x->late, d, energy->w) : NULL;
  double* next = put(row, &d->t, 1);
  next = put(next, d->jq, m->njq);
  next = put(next, d->jv, m->njv);
  next = put(next, d->y, m->ny - m->ny_slot);
  next = put(next, d->lambda + m->row_driver, m->ndriver);
  next = put_multipliers(m, d, next);
  for (int i = 0; i < m->nsensor; ++i) next = put_sensor(m, d, &m->sensor[i], late, next);
  next = put(next, &energy->kinetic, 1);
  next = put(next, &energy->potential, 1);
  next = put(next, &energy->residual, 1);
  SR_ASSERT(next - row == column_count(m));
  sr_recorder_row(x->recorder, d, energy->w, next);
}

int sr_recording_row(srRecording* x, srData* d, double* row) {
  srRowEnergy energy = {.residual = (double)NAN};
  const int answer = sr_evaluate(x->m, d, d->t, NULL, NULL, NULL, x->stage);
  if (answer != 0) return answer;
  sr_energy(x->m, d, &energy.kinetic, &energy.potential);
  sr_record(x, d, &energy, row);
  return 0;
}
