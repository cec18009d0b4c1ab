// Numbers of contacts that are kept from step to step (src/integrate/kept.c): found by id in any order, and none that was not put.
#include "integrate/step_problem.h"
#include "runner.h"

enum { COUNT = 300 };

static long id_of(int i) { return 1000003L * (i % 7) + 17L * i; }

TEST(kept_numbers_are_found_in_any_order) {
  srKept* kept = sri_kept_create(COUNT);
  ENSURE(kept != NULL);
  for (int round = 0; round < 3; ++round) {
    sri_kept_clear(kept);
    for (int i = round; i < COUNT; ++i) sri_kept_put(kept, id_of(i), (const double[3]){i, 2 * i, round});
    for (int k = 0; k < COUNT; ++k) {
      const int i = round == 0   ? k
                    : round == 1 ? COUNT - 1 - k
                                 : k * 7 % COUNT;  // as they were put, backwards, by leaps
      const double* x = sri_kept_find(kept, id_of(i));
      ENSURE_EQUAL(x != NULL, i >= round);
      if (x != NULL) ENSURE(x[0] == i && x[1] == 2 * i && x[2] == round);
    }
    ENSURE(sri_kept_find(kept, 5) == NULL);
  }
  sri_kept_destroy(kept);
}
