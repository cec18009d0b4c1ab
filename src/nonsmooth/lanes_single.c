// Batches of eight contacts in single precision (lanes.h).
#define REAL float
#define LANES 8
#define MASK int
#define ROOT __builtin_sqrtf
#define TINY 1e-15f
#define BIG 1e15f
#define KERNEL sr_lanes_single
#include "nonsmooth/lanes.h"
