// Result tables as HDF5 (docs/using/results.md):
//   /table   float64, rows x columns, chunked, grows while the run goes on
//   /names   text of fixed length, one a column;  /units the same
//   root attributes: program, version, provenance
// Names are data sets because attributes hold no more than 64 KiB. Rows are collected in a block of our own and written
// when it is full; the file is flushed then, so that its content can be read whatever happens to the run.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "io/results/hdf5_library.h"
#include "io/results/table.h"

#define BLOCK_BYTES ((size_t)1 << 18)
#define MOST_COLUMNS (1 << 20)
#define MOST_NUMBERS ((hsize_t)1 << 31)
#define LONGEST_NAME 4096

struct srHdf5 {
  srOutput* output;
  hid_t file, table;
  int ncolumn, block_rows, nrow;  // nrow: of the block
  hsize_t written;
  bool failed;
  double* block;
};

// The library prints its errors unless switched off; the caller's setting is restored.
typedef struct Quiet {
  H5E_auto2_t function;
  void* data;
} Quiet;

static Quiet be_quiet(void) {
  Quiet q = {0};
  h5.Eget_auto2(H5E_DEFAULT, &q.function, &q.data);
  h5.Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return q;
}

static void be_loud(Quiet q) { h5.Eset_auto2(H5E_DEFAULT, q.function, q.data); }

// ----------------------------------------------------------------------------------------------------------- writing
static bool is_ascii(const char* text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)text[i] > 127) return false;
  return true;
}

// ASCII where the texts are: Octave converts no other set.
static hid_t text_type(size_t size, bool ascii) {
  hid_t type = h5.Tcopy(*h5.c_s1);
  h5.Tset_size(type, size > 0 ? size : 1);
  h5.Tset_cset(type, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  h5.Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

static bool put_attribute(hid_t file, const char* name, const char* text) {
  hid_t type = text_type(strlen(text), is_ascii(text, strlen(text))), space = h5.Screate(H5S_SCALAR);
  hid_t attribute = h5.Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool done = attribute >= 0 && h5.Awrite(attribute, type, *text ? text : "\0") >= 0;
  if (attribute >= 0) h5.Aclose(attribute);
  h5.Sclose(space);
  h5.Tclose(type);
  return done;
}

// Texts of one length, which is that of the longest.
static bool put_texts(hid_t file, const char* name, const char* const* texts, int n) {
  size_t size = 1;
  for (int i = 0; i < n; i++)
    if (texts && texts[i] && strlen(texts[i]) > size) size = strlen(texts[i]);
  char* all = sr_alloc(size * (size_t)n + 1);
  if (!all) return false;
  for (int i = 0; i < n; i++)
    if (texts && texts[i]) memcpy(all + size * (size_t)i, texts[i], strlen(texts[i]));
  const hsize_t count = (hsize_t)n;
  hid_t type = text_type(size, is_ascii(all, size * (size_t)n)), space = h5.Screate_simple(1, &count, NULL);
  hid_t set = h5.Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const bool done = set >= 0 && h5.Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0;
  if (set >= 0) h5.Dclose(set);
  h5.Sclose(space);
  h5.Tclose(type);
  sr_free(all);
  return done;
}

static bool make_table(srHdf5* f) {
  const hsize_t now[2] = {0, (hsize_t)f->ncolumn}, most[2] = {H5S_UNLIMITED, (hsize_t)f->ncolumn};
  const hsize_t chunk[2] = {(hsize_t)f->block_rows, (hsize_t)f->ncolumn};
  hid_t space = h5.Screate_simple(2, now, most), how = h5.Pcreate(*h5.dataset_create);
  h5.Pset_chunk(how, 2, chunk);
  f->table = h5.Dcreate2(f->file, "table", *h5.ieee_f64le, space, H5P_DEFAULT, how, H5P_DEFAULT);
  h5.Pclose(how);
  h5.Sclose(space);
  return f->table >= 0;
}

static bool write_head(srHdf5* f, const char* provenance, const char* const* names, const char* const* units) {
  return put_attribute(f->file, "program", "sarrus") && put_attribute(f->file, "version", sr_version()) &&
         (!provenance || put_attribute(f->file, "provenance", provenance)) &&
         put_texts(f->file, "names", names, f->ncolumn) && put_texts(f->file, "units", units, f->ncolumn) &&
         make_table(f);
}

static bool write_block(srHdf5* f) {
  if (f->nrow == 0 || f->failed) return !f->failed;
  const hsize_t size[2] = {f->written + (hsize_t)f->nrow, (hsize_t)f->ncolumn};
  const hsize_t first[2] = {f->written, 0}, count[2] = {(hsize_t)f->nrow, (hsize_t)f->ncolumn};
  bool done = h5.Dset_extent(f->table, size) >= 0;
  hid_t in_file = done ? h5.Dget_space(f->table) : -1, in_memory = h5.Screate_simple(2, count, NULL);
  done = done && h5.Sselect_hyperslab(in_file, H5S_SELECT_SET, first, NULL, count, NULL) >= 0 &&
         h5.Dwrite(f->table, *h5.native_double, in_memory, in_file, H5P_DEFAULT, f->block) >= 0 &&
         h5.Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
  if (in_file >= 0) h5.Sclose(in_file);
  h5.Sclose(in_memory);
  f->written += (hsize_t)f->nrow;
  f->nrow = 0;
  f->failed = !done;
  return done;
}

// The lock on the file is already held (srOutput), and would keep the library out.
static hid_t open_file(const char* path) {
  hid_t how = h5.Pcreate(*h5.file_access);
#if H5_VERSION_GE(1, 10, 7)
  h5.Pset_file_locking(how, false, true);
#endif
  hid_t file = h5.Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how);
  h5.Pclose(how);
  return file;
}

static bool close_file(srHdf5* f) {
  const Quiet quiet = be_quiet();
  bool done = f->table >= 0 && write_block(f);
  if (f->table >= 0) done = h5.Dclose(f->table) >= 0 && done;
  if (f->file >= 0) done = h5.Fclose(f->file) >= 0 && done;
  be_loud(quiet);
  return done;
}

srStatus sr_hdf5_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                        const char* const* units, srMessages* messages, srHdf5** out) {
  *out = NULL;
  if (!sr_hdf5_load(path, messages)) return SR_IO;
  srHdf5* f = sr_alloc(sizeof *f);
  if (!f) return SR_MEMORY;
  const size_t row = (size_t)(ncolumn > 0 ? ncolumn : 1) * sizeof(double);
  f->file = f->table = -1;
  f->ncolumn = ncolumn;
  f->block_rows = row < BLOCK_BYTES ? (int)(BLOCK_BYTES / row) : 1;
  if (f->block_rows > 1024) f->block_rows = 1024;
  f->block = sr_alloc(row * (size_t)f->block_rows);
  const Quiet quiet = be_quiet();
  srStatus status = f->block ? sr_output_create(path, messages, &f->output) : SR_MEMORY;
  if (f->output) f->file = open_file(sr_output_file(f->output));
  const bool done = f->file >= 0 && write_head(f, provenance, names, units);
  be_loud(quiet);
  if (done) {
    sr_output_rescue(f->output);
    *out = f;
    return SR_OK;
  }
  if (status == SR_OK) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path}, "cannot be written as HDF5");
    status = SR_IO;
  }
  sr_hdf5_discard(f);
  return status;
}

srStatus sr_hdf5_row(srHdf5* f, const double* row) {
  memcpy(f->block + (size_t)f->nrow * (size_t)f->ncolumn, row, (size_t)f->ncolumn * sizeof *row);
  if (++f->nrow < f->block_rows) return SR_OK;
  const Quiet quiet = be_quiet();
  const bool done = write_block(f);
  be_loud(quiet);
  return done ? SR_OK : SR_IO;
}

srStatus sr_hdf5_close(srHdf5* f, srMessages* messages) {
  if (!f) return SR_OK;
  if (!close_file(f)) sr_output_fail(f->output);
  const srStatus status = sr_output_close(f->output, messages);
  sr_free(f->block);
  sr_free(f);
  return status;
}

void sr_hdf5_discard(srHdf5* f) {
  (void)close_file(f);
  sr_output_discard(f->output);
  sr_free(f->block);
  sr_free(f);
}

// ----------------------------------------------------------------------------------------------------------- reading
typedef struct Reading {
  hid_t file;
  const char* path;
  srMessages* messages;
  srTableMemory* table;
  const char** sets;  // data sets in the root
  int nset, set_capacity;
  bool memory;
} Reading;

static srStatus fail(Reading* r, const char* format, ...) SR_PRINTF(2, 3);
static srStatus fail(Reading* r, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sr_messages_add(r->messages, SR_SEVERITY_ERROR, (srPlace){.file = r->path}, "%s", text);
  return SR_INPUT;
}

// Sizes of a data set of numbers; how many dimensions it has, -1 when it is something else, or has more than two.
static int size_of(hid_t set, hsize_t size[2]) {
  hid_t type = h5.Dget_type(set), space = h5.Dget_space(set);
  const H5T_class_t kind = type >= 0 ? h5.Tget_class(type) : H5T_NO_CLASS;
  int n = space >= 0 ? h5.Sget_simple_extent_ndims(space) : -1;
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || n < 1 || n > 2) n = -1;
  size[0] = size[1] = 1;
  if (n > 0 && h5.Sget_simple_extent_dims(space, size, NULL) < 0) n = -1;
  if (type >= 0) h5.Tclose(type);
  if (space >= 0) h5.Sclose(space);
  return n;
}

static bool allocate(Reading* r, hsize_t ncolumn, hsize_t nrow) {
  srResultTable* t = &r->table->seen;
  srPool* pool = &r->table->pool;
  t->names = sr_pool_alloc(pool, (size_t)ncolumn * sizeof *t->names);
  t->units = sr_pool_alloc(pool, (size_t)ncolumn * sizeof *t->units);
  t->columns = sr_pool_alloc(pool, (size_t)ncolumn * sizeof *t->columns);
  t->ncolumn = (int)ncolumn;
  t->nrow = (int)nrow;
  for (int i = 0; i < t->ncolumn; i++) {
    t->names[i] = sr_pool_printf(pool, "c%d", i + 1);
    t->units[i] = "";
    t->columns[i] = sr_alloc((size_t)nrow * sizeof(double));
    r->memory = r->memory || !t->columns[i];
  }
  return !r->memory;
}

// Texts of a data set into out, where there is one that fits: of fixed length, or of a length each.
static void take_texts(Reading* r, const char* name, int n, const char** out) {
  hid_t set = h5.Lexists(r->file, name, H5P_DEFAULT) > 0 ? h5.Dopen2(r->file, name, H5P_DEFAULT) : -1;
  if (set < 0) return;
  hid_t type = h5.Dget_type(set), space = h5.Dget_space(set), wanted = -1;
  const bool fits = h5.Tget_class(type) == H5T_STRING && h5.Sget_simple_extent_npoints(space) == n;
  const bool variable = fits && h5.Tis_variable_str(type) > 0;
  const size_t size = variable ? sizeof(char*) : h5.Tget_size(type);
  char* all = fits && size > 0 && size <= LONGEST_NAME ? sr_alloc(size * (size_t)n + 1) : NULL;
  if (all) {
    wanted = h5.Tcopy(type);
    if (h5.Dread(set, wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0) {
      for (int i = 0; i < n; i++) {
        const char* text = variable ? ((char**)(void*)all)[i] : all + size * (size_t)i;
        const char* end = text && !variable ? memchr(text, 0, size) : NULL;
        const size_t length = !text ? 0 : variable ? strlen(text) : end ? (size_t)(end - text) : size;
        if (length > 0) out[i] = sr_pool_text_n(&r->table->pool, text, length);
      }
      if (variable) h5.Dvlen_reclaim(wanted, space, H5P_DEFAULT, all);
    }
    h5.Tclose(wanted);
  }
  sr_free(all);
  h5.Sclose(space);
  h5.Tclose(type);
  h5.Dclose(set);
}

// A table of rows x columns, read in blocks of rows.
static srStatus read_table(Reading* r, hid_t set) {
  hsize_t size[2];
  const int n = size_of(set, size);
  if (n != 2) return fail(r, "the data set 'table' is not one of numbers in rows and columns");
  if (size[0] == 0 || size[1] == 0) return fail(r, "holds no row of numbers");
  if (size[1] > MOST_COLUMNS || size[0] > INT_MAX / 2 || size[0] * size[1] > MOST_NUMBERS)
    return fail(r, "the data set 'table' is too large: %llu x %llu", (unsigned long long)size[0],
                (unsigned long long)size[1]);
  if (!allocate(r, size[1], size[0])) return SR_MEMORY;
  const hsize_t most = BLOCK_BYTES / sizeof(double) / size[1] + 1;
  double* block = sr_alloc((size_t)(most * size[1]) * sizeof *block);
  if (!block) return SR_MEMORY;
  bool done = true;
  for (hsize_t first = 0; first < size[0] && done; first += most) {
    const hsize_t start[2] = {first, 0}, count[2] = {size[0] - first < most ? size[0] - first : most, size[1]};
    hid_t in_file = h5.Dget_space(set), in_memory = h5.Screate_simple(2, count, NULL);
    done = h5.Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           h5.Dread(set, *h5.native_double, in_memory, in_file, H5P_DEFAULT, block) >= 0;
    for (hsize_t i = 0; i < count[0] && done; i++)
      for (hsize_t k = 0; k < size[1]; k++) r->table->seen.columns[k][first + i] = block[i * size[1] + k];
    h5.Sclose(in_file);
    h5.Sclose(in_memory);
  }
  sr_free(block);
  if (!done) return fail(r, "the data set 'table' cannot be read to its end");
  take_texts(r, "names", (int)size[1], r->table->seen.names);
  take_texts(r, "units", (int)size[1], r->table->seen.units);
  return SR_OK;
}

static herr_t note_set(hid_t file, const char* name, const H5L_info_t* info, void* user) {
  Reading* r = user;
  (void)info;
  H5O_info_t what;
  if (h5.Oget_info_by_name(file, name, &what, H5P_DEFAULT) < 0 || what.type != H5O_TYPE_DATASET) return 0;
  jmp_buf *outer = r->table->pool.on_fail, here;
  r->table->pool.on_fail = &here;  // a jump must not leave the library
  if (setjmp(here) == 0)
    SR_PUSH(&r->table->pool, r->sets, r->nset, r->set_capacity) = sr_pool_text(&r->table->pool, name);
  else
    r->memory = true;
  r->table->pool.on_fail = outer;
  return r->memory || r->nset >= MOST_COLUMNS;
}

// Data sets of one dimension: those as long as the first are its columns.
static srStatus read_columns(Reading* r) {
  hsize_t size[2], nrow = 0, start = 0;
  int n = 0;
  (void)h5.Literate(r->file, H5_INDEX_NAME, H5_ITER_INC, &start, note_set, r);
  if (r->memory) return SR_MEMORY;
  for (int i = 0; i < r->nset; i++) {
    hid_t set = h5.Dopen2(r->file, r->sets[i], H5P_DEFAULT);
    const bool good = set >= 0 && size_of(set, size) == 1 && size[0] > 0 && (nrow == 0 || size[0] == nrow);
    if (good) nrow = size[0];
    if (good) r->sets[n++] = r->sets[i];
    if (set >= 0) h5.Dclose(set);
  }
  if (n == 0) return fail(r, "holds neither a data set 'table' nor data sets of numbers in one dimension");
  if (nrow > INT_MAX / 2 || nrow * (hsize_t)n > MOST_NUMBERS) return fail(r, "its data sets are too large");
  if (!allocate(r, (hsize_t)n, nrow)) return SR_MEMORY;
  for (int i = 0; i < n; i++) {
    hid_t set = h5.Dopen2(r->file, r->sets[i], H5P_DEFAULT);
    const bool done = h5.Dread(set, *h5.native_double, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->table->seen.columns[i]) >= 0;
    r->table->seen.names[i] = r->sets[i];
    h5.Dclose(set);
    if (!done) return fail(r, "the data set '%.60s' cannot be read to its end", r->sets[i]);
  }
  return SR_OK;
}

static srStatus read_file(Reading* r) {
  if (h5.Lexists(r->file, "table", H5P_DEFAULT) <= 0) return read_columns(r);
  hid_t set = h5.Dopen2(r->file, "table", H5P_DEFAULT);
  if (set < 0) return fail(r, "'table' is not a data set");
  const srStatus status = read_table(r, set);
  h5.Dclose(set);
  return status;
}

static srStatus guarded(Reading* r) {
  jmp_buf no_memory;
  if (setjmp(no_memory) != 0) return SR_MEMORY;
  r->table->pool.on_fail = &no_memory;
  const srStatus status = read_file(r);
  r->table->pool.on_fail = NULL;
  return status;
}

srStatus sr_hdf5_read(const char* path, srMessages* messages, srResultTable** out) {
  *out = NULL;
  if (!sr_hdf5_load(path, messages)) return SR_IO;
  srTableMemory* table = sr_alloc(sizeof *table);
  if (!table) return SR_MEMORY;
  sr_pool_init(&table->pool);
  const Quiet quiet = be_quiet();
  Reading r = {.path = path, .messages = messages, .table = table};
  r.file = h5.Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  const srStatus status = r.file >= 0 ? guarded(&r) : fail(&r, "cannot be read as HDF5");
  if (r.file >= 0) h5.Fclose(r.file);
  be_loud(quiet);
  if (status == SR_OK)
    *out = &table->seen;
  else
    sr_table_destroy(&table->seen);
  return status;
}
