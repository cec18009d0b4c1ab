// What the two halves of MJCF's contacts share: pairs one by one (contact.c), groups of geoms with the same numbers (contact_group.c).
#ifndef SR_IO_MJCF_TOUCH_H
#define SR_IO_MJCF_TOUCH_H

#include <stdint.h>

#include "io/mjcf/law.h"

// Numbers of a contact.
typedef struct srMjcfSettings {
  int condim;
  double friction[5];  // two of sliding, spinning, two of rolling
  double solref[2];
  double margin, gap;
} srMjcfSettings;

typedef struct srMjcfKeys {  // of sr_mjcf_pair_key
  uint64_t* key;
  int n, capacity;
} srMjcfKeys;

typedef struct srMjcfTouch {
  srMjcf* m;
  int* weld;                    // of every body: the first body that it is welded to
  int* tree;                    // the first moving body of its tree, 0: it does not move
  double* mass;                 // of the tree, kg
  srMjcfKeys excluded, paired;  // of bodies, of geoms
  int made;                     // contacts
  srPlace first;                // the first contact
  bool safe;                    // refsafe: no time constant below two time steps
  bool with_parents;            // a body and its parent may touch too
} srMjcfTouch;

uint64_t sr_mjcf_pair_key(int a, int b);  // the same in either order
bool sr_mjcf_has_key(const srMjcfKeys* keys, uint64_t key);

// Bodies whose geoms cannot touch: welded to each other, or parent and child.
bool sr_mjcf_are_joined(const srMjcfTouch* s, int one, int two);
double sr_mjcf_tree_mass(const srMjcfTouch* s, int body);  // infinite: it does not move
double sr_mjcf_both_masses(double a, double b);
srMjcfSettings sr_mjcf_mixed(const srMjcfGeom* a, const srMjcfGeom* b);
static inline bool sr_mjcf_is_plane(const srMjcfGeom* g) { return strcmp(g->type, "plane") == 0; }
void sr_mjcf_set_shape(srMjcf* m, const srMjcfGeom* g, int field, const char* text);

// A <contact> of two geoms.
void sr_mjcf_add_pair(srMjcfTouch* s, const srMjcfGeom* a, const srMjcfGeom* b, const srMjcfSettings* t,
                      const char* name, srPlace place);
// The laws of a <contact> whose sides are given, and the <contact> itself; false: it has no mass or stiffness, which is reported.
bool sr_mjcf_put_contact(srMjcfTouch* s, const srMjcfSettings* t, double M, srPlace place, srContactDef* def);

// Contacts of all geoms that may touch. contact_group.c
void sr_mjcf_find_touching(srMjcfTouch* s);

#endif
