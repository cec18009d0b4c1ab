// A primitive geom of MJCF that names a mesh is fitted to it. Source: MuJoCo's XML reference, "geom/mesh", "geom/fitscale" and
// "compiler/fitaabb"; the numbers of the rules were compared with MuJoCo 3.14.
//
//   frame   the principal axes of the mesh at its centre of mass, the largest moment first: z is its longest axis
//   box     half sides b_k = sqrt(6 (I_i + I_j - I_k)/m)/2 of the box with the same inertia
//           or, by fitaabb, those of the box along the axes that holds all vertices, in whose middle the geom is then
//   sphere of the mean (fitaabb: the largest) of b; cylinder of radius (b_x + b_y)/2 (the larger) and half length b_z;
//   capsule of the same radius r and half length b_z - r/2 (b_z - r), at least 0
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "math/inertia.h"
#include "math/pose.h"

// Principal axes as columns of a pose, right-handed, by falling moments.
static void axes_of(const double J[9], double pose[16], double e[3]) {
  double V[9], moment[3];
  int order[3] = {0, 1, 2};
  srm_principal(J, V, moment);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++)
      if (moment[order[k]] < moment[order[k + 1]]) {
        const int larger = order[k + 1];
        order[k + 1] = order[k];
        order[k] = larger;
      }
  for (int k = 0; k < 3; k++) {
    e[k] = moment[order[k]];
    for (int i = 0; i < 3 && k < 2; i++) pose[4 * k + i] = V[3 * i + order[k]];
  }
  srm_cross3(pose, pose + 4, pose + 8);
}

// The box along the axes of the frame, whose origin moves to its middle.
static void hold_vertices(const srMjcfMesh* mesh, const srMeshDef* def, double frame[16], double b[3]) {
  double low[3], high[3], back[16], middle[3], at[3];
  srm_pose_invert(frame, back);
  for (int k = 0; k < 3; k++) low[k] = (double)INFINITY, high[k] = -(double)INFINITY;
  for (int i = 0; i + 2 < def->vertices.n; i += 3) {
    for (int k = 0; k < 3; k++) at[k] = mesh->scale[k] * def->vertices.numbers[i + k];
    srm_pose_point(back, at, middle);
    for (int k = 0; k < 3; k++) low[k] = fmin(low[k], middle[k]), high[k] = fmax(high[k], middle[k]);
  }
  for (int k = 0; k < 3; k++) middle[k] = (low[k] + high[k]) / 2, b[k] = (high[k] - low[k]) / 2;
  srm_pose_point(frame, middle, at);
  memcpy(frame + 12, at, sizeof at);
}

static void size_of(const char* type, const double b[3], bool aabb, double size[3]) {
  const double radius = aabb ? fmax(b[0], b[1]) : (b[0] + b[1]) / 2;
  if (strcmp(type, "sphere") == 0) {
    size[0] = aabb ? fmax(radius, b[2]) : (b[0] + b[1] + b[2]) / 3;
  } else if (strcmp(type, "capsule") == 0) {
    size[0] = radius;
    size[1] = fmax(0, b[2] - (aabb ? radius : radius / 2));
  } else if (strcmp(type, "cylinder") == 0) {
    size[0] = radius;
    size[1] = b[2];
  } else {
    memcpy(size, b, 3 * sizeof *b);
  }
}

bool sr_mjcf_fit(srMjcf* m, srMjcfMesh* mesh, bool aabb, srMjcfGeom* g) {
  const srMeshDef* def = sr_mjcf_mesh_def(m, mesh);
  double frame[16], local[16], pose[16], e[3], b[3];
  if (!def || !sr_mjcf_mesh_weigh(m, mesh, sr_mjcf_mesh_filling(m, mesh, false))) return false;
  srm_pose_identity(frame);
  axes_of(mesh->J, frame, e);
  memcpy(frame + 12, mesh->com, sizeof mesh->com);
  for (int k = 0; k < 3; k++) b[k] = sqrt(fmax(0, 6 * (e[0] + e[1] + e[2] - 2 * e[k]) / mesh->measure)) / 2;
  if (aabb) hold_vertices(mesh, def, frame, b);
  size_of(g->type, b, aabb, g->size);
  srm_pose_compose(mesh->inverse, frame, local);
  srm_pose_compose(g->pose, local, pose);
  memcpy(g->pose, pose, sizeof pose);
  return true;
}
