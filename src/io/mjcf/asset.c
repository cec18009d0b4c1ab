// MJCF's assets: meshes, which are put into the spec when a geom uses them (mesh.c), and the colours of materials.
// Source: MuJoCo's XML reference, "asset".
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

const char* sr_mjcf_behind_slash(const char* path) {
  const char* end = path + strlen(path);
  while (end > path && end[-1] != '/' && end[-1] != '\\') end--;
  return end;
}

// The name of a mesh without one is that of its file, without folder and ending.
const char* sr_mjcf_mesh_word(srMjcf* m, const srXmlNode* node) {
  const srXmlAttribute *name = sr_xml_attribute(node, "name"), *file = sr_xml_attribute(node, "file");
  if (name) return name->value;
  if (!file) return NULL;
  const char *word = sr_mjcf_behind_slash(file->value), *dot = strrchr(word, '.');
  return dot && dot > word ? sr_pool_text_n(&m->r->pool, word, (size_t)(dot - word)) : word;
}

// The frame of refpos and refquat, turned around.
static bool read_reference(srMjcf* m, const srXmlNode* node, srMjcfMesh* mesh) {
  double at[3] = {0}, quaternion[4] = {1, 0, 0, 0}, pose[16];
  if (sr_mjcf_numbers(m, node, NULL, "refpos", 3, 3, at) < 0) return false;
  if (sr_mjcf_numbers(m, node, NULL, "refquat", 4, 4, quaternion) < 0) return false;
  const double length = sqrt(srm_dot3(quaternion + 1, quaternion + 1) + quaternion[0] * quaternion[0]);
  if (!(length > 1e-14)) {
    sr_mjcf_error(m, sr_xml_attribute(node, "refquat")->place, "the quaternion in 'refquat' has the length %g", length);
    return false;
  }
  for (int k = 0; k < 4; k++) quaternion[k] /= length;
  srm_pose_identity(pose);
  srm_pose_from_quaternion(quaternion, pose);
  srm_pose_transpose(pose, mesh->inverse);
  for (int k = 0; k < 3; k++) at[k] = -at[k];
  srm_pose_rotate(mesh->inverse, at, mesh->inverse + 12);
  return true;
}

static void read_mesh(srMjcf* m, const srXmlNode* node) {
  srMjcfMesh mesh = {.node = node, .word = sr_mjcf_mesh_word(m, node), .scale = {1, 1, 1}};
  sr_mjcf_check_own_words(m, node);
  sr_mjcf_check_class(m, node, "class");
  for (const srXmlNode* child = node->first; child; child = child->next) sr_mjcf_other_element(m, child, "", "plugin");
  if (!mesh.word) {
    sr_mjcf_error(m, node->place, "<mesh> needs the attribute 'name' or 'file'");
    return;
  }
  if (sr_mjcf_numbers(m, node, NULL, "scale", 3, 3, mesh.scale) < 0 || !read_reference(m, node, &mesh)) return;
  if (mesh.scale[0] == 0 || mesh.scale[1] == 0 || mesh.scale[2] == 0) {
    sr_mjcf_error(m, sr_mjcf_attribute(m, node, NULL, "scale")->place, "the scale of a mesh must not be 0");
    return;
  }
  if (!sr_names_put(&m->mesh_names, mesh.word, m->nmesh))
    sr_mjcf_error(m, node->place, "there is a mesh '%.60s' already", mesh.word);
  else
    SR_PUSH(&m->r->pool, m->mesh, m->nmesh, m->mesh_capacity) = mesh;
}

static void read_material(srMjcf* m, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  srMjcfMaterial material = {{1, 1, 1, 1}};
  sr_mjcf_check_own_words(m, node);
  sr_mjcf_check_class(m, node, "class");
  for (const srXmlNode* child = node->first; child; child = child->next) sr_mjcf_other_element(m, child, "", "layer");
  sr_mjcf_numbers(m, node, NULL, "rgba", 4, 4, material.rgba);
  if (!name)
    sr_mjcf_error(m, node->place, "<material> needs the attribute 'name'");
  else if (!sr_names_put(&m->material_names, name->value, m->nmaterial))
    sr_mjcf_error(m, name->place, "there is a material '%.60s' already", name->value);
  else
    SR_PUSH(&m->r->pool, m->material, m->nmaterial, m->material_capacity) = material;
}

static void read_hfield(srMjcf* m, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  sr_mjcf_check_own_words(m, node);
  if (!name)
    sr_mjcf_error(m, node->place, "<hfield> needs the attribute 'name'");
  else if (!sr_names_put(&m->hfield_names, name->value, m->nhfield))
    sr_mjcf_error(m, name->place, "there is an hfield '%.60s' already", name->value);
  else
    SR_PUSH(&m->r->pool, m->hfield, m->nhfield, m->hfield_capacity) = node;
}

void sr_mjcf_assets(srMjcf* m, const srXmlNode* section) {
  for (const srXmlNode* node = section->first; node && !sr_reader_is_over(m->r, node->place); node = node->next) {
    if (strcmp(node->name, "mesh") == 0)
      read_mesh(m, node);
    else if (strcmp(node->name, "material") == 0)
      read_material(m, node);
    else if (strcmp(node->name, "hfield") == 0)
      read_hfield(m, node);
    else if (strcmp(node->name, "model") != 0)
      sr_mjcf_other_element(m, node, "mesh|material|hfield|model", "texture|skin");
  }
}
