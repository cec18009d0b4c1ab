// Printing of straight-line code. A language is a file with the syntax of its expressions and functions, and a row of the table in language.c.
#ifndef SR_SYMBOLIC_EMIT_H
#define SR_SYMBOLIC_EMIT_H

#include <sarrus/generate.h>

#include "symbolic/code.h"
#include "symbolic/tree.h"

typedef struct srEmitArray {  // argument of a function, in or out
  const char* name;
  int rows, columns;  // columns 1: a vector
  const char* about;
} srEmitArray;

#define SR_EMIT_LANES 2  // numbers of lanes: 2 and 4
typedef struct srEmitFunction {
  const char* name;   // "accel"
  const char* about;  // a sentence
  const srCode* code;
  int nin, nout;
  srEmitArray in[8], out[8];
  const int* place;  // of each output of the code in the arrays of outputs, one after the other; ascending
  int nnote;
  const srSymNote* note;
  srOperations operations;
  const int* table;  // numbers of the code's tables among those of the unit
  const int* fold;   // and of its loops
  bool in_fold;      // a step of a loop: inputs are index, arg and state
  int nparameter;    // that its columns belong to
  const srGeneratedParameter* parameter;
  struct srEmitFunction*
      in_lanes[SR_EMIT_LANES];     // the same with limbs in lanes, for the entries of one lane; NULL: not
  int nconstant;                   // of such: numbers in which lanes differ
  const double* constant;          // nconstant x lanes
  const struct srSymLanes* lanes;  // of such in lanes of a vector; NULL: not
  int nall, nlocal;                // outputs of the whole, and of a lane
  const int* lane_place;           // lanes x nlocal: their places in the arrays of the model
  const bool* of_base;             // nlocal
} srEmitFunction;

typedef struct srEmitEntry {
  char array;  // q or v
  int index;
  const char *name, *unit;
} srEmitEntry;

typedef struct srEmitFold {
  const srFold* fold;
  srEmitFunction some, step;
} srEmitFold;

typedef struct srEmitUnit {
  const char* model;          // an identifier
  const char* title;          // the model's name
  const char* source;         // what it was made from: "sarrus 0.2.0 gen arm6.xml --what accel"
  const srEmitEntry* legend;  // what the entries of q, v mean
  int nlegend;
  int nq, nv, ny;
  int nquaternion;
  const int* quaternion;  // where in q they begin
  int ntable;
  const srGraphTable* table;
  int nfold;
  srEmitFold* fold;
  const struct srSymLanes* lanes[SR_EMIT_LANES];  // NULL: no function has limbs in lanes
  int nfunction;
  const srEmitFunction* function;
} srEmitUnit;

#define SR_EMIT_FILES 24  // at most
typedef struct srEmitFile {
  const char* name;
  bool once;  // written where there is none
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
  const char* constant[2];   // around an output or an argument that is a number
  const char* number[2];     // around a number, where literals have no type of their own; NULL: nothing
  bool pointers;             // inputs that are one number are arrays of one entry, too
  int base;                  // first index
  const char *open, *close;  // of an index: "[" "]"
  const char* two;           // format of two indices; NULL: matrices are by rows, with one index
  const char* const*
      call;  // by srOp: its text with %s for an argument, %f for one that is a factor, %t for a table. + * / are written by emit.c
  const char* inverse;  // before the argument of 1/x in parentheses; NULL: a quotient
  int registers;        // for the order of statements
  // Of limbs in lanes of a vector: before the entries of one; sine or cosine and its number; before the table of numbers and behind it.
  const char *vector, *angle, *numbers, *unknown;
  const char *fold, *fold_end;  // around the arguments of a loop, as sr_emit_folds
  const char *put,
      *get;  // where values that wait have a place outside of registers: slot and name, name and slot and name; NULL: nowhere
} srSyntax;

// tables.c: the tables of all functions, table0, table1, ...; open has the number and the length of one. Before them a function that looks entries up, as sr_lookup.
void sr_emit_collect_tables(srPool* pool, srEmitUnit* unit, srEmitFunction* functions);
void sr_emit_tables(const srEmitUnit* unit, const char* helper, const char* open, const char* close, srText* to);
void sr_emit_table(const srEmitUnit* unit, int table, const char* open, const char* close, srText* to);
// folds.c: the loops of all functions, fold0, fold1, ..., each with the functions fold0_some and fold0_step. In texts & is the number, $ how many states, @ the name of what is computed, %0 to %3 how many indices there are.
typedef struct srFoldText {
  const char *some, *some_end, *step, *step_end, *loop;  // around the bodies of the two; the function fold0
  const char *table, *table_end;                         // of tables that functions have for themselves; NULL: none
} srFoldText;
void sr_emit_collect_folds(srPool* pool, srEmitUnit* unit, srEmitFunction* functions);
void sr_emit_fold(srPool* pool, const srEmitUnit* unit, int fold, const srFoldText* text, const srSyntax* syntax,
                  srText* to);
void sr_emit_folds(srPool* pool, const srEmitUnit* unit, const srFoldText* text, const srSyntax* syntax, srText* to);
void sr_emit_fold_text(const srFold* fold, int number, const char* name, const char* text, srText* to);
bool sr_emit_uses_fold(const srEmitUnit* unit, const srEmitFunction* f, int fold);
bool sr_code_has_folds(const srCode* code);

bool sr_emit_uses_table(const srEmitFunction* f, int table);

// Sines and cosines of angles, sums of inputs, are sine[i], cosine[i] of the angle i of this list: a language computes them before the statements.
int sr_emit_angles(srPool* pool, const srEmitFunction* f, int** angles);  // these values, and how many
// Which entries of q are in these angles; NULL: none, or one of them is used elsewhere as well, or an angle has other inputs.
const unsigned char* sr_emit_turns(srPool* pool, const srEmitFunction* f, int nq);
// Of limbs in lanes of a vector: that of a lane; else lane 0.
void sr_emit_angle(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, int value, int lane, srText* to);
void sr_emit_sines(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, const char* open, const char* prefix,
                   const char* close, srText* to);  // as lists: `open` with the name, prefix of sin and cos
void sr_emit_head(const srEmitUnit* unit, const srSyntax* syntax, const char* comment,
                  srText* to);  // comments: what the file is
bool sr_emit_has(const srEmitFunction* f, srOp op);
bool sr_emit_uses(const srEmitUnit* unit, srOp op);  // does a statement have this operation?
void sr_emit_about(const srEmitFunction* f, const char* comment, srText* to);
// Of limbs in lanes of a vector: entries that no lane has, between limbs of two lanes, are 0.
void sr_emit_rest(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, srText* to);
int sr_emit_body(srPool* pool, const srEmitFunction* f, const srSyntax* syntax,
                 srText* to);  // slots of values that wait

#endif
