// Batches of four contacts in double precision (lanes.h).
#define REAL double
#define LANES 4
#define MASK long long
#define ROOT __builtin_sqrt
#define TINY 1e-150
#define BIG 1e150
#define KERNEL sr_lanes_double
#include "nonsmooth/lanes.h"
