// Kernels are compiled once for any processor and, where the build can (CMakeLists.txt), once more for x86-64-v3 (AVX2);
// dispatch.c chooses when the library is loaded. The files are the same and so are the bits of the results: the order of
// operations is written down and nothing is fused. This header, included before all others, gives each
// build its names.
#ifndef SR_KERNEL_NAMES_H
#define SR_KERNEL_NAMES_H

#ifdef SR_KERNELS
#define SR_KERNEL_JOIN_(name, build) name##_##build
#define SR_KERNEL_JOIN(name, build) SR_KERNEL_JOIN_(name, build)
#define sr_rnea SR_KERNEL_JOIN(sr_rnea, SR_KERNELS)
#define sr_crba SR_KERNEL_JOIN(sr_crba, SR_KERNELS)
#define sr_aba SR_KERNEL_JOIN(sr_aba, SR_KERNELS)
#define sr_aba_driven SR_KERNEL_JOIN(sr_aba_driven, SR_KERNELS)
#define sr_kinematics SR_KERNEL_JOIN(sr_kinematics, SR_KERNELS)
#define sr_velocity SR_KERNEL_JOIN(sr_velocity, SR_KERNELS)
#define sr_acceleration SR_KERNEL_JOIN(sr_acceleration, SR_KERNELS)
#define sr_transforms SR_KERNEL_JOIN(sr_transforms, SR_KERNELS)
#define sr_transforms_X SR_KERNEL_JOIN(sr_transforms_X, SR_KERNELS)
#define srm_sincos4 SR_KERNEL_JOIN(srm_sincos4, SR_KERNELS)
#endif

#endif
