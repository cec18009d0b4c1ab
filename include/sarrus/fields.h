// The model language, defined once: every element with its attributes. These lists generate the definition structs of spec.h,
// the reader and writer, the error messages ("did you mean ..."), and the reference in docs/using/format.md.
//
//   X(member, word, kind, count, default, unit, doc)
//     kind     NAME      a new name             REF     the name of something else ("body/point" for points)
//              WORD      one of fixed words (listed in `count` as "a|b|c")
//              FORMULA   numbers or formulas of parameters, fixed when the model is compiled; `count` of them
//                        ("1", "3", "3-4", "1-" any number)
//              LAW       formulas evaluated while the model moves (t, q(), v(), sensor(), states, motions); `count` of them
//              ACTIONS   assignments to states, "NAME = law; NAME = law"
//              FILE      a path, inside the folder of the model
//              PATH      a path of a file that is read as data only, relative to the folder of the model; may leave it
//     default  text as in the file; "" none; "!" the attribute is required
#ifndef SARRUS_FIELDS_H
#define SARRUS_FIELDS_H

#include <sarrus/words.h>

#define SR_MODEL_FIELDS(X)                                                                                             \
  X(version, "version", WORD, "1", "!", "", "version of the format")                                                   \
  X(name, "name", NAME, "1", "model", "", "name of the model")

#define SR_PARAMETER_FIELDS(X)                                                                                         \
  X(name, "name", NAME, "1", "!", "", "name of the parameter, usable in every formula")                                \
  X(value, "value", FORMULA, "1", "!", "", "value; may use parameters defined before it")                              \
  X(live, "live", WORD, "no|yes", "no", "",                                                                            \
    "can be changed between steps (docs/using/python.md): then only laws may use it, and it is a state with rate 0")

#define SR_OPTION_FIELDS(X) X(gravity, "gravity", FORMULA, "3", "0 0 -9.81", "m/s^2", "acceleration of gravity")

#define SR_MATERIAL_FIELDS(X)                                                                                          \
  X(name, "name", NAME, "1", "!", "", "name of the material")                                                          \
  X(density, "density", FORMULA, "1", "", "kg/m^3", "density, for the inertia of shapes; none: they add no mass")      \
  X(E, "E", FORMULA, "1", "", "Pa",                                                                                    \
    "Young's modulus, for the stiffness of contacts; none: rigid compared with the other")                             \
  X(nu, "nu", FORMULA, "1", "0.3", "", "Poisson's ratio")                                                              \
  X(restitution, "restitution", FORMULA, "1", "", "", "coefficient of restitution, 0 to 1")                            \
  X(mu_s, "mu-s", FORMULA, "1", "", "", "coefficient of static friction; default mu-k")                                \
  X(mu_k, "mu-k", FORMULA, "1", "", "", "coefficient of kinetic friction; default mu-s")                               \
  X(mu2, "mu2", FORMULA, "1", "", "", "kinetic friction along the friction-direction of a shape; default mu-k")

#define SR_PAIR_FIELDS(X)                                                                                              \
  X(materials, "materials", REF, "2", "!", "",                                                                         \
    "two materials: what follows holds between them instead of their cards")                                           \
  X(restitution, "restitution", FORMULA, "1", "", "", "coefficient of restitution, 0 to 1")                            \
  X(mu_s, "mu-s", FORMULA, "1", "", "", "coefficient of static friction")                                              \
  X(mu_k, "mu-k", FORMULA, "1", "", "", "coefficient of kinetic friction")                                             \
  X(mu2, "mu2", FORMULA, "1", "", "", "kinetic friction along the friction-direction of a shape")

#define SR_BODY_FIELDS(X)                                                                                              \
  X(name, "name", NAME, "1", "!", "", "name of the body")                                                              \
  X(parent, "parent", REF, "1", "ground", "", "body that the joint attaches it to")

#define SR_JOINT_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "", "", "name of the joint; default: the body's name")                                    \
  X(type, "type", WORD, SR_JOINT_LIST(SR_JOINT_WORD), "!", "", "kind of joint")                                        \
  X(axis, "axis", FORMULA, "3", "0 0 1", "", "axis in the joint frame (planar: the normal); any length but zero")      \
  X(axis2, "axis2", FORMULA, "3", "", "", "universal: second axis at q = 0, in the joint frame, not along the first")  \
  X(at, "at", FORMULA, "3", "0 0 0", "m", "origin of the joint frame in the parent's frame")                           \
  X(rot, "rot", FORMULA, "4", "", "", "orientation of the joint frame in the parent's: quaternion w x y z")            \
  X(rpy, "rpy", FORMULA, "3", "", "rad", "the same as roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll)")                   \
  X(q, "q", FORMULA, "1-", "", "rad or m", "initial position; default 0 (quaternions: identity)")                      \
  X(v, "v", FORMULA, "1-", "", "rad/s or m/s", "initial velocity; default 0")                                          \
  X(pitch, "pitch", FORMULA, "1", "", "m/rad", "helical: advance per radian")                                          \
  X(stiffness, "stiffness", FORMULA, "1", "0", "N/m or Nm/rad", "spring on every coordinate: -stiffness*(q - rest)")   \
  X(rest, "rest", FORMULA, "1-", "", "rad or m", "position where the spring is relaxed; default 0")                    \
  X(damping, "damping", FORMULA, "1", "0", "Ns/m or Nms/rad", "damper on every coordinate: -damping*v")                \
  X(natural_frequency, "natural-frequency", FORMULA, "1", "", "rad/s",                                                 \
    "instead of stiffness: I*natural-frequency^2, with the effective inertia I of the coordinate at reference")        \
  X(damping_ratio, "damping-ratio", FORMULA, "1", "", "", "instead of damping: 2*damping-ratio*sqrt(stiffness*I)")     \
  X(reference, "reference", FORMULA, "1-", "", "rad or m",                                                             \
    "position where effective inertias are evaluated, of this joint and of others; default 0")                         \
  X(limits, "limits", FORMULA, "2", "", "rad or m", "lower and upper end of travel, held by a one-sided stop")         \
  X(limit_stiffness, "limit-stiffness", FORMULA, "1", "1e5", "N/m or Nm/rad", "stiffness of the stop")                 \
  X(limit_damping, "limit-damping", FORMULA, "1", "1", "s/m or s/rad",                                                 \
    "at overshoot d: stiffness*d*(1 + x), while returning stiffness*d*exp(x); x = limit-damping*ddot")                 \
  X(limit_natural_frequency, "limit-natural-frequency", FORMULA, "1", "", "rad/s",                                     \
    "instead of limit-stiffness: I*limit-natural-frequency^2")                                                         \
  X(limit_damping_ratio, "limit-damping-ratio", FORMULA, "1", "", "",                                                  \
    "instead of limit-damping: damping ratio of the stop at an overshoot of 0.01 rad or m")                            \
  X(limit_law, "limit-law", REF, "1", "", "",                                                                          \
    "normal law of the stop instead, with exponent 1: " SR_NORMAL_LIST(SR_LAW_TEXT) "or one of a plugin")              \
  X(limit_restitution, "limit-restitution", FORMULA, "1", "", "", "of a limit-law that has one: 0 to 1")               \
  X(armature, "armature", FORMULA, "1", "0", "kg or kg m^2", "inertia of the drive, acts on the coordinate alone")     \
  X(effort, "effort", FORMULA, "1", "", "N or Nm",                                                                     \
    "largest force of its drive: kept for other programs, not enforced")                                               \
  X(speed, "speed", FORMULA, "1", "", "m/s or rad/s", "largest speed of its drive: kept, not enforced")                \
  X(role, "role", WORD, "independent|dependent", "", "",                                                               \
    "coordinate role, a hint for coordinate partitioning; default: none")

#define SR_INERTIAL_FIELDS(X)                                                                                          \
  X(mass, "mass", FORMULA, "1", "!", "kg", "mass")                                                                     \
  X(com, "com", FORMULA, "3", "0 0 0", "m", "centre of mass in the body's frame")                                      \
  X(inertia, "inertia", FORMULA, "3|6", "0 0 0", "kg m^2", "xx yy zz [xy xz yz] about the centre of mass")             \
  X(rot, "rot", FORMULA, "4", "", "", "orientation of the inertia's axes: quaternion w x y z")                         \
  X(rpy, "rpy", FORMULA, "3", "", "rad", "the same as roll, pitch, yaw")                                               \
  X(check, "check", WORD, "strict|warn", "strict", "",                                                                 \
    "of an inertia that no real body has, beyond rounding: an error, or where M stays regular a warning")

#define SR_POINT_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "!", "", "name of the point, unique in its body")                                         \
  X(at, "at", FORMULA, "3", "0 0 0", "m", "position in the body's frame")                                              \
  X(rot, "rot", FORMULA, "4", "", "", "orientation of the point's frame: quaternion w x y z")                          \
  X(rpy, "rpy", FORMULA, "3", "", "rad", "the same as roll, pitch, yaw")

#define SR_SHAPE_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "", "", "name of the shape")                                                              \
  X(type, "type", WORD, SR_SHAPE_LIST(SR_SHAPE_WORD), "!", "", "kind of shape")                                        \
  X(size, "size", FORMULA, "1-3", "", "m",                                                                             \
    "sphere: radius, negative: hollow, contacts are within; box: edges x y z; cylinder, capsule: radius and length "   \
    "along z (capsule: without the caps; cylinder of negative radius: a bore, contacts are within); ellipsoid: "       \
    "half-axes x y z; cone: radius of the base and height along z, the base at -height/2; heightfield: lengths along " \
    "x and y about the centre, and a factor of the heights; plane, hull, mesh, surface: none; z of a plane's frame "   \
    "is "                                                                                                              \
    "its normal")                                                                                                      \
  X(mesh, "mesh", REF, "1", "", "",                                                                                    \
    "mesh, hull (convex hull of its vertices): name of the <mesh>, in the shape's frame")                              \
  X(heights, "heights", FORMULA, "4-", "", "m",                                                                        \
    "heightfield: heights on a grid, in rows along x, from the least y on; what is below is solid")                    \
  X(columns, "columns", FORMULA, "1", "", "", "heightfield: number of heights in a row")                               \
  X(file, "file", FILE, "1", "", "", "heightfield: CSV file instead, without a head: a line for each row")             \
  X(x, "x", LAW, "1", "", "m", "surface: formula of u and v and of parameters")                                        \
  X(y, "y", LAW, "1", "", "m", "surface: the same for y")                                                              \
  X(z, "z", LAW, "1", "", "m", "surface: the same for z")                                                              \
  X(u, "u", FORMULA, "2", "", "", "surface: range of u, from and to")                                                  \
  X(v, "v", FORMULA, "2", "", "", "surface: range of v")                                                               \
  X(normal, "normal", WORD, "outward|inward", "outward", "",                                                           \
    "surface: (dx/du) cross (dx/dv) points out of the solid, or into it")                                              \
  X(use, "use", WORD, "both|collision|visual", "both", "", "what it is for; visual: no contact finds it")              \
  X(color, "color", FORMULA, "4", "", "", "red green blue alpha, 0 to 1, for pictures")                                \
  X(group, "group", NAME, "1", "", "", "group that contacts may name")                                                 \
  X(at, "at", FORMULA, "3", "0 0 0", "m", "centre in the body's frame")                                                \
  X(rot, "rot", FORMULA, "4", "", "", "orientation: quaternion w x y z")                                               \
  X(rpy, "rpy", FORMULA, "3", "", "rad", "the same as roll, pitch, yaw")                                               \
  X(density, "density", FORMULA, "1", "", "kg/m^3", "density: the shape adds its mass and inertia to the body")        \
  X(material, "material", REF, "1", "", "", "card that gives the density and what contacts need")                      \
  X(direction, "friction-direction", FORMULA, "3", "", "",                                                             \
    "direction in the shape's frame; along its projection on the surface friction is mu2, across it mu-k")             \
  X(turn, "friction-turn", FORMULA, "1", "0", "rad",                                                                   \
    "angle about the outward normal by which the projection is turned: rollers of a Mecanum wheel")                    \
  X(velocity, "surface-velocity", LAW, "3", "", "m/s", "of a conveyor: its surface in the shape's frame, formula of t")

#define SR_MESH_FIELDS(X)                                                                                              \
  X(name, "name", NAME, "1", "!", "", "name of the mesh")                                                              \
  X(file, "file", PATH, "1", "", "", "STL, OBJ or DAE file")                                                           \
  X(scale, "scale", FORMULA, "1|3", "1", "", "factor, of all or of x y z; negative mirrors")                           \
  X(vertices, "vertices", FORMULA, "9-", "", "m", "x1 y1 z1 x2 ... instead of a file, before the scale")               \
  X(faces, "faces", FORMULA, "3-", "", "",                                                                             \
    "triangles: three indices of vertices each, from 0, seen counterclockwise; a hull needs none")

#define SR_TORQUE_FIELDS(X)                                                                                            \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(joint, "joint", REF, "1", "!", "", "joint whose coordinate the law acts on")                                       \
  X(coordinate, "coordinate", FORMULA, "1", "0", "", "which velocity coordinate of the joint, from 0")                 \
  X(law, "law", LAW, "1", "!", "N or Nm", "force on the coordinate")

#define SR_DISTANCE_FORCE_FIELDS(X)                                                                                    \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(a, "a", REF, "1", "!", "", "first point: body/point or body")                                                      \
  X(b, "b", REF, "1", "!", "", "second point")                                                                         \
  X(law, "law", LAW, "1", "!", "N", "force along the line, > 0 pushes apart; z is the length, zdot its rate")

#define SR_SPRING_FIELDS(X)                                                                                            \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(a, "a", REF, "1", "!", "", "first point: body/point or body")                                                      \
  X(b, "b", REF, "1", "!", "", "second point")                                                                         \
  X(stiffness, "stiffness", FORMULA, "1", "!", "N/m", "stiffness")                                                     \
  X(length, "length", FORMULA, "1", "!", "m", "free length; with a preload: the length where its force is that")       \
  X(preload, "preload", FORMULA, "1", "0", "N",                                                                        \
    "force at that length, > 0 pushes the points apart: preload - stiffness*(z - length) - damping*zdot at distance "  \
    "z")                                                                                                               \
  X(damping, "damping", FORMULA, "1", "0", "Ns/m", "of a damper in parallel")

#define SR_DAMPER_FIELDS(X)                                                                                            \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(a, "a", REF, "1", "!", "", "first point: body/point or body")                                                      \
  X(b, "b", REF, "1", "!", "", "second point")                                                                         \
  X(damping, "damping", FORMULA, "1", "!", "Ns/m", "force -damping*zdot, zdot: rate of the distance")

#define SR_INERTER_FIELDS(X)                                                                                           \
  X(name, "name", NAME, "1", "", "", "name, also of its coordinate z; default: inerter and its number")                \
  X(a, "a", REF, "1", "", "", "first point: body/point or body")                                                       \
  X(b, "b", REF, "1", "", "", "second point")                                                                          \
  X(joint, "joint", REF, "1", "", "", "instead of two points: joint with one coordinate ...")                          \
  X(joint2, "joint2", REF, "1", "", "", "... and a second one")                                                        \
  X(inertance, "inertance", FORMULA, "1", "!", "kg",                                                                   \
    "force -inertance*zddot, z: distance of the points, along their line, or q(joint) - q(joint2); kg m^2 for angles")

#define SR_BUSHING_FIELDS(X)                                                                                           \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(a, "a", REF, "1", "!", "", "first frame: body/point or body")                                                      \
  X(b, "b", REF, "1", "!", "", "second frame")                                                                         \
  X(stiffness, "stiffness", FORMULA, "6|21|36", "!", "Nm/rad, N/m",                                                    \
    "about x y z, then along x y z of frame a; or a symmetric 6 x 6 matrix in this order: its upper triangle or all "  \
    "of it, row by row")                                                                                               \
  X(damping, "damping", FORMULA, "6|21|36", "0 0 0 0 0 0", "Nms/rad, Ns/m", "in the same form")                        \
  X(preload, "preload", FORMULA, "6", "0 0 0 0 0 0", "Nm, N",                                                          \
    "moment and force on b where both frames coincide, in the axes of frame a")

#define SR_TYRE_FIELDS(X)                                                                                              \
  X(name, "name", NAME, "1", "", "", "name, for reports and its states")                                               \
  X(wheel, "wheel", REF, "1", "!", "", "frame at the centre of the wheel, which spins with it: body/point or body")    \
  X(road, "road", REF, "1", "ground", "", "frame whose plane z = 0 is the road: body/point or body")                   \
  X(axis, "axis", FORMULA, "3", "0 1 0", "",                                                                           \
    "axis of the wheel in its frame; it rolls forward with a positive angular velocity about it")                      \
  X(radius, "radius", FORMULA, "1", "!", "m", "radius of the tyre without load")                                       \
  X(stiffness, "stiffness", FORMULA, "1", "!", "N/m", "radial stiffness")                                              \
  X(damping, "damping", FORMULA, "1", "0", "Ns/m", "radial damping at the load 'load'; grows with the load")           \
  X(load, "load", FORMULA, "1", "!", "N", "load that mu, slip-stiffness and damping are given for")                    \
  X(mu, "mu", FORMULA, "1|2", "!", "",                                                                                 \
    "friction: largest force over load; along and across the wheel, or one for both")                                  \
  X(slip_stiffness, "slip-stiffness", FORMULA, "1|2", "!", "N",                                                        \
    "force over slip where both are small; along and across")                                                          \
  X(shape, "shape", FORMULA, "1|2", "1.65 1.3", "",                                                                    \
    "shape factor C of the Magic Formula, above 0 and up to 2; along and across")                                      \
  X(curvature, "curvature", FORMULA, "1|2", "0", "", "curvature factor E, up to 1; along and across")                  \
  X(mu_fall, "mu-fall", FORMULA, "1", "0", "",                                                                         \
    "mu is divided by 1 + mu-fall*(N/load - 1) at the load N; from 0 to less than 1")                                  \
  X(peak_load, "peak-load", FORMULA, "1|2", "", "N",                                                                   \
    "load at which the slip stiffness is largest; default: it is proportional to the load")                            \
  X(relaxation_length, "relaxation-length", FORMULA, "1|2", "0", "m",                                                  \
    "distance in which the forces follow the slip; 0: at once")                                                        \
  X(tread_damping, "tread-damping", FORMULA, "1", "0", "s",                                                            \
    "with a relaxation-length, at a standstill: slip speed counts this many times as deflection")                      \
  X(low_speed, "low-speed", FORMULA, "1", "0.5", "m/s",                                                                \
    "without a relaxation-length, slip is over no smaller speed than this; with one, tread-damping acts below it")

#define SR_FORCE_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(body, "body", REF, "1", "!", "", "body that the force acts on")                                                    \
  X(at, "at", FORMULA, "3", "0 0 0", "m", "point of action in the body's frame")                                       \
  X(f, "f", LAW, "3", "0 0 0", "N", "force in inertial axes")                                                          \
  X(m, "m", LAW, "3", "0 0 0", "Nm", "moment in inertial axes")

// Parameters of friction laws, for joints and contacts alike.
#define SR_BRISTLE_FIELDS(X)                                                                                           \
  X(v0, "v0", FORMULA, "1", "1e-3", "m/s or rad/s", "speed up to which a regularised law rises (ambrosio: is 0)")      \
  X(v1, "v1", FORMULA, "1", "1e-2", "m/s or rad/s", "speed from which ambrosio gives the full force")                  \
  X(xi, "xi", FORMULA, "1", "100", "s/m or s/rad", "decay of bengisu-akay after its peak")                             \
  X(vs, "vs", FORMULA, "1", "1e-2", "m/s or rad/s", "Stribeck speed: limit Fk + (F - Fk) exp(-(v/vs)^delta)")          \
  X(delta, "delta", FORMULA, "1", "2", "", "Stribeck exponent, 1 or more")                                             \
  X(elements, "elements", FORMULA, "1", "8", "", "iwan: number of elements")                                           \
  X(spread, "spread", FORMULA, "1", "1", "", "iwan: strengths are between 1 - spread and 1 + spread of their mean")    \
  X(tau, "tau", FORMULA, "1", "1e-4", "s", "time constant of the bristles where the method has no stage length")

#define SR_FRICTION_FIELDS(X)                                                                                          \
  X(name, "name", NAME, "1", "", "", "name, for reports and its states")                                               \
  X(joint, "joint", REF, "1", "!", "", "joint whose coordinate the friction acts on")                                  \
  X(coordinate, "coordinate", FORMULA, "1", "0", "", "which velocity coordinate of the joint, from 0")                 \
  X(law, "law", REF, "1", "kikuuwe", "",                                                                               \
    SR_FRICTION_LIST(SR_LAW_TEXT) "or one of a plugin; several: 'choice' takes one; coulomb: not continuous")          \
  X(choice, "choice", FORMULA, "1", "0", "", "which of several laws, from 0: so a parameter can choose")               \
  X(F, "F", FORMULA, "1", "!", "N or Nm", "largest force at rest")                                                     \
  X(Fk, "Fk", FORMULA, "1", "", "N or Nm", "force while it slips; default F")                                          \
  X(K, "K", FORMULA, "1", "", "N/m or Nm/rad", "stiffness of the bristles; needed by laws that have some")             \
  X(B, "B", FORMULA, "1", "0", "Ns/m or Nms/rad", "damping of the bristles")                                           \
  X(D, "D", FORMULA, "1", "0", "Ns/m or Nms/rad", "viscous friction while it slips")                                   \
  SR_BRISTLE_FIELDS(X)

#define SR_CONTACT_FIELDS(X)                                                                                           \
  X(name, "name", NAME, "1", "", "", "name, for reports and its states")                                               \
  X(a, "a", REF, "1", "", "", "a shape (body/shape, or its name), a group, or a body: all its shapes")                 \
  X(b, "b", REF, "1", "", "", "the other one")                                                                         \
  X(pairs, "default", WORD, "all|materials", "", "",                                                                   \
    "instead of a and b: all pairs of shapes that may touch; materials: of those that have a material")                \
  X(joined, "joined", WORD, "no|yes", "no", "",                                                                        \
    "of default: yes: also shapes of bodies that a joint connects directly")                                           \
  X(gap, "gap", LAW, "1", "", "m", "instead of a and b: distance as a formula of t, q() and positions by sensor()")    \
  X(slip, "slip", LAW, "1", "", "m", "of a gap: formula of the same kind whose rate is the slip speed")                \
  X(slip_speed, "slip-speed", LAW, "1", "", "m/s", "of a gap: slip speed itself, linear in velocities, instead")       \
  X(normal, "normal", REF, "1", "exact", "",                                                                           \
    SR_NORMAL_LIST(SR_LAW_TEXT) "or one of a plugin; several: 'normal-choice' takes one of them")                      \
  X(normal_choice, "normal-choice", FORMULA, "1", "0", "", "which of several normal laws, from 0")                     \
  X(friction, "friction", REF, "1", "kikuuwe", "",                                                                     \
    "none, " SR_FRICTION_LIST(SR_LAW_TEXT) "or one of a plugin; several: 'friction-choice' takes one; coulomb: rigid") \
  X(friction_choice, "friction-choice", FORMULA, "1", "0", "", "which of several friction laws, from 0")               \
  X(K, "K", FORMULA, "1", "", "N/m^n", "stiffness; default by Hertz from E, nu of the cards and the radii")            \
  X(n, "n", FORMULA, "1", "", "", "exponent of the penetration; default 1.5 (hooke, kelvin-voigt: always 1)")          \
  X(D, "D", FORMULA, "1", "", "Ns/m", "damping of kelvin-voigt")                                                       \
  X(restitution, "restitution", FORMULA, "1", "", "", "0 to 1; default from the <pair> or the cards")                  \
  X(floor, "floor", FORMULA, "1", "1e-3", "m/s", "lower bound of the approach velocity at first touch")                \
  X(mu_s, "mu-s", FORMULA, "1", "", "", "static friction; default from the <pair> or the cards, else mu-k")            \
  X(mu_k, "mu-k", FORMULA, "1", "", "", "kinetic friction; default from the <pair> or the cards, else mu-s")           \
  X(mu2, "mu2", FORMULA, "1", "", "",                                                                                  \
    "kinetic friction along the friction-direction of a shape, static friction in proportion; default from the "       \
    "<pair> or the card, else mu-k")                                                                                   \
  X(mu_v, "mu-v", FORMULA, "1", "0", "s/m", "viscous friction per newton of normal force")                             \
  X(mu_roll, "mu-roll", FORMULA, "1", "0", "m", "lever arm of the rolling resistance")                                 \
  X(mu_spin, "mu-spin", FORMULA, "1", "0", "m", "lever arm of the resistance to spinning about the normal")            \
  X(relaxation, "relaxation-length", FORMULA, "1", "", "m",                                                            \
    "of a wheel with a tyre: distance in which its bristles are renewed; force per slip bristle-K times it")           \
  X(bristle_K, "bristle-K", FORMULA, "1", "", "N/m", "stiffness of the bristles; default K of a law with exponent 1")  \
  X(bristle_B, "bristle-B", FORMULA, "1", "0", "Ns/m", "damping of the bristles")                                      \
  X(most, "most", FORMULA, "1", "", "",                                                                                \
    "pairs that may be in contact at the same time; if given, or with more than 64 pairs: no states or columns of "    \
    "their own")                                                                                                       \
  SR_BRISTLE_FIELDS(X)

#define SR_EXCLUDE_FIELDS(X)                                                                                           \
  X(a, "a", REF, "1", "!", "", "a shape (body/shape, or its name), a group, or a body: all its shapes")                \
  X(b, "b", REF, "1", "!", "", "the other one")

#define SR_STATE_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "!", "", "name of the state, usable in every law")                                        \
  X(initial, "initial", FORMULA, "1", "0", "", "value at the start")                                                   \
  X(rate, "rate", LAW, "1", "!", "1/s", "its time derivative")

#define SR_EVENT_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "", "", "name, for reports; default: event and its number")                               \
  X(when, "when", LAW, "1", "!", "", "formula whose change of sign is the event")                                      \
  X(direction, "direction", WORD, "both|rising|falling", "both", "", "which changes count")                            \
  X(action, "do", ACTIONS, "1", "", "", "what happens then: STATE, PARAMETER or v(joint) = formula, separated by ;")   \
  X(stop, "stop", WORD, "no|yes", "no", "", "the run ends there")

#define SR_DRIVER_FIELDS(X)                                                                                            \
  X(joint, "joint", REF, "1", "!", "", "driven joint")                                                                 \
  X(coordinate, "coordinate", FORMULA, "1", "0", "", "which coordinate of the joint, from 0; not ball, not free")      \
  X(motion, "motion", LAW, "1", "!", "rad or m", "position as a formula of t; derivatives are taken by the program")

#define SR_CLOSURE_FIELDS(X)                                                                                           \
  X(name, "name", NAME, "1", "", "", "name; default: closure and its number")                                          \
  X(type, "type", WORD, SR_CLOSURE_LIST(SR_CLOSURE_WORD), "!", "", "kind of closure; weld is body, distance is rod")   \
  X(a, "a", REF, "1", "!", "", "first frame: body/point or body (roll: the centre of the disc or sphere)")             \
  X(b, "b", REF, "1", "!", "", "second frame (roll: a frame whose z is the normal of the plane)")                      \
  X(axis, "axis", FORMULA, "3", "", "",                                                                                \
    "axis, the same components in both frames; planar, point-plane: the normal; universal: fixed in a; roll: axis of " \
    "the disc in a, none for a sphere; default 0 0 1")                                                                 \
  X(axis2, "axis2", FORMULA, "3", "", "", "universal: second axis, fixed in b")                                        \
  X(pitch, "pitch", FORMULA, "1", "", "m/rad", "helical: advance per radian")                                          \
  X(length, "length", FORMULA, "1", "", "m", "rod, distance: its length")                                              \
  X(radius, "radius", FORMULA, "1", "", "m", "roll: radius of the disc or sphere")                                     \
  X(shape, "shape", WORD, "disc|sphere", "", "", "roll: default disc where an axis is given, else sphere")             \
  X(normal, "normal", FORMULA, "3", "", "",                                                                            \
    "ball: only the two equations perpendicular to it, for planar loops; in the axes of the youngest common ancestor") \
  X(tolerance, "tolerance", FORMULA, "1", "1e-8", "m or rad", "largest residual that an assembled loop may keep")      \
  X(law, "law", REF, "1", "", "", "user: law registered by a plugin or by C code")                                     \
  X(parameters, "parameters", FORMULA, "1-", "", "", "user: numbers passed to the law, in its order")

#define SR_COUPLING_FIELDS(X)                                                                                          \
  X(name, "name", NAME, "1", "", "", "name; default: coupling and its number")                                         \
  X(joint, "joint", REF, "1", "!", "", "joint with one coordinate that follows")                                       \
  X(to, "to", REF, "1-", "!", "", "joints with one coordinate that lead; names with blanks are separated by commas")   \
  X(ratio, "ratio", FORMULA, "1-", "1", "",                                                                            \
    "of each joint of 'to': q(joint) = ratio*q(to) + offset, or the sum over several joints")                          \
  X(offset, "offset", FORMULA, "1", "0", "rad or m", "see ratio")

#define SR_GEAR_FIELDS(X)                                                                                              \
  X(name, "name", NAME, "1", "", "", "name; default: gear and its number")                                             \
  X(members, "members", REF, "2-", "!", "",                                                                            \
    "bodies in mesh: gears (revolute) and racks (prismatic); ground: fixed there")                                     \
  X(teeth, "teeth", FORMULA, "2-", "", "",                                                                             \
    "number of teeth of each; negative where it turns the other way about its axis")                                   \
  X(radius, "radius", FORMULA, "2-", "", "m",                                                                          \
    "instead of teeth: pitch radius of each, likewise; of a rack 1, or -1 where it moves the other way")               \
  X(carrier, "carrier", REF, "1", "", "",                                                                              \
    "body that carries the axes, with respect to which they roll; default: the parent of the members")

#define SR_CONSTRAINT_FIELDS(X)                                                                                        \
  X(name, "name", NAME, "1", "", "", "name; default: constraint and its number")                                       \
  X(expr, "expr", LAW, "1", "", "", "formula of t, q() and sensor() that is kept at zero, or left = right")            \
  X(velocity, "velocity", LAW, "1", "", "", "formula linear in velocities, kept at zero, instead (nonholonomic)")      \
  X(tolerance, "tolerance", FORMULA, "1", "1e-8", "", "largest residual that may be left at the start")

#define SR_MOTION_FIELDS(X)                                                                                            \
  X(name, "name", NAME, "1", "!", "", "name; called in formulas as name(t)")                                           \
  X(type, "type", WORD, "cubic|quintic|trapezoid|sweep", "!", "", "kind of motion")                                    \
  X(points, "points", FORMULA, "4-", "", "", "cubic, quintic: x1 y1 x2 y2 ...")                                        \
  X(file, "file", FILE, "1", "", "", "cubic, quintic: CSV file with the points instead")                               \
  X(column, "column", FORMULA, "1", "1", "", "column of the values in the file; column 0 is x")                        \
  X(ends, "ends", WORD, "natural|clamped|periodic|not-a-knot", "clamped", "",                                          \
    "cubic: second or first derivative zero at both ends; the points repeat (the last y is the first); or no "         \
    "condition "                                                                                                       \
    "there: the third derivative is continuous at the second and the last but one point")                              \
  X(start, "start", FORMULA, "1", "0", "s", "trapezoid, sweep: where it begins")                                       \
  X(from, "from", FORMULA, "1", "0", "", "trapezoid: value before")                                                    \
  X(to, "to", FORMULA, "1", "", "", "trapezoid: value after")                                                          \
  X(speed, "speed", FORMULA, "1", "", "1/s", "trapezoid: largest speed")                                               \
  X(acceleration, "acceleration", FORMULA, "1", "", "1/s^2", "trapezoid: acceleration and deceleration")               \
  X(duration, "duration", FORMULA, "1", "", "s", "sweep: time from f0 to f1")                                          \
  X(amplitude, "amplitude", FORMULA, "1", "", "", "sweep: amplitude")                                                  \
  X(f0, "f0", FORMULA, "1", "", "Hz", "sweep: frequency at the start")                                                 \
  X(f1, "f1", FORMULA, "1", "", "Hz", "sweep: frequency at the end")

#define SR_TABLE_FIELDS(X)                                                                                             \
  X(name, "name", NAME, "1", "!", "", "name; called in formulas as name(x, y)")                                        \
  X(type, "type", WORD, "linear|cubic", "!", "", "interpolation: linear or cubic in each argument")                    \
  X(x, "x", FORMULA, "2-", "", "", "grid: values of the first argument, in increasing order")                          \
  X(y, "y", FORMULA, "2-", "", "", "grid: values of the second argument, in increasing order")                         \
  X(values, "values", FORMULA, "4-", "", "", "values: at the first x for all y, then at the second x, ...")            \
  X(file, "file", FILE, "1", "", "",                                                                                   \
    "CSV file with the grid and the values instead: y in the first row, x in the first column")                        \
  X(ends, "ends", WORD, "natural|clamped|periodic", "clamped", "",                                                     \
    "ends of x: second or first derivative zero, beyond it along the end tangent or constant; or the values repeat")   \
  X(ends_y, "ends-y", WORD, "natural|clamped|periodic", "", "", "the same for y; default: as x")

#define SR_SENSOR_FIELDS(X)                                                                                            \
  X(name, "name", NAME, "1", "!", "", "name of the sensor; in laws sensor(name, x) or, of a formula, sensor(name)")    \
  X(point, "point", REF, "1", "", "", "frame that is measured: body/point or body")                                    \
  X(relative_to, "relative-to", REF, "1", "ground", "", "frame that it is measured in and expressed in")               \
  X(expr, "expr", LAW, "1", "", "", "a scalar formula instead of a frame")                                             \
  X(unit, "unit", NAME, "1", "", "", "unit of the formula or of the law, for the result file")                         \
  X(law, "law", REF, "1", "", "", "law of a plugin or of C code, which makes one number of the motion of the frame")   \
  X(parameters, "parameters", FORMULA, "1-", "", "", "numbers passed to the law, in its order")

#define SR_RECORD_FIELDS(X)                                                                                            \
  X(what, "what", REF, "1", "!", "",                                                                                   \
    "name of a column, or a pattern with * and ?: reaction(crankpin).*; `sarrus run MODEL --record list` lists them")

#define SR_USER_FIELDS(X)                                                                                              \
  X(name, "name", NAME, "1", "", "", "name, for reports")                                                              \
  X(law, "law", REF, "1", "!", "", "law registered by a plugin or by C code")                                          \
  X(joint, "joint", REF, "1", "", "", "law of a joint: the joint")                                                     \
  X(coordinate, "coordinate", FORMULA, "1", "0", "", "law of a joint: which velocity coordinate, from 0")              \
  X(point, "point", REF, "1", "", "", "law of a point: body/point or body")                                            \
  X(a, "a", REF, "1", "", "", "law of a link or of two frames: the first")                                             \
  X(b, "b", REF, "1", "", "", "law of a link or of two frames: the second")                                            \
  X(parameters, "parameters", FORMULA, "1-", "", "", "numbers passed to the law, in its order")                        \
  X(tau, "tau", FORMULA, "1", "1e-4", "s", "time constant passed to the law where the method has none")

#define SR_PLUGIN_FIELDS(X)                                                                                            \
  X(library, "library", FILE, "1", "!", "",                                                                            \
    "shared library with laws and functions: a name, searched for next to the model, or a path in its folder")

#define SR_RUN_FIELDS(X)                                                                                               \
  X(t_end, "t-end", FORMULA, "1", "1", "s", "end of the simulation")                                                   \
  X(method, "method", WORD, SR_METHOD_LIST(SR_METHOD_WORD), "auto", "", "integrator")                                  \
  X(contact, "contact", WORD, SR_CONTACT_MODE_LIST(SR_CONTACT_MODE_WORD), "continuous", "",                            \
    "by force laws, or rigid: in steps of fixed length by the method moreau, or by events")                            \
  X(impact, "impact", WORD, SR_IMPACT_RULE_LIST(SR_IMPACT_RULE_WORD), "auto", "",                                      \
    "contact event: law of restitution; auto: Poisson's where there is friction, else Newton's")                       \
  X(impact_friction, "impact-friction", WORD, SR_IMPACT_FRICTION_LIST(SR_IMPACT_FRICTION_WORD), "auto", "",            \
    "against the slip after each phase (algebraic) or at every moment (shock); auto: shock with Stronge's law")        \
  X(impact_order, "impact-order", WORD, SR_IMPACT_ORDER_LIST(SR_IMPACT_ORDER_WORD), "auto", "",                        \
    "impacts at one instant: together, or one after the other; auto: sequential with friction shock")                  \
  X(step, "step", FORMULA, "1", "1e-3", "s", "step of fixed-step methods and of control fixed")                        \
  X(rtol, "rtol", FORMULA, "1", "1e-6", "", "relative tolerance of adaptive methods")                                  \
  X(atol, "atol", FORMULA, "1", "1e-9", "", "absolute tolerance of adaptive methods")                                  \
  X(control, "control", WORD, SR_CONTROL_LIST(SR_CONTROL_WORD), "default", "",                                         \
    "step of adaptive methods; positions: by their error, rtol and atol 1e-4 if not given; fixed: of length step")     \
  X(rho, "rho", FORMULA, "1", "0.8", "", "generalized-alpha: spectral radius at infinity, 0 to 1")                     \
  X(family, "family", WORD, SR_FAMILY_LIST(SR_FAMILY_WORD), "chung-hulbert", "",                                       \
    "generalized-alpha: parameters from rho")                                                                          \
  X(theta, "theta", FORMULA, "1", "1", "",                                                                             \
    "moreau: part of the velocity at the end of a step in its motion, 0.5 to 1")                                       \
  X(sleep, "sleep", FORMULA, "1", "", "s",                                                                             \
    "moreau: what rests for so long is put to sleep until something moves it; default never")                          \
  X(sleep_speed, "sleep-speed", FORMULA, "1", "0.01", "m/s",                                                           \
    "moreau: speed of rest for sleep; also of the contacts about centers of mass, and in rad/s of joints")             \
  X(tangent, "tangent", WORD, SR_TANGENT_LIST(SR_TANGENT_WORD), "exact", "", "matrix of implicit methods")             \
  X(every, "every", FORMULA, "1", "", "s", "time between rows of the result; default t-end/1000")                      \
  X(stabilization, "stabilization", WORD, SR_STABILIZATION_LIST(SR_STABILIZATION_WORD), "", "",                        \
    "how euler, rk4 and dopri5 keep constraints; default projection")                                                  \
  X(alpha, "alpha", FORMULA, "1", "10", "1/s", "baumgarte: weight of the velocity violation, 2*alpha")                 \
  X(beta, "beta", FORMULA, "1", "10", "1/s", "baumgarte: weight of the position violation, beta^2")                    \
  X(metric, "metric", WORD, "mass|identity", "mass", "", "measure of the least correction in projections")             \
  X(penalty_stiffness, "penalty-stiffness", FORMULA, "1", "1e6", "N/m",                                                \
    "penalty: stiffness of joints and closures against displacement")                                                  \
  X(penalty_rotation, "penalty-rotation", FORMULA, "1", "1e4", "Nm/rad",                                               \
    "penalty: stiffness of joints and closures against rotation")                                                      \
  X(penalty_damping, "penalty-damping", FORMULA, "1", "1e-4", "s", "penalty: ratio of damping to stiffness")           \
  X(penalty_inertia, "penalty-inertia", FORMULA, "1", "", "kg m^2",                                                    \
    "penalty: added to the inertia of bodies that have less about an axis; default none, they are refused")

// Elements with a definition struct:  X(MEMBER, member, Name, word, where, doc)
//   where: "sarrus" the top level, "body" inside a body, "body|ground" inside a body or the ground, "" the root itself
#define SR_ELEMENT_LIST(X)                                                                                             \
  X(MODEL, model, Model, "sarrus", "", "root of a model file")                                                         \
  X(PARAMETER, parameter, Parameter, "parameter", "sarrus", "a named number; --set NAME=VALUE overrides it")           \
  X(OPTION, option, Option, "option", "sarrus", "settings of the whole model")                                         \
  X(MATERIAL, material, Material, "material", "sarrus", "a material card")                                             \
  X(PAIR, pair, Pair, "pair", "sarrus", "what holds between two materials instead of their cards")                     \
  X(MESH, mesh, Mesh, "mesh", "sarrus", "a surface of triangles that shapes may have")                                 \
  X(BODY, body, Body, "body", "sarrus", "a rigid body and the joint that attaches it")                                 \
  X(JOINT, joint, Joint, "joint", "body", "joint between the parent and this body; without one the body is free")      \
  X(INERTIAL, inertial, Inertial, "inertial", "body", "mass, centre and inertia")                                      \
  X(POINT, point, Point, "point", "body|ground", "a named point and frame")                                            \
  X(SHAPE, shape, Shape, "shape", "body|ground", "a shape; with a density it adds mass and inertia")                   \
  X(MOTION, motion, Motion, "motion", "sarrus", "a named function for formulas and drivers")                           \
  X(TABLE, table, Table, "table", "sarrus", "a named function of two arguments, by its values on a grid")              \
  X(STATE, state, State, "state", "sarrus", "a user state with its rate")                                              \
  X(SENSOR, sensor, Sensor, "sensor", "sarrus", "something measured and reported")                                     \
  X(RECORD, record, Record, "record", "sarrus", "columns that a run adds to its results")                              \
  X(EVENT, event, Event, "event", "sarrus", "something that happens when a formula changes its sign")                  \
  X(DRIVER, driver, Driver, "driver", "sarrus", "prescribes a joint coordinate as a function of time")                 \
  X(CLOSURE, closure, Closure, "closure", "sarrus", "closes a loop: constrains two frames to each other")              \
  X(COUPLING, coupling, Coupling, "coupling", "sarrus", "ties a joint coordinate to others: mimic, differentials")     \
  X(GEAR, gear, Gear, "gear", "sarrus", "gears and racks in mesh: all have the same pitch-line speed")                 \
  X(CONSTRAINT, constraint, Constraint, "constraint", "sarrus", "a constraint by formula")                             \
  X(TORQUE, torque, Torque, "torque", "sarrus", "force or torque on a joint coordinate")                               \
  X(DISTANCE_FORCE, distance_force, DistanceForce, "link", "sarrus", "force along the line between two points")        \
  X(SPRING, spring, Spring, "spring", "sarrus", "linear spring along the line between two points")                     \
  X(DAMPER, damper, Damper, "damper", "sarrus", "linear damper along the line between two points")                     \
  X(INERTER, inerter, Inerter, "inerter", "sarrus",                                                                    \
    "inertia against the relative acceleration of two points or joints")                                               \
  X(BUSHING, bushing, Bushing, "bushing", "sarrus", "spring-damper in six directions between two frames")              \
  X(TYRE, tyre, Tyre, "tyre", "sarrus", "tyre of a wheel on a flat road, by the Magic Formula")                        \
  X(FORCE, force, Force, "force", "sarrus", "external force and moment at a point of a body")                          \
  X(FRICTION, friction, Friction, "friction", "sarrus", "dry friction of a joint coordinate")                          \
  X(CONTACT, contact, Contact, "contact", "sarrus", "contact between shapes, or by a gap function")                    \
  X(EXCLUDE, exclude, Exclude, "exclude", "sarrus", "shapes that do not touch each other, whatever a contact says")    \
  X(USER, user, User, "user", "sarrus", "a law from a plugin or from C code")                                          \
  X(PLUGIN, plugin, Plugin, "plugin", "sarrus", "loads laws and functions from a shared library")                      \
  X(RUN, run, Run, "run", "sarrus", "defaults for `sarrus run`")

#endif
