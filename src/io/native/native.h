// The native model format: what the reader adds to the elements of the language.
#ifndef SR_IO_NATIVE_NATIVE_H
#define SR_IO_NATIVE_NATIVE_H

#include <sarrus/spec.h>

#define SR_READER_MAX_INCLUDES 16

// Elements that exist only in files: ground, repeat, include, extend. They leave no definition in the spec.
typedef enum srFileElement {
  SR_FILE_GROUND,
  SR_FILE_REPEAT,
  SR_FILE_INCLUDE,
  SR_FILE_EXTEND,
  SR_FILE_ELEMENTS
} srFileElement;
const srElement* sr_file_element(srFileElement which);  // elements.c
#define SR_FILE_MOST_FIELDS 4

// The model as a text for a file in a folder, where its own files are seen from; NULL: in that of the model. To be given
// to sr_free; NULL when out of memory. write.c
char* sr_native_text(const srSpec* spec, const char* folder, size_t* size);

#endif
