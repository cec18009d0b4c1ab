// The native model format: what the reader adds to the elements of the language.
#ifndef SR_IO_NATIVE_H
#define SR_IO_NATIVE_H

#include <sarrus/spec.h>

#define SR_READER_MAX_ERRORS 100
#define SR_READER_MAX_INCLUDES 16
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SR_READER_MAX_ELEMENTS 20000  // a fuzzer would spend its time in long repeats
#else
#define SR_READER_MAX_ELEMENTS 2000000  // elements and turns of repeats, after all repeats are written out
#endif

// Elements that exist only in files: ground, repeat, include. They leave no definition in the spec.
typedef enum srFileElement { SR_FILE_GROUND, SR_FILE_REPEAT, SR_FILE_INCLUDE, SR_FILE_ELEMENTS } srFileElement;
const srElement* sr_file_element(srFileElement which);

#endif
