// Volume, centroid and inertia of the solid inside a closed surface of triangles.
#ifndef SR_SOLID_H
#define SR_SOLID_H

// Volume; negative where the triangles are seen clockwise from outside, and then J is too. J: int (|r|^2 1 - r r^T) dV about
// the centroid, the inertia at density 1, 3 x 3. gap (or NULL): the sum of the area vectors by the sum of their
// lengths; 0 for a closed surface, else the rest depends on the point that tetrahedra are made with.
double srm_solid(const double* vertex, int nvertex, const int* triangle, int ntriangle, double centroid[3], double J[9],
                 double* gap);

#endif
