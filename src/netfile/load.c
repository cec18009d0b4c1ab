// Network files: opened, recognised by their root, read and built. Everything that the network needs later is in the memory of the
// srNetworkFile; what reading needs is freed with the reader.
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/root.h"
#include "netfile/netfile.h"

// ------------------------------------------------------------------------------------------------------ the root of a file
// Behind what XML has before the root: blanks, <?...?>, comments, <!...>. NULL: it does not end.
static const char* skip_prolog(const char* p) {
  for (;;) {
    while (sr_text_is_blank(*p)) p++;
    const char *begin = p, *end = NULL;
    if (strncmp(begin, "<?", 2) == 0)
      end = "?>";
    else if (strncmp(begin, "<!--", 4) == 0)
      end = "-->";
    else if (strncmp(begin, "<!", 2) == 0)
      end = ">";
    else
      return p;
    p = strstr(begin, end);
    if (!p) return NULL;
    p += strlen(end);
  }
}

bool sr_is_network(const char* path) {
  enum { HEAD = 1 << 16 };
  static const char word[] = "<network";
  srReason reason;
  FILE* file = sr_file_open(path, &reason);
  char* head = sr_alloc(HEAD + 1);
  const size_t n = file && head ? fread(head, 1, HEAD, file) : 0;
  if (file) fclose(file);
  const bool mark = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0;
  const char* root = n > 0 ? skip_prolog(mark ? head + 3 : head) : NULL;
  const char next = root && strncmp(root, word, sizeof word - 1) == 0 ? root[sizeof word - 1] : 'x';
  sr_free(head);
  return next == '>' || next == '/' || next == '\0' || sr_text_is_blank(next);
}

// -------------------------------------------------------------------------------------------------------------- reading
typedef struct Source {
  const char* path;  // a file, or NULL:
  const char* text;
  size_t size;
  const char* name;
} Source;

static const srXmlNode* read_tree(srNetBuilder* b, const Source* source, srStatus* status) {
  srReader* r = b->in;
  const char *text = source->text, *reason = NULL;
  size_t size = source->size;
  *status = SR_INPUT;
  if (source->path) {
    text = sr_reader_read(r, source->path, SR_XML_MAX_SIZE, &size, &reason);
    if (!text) {
      sr_reader_error(r, (srPlace){.file = source->path}, "%s", reason);
      *status = SR_IO;
      return NULL;
    }
    r->folder = sr_path_folder(&r->pool, source->path);
    sr_root_model(r, source->path);
  }
  srXmlExtent extent;
  const srXmlNode* root = sr_xml_read_part(&r->pool, text, size, source->name, r->messages, &extent);
  b->lost = extent == SR_XML_CUT;
  r->cut = b->lost;
  if (root && strcmp(root->name, "network") == 0) return root;
  if (root)
    sr_reader_error(r, root->place, "the root of a network file is <network version=\"1\">, not <%.60s>", root->name);
  return NULL;
}

static void keep_files(srNetBuilder* b) {
  struct srNetworkFilePrivate* priv = b->file->priv;
  for (int i = 0; i < srs_file_count(b->in->spec); i++)
    SR_PUSH(&priv->pool, priv->file, priv->nfile, priv->file_capacity) =
        sr_pool_text(&priv->pool, srs_file(b->in->spec, i));
  b->file->file = priv->file;
  b->file->nfile = priv->nfile;
}

static srStatus build(srNetBuilder* b, const Source* source) {
  srReader* r = b->in;
  srStatus status;
  r->used = sr_pool_alloc(&r->pool, (size_t)(r->options->nsetting + 1) * sizeof *r->used);
  sr_names_init(&b->components, &r->pool);
  sr_names_init(&b->terminals, &r->pool);
  sr_names_init(&r->ignored_names, &r->pool);
  sr_names_init(&r->friction_names, &r->pool);
  const srXmlNode* root = read_tree(b, source, &status);
  if (!root) return status;
  if (r->options->base)
    sr_reader_error(r, (srPlace){.file = "--base"}, "this is a network; the attribute 'base' of <mechanism> says it");
  b->graph = sr_graph_create(&b->file->priv->pool);
  sr_net_read(b, root);
  sr_net_build(b);
  const char* name = sr_net_text(&b->root, "name");
  b->file->name = sr_pool_text(&b->file->priv->pool, name);
  keep_files(b);
  if (sr_reader_errors(r) == 0) sr_reader_check_settings(r);
  return sr_reader_errors(r) == 0 ? SR_OK : SR_INPUT;
}

static srStatus guarded(srNetBuilder* b, const Source* source) {
  jmp_buf no_memory;
  srScope* scope = sr_alloc(sizeof *scope);
  if (!scope) return SR_MEMORY;
  srPool* pool = &b->file->priv->pool;
  volatile srStatus status = SR_MEMORY;
  if (setjmp(no_memory) == 0) {
    b->in->pool.on_fail = b->in->text.on_fail = pool->on_fail = &no_memory;
    b->scope = scope;
    sr_scope_init(scope, &b->in->pool, b->in->messages);
    const Source kept = {source->path, source->text, source->size, sr_pool_text(pool, source->name)};
    status = build(b, &kept);
  }
  pool->on_fail = NULL;
  sr_scope_free(scope);
  sr_free(scope);
  return status;
}

static srNetworkFile* new_file(srMessages* messages) {
  srNetworkFile* f = sr_alloc(sizeof *f);
  struct srNetworkFilePrivate* priv = sr_alloc(sizeof *priv);
  if (f) f->network = sr_network_create(messages);
  if (!f || !priv || !f->network) {
    if (f) sr_network_destroy(f->network);
    sr_free(f), sr_free(priv);
    return NULL;
  }
  sr_pool_init(&priv->pool);
  f->priv = priv;
  f->options = (srNetworkOptions){.method = "rk4", .t_end = 1, .step = 1e-3, .threads = 1};
  return f;
}

static srStatus load(const Source* source, const char* folder, const srLoadOptions* options, srMessages* messages,
                     srNetworkFile** out) {
  static const srLoadOptions none = {0};
  srReader r = {.folder = folder, .options = options ? options : &none, .budget = SR_READER_MAX_ELEMENTS};
  *out = NULL;
  r.messages = messages ? messages : sr_messages_create();  // errors are counted there
  r.errors_before = sr_messages_errors(r.messages);
  r.spec = srs_create();
  srNetBuilder b = {.in = &r, .file = r.messages && r.spec ? new_file(r.messages) : NULL};
  const srStatus status = b.file ? guarded(&b, source) : SR_MEMORY;
  sr_pool_free(&r.text);
  sr_pool_free(&r.pool);
  srs_destroy(r.spec);
  if (status == SR_OK)
    *out = b.file;
  else
    sr_network_file_destroy(b.file);
  if (!messages && status == SR_OK)
    (*out)->priv->messages = r.messages;  // the network reports there
  else if (!messages)
    sr_messages_destroy(r.messages);
  return status;
}

srStatus sr_network_load(const char* path, const srLoadOptions* options, srMessages* messages, srNetworkFile** out) {
  return load(&(Source){.path = path, .name = path}, NULL, options, messages, out);
}

srStatus sr_network_load_text(const char* text, size_t size, const char* name, const char* folder,
                              const srLoadOptions* options, srMessages* messages, srNetworkFile** out) {
  return load(&(Source){.text = text, .size = size, .name = name}, folder, options, messages, out);
}

void sr_network_file_destroy(srNetworkFile* f) {
  if (!f) return;
  sr_network_destroy(f->network);
  for (int i = 0; i < f->priv->nmodel; i++) sr_model_destroy(f->priv->model[i]);
  sr_messages_destroy(f->priv->messages);
  sr_pool_free(&f->priv->pool);
  sr_free(f->priv);
  sr_free(f);
}
