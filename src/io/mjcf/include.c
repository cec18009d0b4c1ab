// The tree of an MJCF file with all its files: <include> is replaced by the content of the root of the file that it names,
// <replicate> by copies of its content, each in a <frame> of its own and with a number behind its names. The tree that
// was read is unchanged; nodes are copied. Source: MuJoCo's XML reference, "include" and "replicate".
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

#define MAX_INCLUDES 16
#define MAX_DEPTH 200  // of elements, when all files are put together

typedef struct Expander {
  srMjcf* m;
  const srMjcfFile* file;
  int depth;
  bool replicates;     // the second time: they need the angles of <compiler>, wherever that is
  const char* suffix;  // behind names, "" outside of replicates
  int scope;           // of what is read
  bool lost;           // a file could not be read: what refers to it would be wrong too, and is not reported
} Expander;

static void copy_children(Expander* x, const srXmlNode* from, srXmlNode* to);

// ---------------------------------------------------------------------------------------------------------- includes
static const srXmlNode* tree_of(Expander* x, const char* name, const char* real, srPlace place) {
  srMjcf* m = x->m;
  srReader* r = m->r;
  for (int i = 0; i < m->ntree; i++)
    if (strcmp(m->trees[i].real, real) == 0) return m->trees[i].root;
  const srXmlNode* root = sr_reader_open(r, sr_path_join(&r->pool, x->m->how->folder, name), place);
  if (root && !sr_text_is_among(root->name, "mujoco|mujocoinclude")) {
    sr_mjcf_error(x->m, root->place, "the root of an included file is <mujoco> or <mujocoinclude>, not <%.60s>",
                  root->name);
    root = NULL;
  }
  SR_PUSH(&r->pool, m->trees, m->ntree, m->tree_capacity) = (srMjcfTree){real, root};
  return root;
}

static bool is_cycle(const srMjcfFile* file, const char* real) {
  for (; file; file = file->outer)
    if (file->real && strcmp(file->real, real) == 0) return true;
  return false;
}

// Folder of a name that is seen from the model's: "" where it is that.
static const char* folder_of(srReader* r, const char* name) {
  return strchr(name, '/') ? sr_path_folder(&r->pool, name) : "";
}

// The file that *name means, which becomes its name as seen from the model's folder: next to the file that includes it, or, as
// MuJoCo does, next to the model. In both cases inside the model's folder.
static const char* find_file(Expander* x, const char** name, const char** reason) {
  srReader* r = x->m->r;
  const char* folder = x->file->folder;
  if (folder && *folder) {
    const char* sibling = sr_path_join(&r->pool, folder, *name);
    const char* real = sr_path_inside(&r->pool, x->m->how->folder, sibling, reason);
    if (real) return *name = sibling, real;
  }
  return sr_path_inside(&r->pool, x->m->how->folder, *name, reason);
}

// The root of the file that the attribute names; `here` becomes the file. The verb is what the present element does with it.
// NULL after an error.
static const srXmlNode* open_file(Expander* x, const srXmlAttribute* a, const char* verb, srMjcfFile* here) {
  const srXmlNode* root = NULL;
  const char* reason = NULL;
  if (!x->m->how->folder) {
    x->lost = true;
    sr_mjcf_error(x->m, a->place, "'%.200s' is not read: the model comes from memory and has no folder", a->value);
    return NULL;
  }
  const char *problem = sr_path_problem(a->value), *name = a->value;
  const char* real = problem ? NULL : find_file(x, &name, &reason);
  if (!real) {
    x->lost = true;
    sr_mjcf_error(x->m, a->place, problem ? "'%.200s' %s" : "the file '%.200s' %s", a->value,
                  problem ? problem : reason);
  } else if (is_cycle(x->file, real)) {
    sr_mjcf_error(x->m, a->place, "'%.200s' %s itself, directly or through others", a->value, verb);
  } else if (x->file->depth >= MAX_INCLUDES) {
    sr_mjcf_error(x->m, a->place, "'%.200s' is read more than %d files deep", a->value, MAX_INCLUDES);
  } else {
    root = tree_of(x, name, real, a->place);
    *here = (srMjcfFile){real, folder_of(x->m->r, name), x->file, x->file->depth + 1};
    x->lost = x->lost || !root;
  }
  return root;
}

static void include(Expander* x, const srXmlNode* node, srXmlNode* to) {
  const srXmlAttribute* a = sr_xml_attribute(node, "file");
  const srMjcfFile* outer = x->file;
  srMjcfFile here;
  sr_mjcf_check_words(x->m, node, "file", "prefix");
  if (!a) {
    sr_mjcf_error(x->m, node->place, "<include> needs the attribute 'file'");
    return;
  }
  const srXmlNode* root = open_file(x, a, "includes", &here);
  if (!root) return;
  x->file = &here;
  copy_children(x, root, to);
  x->file = outer;
}

// --------------------------------------------------------------------------------------------------------- replicates
static srXmlAttribute attribute(srReader* r, const srXmlNode* node, const char* name, const double* numbers, int n) {
  const char* text = "";
  for (int i = 0; i < n; i++) text = sr_pool_printf(&r->pool, "%s%s%.17g", text, i ? " " : "", numbers[i]);
  return (srXmlAttribute){name, text, node->place, node->place};
}

// A <frame> with this pose in the place of the <replicate>.
static srXmlNode* new_frame(Expander* x, const srXmlNode* node, const double pose[16]) {
  srReader* r = x->m->r;
  srXmlNode* frame = sr_pool_alloc(&r->pool, sizeof *frame);
  double quaternion[4];
  srm_quaternion_from_pose(pose, quaternion);
  frame->name = "frame";
  frame->place = node->place;
  frame->scope = node->scope;
  frame->attributes = sr_pool_alloc(&r->pool, 3 * sizeof *frame->attributes);
  frame->attributes[frame->nattribute++] = attribute(r, node, "pos", pose + 12, 3);
  frame->attributes[frame->nattribute++] = attribute(r, node, "quat", quaternion, 4);
  const srXmlAttribute* childclass = sr_xml_attribute(node, "childclass");
  if (childclass) frame->attributes[frame->nattribute++] = *childclass;
  return frame;
}

static int digits(int count) {
  char text[16];
  return snprintf(text, sizeof text, "%d", count);
}

// The step from a copy to the next one, seen from the first of them.
static bool read_step(Expander* x, const srXmlNode* node, double step[16], int* count, const char** separator) {
  const srXmlAttribute *n = sr_xml_attribute(node, "count"), *offset = sr_xml_attribute(node, "offset"),
                       *euler = sr_xml_attribute(node, "euler"), *sep = sr_xml_attribute(node, "sep");
  double number = 0, angles[3] = {0}, at[3] = {0};
  sr_mjcf_check_words(x->m, node, "count|offset|euler|sep|childclass", "");
  *separator = sep ? sep->value : "";
  if (!n) {
    sr_mjcf_error(x->m, node->place, "<replicate> needs the attribute 'count'");
    return false;
  }
  if (sr_mjcf_values(x->m, n, 1, 1, &number) < 0) return false;
  if (number != floor(number) || number < 0 || number > SR_READER_MAX_ELEMENTS) {
    sr_mjcf_error(x->m, n->place, "'count' of <replicate> is %.10g; it must be a whole number from 0 to %d", number,
                  SR_READER_MAX_ELEMENTS);
    return false;
  }
  *count = (int)number;
  if (offset && sr_mjcf_values(x->m, offset, 3, 3, at) < 0) return false;
  if (euler && sr_mjcf_values(x->m, euler, 3, 3, angles) < 0) return false;
  sr_mjcf_euler(x->m, node, angles, step);
  memcpy(step + 12, at, sizeof at);
  return true;
}

static int count_children(const srXmlNode* node) {
  int n = 0;
  for (const srXmlNode* child = node->first; child; child = child->next) n++;
  return n;
}

static void replicate(Expander* x, const srXmlNode* node, srXmlNode* to) {
  double step[16], pose[16], next[16];
  int count;
  const char *separator, *outer = x->suffix;
  if (!read_step(x, node, step, &count, &separator)) return;
  if (count > x->m->r->budget / (1 + count_children(node)))
    x->m->r->budget = 0;  // too many: refused before the first copy
  const int before = sr_reader_errors(x->m->r);
  srm_pose_identity(pose);
  for (int i = 0; i < count && sr_reader_errors(x->m->r) == before; i++) {
    if (sr_reader_is_over(x->m->r, node->place)) break;
    x->suffix = sr_pool_printf(&x->m->r->pool, "%.60s%0*d%s", separator, digits(count), i, outer);
    copy_children(x, node, sr_xml_append(to, new_frame(x, node, pose)));
    srm_pose_compose(pose, step, next);
    memcpy(pose, next, sizeof pose);
  }
  x->suffix = outer;
}

// ------------------------------------------------------------------------------------------------------------- copies
static bool is_blank(const srXmlAttribute* a) { return !a->value[strspn(a->value, " \t\r\n")]; }

// What <attach> brings gets the number behind its names when it is there.
static void number_attached(Expander* x, srXmlNode* node) {
  const size_t n = (size_t)node->nattribute;
  srXmlAttribute* own = sr_pool_alloc(&x->m->r->pool, (n + 1) * sizeof *own);
  memcpy(own, node->attributes, n * sizeof *own);
  own[n] = (srXmlAttribute){SR_MJCF_SUFFIX, x->suffix, node->place, node->place};
  node->attributes = own;
  node->nattribute++;
}

static void rename_copy(Expander* x, srXmlNode* node) {
  srPool* pool = &x->m->r->pool;
  srXmlAttribute* own = node->attributes;
  if (*x->suffix && strcmp(node->name, "attach") == 0) number_attached(x, node);
  if (!*x->suffix || !sr_xml_attribute(node, "name")) return;
  node->attributes = sr_pool_alloc(pool, (size_t)node->nattribute * sizeof *own);
  memcpy(node->attributes, own, (size_t)node->nattribute * sizeof *own);
  for (int i = 0; i < node->nattribute; i++)
    if (strcmp(own[i].name, "name") == 0)
      node->attributes[i].value = sr_pool_printf(pool, "%s%s", own[i].value, x->suffix);
}

// Numbers without a number (quat="") count as not given, in MuJoCo too; words do not.
static void drop_blanks(Expander* x, srXmlNode* node) {
  static const char numbers[] =
      "pos|quat|axisangle|euler|xyaxes|zaxis|fromto|size|axis|ref|springref|range|damping|stiffness|armature|"
      "frictionloss|actuatorfrcrange|springdamper|solref|solimp|solreflimit|margin|gap|friction|mass|density|contype|"
      "conaffinity|condim|priority|group|rgba|gravcomp|diaginertia|fullinertia|scale|refpos|refquat|vertex|face|"
      "maxhullvert|anchor|relpose|polycoef|torquescale|springlength|coef|gear|ctrlrange|forcerange|actrange|gainprm|"
      "biasprm|dynprm|kp|kv|dampratio|timeconst|area|diameter|bias|inheritrange|gain|qpos|qvel|act|ctrl|timestep|"
      "boundmass|boundinertia|settotalmass|inertiagrouprange|offset|gravity";
  const srXmlAttribute* own = node->attributes;
  const int n = node->nattribute;
  int blanks = 0;
  if (strcmp(node->name, "flag") == 0) return;  // where gravity is a word
  for (int i = 0; i < n; i++) blanks += is_blank(&own[i]) && sr_text_is_among(own[i].name, numbers);
  if (blanks == 0) return;
  node->attributes = sr_pool_alloc(&x->m->r->pool, (size_t)n * sizeof *own);
  node->nattribute = 0;
  for (int i = 0; i < n; i++)
    if (!is_blank(&own[i]) || !sr_text_is_among(own[i].name, numbers)) node->attributes[node->nattribute++] = own[i];
}

static void copy_children(Expander* x, const srXmlNode* from, srXmlNode* to) {
  if (x->depth >= MAX_DEPTH) {
    sr_mjcf_error(x->m, from->place, "elements are nested more than %d deep when all files are merged", MAX_DEPTH);
    return;
  }
  x->depth++;
  for (const srXmlNode* child = from->first; child && !sr_reader_is_over(x->m->r, child->place); child = child->next) {
    if (strcmp(child->name, "include") == 0) {
      include(x, child, to);
    } else if (x->replicates && strcmp(child->name, "replicate") == 0) {
      replicate(x, child, to);
    } else {
      srXmlNode* copy = sr_pool_alloc(&x->m->r->pool, sizeof *copy);
      *copy = *child;
      copy->first = copy->last = copy->next = NULL;
      copy->scope = x->scope;
      sr_xml_append(to, copy);
      rename_copy(x, copy);
      drop_blanks(x, copy);
      copy_children(x, child, copy);
    }
  }
  x->depth--;
}

static srXmlNode* copy_root(Expander* x, const srXmlNode* root) {
  srXmlNode* copy = sr_pool_alloc(&x->m->r->pool, sizeof *copy);
  *copy = *root;
  copy->parent = copy->first = copy->last = copy->next = NULL;
  copy->scope = x->scope;
  x->suffix = "";
  copy_children(x, root, copy);
  return x->m->r->stopped || x->lost ? NULL : copy;
}

srMjcfFile sr_mjcf_main_file(srMjcf* m, const srXmlNode* root) {
  srMjcfFile file = {.folder = ""};
  if (m->how->folder && root->place.file) file.real = sr_path_real(&m->r->pool, root->place.file);
  return file;
}

srXmlNode* sr_mjcf_include(srMjcf* m, const srXmlNode* root) {
  const srMjcfFile file = sr_mjcf_main_file(m, root);
  return copy_root(&(Expander){.m = m, .file = &file}, root);
}

// The file that a <model> names. NULL after an error.
static const srXmlNode* open_model_file(Expander* x, const srXmlNode* node, srMjcfFile* here) {
  const srXmlAttribute* a = sr_xml_attribute(node, "file");
  if (a) return open_file(x, a, "attaches", here);
  sr_mjcf_error(x->m, node->place, "<model> needs the attribute 'file'");
  return NULL;
}

const char* sr_mjcf_model_word(srMjcf* m, const srXmlNode* node, const srMjcfFile* outer) {
  srMjcfFile here;
  const srXmlNode* root = open_model_file(&(Expander){.m = m, .file = outer}, node, &here);
  const srXmlAttribute* word = root ? sr_xml_attribute(root, "model") : NULL;
  return word ? word->value : root ? "MuJoCo Model" : NULL;
}

srXmlNode* sr_mjcf_open_model(srMjcf* m, const srXmlNode* node, const srMjcfFile* outer, srMjcfFile* here) {
  Expander x = {.m = m, .file = outer};
  const srXmlNode* root = open_model_file(&x, node, here);
  if (!root) return NULL;
  x.file = here;
  x.scope = sr_mjcf_new_compiler(m, here->folder);
  return copy_root(&x, root);
}

static bool has_replicate(const srXmlNode* node) {
  for (const srXmlNode* child = node->first; child; child = child->next)
    if (strcmp(child->name, "replicate") == 0 || has_replicate(child)) return true;
  return false;
}

srXmlNode* sr_mjcf_replicate(srMjcf* m, srXmlNode* root) {
  return has_replicate(root) ? copy_root(&(Expander){.m = m, .replicates = true, .scope = root->scope}, root) : root;
}
