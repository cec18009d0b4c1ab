// MJCF's geoms and sites: shapes and points of native bodies. MJCF's half sizes are doubled where Sarrus uses whole lengths.
// Source: MuJoCo's XML reference, "geom" and "site".
#include <math.h>
#include <string.h>

#include "io/mesh/mesh.h"
#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

static const struct Kind {
  const char* word;  // of MJCF; the same in Sarrus
  int nsize;         // numbers in the file
  bool along;        // may be given by fromto
  double factor[3];  // from MJCF's sizes to Sarrus's
} kinds[] = {
    {"sphere", 1, false, {1}},   {"capsule", 2, true, {1, 2}},      {"cylinder", 2, true, {1, 2}},
    {"box", 3, true, {2, 2, 2}}, {"ellipsoid", 3, true, {1, 1, 1}}, {"plane", 0, false, {0}},
    {"mesh", 0, false, {0}},     {"hfield", 0, false, {0}},         {"sdf", 0, false, {0}},
};
enum { SPHERE, CAPSULE, CYLINDER, BOX, ELLIPSOID, PLANE, MESH, HFIELD, SDF, KINDS };

static int kind_of(srMjcf* m, const srMjcfInside* x) {
  const char* words[KINDS];
  const srXmlAttribute* a = sr_mjcf_attribute(m, x->node, x->childclass, "type");
  for (int i = 0; i < KINDS; i++) words[i] = kinds[i].word;
  return sr_mjcf_choice(m, a, words, KINDS, SPHERE);
}

// Midpoint and orientation of a thing given by its two ends; half its length. MuJoCo's z points from the second end to
// the first.
static bool read_ends(srMjcf* m, const srXmlAttribute* a, double pose[16], double* half) {
  double ends[6], z[3];
  if (sr_mjcf_values(m, a, 6, 6, ends) != 6) return false;
  for (int k = 0; k < 3; k++) z[k] = ends[k] - ends[3 + k];
  const double length = srm_norm3(z);
  if (!(length > 1e-14 && isfinite(length))) {
    sr_mjcf_error(m, a->place, "the two ends in 'fromto' must differ; they are %g m apart", length);
    return false;
  }
  srm_pose_identity(pose);
  for (int k = 0; k < 3; k++) {
    z[k] /= length;
    pose[12 + k] = 0.5 * (ends[k] + ends[3 + k]);
  }
  sr_mjcf_turn_z(z, pose);
  *half = 0.5 * length;
  return true;
}

static bool read_size(srMjcf* m, const srMjcfInside* x, const struct Kind* kind, double half, double size[3]) {
  const srXmlAttribute* a = sr_mjcf_attribute(m, x->node, x->childclass, "size");
  int need = kind->nsize;
  if (kind->nsize == 0) return true;  // plane: how much of it is drawn; mesh: none
  if (half > 0) need = 1;
  if (!a) {
    sr_mjcf_error(m, x->node->place, "a %s needs the attribute 'size'", kind->word);
    return false;
  }
  if (sr_mjcf_values(m, a, need, 3, size) < 0) return false;
  if (half > 0) {
    if (kind->nsize == 3) size[1] = size[0];
    size[kind->nsize - 1] = half;
  }
  for (int k = 0; k < kind->nsize; k++)
    if (!(size[k] > 0)) {
      sr_mjcf_error(m, a->place, "the size of a %s must be positive, got %g", kind->word, size[k]);
      return false;
    }
  return true;
}

static int read_whole(srMjcf* m, const srMjcfInside* x, const char* name, int value) {
  double number;
  if (!sr_mjcf_number(m, x->node, x->childclass, name, value, &number)) return value;
  if (number == floor(number) && fabs(number) < 2147483648.0) return (int)number;
  sr_mjcf_error(m, sr_mjcf_attribute(m, x->node, x->childclass, name)->place, "'%s' must be a whole number, got %g",
                name, number);
  return value;
}

static void read_contact(srMjcf* m, const srMjcfInside* x, srMjcfGeom* g) {
  static const double friction[] = {1, 0.005, 0.0001}, solref[] = {0.02, 1}, solimp[] = {0.9, 0.95, 0.001, 0.5, 2};
  memcpy(g->friction, friction, sizeof friction);
  memcpy(g->solref, solref, sizeof solref);
  memcpy(g->solimp, solimp, sizeof solimp);
  sr_mjcf_numbers(m, x->node, x->childclass, "friction", 1, 3, g->friction);
  sr_mjcf_numbers(m, x->node, x->childclass, "solref", 1, 2, g->solref);
  sr_mjcf_numbers(m, x->node, x->childclass, "solimp", 1, 5, g->solimp);
  sr_mjcf_number(m, x->node, x->childclass, "margin", 0, &g->margin);
  sr_mjcf_number(m, x->node, x->childclass, "gap", 0, &g->gap);
  g->contype = read_whole(m, x, "contype", 1);
  g->conaffinity = read_whole(m, x, "conaffinity", 1);
  g->condim = read_whole(m, x, "condim", 3);
  g->priority = read_whole(m, x, "priority", 0);
}

// Its own colour, or that of its material.
static srAttr color_of(srMjcf* m, const srMjcfInside* x) {
  const srXmlAttribute* rgba = sr_mjcf_attribute(m, x->node, x->childclass, "rgba");
  const srXmlAttribute* material = sr_mjcf_attribute(m, x->node, x->childclass, "material");
  double color[4];
  if (rgba && sr_mjcf_values(m, rgba, 4, 4, color) == 4) return sr_reader_list(m->r, color, 4, rgba->place);
  if (rgba || !material) return (srAttr){0};
  const int i = sr_mjcf_find_value(m, material, &m->material_names, "material");
  return i >= 0 ? sr_reader_list(m->r, m->material[i].rgba, 4, material->place) : (srAttr){0};
}

// The mesh of a geom, which a primitive is fitted to; -1: none.
static int mesh_of(srMjcf* m, const srMjcfInside* x, int* kind) {
  const srXmlAttribute* a = sr_mjcf_attribute(m, x->node, x->childclass, "mesh");
  if (!a && *kind == MESH) sr_mjcf_error(m, x->node->place, "a geom of type mesh needs the attribute 'mesh'");
  if (!a || *kind == HFIELD) return -1;
  const int i = sr_mjcf_find_value(m, a, &m->mesh_names, "mesh");
  if (*kind == PLANE) {
    sr_reader_ignore(m->r, a->place, "the fit of a plane to a mesh (the mesh itself is the shape)");
    *kind = MESH;
  }
  return i;
}

// Puts a geom into the list, by its name.
static void add_geom(srMjcf* m, const srMjcfInside* x, srMjcfGeom* g) {
  const srXmlAttribute* a = sr_xml_attribute(x->node, "name");
  if (a && *a->value) g->word = a->value;
  if (g->word && !sr_names_put(&m->geom_names, g->word, m->ngeom))
    sr_mjcf_error(m, a->place, "there is a geom '%.60s' already", g->word);
  SR_PUSH(&m->r->pool, m->geom, m->ngeom, m->geom_capacity) = *g;
}

// One that has no shape here touches nothing, but pairs and sensors may name it.
static void leave_out(srMjcf* m, const srMjcfInside* x, srMjcfGeom* g) {
  g->type = g->shape = NULL;
  g->contype = g->conaffinity = 0;
  add_geom(m, x, g);
}

static const char* shape_name(srMjcf* m, const srMjcfInside* x) {
  const srXmlAttribute* a = sr_xml_attribute(x->node, "name");
  return a && *a->value ? sr_reader_name(m->r, a->value, &m->shapes)
                        : sr_mjcf_new_name(m, "geom", &m->unnamed_geoms, &m->shapes);
}

// MuJoCo takes the hull of a mesh for contacts.
// The height field of a geom, NULL: none.
static const srXmlNode* hfield_of(srMjcf* m, const srMjcfInside* x) {
  const srXmlAttribute* a = sr_mjcf_attribute(m, x->node, x->childclass, "hfield");
  if (!a) sr_mjcf_error(m, x->node->place, "a geom of type hfield needs the attribute 'hfield'");
  const int i = a ? sr_mjcf_find_value(m, a, &m->hfield_names, "hfield") : -1;
  return i >= 0 ? m->hfield[i] : NULL;
}

// field: a height field, with its size; else zeros.
static void add_shape(srMjcf* m, const srMjcfInside* x, srMjcfGeom* g, int kind, const char* name, const char* mesh,
                      const srShapeDef* field, const double pose[16]) {
  const bool visual = g->contype == 0 && g->conaffinity == 0;
  const char* type = kind == MESH && !visual ? "hull" : kind == HFIELD ? "heightfield" : kinds[kind].word;
  double size[3], here[16];
  srShapeDef def = *field;
  def.name = (srAttr){.text = name, .place = g->place};
  def.type = (srAttr){.text = type, .place = g->place};
  def.color = color_of(m, x);
  for (int k = 0; k < kinds[kind].nsize; k++) size[k] = kinds[kind].factor[k] * g->size[k];
  if (kinds[kind].nsize > 0) def.size = sr_reader_list(m->r, size, kinds[kind].nsize, g->place);
  if (mesh) def.mesh = (srAttr){.text = mesh, .place = g->place};
  if (visual) def.use = (srAttr){.text = "visual", .place = g->place};
  srm_pose_compose(m->body[g->body].inner, pose, here);
  sr_reader_pose(m->r, here, g->place, &def.at, &def.rot);
  g->index = sr_reader_add(m->r, SR_ELEMENT_SHAPE, m->body[g->body].index, &def, g->place);
}

static bool read_place(srMjcf* m, const srMjcfInside* x, const struct Kind* kind, srMjcfGeom* g) {
  const srXmlAttribute* ends = sr_mjcf_attribute(m, x->node, x->childclass, "fromto");
  double own[16], half = 0;
  if (ends && !kind->along) {
    sr_mjcf_error(m, ends->place, "'fromto' is for capsules, cylinders, boxes and ellipsoids, not for a %s",
                  kind->word);
    return false;
  }
  const bool good = ends ? read_ends(m, ends, own, &half) : sr_mjcf_pose(m, x->node, x->childclass, own);
  if (!good || !read_size(m, x, kind, half, g->size)) return false;
  srm_pose_compose(x->frame, own, g->pose);
  return true;
}

// What the geom weighs, where the body's inertia comes from its geoms.
static void weigh(srMjcf* m, const srMjcfInside* x, const srMjcfGeom* g, int kind, int mesh) {
  srMjcfMatter matter = {.mass = -1, .shell = sr_mjcf_flag(m, x->node, x->childclass, "shellinertia", false)};
  const int group = read_whole(m, x, "group", 0);
  const bool given = sr_mjcf_numbers(m, x->node, x->childclass, "mass", 1, 1, &matter.mass) == 1;
  sr_mjcf_number(m, x->node, x->childclass, "density", 1000, &matter.density);
  if (matter.density < 0 || (given && matter.mass < 0)) {
    const char* word = matter.density < 0 ? "density" : "mass";
    sr_mjcf_error(m, sr_mjcf_attribute(m, x->node, x->childclass, word)->place, "'%s' must not be negative, got %g",
                  word, matter.density < 0 ? matter.density : matter.mass);
    return;
  }
  const srMjcfCompiler* c = sr_mjcf_compiler_of(m, x->node);
  if (!sr_mjcf_wants_geoms(m, g->body) || group < c->least_group || group > c->most_group) return;
  if (kind == PLANE || kind == HFIELD) return;
  if (mesh >= 0)
    sr_mjcf_mesh_inertia(m, g, mesh, &matter);
  else
    sr_mjcf_geom_inertia(m, g, &matter);
}

// A primitive gets the size and place of its mesh. False: the mesh is missing or has no volume, which is reported.
static bool fit(srMjcf* m, const srMjcfInside* x, int mesh, srMjcfGeom* g) {
  double scale;
  if (!sr_mjcf_mesh_use(m, mesh) || !sr_mjcf_number(m, x->node, x->childclass, "fitscale", 1, &scale)) return false;
  if (!sr_mjcf_fit(m, &m->mesh[mesh], sr_mjcf_compiler_of(m, x->node)->fit_aabb, g)) {
    sr_reader_ignore(m->r, x->node->place, "the fit of a %s to a mesh that was not read, or has no volume,", g->type);
    return false;
  }
  for (int k = 0; k < 3; k++) g->size[k] *= scale;
  if (scale > 0) return true;
  sr_mjcf_error(m, x->node->place, "'fitscale' must be positive, got %g", scale);
  return false;
}

void sr_mjcf_geom(srMjcf* m, int body, const srMjcfInside* x) {
  srMjcfGeom g = {.body = body, .place = x->node->place};
  const int before = sr_reader_errors(m->r);
  double pose[16];
  sr_mjcf_check_own_words(m, x->node);
  sr_mjcf_check_class(m, x->node, "class");
  int kind = kind_of(m, x);
  for (const srXmlNode* child = x->node->first; child; child = child->next)
    sr_mjcf_other_element(m, child, "", "plugin");
  const int named = mesh_of(m, x, &kind);
  const bool fitted = named >= 0 && kind < PLANE, unknown = kind == SDF;
  const int mesh = fitted ? -1 : named;
  read_contact(m, x, &g);
  g.type = kinds[kind].word;
  if (!read_place(m, x, &kinds[fitted ? MESH : kind], &g) || sr_reader_errors(m->r) > before) return;
  const char* triangles = mesh >= 0 && !unknown ? sr_mjcf_mesh_use(m, mesh) : NULL;
  const srXmlNode* hfield = kind == HFIELD ? hfield_of(m, x) : NULL;
  srShapeDef field = {0};
  if (sr_reader_errors(m->r) > before) return;
  if (unknown) sr_reader_ignore(m->r, x->node->place, "<geom> of type %s", kinds[kind].word);
  if (unknown || (hfield && !sr_mjcf_hfield(m, hfield, &field)) || (mesh >= 0 && !triangles) ||
      (fitted && !fit(m, x, named, &g))) {
    leave_out(m, x, &g);
    return;
  }
  if (mesh >= 0 && (g.contype != 0 || g.conaffinity != 0) && !sr_mesh_has_volume(m->r, triangles)) {
    sr_reader_ignore(m->r, x->node->place, "contact of a mesh that is flat");
    g.contype = g.conaffinity = 0;
  }
  const char* name = shape_name(m, x);
  g.shape = sr_pool_printf(&m->r->pool, "%s/%s", m->body[body].name, name);
  memcpy(pose, g.pose, sizeof pose);
  if (mesh >= 0) srm_pose_compose(g.pose, m->mesh[mesh].inverse, pose);
  add_shape(m, x, &g, kind, name, triangles, &field, pose);
  weigh(m, x, &g, kind, mesh);
  add_geom(m, x, &g);
}

// --------------------------------------------------------------------------------------------------------------- site
void sr_mjcf_site(srMjcf* m, int body, const srMjcfInside* x) {
  const srXmlAttribute* ends = sr_mjcf_attribute(m, x->node, x->childclass, "fromto");
  const srXmlAttribute* word = sr_xml_attribute(x->node, "name");
  const srPlace place = x->node->place;
  srMjcfSite site = {.word = word && *word->value ? word->value : NULL, .body = body};
  double own[16], here[16], half;
  sr_mjcf_check_own_words(m, x->node);
  sr_mjcf_check_class(m, x->node, "class");
  if (!(ends ? read_ends(m, ends, own, &half) : sr_mjcf_pose(m, x->node, x->childclass, own))) return;
  srm_pose_compose(x->frame, own, site.pose);
  srm_pose_compose(m->body[body].inner, site.pose, here);
  if (site.word && !sr_names_put(&m->site_names, site.word, m->nsite)) {
    sr_mjcf_error(m, word->place, "there is a site '%.60s' already", site.word);
    return;
  }
  const char* name = site.word ? sr_reader_name(m->r, site.word, &m->points)
                               : sr_mjcf_new_name(m, "site", &m->unnamed_sites, &m->points);
  site.point = sr_pool_printf(&m->r->pool, "%s/%s", m->body[body].name, name);
  srPointDef def = {.name = {.text = name, .place = place}};
  sr_reader_pose(m->r, here, place, &def.at, &def.rot);
  sr_reader_add(m->r, SR_ELEMENT_POINT, m->body[body].index, &def, place);
  SR_PUSH(&m->r->pool, m->site, m->nsite, m->site_capacity) = site;
}
