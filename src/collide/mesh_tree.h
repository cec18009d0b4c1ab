// A tree of the bounding boxes of triangles, built once.
#ifndef SR_COLLIDE_MESH_TREE_H
#define SR_COLLIDE_MESH_TREE_H

#include "collide/fat.h"

// 32 bytes. In depth-first order: the left child follows its parent, the right child is where the left one ends.
typedef struct srMeshNode {
  srFat fat;
  int end;   // the node after all those below it
  int leaf;  // a leaf: 8 x (first of its triangles in `order`) + their number; else -1
} srMeshNode;

typedef struct srMeshTree {
  int nnode;
  srMeshNode* node;  // 2 n
  int* order;        // n: triangles, by leaves
} srMeshTree;

// fat, centre: n boxes and n x 3 centres of the triangles; n > 0. node and order of the tree have room.
void sr_trimesh_tree_build(srMeshTree* tree, int n, const srFat* fat, const float* centre);

#endif
