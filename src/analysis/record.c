// Result rows: columns with names and units, and their values at an evaluated state. Both walk the model in one order:
//   t | q | v | y | driving forces | other multipliers | sensors | kinetic, potential, residual
#include "analysis/record.h"

#include <string.h>

#include "base/base.h"

#define FRAME_COLUMNS 9  // x y z, vx vy vz, wx wy wz
static const char* const frame_words[FRAME_COLUMNS] = {"x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"};
static const char* const frame_units[FRAME_COLUMNS] = {"m", "m", "m", "m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"};

int sr_column_count(const srModel* m) {
  int count = 1 + m->nq + m->nv + m->ny + m->ng + 3;
  for (int i = 0; i < m->nsensor; ++i) count += m->sensor[i].point >= 0 ? FRAME_COLUMNS : 1;
  return count;
}

// ---- names ----------------------------------------------------------------------------------------------------------

typedef struct Table {  // what the caller sees, and what it stands on
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

// Force that works on a coordinate: Nm on an angle, N on a length.
static const char* force_unit(const char* position_unit) { return strcmp(position_unit, "m") == 0 ? "N" : "Nm"; }

// Multipliers of all rows but the drivers': lambda.NAME of a coupling or formula, lambda.NAME.k of row k of a closure.
static void name_multipliers(const srModel* m, Table* table) {
  srPool* pool = &table->pool;
  for (int i = 0; i < m->ng; ++i) {
    const srRow* row = &m->row[i];
    if (row->kind == SR_ROW_CLOSURE) {
      const srClosure* c = &m->closure[row->index];
      const int k = i < m->np ? i - c->row : c->np + i - c->vrow;
      const bool moment = strncmp(c->row_name[k], "rotation", 8) == 0;
      add(table, sr_pool_printf(pool, "lambda.%s.%d", c->name, k), moment ? "Nm" : "N");
    } else if (row->kind == SR_ROW_COUPLING) {
      add(table, sr_pool_printf(pool, "lambda.%s", m->coupling[row->index].name), "");
    } else if (row->kind == SR_ROW_FORMULA) {
      add(table, sr_pool_printf(pool, "lambda.%s", m->formula_row[row->index].name), "");
    }
  }
}

static void name_columns(const srModel* m, Table* table) {
  srPool* pool = &table->pool;
  const size_t count = (size_t)sr_column_count(m);
  table->names = sr_pool_alloc(pool, count * sizeof *table->names);
  table->units = sr_pool_alloc(pool, count * sizeof *table->units);
  add(table, "t", "s");
  for (int i = 0; i < m->nq; ++i)
    add(table, sr_pool_printf(pool, "q.%s", m->q_name[i]), sr_pool_text(pool, m->q_unit[i]));
  for (int i = 0; i < m->nv; ++i)
    add(table, sr_pool_printf(pool, "v.%s", m->v_name[i]), sr_pool_text(pool, m->v_unit[i]));
  for (int i = 0; i < m->ny; ++i) add(table, sr_pool_text(pool, m->y_name[i]), "");
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

void sr_record(const srModel* m, const srData* d, double kinetic, double potential, double residual, double* row) {
  double* next = put(row, &d->t, 1);
  next = put(next, d->q, m->nq);
  next = put(next, d->v, m->nv);
  next = put(next, d->y, m->ny);
  next = put(next, d->lambda + m->row_driver, m->ndriver);
  next = put(next, d->lambda, m->row_driver);
  next = put(next, d->lambda + m->row_driver + m->ndriver, m->ng - m->row_driver - m->ndriver);
  for (int i = 0; i < m->nsensor; ++i) next = put_sensor(m, d, &m->sensor[i], next);
  next = put(next, &kinetic, 1);
  next = put(next, &potential, 1);
  next = put(next, &residual, 1);
  SR_ASSERT(next - row == sr_column_count(m));
}
