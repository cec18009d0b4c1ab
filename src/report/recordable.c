// What a run of a model can record on request.
#include <string.h>

#include "report/report.h"

typedef struct List {
  srText* out;
  srJson json;
  const char* form;  // of the kind before
} List;

// reaction(crankpin).   fx fy fz f [N]   tx ty tz t [Nm]
static void show(void* user, const srRecordable* x) {
  List* list = user;
  if (!list->form || strcmp(list->form, x->form) != 0)
    sr_text_print(list->out, "%s%s: %s\n", list->form ? "\n" : "", x->form, x->about);
  list->form = x->form;
  sr_text_print(list->out, "  %s%s", x->object, x->member[0][0] ? "." : "");
  for (int k = 0; k < x->n; k++) {
    const bool last = k + 1 == x->n || strcmp(x->unit[k], x->unit[k + 1]) != 0;
    sr_text_print(list->out, "%s%s", x->member[k][0] ? " " : "", x->member[k]);
    if (last && x->unit[k][0]) sr_text_print(list->out, " [%s]", x->unit[k]);
  }
  sr_text_print(list->out, "\n");
}

static void put(void* user, const srRecordable* x) {
  List* list = user;
  for (int k = 0; k < x->n; k++) {
    srText name = {0};
    sr_text_print(&name, "%s%s%s", x->object, x->member[k][0] ? "." : "", x->member[k]);
    list->out->failed = list->out->failed || name.failed;
    sr_json_object(&list->json, NULL);
    sr_json_text(&list->json, "name", name.data);
    sr_json_text(&list->json, "unit", x->unit[k]);
    sr_json_object_end(&list->json);
    sr_text_free(&name);
  }
}

void sr_report_recordable(const srModel* m, srReportForm form, srText* out) {
  List list = {.out = out};
  if (form == SR_REPORT_TEXT) {
    out->failed |= sr_recordable_each(m, show, &list) != SR_OK;
    return;
  }
  list.json = sr_json_begin(out);
  sr_json_array(&list.json, "recordable");
  out->failed |= sr_recordable_each(m, put, &list) != SR_OK;
  sr_json_array_end(&list.json);
  sr_json_end(&list.json);
}
