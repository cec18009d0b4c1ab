// Volume, centroid and second moments of the solid inside a closed surface of triangles.
#ifndef SR_SOLID_H
#define SR_SOLID_H

// Volume; negative where the triangles are seen clockwise from outside. moments: int (x - c)(x - c)^T dV about the centroid,
// row-major. open: the sum of the area vectors by the sum of their lengths, 0 for a closed surface; then the rest depends
// on the point that tetrahedra are made with, the middle of the box around the vertices.
double srm_solid(const double* vertex, int nvertex, const int* triangle, int ntriangle, double centroid[3],
                 double moments[9], double* open);

#endif
