// Table-driven options: a verb lists its options with the variables that they fill.
#ifndef SARRUS_CLI_OPTIONS_H
#define SARRUS_CLI_OPTIONS_H

#include <sarrus/sarrus.h>
#include <stdio.h>

typedef struct NumberList {
  double* x;  // NULL: not given
  int n;
} NumberList;

typedef struct Settings {
  srSetting* item;
  int n;
} Settings;

typedef struct TextList {
  const char** item;  // of argv
  int n;
} TextList;

typedef enum OptionKind {
  OPTION_FLAG,     // target bool*
  OPTION_TEXT,     // target const char**
  OPTION_CHOICE,   // target const char**: --name is "", --name=VALUE the value; nothing behind it is taken
  OPTION_NUMBER,   // target double*
  OPTION_NUMBERS,  // target NumberList*: "1,2.5,-3"
  OPTION_TEXTS,    // target TextList*: may be repeated
  OPTION_SETTING,  // target Settings*: NAME=VALUE, may be repeated
} OptionKind;

typedef struct Option {
  const char*
      name;  // "--t-end"; "" takes the arguments that belong to no option, if there may be several (OPTION_TEXTS)
  OptionKind kind;
  void* target;
  const char* value;  // its argument, for the help; NULL for flags
  const char* doc;
} Option;

// Fills the targets from argv[0..argc-1]; "--name value" and "--name=value". What begins with no dash goes to argument
// (one only, unless an option is named ""). Errors go to messages. *help is set by --help and -h.
bool options_parse(const Option* options, int n, int argc, char** argv, srMessages* messages, const char** argument,
                   bool* help);

void numbers_free(NumberList* list);
void texts_free(TextList* list);
void settings_free(Settings* settings);

#endif
