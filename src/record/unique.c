// Recorded reactions that are not unique, because constraint equations are redundant.
#include "record/columns.h"
#include "record/kinds.h"

#define RANK_MOST 1e5  // entries of G up to which the rank costs little compared with a run

extern const srQuantityKind sr_quantity_reaction;

// Closures follow the joints among the objects; of soft ones the springs determine the forces.
static bool is_unique(const srModel* m, const srRank* rank, const unsigned char* joint_unique, int object) {
  if (object < m->njoint) return joint_unique[object] != 0;
  const srClosure* c = &m->closure[object - m->njoint];
  for (int k = 0; k < c->np + c->nvel; k++) {
    if (k < c->np && c->soft) continue;
    if (!rank->unique[k < c->np ? c->row + k : c->vrow + k - c->np]) return false;
  }
  return true;
}

static void warn(const srRecorder* r, const srRank* rank, const unsigned char* joint_unique, srMessages* messages) {
  int column = 0;
  for (int i = 0; i < r->ngroup; i++) {
    const srRecordGroup* group = &r->group[i];
    if (group->kind == &sr_quantity_reaction && !is_unique(r->m, rank, joint_unique, group->index)) {
      sr_messages_add(
          messages, SR_SEVERITY_WARNING, (srPlace){0},
          "'%s' is not unique in all its components: constraint equations are redundant (`sarrus check` names "
          "them), and the multipliers are those of least norm",
          r->names[column]);
    }
    column += group->n;
  }
}

void sr_recording_warn(const srRecording* x, srData* d, srMessages* messages) {
  const srModel* m = x->m;
  srRank* rank = NULL;
  bool any = false;
  for (int i = 0; i < x->recorder->ngroup; i++) any |= x->recorder->group[i].kind == &sr_quantity_reaction;
  if (!any || !m->constrained || (double)m->ng * m->nv > RANK_MOST) return;
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  unsigned char* joint_unique = sr_alloc((size_t)m->njoint + 1);
  if (joint_unique != NULL && sr_rank_create(m, d, &rank) == SR_OK && rank->nredundant > 0) {
    sr_reactions_unique(m, d, rank, joint_unique);
    warn(x->recorder, rank, joint_unique, messages);
  }
  sr_rank_destroy(rank);
  sr_free(joint_unique);
}
