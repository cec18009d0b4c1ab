// balance(NAME): an account of the energy balance: its power, and the work that the run has booked so far.
#include <math.h>

#include "record/kinds.h"

static const char* const words[SR_ACCOUNTS] = {
#define SR_ACCOUNT_WORD(NAME, word) word,
    SR_ACCOUNT_LIST(SR_ACCOUNT_WORD)
#undef SR_ACCOUNT_WORD
};

static int count(const srModel* m) {
  (void)m;
  return SR_ACCOUNTS;
}

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  (void)m;
  return words[i];
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  (void)m, (void)i;
  out[0] = (srQuantityMember){"power", "W"};
  out[1] = (srQuantityMember){"work", "J"};
  return 2;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  (void)axes;
  out[0] = r->d->power[group->index];
  out[1] = r->w != NULL ? r->w[group->index] : (double)NAN;
  return 0;
}

const srQuantityKind sr_quantity_balance = {
    .form = "balance(NAME)",
    .about = "account of the energy balance: power, and work so far",
    .stage = SR_STAGE_ACCELERATION,
    .count = count,
    .name = name,
    .members = members,
    .fill = fill,
};
