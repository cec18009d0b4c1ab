// Printing of straight-line code. A language is a file with the syntax of its expressions and functions, and a row of the table in language.c.
#ifndef SR_SYMBOLIC_EMIT_H
#define SR_SYMBOLIC_EMIT_H

#include "symbolic/code.h"
#include "symbolic/tree.h"

typedef struct srEmitArray {  // argument of a function, in or out
  const char* name;
  int rows, columns;  // columns 1: a vector
  const char* about;
} srEmitArray;

typedef struct srEmitFunction {
  const char* name;   // "accel"
  const char* about;  // a sentence
  const srCode* code;
  int nin, nout;
  srEmitArray in[8], out[4];
  const int* place;  // of each output of the code in the arrays of outputs, one after the other; ascending
  int nnote;
  const srSymNote* note;
  srOperations operations;
} srEmitFunction;

typedef struct srEmitEntry {
  char array;  // q or v
  int index;
  const char *name, *unit;
} srEmitEntry;

typedef struct srEmitUnit {
  const char* model;          // an identifier
  const char* title;          // the model's name
  const char* source;         // what it was made from: "sarrus 0.2.0 gen arm6.xml --what accel"
  const srEmitEntry* legend;  // what the entries of q, v mean
  int nlegend;
  int nq, nv;
  int nfunction;
  const srEmitFunction* function;
} srEmitUnit;

#define SR_EMIT_FILES 24  // at most
typedef struct srEmitFile {
  const char* name;
  srText text;
} srEmitFile;

typedef struct srLanguage {
  const char* word;                                                    // c, python, ...
  int (*write)(srPool* pool, const srEmitUnit* unit, srEmitFile* to);  // returns how many files
} srLanguage;
const srLanguage* sr_language_find(const char* word);     // NULL: unknown
int sr_language_words(const char** words, int capacity);  // how many

// What statements look like in a language.
typedef struct srSyntax {
  const char* statement;     // before the value of a name: "  const real %s = "
  const char* end;           // ";\n"
  const char* comment;       // "  // "
  const char* output;        // before the index of an output: "  %s"
  const char* constant[2];   // around an output that is a number
  const char* number[2];     // around a number, where literals have no type of their own; NULL: nothing
  int base;                  // first index
  const char *open, *close;  // of an index: "[" "]"
  const char* two;           // format of two indices; NULL: matrices are by rows, with one index
  const char* const*
      call;  // by srOp: its text with %s for an argument, %f for one that is a factor. + * / are written by emit.c
} srSyntax;

// Sines and cosines of angles, sums of inputs, are sine[i], cosine[i] of the angle i of this list: a language computes them before the statements.
int sr_emit_angles(srPool* pool, const srEmitFunction* f, int** angles);  // these values, and how many
void sr_emit_angle(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, int value, srText* to);
void sr_emit_sines(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, const char* open, const char* prefix,
                   const char* close, srText* to);  // as lists: `open` with the name, prefix of sin and cos
void sr_emit_head(const srEmitUnit* unit, const srSyntax* syntax, const char* comment,
                  srText* to);  // comments: what the file is
void sr_emit_about(const srEmitFunction* f, const char* comment, srText* to);
void sr_emit_body(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, srText* to);

#endif
