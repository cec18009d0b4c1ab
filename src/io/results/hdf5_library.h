// The HDF5 library, loaded when a file of that kind is first written or read: linking to it would cost every start of the program
// 6 ms. Its functions are members of `h5`, with the library's names less "H5"; types and property classes are pointers, since they
// have values only once it is open.
#ifndef SARRUS_IO_HDF5_LIBRARY_H
#define SARRUS_IO_HDF5_LIBRARY_H

#include <hdf5.h>

#include <sarrus/base.h>

// Constants such as H5F_ACC_RDONLY call the library to open it; sr_hdf5_load has done so.
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

#if H5_VERSION_GE(1, 10, 7)
#define SR_HDF5_LOCKING(X) X(Pset_file_locking, H5Pset_file_locking)
#else
#define SR_HDF5_LOCKING(X)
#endif

// Member, symbol (a macro in some versions of the library).
#define SR_HDF5_FUNCTIONS(X)                                                                                           \
  X(open, H5open)                                                                                                      \
  X(dont_atexit, H5dont_atexit)                                                                                        \
  X(Aclose, H5Aclose)                                                                                                  \
  X(Acreate2, H5Acreate2)                                                                                              \
  X(Awrite, H5Awrite)                                                                                                  \
  X(Dclose, H5Dclose)                                                                                                  \
  X(Dcreate2, H5Dcreate2)                                                                                              \
  X(Dget_space, H5Dget_space)                                                                                          \
  X(Dget_type, H5Dget_type)                                                                                            \
  X(Dopen2, H5Dopen2)                                                                                                  \
  X(Dread, H5Dread)                                                                                                    \
  X(Dset_extent, H5Dset_extent)                                                                                        \
  X(Dvlen_reclaim, H5Dvlen_reclaim)                                                                                    \
  X(Dwrite, H5Dwrite)                                                                                                  \
  X(Eget_auto2, H5Eget_auto2)                                                                                          \
  X(Eset_auto2, H5Eset_auto2)                                                                                          \
  X(Fclose, H5Fclose)                                                                                                  \
  X(Fcreate, H5Fcreate)                                                                                                \
  X(Fflush, H5Fflush)                                                                                                  \
  X(Fopen, H5Fopen)                                                                                                    \
  X(Lexists, H5Lexists)                                                                                                \
  X(Literate, H5Literate)                                                                                              \
  X(Oget_info_by_name, H5Oget_info_by_name)                                                                            \
  X(Pclose, H5Pclose)                                                                                                  \
  X(Pcreate, H5Pcreate)                                                                                                \
  X(Pset_chunk, H5Pset_chunk)                                                                                          \
  X(Sclose, H5Sclose)                                                                                                  \
  X(Screate, H5Screate)                                                                                                \
  X(Screate_simple, H5Screate_simple)                                                                                  \
  X(Sget_simple_extent_dims, H5Sget_simple_extent_dims)                                                                \
  X(Sget_simple_extent_ndims, H5Sget_simple_extent_ndims)                                                              \
  X(Sget_simple_extent_npoints, H5Sget_simple_extent_npoints)                                                          \
  X(Sselect_hyperslab, H5Sselect_hyperslab)                                                                            \
  X(Tclose, H5Tclose)                                                                                                  \
  X(Tcopy, H5Tcopy)                                                                                                    \
  X(Tget_class, H5Tget_class)                                                                                          \
  X(Tget_size, H5Tget_size)                                                                                            \
  X(Tis_variable_str, H5Tis_variable_str)                                                                              \
  X(Tset_cset, H5Tset_cset)                                                                                            \
  X(Tset_size, H5Tset_size)                                                                                            \
  X(Tset_strpad, H5Tset_strpad)                                                                                        \
  SR_HDF5_LOCKING(X)

#define SR_HDF5_IDS(X)                                                                                                 \
  X(native_double, H5T_NATIVE_DOUBLE_g)                                                                                \
  X(ieee_f64le, H5T_IEEE_F64LE_g)                                                                                      \
  X(c_s1, H5T_C_S1_g)                                                                                                  \
  X(file_access, H5P_CLS_FILE_ACCESS_ID_g)                                                                             \
  X(dataset_create, H5P_CLS_DATASET_CREATE_ID_g)

typedef struct srHdf5Library {
#define SR_MEMBER(member, symbol) __typeof__(symbol)* member;
  SR_HDF5_FUNCTIONS(SR_MEMBER)
  SR_HDF5_IDS(SR_MEMBER)
#undef SR_MEMBER
} srHdf5Library;

extern srHdf5Library h5;

// Loads it, once. false: it is not on this machine, and a message about the file at `path` reports it.
bool sr_hdf5_load(const char* path, srMessages* messages);

#endif
