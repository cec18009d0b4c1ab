// MJCF out: <asset>, the meshes. A mesh is named by its file where MuJoCo reads that kind of file, else its triangles
// are written; one whose file was not found is left out and reported, with the shapes that show it.
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/mjcf/write.h"

bool sr_mjcf_out_has_mesh(const srConvert* c, int i) {
  return ((const srMeshDef*)srs_get(c->spec, SR_ELEMENT_MESH, i))->vertices.n > 0;
}

bool sr_mjcf_out_is_missing(const srConvert* c, int mesh) {
  const srMeshDef* def = mesh >= 0 ? srs_get(c->spec, SR_ELEMENT_MESH, mesh) : NULL;
  return def && def->file.text && def->vertices.n == 0;
}

void sr_mjcf_out_lose_missing(srConvert* c, srElementKind kind, int i) {
  sr_convert_take_all(c, kind, i);
  sr_convert_lose(c, srs_place(c->spec, kind, i), SR_LOSS_NOTHING, sr_convert_title(c, kind, i),
                  "the file of the mesh was not found, and MuJoCo would refuse the model for it");
}

// In capitals too, as MuJoCo reads it; end is small.
static bool has_ending(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  if (n < m) return false;
  for (size_t i = 0; i < m; i++)
    if ((text[n - m + i] | 0x20) != end[i]) return false;
  return true;
}

// MuJoCo reads OBJ and binary STL: its triangles of 50 bytes, counted behind 80 bytes of anything.
static bool is_binary_stl(srConvert* c, const char* file) {
  unsigned char head[84];
  const char* folder = srs_folder(c->spec);
  srReason reason;
  FILE* stream = sr_file_open(folder ? sr_path_join(c->pool, folder, file) : file, &reason);
  if (!stream) return false;
  const bool whole = fread(head, 1, sizeof head, stream) == sizeof head && fseek(stream, 0, SEEK_END) == 0;
  const long size = whole ? ftell(stream) : 0;
  fclose(stream);
  if (!whole) return false;
  const double n = head[80] + 256.0 * (head[81] + 256.0 * (head[82] + 256.0 * head[83]));
  return (double)size == 84 + 50 * n;
}

static void put_list(srConvert* c, int i, int field, const char* word) {
  const srAttr* a = sr_convert_take(c, SR_ELEMENT_MESH, i, field);
  if (a->n > 0) sr_xml_numbers(&c->xml, word, a->numbers ? a->numbers : &a->number, a->n);
}

// By its file, or by its triangles.
static void put_triangles(srConvert* c, int i) {
  const char* file = sr_convert_text(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, file));
  const bool known = file && (has_ending(file, ".obj") || (has_ending(file, ".stl") && is_binary_stl(c, file)));
  if (file && !known)
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_MESH, i), SR_LOSS_NOTHING, sr_convert_title(c, SR_ELEMENT_MESH, i),
                    "MuJoCo reads OBJ and binary STL alone: its triangles are written into the new file");
  if (known) {
    sr_xml_text(&c->xml, "file", sr_convert_path(c, file));
    sr_convert_take(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, vertices));  // they are in the file
    sr_convert_take(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, faces));
  } else {
    put_list(c, i, SR_TAKE(srMeshDef, vertices), "vertex");
    put_list(c, i, SR_TAKE(srMeshDef, faces), "face");
  }
}

static void put_mesh(srConvert* c, int i) {
  double scale[3];
  sr_xml_begin(&c->xml, "mesh");
  sr_xml_text(&c->xml, "name", sr_convert_text(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, name)));
  put_triangles(c, i);
  const int n = sr_convert_numbers(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, scale), scale, 3);
  if (n == 1) scale[1] = scale[2] = scale[0];
  if (n > 0) sr_xml_numbers(&c->xml, "scale", scale, 3);
  sr_xml_end(&c->xml);
}

void sr_mjcf_out_assets(srConvert* c) {
  bool any = false;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_MESH); i++) {
    if (sr_mjcf_out_is_missing(c, i)) sr_mjcf_out_lose_missing(c, SR_ELEMENT_MESH, i);
    if (!sr_mjcf_out_has_mesh(c, i)) continue;
    if (!any) sr_xml_begin(&c->xml, "asset");
    any = true;
    put_mesh(c, i);
  }
  if (any) sr_xml_end(&c->xml);
}
