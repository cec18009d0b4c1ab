// Members of srModel by name. The lists hold every member that is a number, a text or an array of them (a test reads
// model.h and detects what is missing), and of arrays of structs what a caller outside C needs.
#include <string.h>

#include "access/type.h"

// X(member)
#define VALUES(X)                                                                                                      \
  X(name)                                                                                                              \
  X(nq)                                                                                                                \
  X(nv)                                                                                                                \
  X(ny)                                                                                                                \
  X(nz)                                                                                                                \
  X(njq)                                                                                                               \
  X(njv)                                                                                                               \
  X(formulation)                                                                                                       \
  X(absolute)                                                                                                          \
  X(nbody)                                                                                                             \
  X(njoint)                                                                                                            \
  X(njoint_given)                                                                                                      \
  X(nlink)                                                                                                             \
  X(npoint)                                                                                                            \
  X(nforce)                                                                                                            \
  X(nsensor)                                                                                                           \
  X(nshape)                                                                                                            \
  X(nmesh)                                                                                                             \
  X(ndriver)                                                                                                           \
  X(ncontact)                                                                                                          \
  X(ncollider)                                                                                                         \
  X(nset)                                                                                                              \
  X(ninstance)                                                                                                         \
  X(ny_slot)                                                                                                           \
  X(nformula)                                                                                                          \
  X(ndistance_arg)                                                                                                     \
  X(nsensor_value)                                                                                                     \
  X(nmassless)                                                                                                         \
  X(nangle)                                                                                                            \
  X(has_armature)                                                                                                      \
  X(nmeasurement)                                                                                                      \
  X(nevent)                                                                                                            \
  X(ng)                                                                                                                \
  X(np)                                                                                                                \
  X(nclosure)                                                                                                          \
  X(ncoupling)                                                                                                         \
  X(nformula_row)                                                                                                      \
  X(row_driver)                                                                                                        \
  X(constrained)                                                                                                       \
  X(nrow_formula)                                                                                                      \
  X(nrow_arg)                                                                                                          \
  X(run_penalty_stiffness)                                                                                             \
  X(run_penalty_rotation)                                                                                              \
  X(run_penalty_damping)                                                                                               \
  X(run_penalty_inertia)

// X(member) of srRunSettings, as run_member
#define RUN(X)                                                                                                         \
  X(t_end)                                                                                                             \
  X(step)                                                                                                              \
  X(rtol)                                                                                                              \
  X(atol)                                                                                                              \
  X(every)                                                                                                             \
  X(method)                                                                                                            \
  X(contact)                                                                                                           \
  X(impact)                                                                                                            \
  X(impact_friction)                                                                                                   \
  X(impact_order)                                                                                                      \
  X(control)                                                                                                           \
  X(family)                                                                                                            \
  X(tangent)                                                                                                           \
  X(rho)                                                                                                               \
  X(theta)                                                                                                             \
  X(stabilization)                                                                                                     \
  X(alpha)                                                                                                             \
  X(beta)                                                                                                              \
  X(metric_identity)

// X(member, rows, numbers in a row)
#define ARRAYS(X)                                                                                                      \
  X(gravity, 4, 1)                                                                                                     \
  X(body_name, m->nbody + 1, 1)                                                                                        \
  X(body_parent, m->nbody + 1, 1)                                                                                      \
  X(body_joint, m->nbody + 1, 1)                                                                                       \
  X(body_link, m->nbody + 1, 1)                                                                                        \
  X(body_mass, m->nbody + 1, 1)                                                                                        \
  X(body_com, m->nbody + 1, 4)                                                                                         \
  X(body_inertia, m->nbody + 1, 9)                                                                                     \
  X(joint_name, m->njoint, 1)                                                                                          \
  X(joint_type, m->njoint, 1)                                                                                          \
  X(joint_body, m->njoint, 1)                                                                                          \
  X(joint_implied, m->njoint, 1)                                                                                       \
  X(joint_q, m->njoint, 1)                                                                                             \
  X(joint_nq, m->njoint, 1)                                                                                            \
  X(joint_v, m->njoint, 1)                                                                                             \
  X(joint_nv, m->njoint, 1)                                                                                            \
  X(joint_role, m->njoint, 1)                                                                                          \
  X(joint_armature, m->njv, 1)                                                                                         \
  X(q_name, m->njq, 1)                                                                                                 \
  X(q_unit, m->njq, 1)                                                                                                 \
  X(v_name, m->njv, 1)                                                                                                 \
  X(v_unit, m->njv, 1)                                                                                                 \
  X(y_name, m->ny, 1)                                                                                                  \
  X(q0, m->nq, 1)                                                                                                      \
  X(v0, m->nv, 1)                                                                                                      \
  X(y0, m->ny, 1)                                                                                                      \
  X(z0, m->nz, 1)                                                                                                      \
  X(link_parent, m->nlink, 1)                                                                                          \
  X(link_type, m->nlink, 1)                                                                                            \
  X(link_q, m->nlink, 1)                                                                                               \
  X(link_v, m->nlink, 1)                                                                                               \
  X(link_joint, m->nlink, 1)                                                                                           \
  X(link_body, m->nlink, 1)                                                                                            \
  X(link_tree, m->nlink, 16)                                                                                           \
  X(link_pitch, m->nlink, 1)                                                                                           \
  X(link_inertia, m->nlink, 16)                                                                                        \
  X(dof_link, m->nv, 1)                                                                                                \
  X(dof_parent, m->nv, 1)                                                                                              \
  X(dof_armature, m->nv, 1)                                                                                            \
  X(dof_massless, m->nv, 1)                                                                                            \
  X(dof_driver, m->nv, 1)                                                                                              \
  X(angle_link, m->nangle, 1)                                                                                          \
  X(joint_point, m->njoint, 1)                                                                                         \
  X(jv_joint, m->njv, 1)                                                                                               \
  X(armature_place, m->njoint, 144)                                                                                    \
  X(point_name, m->npoint, 1)                                                                                          \
  X(point_body, m->npoint, 1)                                                                                          \
  X(point_link, m->npoint, 1)                                                                                          \
  X(point_pose, m->npoint, 16)                                                                                         \
  X(G_start, m->ng + 1, 1)                                                                                             \
  X(G_index, m->G_start ? m->G_start[m->ng] : 0, 1)                                                                    \
  X(M_row, m->nv + 1, 1)                                                                                               \
  X(M_column, m->M_row ? m->M_row[m->nv] : 0, 1)                                                                       \
  X(M_start, m->nv + 1, 1)                                                                                             \
  X(M_place, m->M_start ? m->M_start[m->nv] : 0, 2)                                                                    \
  X(q_given, m->nv, 1)                                                                                                 \
  X(v_given, m->nv, 1)

// X(array of structs, member, how many)
#define PARTS(X)                                                                                                       \
  X(force, name, m->nforce)                                                                                            \
  X(force, dof, m->nforce)                                                                                             \
  X(force, z, m->nforce)                                                                                               \
  X(sensor, name, m->nsensor)                                                                                          \
  X(sensor, point, m->nsensor)                                                                                         \
  X(sensor, relative_to, m->nsensor)                                                                                   \
  X(sensor, formula, m->nsensor)                                                                                       \
  X(sensor, unit, m->nsensor)                                                                                          \
  X(driver, name, m->ndriver)                                                                                          \
  X(driver, dof, m->ndriver)                                                                                           \
  X(event, name, m->nevent)                                                                                            \
  X(closure, name, m->nclosure)                                                                                        \
  X(closure, word, m->nclosure)                                                                                        \
  X(closure, row, m->nclosure)                                                                                         \
  X(closure, np, m->nclosure)                                                                                          \
  X(coupling, name, m->ncoupling)                                                                                      \
  X(row, name, m->ng)                                                                                                  \
  X(row, tolerance, m->ng)                                                                                             \
  X(shape, name, m->nshape)                                                                                            \
  X(shape, body, m->nshape)                                                                                            \
  X(shape, type, m->nshape)                                                                                            \
  X(shape, mesh, m->nshape)                                                                                            \
  X(shape, use, m->nshape)                                                                                             \
  X(shape, has_color, m->nshape)                                                                                       \
  X(shape, material, m->nshape)                                                                                        \
  X(shape, group, m->nshape)                                                                                           \
  X(collider, name, m->ncollider)                                                                                      \
  X(collider, shape, m->ncollider)                                                                                     \
  X(set, name, m->nset)                                                                                                \
  X(set, most, m->nset)                                                                                                \
  X(mesh, name, m->nmesh)                                                                                              \
  X(mesh, file, m->nmesh)                                                                                              \
  X(mesh, nvertex, m->nmesh)                                                                                           \
  X(mesh, ntriangle, m->nmesh)

// X(array of structs, member that is several numbers in place, how many structs, how many numbers)
#define WIDE_PARTS(X)                                                                                                  \
  X(shape, size, m->nshape, 3)                                                                                         \
  X(shape, pose, m->nshape, 16)                                                                                        \
  X(shape, color, m->nshape, 4)

static const char* const names[] = {
#define NAME(member) #member,
    VALUES(NAME)
#undef NAME
#define NAME(member) "run_" #member,
        RUN(NAME)
#undef NAME
#define NAME(member, rows, width) #member,
            ARRAYS(NAME)
#undef NAME
#define NAME(array, member, count) #array "_" #member,
                PARTS(NAME)
#undef NAME
#define NAME(array, member, count, width) #array "_" #member,
                    WIDE_PARTS(NAME)
#undef NAME
};

const char* sr_model_array_name(int i) { return i >= 0 && i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL; }

// An array that the model does not have is empty. The pointer loses its const; `writable` states the permission.
static bool tell(srArray* out, const void* data, srType type, int rows, int width, size_t item, size_t stride) {
  *out = (srArray){.type = type, .ndim = width > 1 ? 2 : 1, .shape = {0, width}};
  out->stride[0] = (int)stride;
  out->stride[1] = (int)item;
  if (!data || rows <= 0) return true;
  memcpy(&out->data, &data, sizeof data);
  out->shape[0] = rows;
  return true;
}

static bool tell_value(srArray* out, const void* data, srType type, size_t item) {
  tell(out, data, type, 1, 1, item, item);
  out->ndim = 0;
  return true;
}

bool sr_model_array(const srModel* m, const char* name, srArray* out) {
#define FIND(member)                                                                                                   \
  if (strcmp(name, #member) == 0) return tell_value(out, &m->member, SR_TYPE_OF(m->member), sizeof m->member);
  VALUES(FIND)
#undef FIND
  const srRunSettings* run = sr_run_settings(m);
#define FIND(member)                                                                                                   \
  if (strcmp(name, "run_" #member) == 0)                                                                               \
    return tell_value(out, &run->member, SR_TYPE_OF(run->member), sizeof run->member);
  RUN(FIND)
#undef FIND
#define FIND(member, rows, width)                                                                                      \
  if (strcmp(name, #member) == 0)                                                                                      \
    return tell(out, m->member, SR_TYPE_OF(*m->member), rows, width, sizeof *m->member, width * sizeof *m->member);
  ARRAYS(FIND)
#undef FIND
#define FIND(array, member, count)                                                                                     \
  if (strcmp(name, #array "_" #member) == 0)                                                                           \
    return tell(out, (count) > 0 ? &m->array->member : NULL, SR_TYPE_OF(m->array->member), count, 1,                   \
                sizeof m->array->member, sizeof *m->array);
  PARTS(FIND)
#undef FIND
#define FIND(array, member, count, width)                                                                              \
  if (strcmp(name, #array "_" #member) == 0)                                                                           \
    return tell(out, (count) > 0 ? m->array->member : NULL, SR_TYPE_OF(*m->array->member), count, width,               \
                sizeof *m->array->member, sizeof *m->array);
  WIDE_PARTS(FIND)
#undef FIND
  return false;
}

bool sr_mesh_array(const srModel* m, int mesh, const char* name, srArray* out) {
  if (mesh < 0 || mesh >= m->nmesh) return false;
  const srMesh* x = &m->mesh[mesh];
  if (strcmp(name, "vertex") == 0)
    return tell(out, x->vertex, SR_TYPE_DOUBLE, x->nvertex, 3, sizeof *x->vertex, 3 * sizeof *x->vertex);
  if (strcmp(name, "triangle") == 0)
    return tell(out, x->triangle, SR_TYPE_INT, x->ntriangle, 3, sizeof *x->triangle, 3 * sizeof *x->triangle);
  return false;
}
