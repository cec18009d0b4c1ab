// The files of a new project, as `sarrus init` writes them.
#ifndef SARRUS_CLI_TEMPLATE_H
#define SARRUS_CLI_TEMPLATE_H

typedef struct TemplateFile {
  const char* name;
  const char* text;
  const char* rest;  // written behind it
} TemplateFile;
extern const TemplateFile template_files[];
extern const int template_file_count;

#endif
