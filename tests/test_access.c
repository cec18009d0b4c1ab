// Tests of src/access: members by name are where the structs have them, and none of model.h is missing.
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "scarce.h"

static srArray of_model(const Loaded* x, const char* name) {
  srArray a;
  ENSURE(sr_model_array(x->m, name, &a));
  return a;
}

static srArray of_data(const Loaded* x, const char* name) {
  srArray a;
  ENSURE(sr_data_array(x->m, x->d, name, &a));
  return a;
}

TEST(arrays_of_a_model_are_found_by_name) {
  Loaded x = open_model("double-pendulum", "");
  srArray a = of_model(&x, "nq");
  ENSURE(a.type == SR_TYPE_INT && a.ndim == 0 && *(const int*)a.data == 2 && !a.writable);
  a = of_model(&x, "body_mass");
  ENSURE(a.type == SR_TYPE_DOUBLE && a.ndim == 1 && a.shape[0] == 3 && a.data == (const void*)x.m->body_mass);
  a = of_model(&x, "link_tree");
  ENSURE(a.ndim == 2 && a.shape[0] == x.m->nlink && a.shape[1] == 16 && a.stride[0] == 128 && a.stride[1] == 8);
  a = of_model(&x, "q_name");
  ENSURE(a.type == SR_TYPE_TEXT && a.shape[0] == 2);
  ENSURE_TEXT(((const char* const*)a.data)[1], "q2");
  a = of_model(&x, "constrained");
  ENSURE(a.type == SR_TYPE_BOOL && !*(const bool*)a.data);
  a = of_model(&x, "gravity");
  ENSURE(a.shape[0] == 4 && ((const double*)a.data)[2] == -9.81);
  ENSURE(!sr_model_array(x.m, "mass", &a));
  close_model(&x);
}

TEST(members_of_structs_are_found_with_their_stride) {
  Loaded x = open_model("double-pendulum", "");
  const srArray name = of_model(&x, "sensor_name"), point = of_model(&x, "sensor_point");
  ENSURE_EQUAL(name.shape[0], 2);
  ENSURE_EQUAL(point.stride[0], sizeof(srSensor));
  for (int i = 0; i < 2; i++) {
    ENSURE_TEXT(*(const char* const*)((char*)name.data + i * name.stride[0]), i ? "tip" : "elbow");
    ENSURE_EQUAL(*(const int*)((char*)point.data + i * point.stride[0]), x.m->sensor[i].point);
  }
  const srArray none = of_model(&x, "driver_name");
  ENSURE(none.data == NULL && none.shape[0] == 0 && none.ndim == 1);
  close_model(&x);
}

TEST(arrays_of_a_data_are_found_by_name) {
  Loaded x = open_model("double-pendulum", "");
  srArray a = of_data(&x, "q");
  ENSURE(a.data == x.d->q && a.writable && a.shape[0] == 2 && a.ndim == 1);
  a = of_data(&x, "jq");  // a relative model: the same memory
  ENSURE(a.data == x.d->q && a.writable && a.shape[0] == 2);
  a = of_data(&x, "link_pose");
  ENSURE(a.data == x.d->link_pose && !a.writable && a.ndim == 2 && a.shape[0] == x.m->nlink);
  a = of_data(&x, "t");
  ENSURE(a.data == &x.d->t && a.ndim == 0 && a.writable);
  a = of_data(&x, "error_message");
  ENSURE(a.type == SR_TYPE_CHARS && a.data == x.d->error_message && a.shape[0] == (int)sizeof x.d->error_message);
  ENSURE(!sr_data_array(x.m, x.d, "jqq", &a));
  close_model(&x);
}

// Nothing is left over where an array is cut into rows.
TEST(rows_of_arrays_divide_them) {
  Loaded x = open_model("paper2/slider-crank", "");
  const srModel* m = x.m;
  srArray a;
  int checked = 0;
#define sr_data_work(m) 0  // of the library alone
#define CHECK(name, n, doc)                                                                                            \
  ENSURE(sr_data_array(x.m, x.d, #name, &a));                                                                          \
  if (#name[0] != 'j' && strcmp(#name, "work") != 0) {                                                                 \
    ENSURE_EQUAL(a.shape[0] * a.shape[1], (n) > 0 ? (n) : 0);                                                          \
    checked++;                                                                                                         \
  }
  SR_DATA_FIELDS(CHECK)
  ENSURE(checked > 25);
  close_model(&x);
}

TEST(shapes_and_meshes_are_found) {
  Loaded x = open_text(
      "<sarrus version='1'><mesh name='tile' vertices='0 0 0 1 0 0 0 2 0 0 0 3' faces='0 2 1 0 1 3 0 3 2 1 2 3'/>"
      "<body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='s' type='box' size='1 2 3' at='4 5 6'/><shape type='mesh' mesh='tile'/></body></sarrus>");
  const srArray size = of_model(&x, "shape_size"), pose = of_model(&x, "shape_pose"), mesh = of_model(&x, "shape_mesh");
  ENSURE(size.ndim == 2 && size.shape[0] == 2 && size.shape[1] == 3 && size.stride[0] == (int)sizeof(srShape));
  ENSURE_NEAR(((const double*)size.data)[1], 2, 0);
  ENSURE_NEAR(((const double*)pose.data)[13], 5, 0);
  ENSURE_EQUAL(*(const int*)((char*)mesh.data + mesh.stride[0]), 0);
  srArray a;
  ENSURE(sr_mesh_array(x.m, 0, "vertex", &a) && a.shape[0] == 4 && a.shape[1] == 3);
  ENSURE_NEAR(((const double*)a.data)[7], 2, 0);
  ENSURE(sr_mesh_array(x.m, 0, "triangle", &a) && a.type == SR_TYPE_INT && a.shape[0] == 4);
  ENSURE(!sr_mesh_array(x.m, 1, "vertex", &a) && !sr_mesh_array(x.m, 0, "edge", &a));
  close_model(&x);
}

TEST(every_name_that_is_listed_can_be_asked_for) {
  Loaded x = open_model("paper2/slider-crank", "");
  int models = 0, datas = 0;
  srArray a;
  for (; sr_model_array_name(models); models++) {
    ENSURE(sr_model_array(x.m, sr_model_array_name(models), &a));
    ENSURE(a.shape[0] == 0 || a.data != NULL);
  }
  for (; sr_data_array_name(datas); datas++) ENSURE(sr_data_array(x.m, x.d, sr_data_array_name(datas), &a));
  ENSURE(models > 100 && datas > 30);
  ENSURE(sr_model_array_name(-1) == NULL && sr_data_array_name(-1) == NULL);
  close_model(&x);
}

static char* read_header(const char* name) {
  char path[512];
  snprintf(path, sizeof path, "%s/include/sarrus/%s", SARRUS_SOURCE_DIR, name);
  FILE* file = fopen(path, "rb");
  ENSURE(file != NULL);
  enum { ROOM = 1 << 18 };
  char* text = calloc(ROOM, 1);
  ENSURE(fread(text, 1, ROOM - 1, file) > 0);
  fclose(file);
  return text;
}

// A line "const double* body_mass;" or "int nq, nv;" of srModel: every name in it must be known. Returns how many.
static int look_up(const srModel* m, char* line) {
  static const char* const begins[] = {"const double*", "const int*", "const char* const*", "const char*", "double ",
                                       "int ",          "bool "};
  char* rest = NULL;
  line += strspn(line, " ");
  for (size_t i = 0; i < sizeof begins / sizeof begins[0] && !rest; i++)
    if (strncmp(line, begins[i], strlen(begins[i])) == 0) rest = line + strlen(begins[i]);
  if (!rest) return 0;
  char* end = strchr(rest, ';');
  if (!end) return 0;
  *end = 0;
  int n = 0;
  for (char* word = strtok(rest, " ,"); word; word = strtok(NULL, " ,"), n++) {
    srArray a;
    word[strcspn(word, "[")] = 0;
    if (!sr_model_array(m, word, &a)) printf("srModel.%s is not in src/access/model_array.c\n", word);
    ENSURE(sr_model_array(m, word, &a));
  }
  return n;
}

TEST(no_member_of_a_model_is_missing) {
  Loaded x = open_model("pendulum", "");
  char* text = read_header("model.h");
  char* begin = strstr(text, "typedef struct srModel {");
  ENSURE(begin != NULL);
  char* end = strstr(begin, "} srModel;");
  ENSURE(end != NULL);
  *end = 0;
  int n = 0;
  for (char* line = strchr(begin, '\n') + 1; *line;) {
    char copy[256];
    const size_t length = strcspn(line, "\n");
    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    n += look_up(x.m, copy);
    line += length + (line[length] == '\n');
  }
  ENSURE(n > 90);
  free(text);
  close_model(&x);
}

TEST(the_layout_of_structs_is_listed) {
  int n = 0, structs = 0, size = 0, end = 0;
  bool found = false;
  for (const srMember* x; (x = sr_layout(n)) != NULL; n++) {
    if (*x->name == 0) {
      structs++;
      size = x->size;
      end = 0;
      continue;
    }
    ENSURE(x->offset >= end && x->offset + x->size <= size);  // in order, within the struct
    end = x->offset + x->size;
    if (strcmp(x->of, "srRunResult") == 0 && strcmp(x->name, "energy.residual") == 0)
      found = x->offset == (int)offsetof(srRunResult, energy.residual) && x->type == SR_TYPE_DOUBLE && x->size == 8;
    if (strcmp(x->of, "srRunOptions") == 0 && strcmp(x->name, "row") == 0) ENSURE(x->type == SR_TYPE_POINTER);
    if (strcmp(x->of, "srRunOptions") == 0 && strcmp(x->name, "control") == 0) ENSURE(x->type == SR_TYPE_INT);
  }
  ENSURE(found && structs > 12);
}

TEST(words_are_listed_in_the_order_of_their_enumeration) {
  ENSURE_TEXT(sr_word("joint", SR_JOINT_PRISMATIC), "prismatic");
  ENSURE_TEXT(sr_word("formulation", SR_FORMULATION_PENALTY), "penalty");
  ENSURE_TEXT(sr_word("account", SR_ACCOUNT_FRICTION), "friction");
  ENSURE_TEXT(sr_word("control", SR_CONTROL_FIXED), "fixed");
  ENSURE_TEXT(sr_word("shape", SR_SHAPE_BOX), "box");
  ENSURE_TEXT(sr_word("use", SR_SHAPE_VISUAL), "visual");
  ENSURE_TEXT(sr_word("method", 0), sri_method(0)->name);
  ENSURE(sr_word("method", sri_method_count()) == NULL);
  ENSURE(sr_word("account", SR_ACCOUNTS) == NULL);
  ENSURE(sr_word("colour", 0) == NULL && sr_word("joint", -1) == NULL);
}

TEST(a_row_store_keeps_every_row_of_a_run) {
  Loaded x = open_model("pendulum", "");
  srColumns* columns = sr_columns_create(x.m);
  srRowStore* rows = sr_row_store_create(columns->count);
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 3, options.every = 1e-3;
  options.row = sr_row_store_add, options.user = rows;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  long n;
  const double* row = sr_row_store_rows(rows, &n);
  ENSURE_EQUAL(n, 3001);  // it has grown twice
  ENSURE_EQUAL(n, x.result.rows);
  ENSURE(sr_row_store_complete(rows));
  for (long i = 0; i < n; i++) ENSURE_NEAR(row[i * columns->count], 1e-3 * (double)i, 1e-12);
  ENSURE(row[(n - 1) * columns->count + 1] == x.d->q[0]);
  sr_row_store_destroy(rows);
  sr_columns_destroy(columns);
  close_model(&x);
}

TEST(a_row_store_stops_a_run_and_reports_its_time) {
  Loaded x = open_model("double-pendulum", "");
  srColumns* columns = sr_columns_create(x.m);
  srRowStore* rows = sr_row_store_create(columns->count);
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 1e6, options.every = 1e3;
  options.row = sr_row_store_add, options.progress = sr_row_store_progress, options.user = rows;
  ENSURE(sr_row_store_progress(rows, 0.25, 1) == 0 && sr_row_store_time(rows) == 0.25);
  sr_row_store_stop(rows);
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);  // minutes, were it not stopped
  ENSURE(x.result.t < 1e6 && sr_row_store_time(rows) > 0.25 && sr_row_store_time(rows) <= x.result.t);
  sr_row_store_destroy(rows);
  sr_columns_destroy(columns);
  close_model(&x);
}

// Out of memory: the row is not kept, the run stops, and the error is reported.
TEST(a_row_store_without_memory_reports_it) {
  const double row[2] = {1, 2};
  scarce_left = 2;  // the store, with its first 1024 rows
  sr_set_allocator(scarce, NULL);
  srRowStore* rows = sr_row_store_create(2);
  long n = 0;
  while (n < 5000 && sr_row_store_add(rows, row) == 0) n++;
  const bool complete = sr_row_store_complete(rows);
  long kept;
  const double* last = sr_row_store_rows(rows, &kept) + 2 * (n - 1);
  const bool good = last[1] == 2;
  sr_row_store_destroy(rows);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(n, 1024);
  ENSURE_EQUAL(kept, 1024);
  ENSURE(!complete && good);
}
