// Result rows: columns with names and units, and their values at an evaluated state. Both walk the model in one order:
//   t | q | v | y | driving forces | other multipliers | sensors | kinetic, potential, residual
#include "simulate/record.h"

#include <string.h>

#include "base/base.h"

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

int sr_column_count(const srModel* m) {
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
  for (int i = 0; i < m->ncoupling; ++i) add(table, sr_pool_printf(&table->pool, "lambda.%s", m->coupling[i].name), "");
  name_formulas(m, table, false);
  name_closures(m, table, true);
  name_formulas(m, table, true);
}

static void name_columns(const srModel* m, Table* table) {
  srPool* pool = &table->pool;
  const size_t count = (size_t)sr_column_count(m);
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
  SR_ASSERT((size_t)table->columns.count == count);
}

srColumns* sr_columns_create(const srModel* m) {
  Table* table = sr_alloc(sizeof *table);
  if (table == NULL) return NULL;
  jmp_buf out_of_memory;
  sr_pool_init(&table->pool);
  table->pool.on_fail = &out_of_memory;
  if (setjmp(out_of_memory) != 0) {
    sr_columns_destroy(&table->columns);
    return NULL;
  }
  name_columns(m, table);
  table->pool.on_fail = NULL;
  table->columns.names = table->names;
  table->columns.units = table->units;
  return &table->columns;
}

void sr_columns_destroy(srColumns* columns) {
  if (columns == NULL) return;
  Table* table = (Table*)columns;  // columns is its first member
  sr_pool_free(&table->pool);
  sr_free(table);
}

// ---- values ---------------------------------------------------------------------------------------------------------

static double* put(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  return to + n;
}

static double* put_sensor(const srModel* m, const srData* d, const srSensor* sensor, double* to) {
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

void sr_record(const srModel* m, const srData* d, double kinetic, double potential, double residual, double* row) {
  double* next = put(row, &d->t, 1);
  next = put(next, d->jq, m->njq);
  next = put(next, d->jv, m->njv);
  next = put(next, d->y, m->ny - m->ny_slot);
  next = put(next, d->lambda + m->row_driver, m->ndriver);
  next = put_multipliers(m, d, next);
  for (int i = 0; i < m->nsensor; ++i) next = put_sensor(m, d, &m->sensor[i], next);
  next = put(next, &kinetic, 1);
  next = put(next, &potential, 1);
  next = put(next, &residual, 1);
  SR_ASSERT(next - row == sr_column_count(m));
}
