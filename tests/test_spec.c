// Tests of src/model/spec.c and list.c: storage, deep copies, the language as data, lists in attributes.
#include <sarrus/spec.h>
#include <stdlib.h>
#include <string.h>

#include "model/list.h"
#include "model/spec.h"
#include "runner.h"

TEST(an_element_is_copied_with_its_texts_and_numbers) {
  char name[] = "arm";
  double axis[] = {0, 1, 0};
  char file[] = "arm.xml";
  srSpec* spec = srs_create();
  const srPlace place = {file, 3, 5};
  ENSURE_EQUAL(srs_add(spec, SR_ELEMENT_BODY, SR_NO_OWNER, &(srBodyDef){.name = sr_text(name)}, &place), 0);
  ENSURE_EQUAL(srs_add_joint(spec, 0, &(srJointDef){.axis = sr_numbers(axis, 3), .q = sr_number(0.5)}), 0);
  memset(name, 'x', 3), memset(file, 'x', 7), axis[1] = 7;

  const srBodyDef* body = srs_get(spec, SR_ELEMENT_BODY, 0);
  const srJointDef* joint = srs_get(spec, SR_ELEMENT_JOINT, 0);
  ENSURE_TEXT(body->name.text, "arm");
  ENSURE(!sr_given(body->parent));
  ENSURE_TEXT(srs_place(spec, SR_ELEMENT_BODY, 0).file, "arm.xml");
  ENSURE_EQUAL(srs_place(spec, SR_ELEMENT_BODY, 0).line, 3);
  ENSURE(joint->axis.n == 3 && joint->axis.numbers[1] == 1);
  ENSURE(joint->q.n == 1 && joint->q.number == 0.5 && !joint->q.numbers);
  ENSURE_EQUAL(srs_owner(spec, SR_ELEMENT_JOINT, 0), 0);
  srs_destroy(spec);
}

TEST(definitions_keep_their_address_while_others_are_added) {
  srSpec* spec = srs_create();
  srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("first")});
  const srBodyDef* first = srs_get(spec, SR_ELEMENT_BODY, 0);
  for (int i = 1; i < 1000; i++) ENSURE_EQUAL(srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){0}), i);
  ENSURE(srs_get(spec, SR_ELEMENT_BODY, 0) == first);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), 1000);
  srs_destroy(spec);
}

TEST(attributes_can_be_replaced) {
  srSpec* spec = srs_create();
  srs_add_inertial(spec, 0, &(srInertialDef){.mass = sr_number(1)});
  ENSURE(srs_set(spec, SR_ELEMENT_INERTIAL, 0, 0, sr_text("2*m")));
  ENSURE_TEXT(((const srInertialDef*)srs_get(spec, SR_ELEMENT_INERTIAL, 0))->mass.text, "2*m");
  ENSURE(!srs_set(spec, SR_ELEMENT_INERTIAL, 0, 99, sr_number(1)));
  ENSURE(!srs_set(spec, SR_ELEMENT_INERTIAL, 1, 0, sr_number(1)));
  srs_destroy(spec);
}

TEST(what_is_not_there_is_answered_without_harm) {
  srSpec* spec = srs_create();
  ENSURE(srs_get(spec, SR_ELEMENT_BODY, 0) == NULL);
  ENSURE(srs_get(spec, SR_ELEMENT_BODY, -1) == NULL);
  ENSURE(srs_get(spec, SR_ELEMENT_KINDS, 0) == NULL);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_KINDS), 0);
  ENSURE_EQUAL(srs_add(spec, SR_ELEMENT_KINDS, 0, NULL, NULL), -1);
  ENSURE_EQUAL(srs_owner(spec, SR_ELEMENT_POINT, 3), SR_NO_OWNER);
  ENSURE(srs_place(spec, SR_ELEMENT_POINT, 3).file == NULL);
  ENSURE(srs_element(SR_ELEMENT_KINDS) == NULL);
  srs_destroy(spec);
  srs_destroy(NULL);
}

TEST(the_language_as_data_matches_the_definition_structs) {
  const srElement* joint = srs_element(SR_ELEMENT_JOINT);
  ENSURE_TEXT(joint->word, "joint");
  ENSURE_TEXT(joint->where, "body");
  ENSURE_EQUAL(joint->nfield * (int)sizeof(srAttr), (int)sizeof(srJointDef));
  for (int k = 0; k < SR_ELEMENT_KINDS; k++) {
    const srElement* e = srs_element((srElementKind)k);
    for (int i = 0; i < e->nfield; i++) {
      ENSURE(e->fields[i].word && e->fields[i].doc && e->fields[i].default_text);
      ENSURE(strstr("NAME REF WORD FORMULA LAW ACTIONS FILE PATH", e->fields[i].kind) != NULL);
    }
  }
  const srField* stop = &joint->fields[offsetof(srJointDef, limit_stiffness) / sizeof(srAttr)];
  ENSURE_TEXT(stop->word, "limit-stiffness");
}

static int nothing(const srImpedanceIn* in, srImpedanceOut* out) { return (void)in, (void)out, 0; }
static double identity(const void* self, double x, int order) { return (void)self, (void)order, x; }

TEST(registered_laws_and_functions_are_copied) {
  char name[] = "wind", p0[] = "speed";
  const char* parameters[] = {p0};
  double y0[] = {3};
  srSpec* spec = srs_create();
  const srImpedance law = {.name = name, .np = 1, .parameters = parameters, .ny = 1, .y0 = y0, .evaluate = nothing};
  ENSURE(srs_register_impedance(spec, &law));
  ENSURE(srs_register_function(spec, &(srFunction){.name = name, .evaluate = identity}));
  name[0] = p0[0] = 'x', y0[0] = 0;
  const srImpedance* laws;
  const srFunction* functions;
  ENSURE_EQUAL(sr_spec_impedances(spec, &laws), 1);
  ENSURE_EQUAL(sr_spec_functions(spec, &functions), 1);
  ENSURE_TEXT(laws[0].name, "wind");
  ENSURE_TEXT(laws[0].parameters[0], "speed");
  ENSURE(laws[0].y0[0] == 3 && laws[0].evaluate == nothing);
  ENSURE_TEXT(functions[0].name, "wind");
  srs_destroy(spec);
}

TEST(names_that_would_break_references_are_refused) {
  ENSURE(sr_name_problem("left leg-1.b") == NULL);
  ENSURE(sr_name_problem("") && sr_name_problem("a/b") && sr_name_problem(" a") && sr_name_problem("a,b"));
  ENSURE(sr_identifier_problem("l_1") == NULL);
  ENSURE(sr_identifier_problem("1l") && sr_identifier_problem("a-b") && sr_identifier_problem("t"));
}

// ------------------------------------------------------------------------------------------------------ running out
static int left;  // allocations that still succeed

static void* limited(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user, (void)old_size;
  if (new_size == 0) return free(pointer), NULL;
  return left-- > 0 ? realloc(pointer, new_size) : NULL;
}

TEST(a_spec_that_runs_out_of_memory_reports_it_and_leaks_nothing) {
  sr_set_allocator(limited, NULL);
  double many[200] = {0};
  for (int limit = 0; limit < 40; limit++) {
    left = limit;
    srSpec* spec = srs_create();
    bool failed = !spec;
    for (int i = 0; spec && i < 40 && !failed; i++)
      failed = srs_add_motion(spec, SR_NO_OWNER, &(srMotionDef){.points = sr_numbers(many, 200)}) < 0;
    if (spec && failed) {
      failed = srs_count(spec, SR_ELEMENT_MOTION) < 40;
      srs_set(spec, SR_ELEMENT_MOTION, 0, 0, sr_text("again"));
      srs_register_function(spec, &(srFunction){.name = "f"});
      srs_set_folder(spec, "somewhere");
    }
    ENSURE(failed || limit > 5);
    srs_destroy(spec);
  }
  sr_set_allocator(NULL, NULL);
}

// ------------------------------------------------------------------------------------------------------------ lists
// The values of a list joined by |.
static const char* split(srPool* pool, const char* text) {
  srListItem* items;
  const srAttr attr = sr_text(text);
  const int n = sr_split_list(pool, &attr, &items);
  const char* joined = n > 0 ? items[0].text : "";
  for (int i = 1; i < n; i++) joined = sr_pool_printf(pool, "%s|%s", joined, items[i].text);
  return joined;
}

TEST(lists_are_cut_at_blanks_and_commas_but_not_at_operators) {
  srPool pool;
  sr_pool_init(&pool);
  ENSURE_TEXT(split(&pool, "1 2 3"), "1|2|3");
  ENSURE_TEXT(split(&pool, "1, 2,3"), "1|2|3");
  ENSURE_TEXT(split(&pool, "1 -2 3"), "1|-2|3");
  ENSURE_TEXT(split(&pool, "l1 + 1 0 0"), "l1 + 1|0|0");
  ENSURE_TEXT(split(&pool, "a+b -c - d"), "a+b|-c - d");
  ENSURE_TEXT(split(&pool, "2 *3 4/ 5 -6"), "2 *3|4/ 5|-6");
  ENSURE_TEXT(split(&pool, "a - -1 0"), "a - -1|0");
  ENSURE_TEXT(split(&pool, "max(1, 2) atan2(a b, c)"), "max(1, 2)|atan2(a b, c)");
  ENSURE_TEXT(split(&pool, "(1 + 2) (3)"), "(1 + 2)|(3)");
  ENSURE_TEXT(split(&pool, "  \t 7 \n"), "7");
  ENSURE_TEXT(split(&pool, "1,,2"), "1||2");
  ENSURE_TEXT(split(&pool, "1,"), "1|");
  ENSURE_TEXT(split(&pool, ""), "");
  ENSURE_TEXT(split(&pool, "x < 1 2"), "x < 1|2");
  ENSURE_TEXT(split(&pool, "1 +"), "1|+");
  sr_pool_free(&pool);
}

TEST(values_of_a_list_know_their_column) {
  srPool pool;
  sr_pool_init(&pool);
  srListItem* items;
  srAttr attr = sr_text("1 \xc3\xa4+1 , 3");
  attr.place = (srPlace){"a.xml", 4, 10};
  ENSURE_EQUAL(sr_split_list(&pool, &attr, &items), 3);
  ENSURE_EQUAL(items[1].place.column, 12);
  ENSURE_EQUAL(items[2].place.column, 18);
  const double numbers[] = {4, 5};
  attr = sr_numbers(numbers, 2);
  ENSURE_EQUAL(sr_split_list(&pool, &attr, &items), 2);
  ENSURE(items[1].text == NULL && items[1].number == 5);
  attr = sr_number(7);
  ENSURE(sr_split_list(&pool, &attr, &items) == 1 && items[0].number == 7);
  sr_pool_free(&pool);
}
