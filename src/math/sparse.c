// Orders of elimination for sparse factors.
//   minimum degree: eliminate the vertex with the fewest neighbours, join its neighbours, repeat.   Tinney and Walker (1967)
// The eliminated graph is stored explicitly (no quotient graph): short for the graphs of mechanisms, whose fronts stay small. A
// graph that has become complete is ordered as it is, so that one large clique costs nothing.
#include "math/sparse.h"

#include <string.h>

#include "base/base.h"

bool srm_take_ints(int** array, size_t count) {
  *array = sr_alloc((count + 1) * sizeof **array);
  return *array != NULL;
}

bool srm_take_numbers(double** array, size_t count) {
  *array = sr_alloc((count + 1) * sizeof **array);
  return *array != NULL;
}

bool srm_pattern_copy(const srmPattern* from, srmPattern* to) {
  int *row, *column;
  const size_t rows = (size_t)from->nrow + 1, count = (size_t)srm_pattern_count(from);
  bool good = srm_take_ints(&row, rows);
  good = srm_take_ints(&column, count) && good;
  *to = (srmPattern){.nrow = from->nrow, .ncol = from->ncol, .row = row, .column = column};
  if (!good) return false;
  memcpy(row, from->row, rows * sizeof *row);
  if (count > 0) memcpy(column, from->column, count * sizeof *column);
  return true;
}

bool srm_pattern_full(int nrow, int width, int ncol, srmPattern* out) {
  int *row = NULL, *column = NULL;
  const bool good = srm_take_ints(&row, (size_t)nrow + 1) && srm_take_ints(&column, (size_t)nrow * (size_t)width);
  *out = (srmPattern){.nrow = nrow, .ncol = ncol, .row = row, .column = column};
  if (!good) return false;
  for (int i = 0; i <= nrow; ++i) row[i] = i * width;
  for (int p = 0; p < nrow * width; ++p) column[p] = p % width;
  return true;
}

void srm_pattern_free(srmPattern* pattern) {
  sr_free((void*)(size_t)pattern->row);
  sr_free((void*)(size_t)pattern->column);
}

bool srm_pattern_columns(const srmPattern* p, int** start, int** row, int** from) {
  const size_t count = (size_t)srm_pattern_count(p);
  *start = *row = *from = NULL;
  if (!srm_take_ints(start, (size_t)p->ncol + 1) || !srm_take_ints(row, count) || !srm_take_ints(from, count))
    return false;
  int* s = *start;
  for (size_t k = 0; k < count; ++k) ++s[p->column[k] + 2];
  for (int j = 0; j < p->ncol; ++j) s[j + 2] += s[j + 1];
  // Now s[j+1] is where column j begins; filling moves it to its end.
  for (int i = 0; i < p->nrow; ++i) {
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) {
      const int place = s[p->column[k] + 1]++;
      (*row)[place] = i;
      (*from)[place] = k;
    }
  }
  return true;
}

// ---- graphs of a pattern ----------------------------------------------------------------------------------------------

// Neighbours of line i over the crossing lines: all j that share one with i. Writes them when out is not NULL.
static int neighbours(int i, const int* start, const int* cross, const int* back_start, const int* back, int* mark,
                      int* out) {
  int count = 0;
  mark[i] = i + 1;
  for (int k = start[i]; k < start[i + 1]; ++k) {
    for (int l = back_start[cross[k]]; l < back_start[cross[k] + 1]; ++l) {
      const int j = back[l];
      if (mark[j] == i + 1) continue;
      mark[j] = i + 1;
      if (out != NULL) out[count] = j;
      ++count;
    }
  }
  return count;
}

// Graph of n lines given by their crossings and the way back.
static bool line_graph(int n, const int* start, const int* cross, const int* back_start, const int* back, int** gstart,
                       int** gneighbour) {
  bool good = false;
  int* mark = sr_alloc(((size_t)n + 1) * sizeof *mark);
  *gneighbour = NULL;
  *gstart = sr_alloc(((size_t)n + 1) * sizeof **gstart);
  if (mark != NULL && *gstart != NULL) {
    for (int i = 0; i < n; ++i) {
      (*gstart)[i + 1] = (*gstart)[i] + neighbours(i, start, cross, back_start, back, mark, NULL);
    }
    *gneighbour = sr_alloc(((size_t)(*gstart)[n] + 1) * sizeof **gneighbour);
    memset(mark, 0, (size_t)n * sizeof *mark);
    for (int i = 0; *gneighbour != NULL && i < n; ++i) {
      (void)neighbours(i, start, cross, back_start, back, mark, *gneighbour + (*gstart)[i]);
    }
    good = *gneighbour != NULL;
  }
  sr_free(mark);
  return good;
}

bool srm_column_graph(const srmPattern* p, int** start, int** neighbour) {
  int *column_start, *rows, *from;
  *start = *neighbour = NULL;
  bool good = srm_pattern_columns(p, &column_start, &rows, &from) &&
              line_graph(p->ncol, column_start, rows, p->row, p->column, start, neighbour);
  sr_free(column_start);
  sr_free(rows);
  sr_free(from);
  return good;
}

bool srm_row_graph(const srmPattern* p, int** start, int** neighbour) {
  int *column_start, *rows, *from;
  *start = *neighbour = NULL;
  bool good = srm_pattern_columns(p, &column_start, &rows, &from) &&
              line_graph(p->nrow, p->row, p->column, column_start, rows, start, neighbour);
  sr_free(column_start);
  sr_free(rows);
  sr_free(from);
  return good;
}

// Row and column i merged, without the diagonal; writes them when out is not NULL.
static int merge_lines(int i, const srmPattern* p, const int* start, const int* row, int* out) {
  int a = p->row[i], b = start[i], count = 0;
  while (a < p->row[i + 1] || b < start[i + 1]) {
    const int left = a < p->row[i + 1] ? p->column[a] : p->ncol, up = b < start[i + 1] ? row[b] : p->ncol;
    const int j = left < up ? left : up;
    a += left == j;
    b += up == j;
    if (j == i) continue;
    if (out != NULL) out[count] = j;
    ++count;
  }
  return count;
}

bool srm_symmetric_graph(const srmPattern* p, int** start, int** neighbour) {
  int *column_start, *row, *from;
  *start = *neighbour = NULL;
  bool good = srm_pattern_columns(p, &column_start, &row, &from) && srm_take_ints(start, (size_t)p->nrow + 1);
  for (int i = 0; good && i < p->nrow; ++i) (*start)[i + 1] = (*start)[i] + merge_lines(i, p, column_start, row, NULL);
  good = good && srm_take_ints(neighbour, (size_t)(*start)[p->nrow]);
  for (int i = 0; good && i < p->nrow; ++i) (void)merge_lines(i, p, column_start, row, *neighbour + (*start)[i]);
  sr_free(column_start);
  sr_free(row);
  sr_free(from);
  return good;
}

// ---- minimum degree ---------------------------------------------------------------------------------------------------

typedef struct List {
  int* item;
  int n, capacity;
} List;

typedef struct Degrees {
  int n;
  List* list;               // neighbours of each vertex in the eliminated graph
  int *head, *next, *last;  // buckets of vertices by degree, doubly linked; -1 ends
  int* mark;
  int stamp;
} Degrees;

static bool list_reserve(List* list, int capacity) {
  if (capacity <= list->capacity) return true;
  int* item = sr_alloc((size_t)(2 * capacity) * sizeof *item);
  if (item == NULL) return false;
  if (list->n > 0) memcpy(item, list->item, (size_t)list->n * sizeof *item);
  sr_free(list->item);
  list->item = item;
  list->capacity = 2 * capacity;
  return true;
}

static void bucket_remove(Degrees* d, int i) {
  if (d->last[i] >= 0) {
    d->next[d->last[i]] = d->next[i];
  } else {
    d->head[d->list[i].n] = d->next[i];
  }
  if (d->next[i] >= 0) d->last[d->next[i]] = d->last[i];
}

static void bucket_add(Degrees* d, int i) {
  int* head = &d->head[d->list[i].n];
  d->next[i] = *head;
  d->last[i] = -1;
  if (*head >= 0) d->last[*head] = i;
  *head = i;
}

// Connects the neighbours of v with each other and removes v.
static bool eliminate(Degrees* d, int v) {
  const List front = d->list[v];
  for (int a = 0; a < front.n; ++a) {
    const int i = front.item[a];
    List* list = &d->list[i];
    bucket_remove(d, i);
    ++d->stamp;
    int n = 0;
    for (int k = 0; k < list->n; ++k) {
      if (list->item[k] == v) continue;
      d->mark[list->item[k]] = d->stamp;
      list->item[n++] = list->item[k];
    }
    list->n = n;
    if (!list_reserve(list, n + front.n)) return false;
    d->mark[i] = d->stamp;
    for (int k = 0; k < front.n; ++k) {
      if (d->mark[front.item[k]] != d->stamp) list->item[list->n++] = front.item[k];
    }
    bucket_add(d, i);
  }
  return true;
}

static bool degrees_fill(Degrees* d, const int* start, const int* neighbour) {
  for (int i = 0; i <= d->n; ++i) d->head[i] = -1;
  for (int i = 0; i < d->n; ++i) {
    const int n = start[i + 1] - start[i];
    if (!list_reserve(&d->list[i], n + 1)) return false;
    if (n > 0) memcpy(d->list[i].item, neighbour + start[i], (size_t)n * sizeof(int));
    d->list[i].n = n;
  }
  for (int i = d->n - 1; i >= 0; --i) bucket_add(d, i);
  return true;
}

static bool degrees_order(Degrees* d, int* order) {
  int least = 0;
  for (int k = 0; k < d->n; ++k) {
    while (d->head[least] < 0) ++least;
    const int v = d->head[least];
    bucket_remove(d, v);
    order[k] = v;
    // The remainder is complete: any order is as good.
    const bool complete = d->list[v].n == d->n - k - 1;
    if (complete) {
      if (d->list[v].n > 0) memcpy(order + k + 1, d->list[v].item, (size_t)d->list[v].n * sizeof(int));
      return true;
    }
    if (!eliminate(d, v)) return false;
    sr_free(d->list[v].item);
    d->list[v] = (List){0};
    least = least > 0 ? least - 1 : 0;
  }
  return true;
}

static bool find_minimum_degree(int n, const int* start, const int* neighbour, int* order) {
  const size_t size = ((size_t)n + 1) * sizeof(int);
  Degrees d = {.n = n};
  d.list = sr_alloc(((size_t)n + 1) * sizeof *d.list);
  d.head = sr_alloc(size);
  d.next = sr_alloc(size);
  d.last = sr_alloc(size);
  d.mark = sr_alloc(size);
  bool good = d.list != NULL && d.head != NULL && d.next != NULL && d.last != NULL && d.mark != NULL;
  good = good && degrees_fill(&d, start, neighbour) && degrees_order(&d, order);
  for (int i = 0; d.list != NULL && i < n; ++i) sr_free(d.list[i].item);
  sr_free(d.list);
  sr_free(d.head);
  sr_free(d.next);
  sr_free(d.last);
  sr_free(d.mark);
  return good;
}

const srmOrder srm_minimum_degree = {.name = "minimum degree", .find = find_minimum_degree};

// ---- elimination tree -------------------------------------------------------------------------------------------------

size_t srm_elimination_tree(int n, const int* start, const int* neighbour, const int* order, const int* place,
                            int* parent, int* mark, int* column_count) {
  size_t sum = 0;
  for (int k = 0; k < n; ++k) {
    parent[k] = -1;
    mark[k] = k;
    column_count[k] = 0;
    const int v = order[k];
    for (int e = start[v]; e < start[v + 1]; ++e) {
      // Row k of the factor: the paths up the tree from the neighbours that were eliminated before.
      for (int i = place[neighbour[e]]; i < k && mark[i] != k; i = parent[i]) {
        if (parent[i] < 0) parent[i] = k;
        mark[i] = k;
        ++column_count[i];
        ++sum;
      }
    }
  }
  return sum;
}
