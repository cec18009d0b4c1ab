// Volume, centroid and inertia of the solid inside a closed surface of triangles.
#ifndef SR_SOLID_H
#define SR_SOLID_H

// Volume; negative where the triangles are seen clockwise from outside, and then J is too. J: int (|r|^2 1 - r r^T) dV about
// the centroid, the inertia at density 1, 3 x 3. gap (or NULL): the sum of the area vectors by the sum of their
// lengths; 0 for a closed surface, else the rest depends on the point that tetrahedra are made with.
double srm_solid(const double* vertex, int nvertex, const int* triangle, int ntriangle, double centroid[3], double J[9],
                 double* gap);

// Which part of a surface has mass.
typedef enum srmFilling {
  SRM_FILLED,           // its inside: tetrahedra count with their sign
  SRM_FILLED_UNSIGNED,  // every tetrahedron as positive: too much where the surface is not star-shaped
  SRM_SHELL             // the surface itself, at density 1 by area
} srmFilling;
// Volume (SRM_SHELL: area) as MuJoCo's mesh compiler has it: tetrahedra are made with the centroid of the surface, which
// gives the centroid of the filling, and then with that one. The same as srm_solid for SRM_FILLED and a closed surface.
// The inside of a surface that is open depends on this choice of points. J about the centroid, at density 1.
double srm_filled(const double* vertex, const int* triangle, int ntriangle, srmFilling filling, double centroid[3],
                  double J[9]);

#endif
