// Named functions of the time with corners: written with floor, which is a switch (switch.c), so that a run locates every corner. Without it a step would pass
// over a corner, and over a whole motion that begins and ends within it.
#include "expr/build.h"
#include "expr/graph.h"

void sr_graph_add_corners(srGraph* graph, int function, const srFunction* place, const srFunction2* piece) {
  SR_PUSH(graph->pool, graph->corners, graph->ncorners, graph->corners_capacity) =
      (srCorners){.function = function,
                  .place = sr_graph_add_function(graph, place),
                  .piece = sr_graph_add_function2(graph, piece)};
}

void sr_graph_add_corners2(srGraph* graph, int function, const srTableParts* parts) {
  srCorners2 x = {.function = function};
  for (int axis = 0; axis < 2; axis++) {
    const bool any = parts->place[axis].evaluate != NULL;
    x.place[axis] = any ? sr_graph_add_function(graph, &parts->place[axis]) : -1;
    x.knot[axis] = any ? sr_graph_add_function(graph, &parts->knot[axis]) : -1;
  }
  for (int i = 0; i < SR_TABLE_PARTS; i++) {
    for (int k = 0; k < SR_TABLE_PARTS; k++) x.part[i][k] = sr_graph_add_function2(graph, &parts->part[i][k]);
  }
  SR_PUSH(graph->pool, graph->corners2, graph->ncorners2, graph->corners2_capacity) = x;
}

static bool is_time_alone(const srGraph* graph, srNode node) {
  return (graph->nodes[node].depends & SR_DEPENDS_ANY_VAR) == SR_DEPENDS_VAR(SR_VAR_TIME);
}

// The entry of a function in a list by ascending index, whose entries begin with it; NULL: none.
static const void* entry_of(const void* list, int n, size_t size, int function) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const int* at = (const int*)(const void*)((const char*)list + (size_t)middle * size);
    if (*at == function) return at;
    if (*at < function) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

static srNode number_of_piece(srGraph* graph, int place, srNode x) {
  return srx_1(graph, SR_OP_FLOOR, sr_graph_function(graph, place, 0, x));
}

srNode sr_graph_call(srGraph* graph, int function, srNode argument) {
  const srCorners* x = entry_of(graph->corners, graph->ncorners, sizeof *x, function);
  if (x == NULL || !is_time_alone(graph, argument)) return sr_graph_function(graph, function, 0, argument);
  return sr_graph_function2(graph, x->piece, 0, number_of_piece(graph, x->place, argument), argument);
}

srNode sr_graph_call2(srGraph* graph, int function, srNode x, srNode y) {
  const srCorners2* c = entry_of(graph->corners2, graph->ncorners2, sizeof *c, function);
  srNode at[2] = {x, y}, beyond[2] = {SR_NO_NODE, SR_NO_NODE}, sum = srx_number(graph, 0);
  for (int axis = 0; axis < 2; axis++) {
    if (c == NULL || c->place[axis] < 0 || !is_time_alone(graph, at[axis])) continue;
    const srNode argument = at[axis];
    at[axis] = number_of_piece(graph, c->place[axis], argument);
    beyond[axis] = srx_sub(graph, argument, sr_graph_function(graph, c->knot[axis], 0, at[axis]));
  }
  const bool along_x = beyond[0] != SR_NO_NODE, along_y = beyond[1] != SR_NO_NODE;
  if (!along_x && !along_y) return sr_graph_function2(graph, function, 0, x, y);
  const int first_x = along_x ? SR_TABLE_AT : SR_TABLE_WHOLE, first_y = along_y ? SR_TABLE_AT : SR_TABLE_WHOLE;
  for (int i = first_x; i <= (along_x ? SR_TABLE_SLOPE : SR_TABLE_WHOLE); i++) {
    for (int k = first_y; k <= (along_y ? SR_TABLE_SLOPE : SR_TABLE_WHOLE); k++) {
      srNode term = sr_graph_function2(graph, c->part[i][k], 0, at[0], at[1]);
      if (i == SR_TABLE_SLOPE) term = srx_mul(graph, term, beyond[0]);
      if (k == SR_TABLE_SLOPE) term = srx_mul(graph, term, beyond[1]);
      sum = srx_add(graph, sum, term);
    }
  }
  return sum;
}
