// PNG and PDF: the SVG of the figure is drawn by librsvg on a surface of cairo. The library is loaded when a picture is wanted,
// so that nothing else needs it; cairo and gobject come with it. Only the few calls declared here are used, whose interface is
// stable (librsvg 2.46 and later, cairo 1.2).
#include <dlfcn.h>
#include <string.h>

#include "plot/plot.h"

enum { SCALE = 2 };  // pixels of a PNG for each px of the figure

typedef struct Rectangle {
  double x, y, width, height;
} Rectangle;

typedef int (*WriteFunction)(void* closure, const unsigned char* data, unsigned int length);  // 0: written, 11: failed

// X(member, symbol, result, arguments)
#define FUNCTIONS(X)                                                                                                   \
  X(open, rsvg_handle_new_from_data, void*, (const unsigned char*, size_t, void**))                                    \
  X(set_dpi, rsvg_handle_set_dpi, void, (void*, double))                                                               \
  X(size, rsvg_handle_get_intrinsic_size_in_pixels, int, (void*, double*, double*))                                    \
  X(render, rsvg_handle_render_document, int, (void*, void*, const Rectangle*, void**))                                \
  X(unref, g_object_unref, void, (void*))                                                                              \
  X(image, cairo_image_surface_create, void*, (int, int, int))                                                         \
  X(pdf, cairo_pdf_surface_create_for_stream, void*, (WriteFunction, void*, double, double))                           \
  X(create, cairo_create, void*, (void*))                                                                              \
  X(destroy, cairo_destroy, void, (void*))                                                                             \
  X(png, cairo_surface_write_to_png_stream, int, (void*, WriteFunction, void*))                                        \
  X(finish, cairo_surface_finish, void, (void*))                                                                       \
  X(status, cairo_surface_status, int, (void*))                                                                        \
  X(free_surface, cairo_surface_destroy, void, (void*))

typedef struct Library {
#define MEMBER(member, symbol, result, arguments) result(*member) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} Library;

// ISO C has no cast from the void* of dlsym to a function.
static bool take(void* library, const char* symbol, void* member) {
  void* address = dlsym(library, symbol);
  memcpy(member, &address, sizeof address);
  return address != NULL;
}

static bool load(Library* rsvg) {
  void* library = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);  // stays loaded
  bool all = library != NULL;
#define TAKE(member, symbol, result, arguments) all = all && take(library, #symbol, &rsvg->member);
  FUNCTIONS(TAKE)
#undef TAKE
  return all;
}

static int write_bytes(void* out, const unsigned char* data, unsigned int length) {
  srText* text = out;
  sr_text_add(text, (const char*)data, length);
  return text->failed ? 11 : 0;
}

static bool draw(const Library* rsvg, void* handle, double width, double height, srPicture kind, srText* out) {
  const double scale = kind == SR_PICTURE_PNG ? SCALE : 0.75;  // a PDF is measured in points of 1/72 inch
  const Rectangle page = {0, 0, scale * width, scale * height};
  void* surface = kind == SR_PICTURE_PNG ? rsvg->image(0, (int)page.width, (int)page.height)
                                         : rsvg->pdf(write_bytes, out, page.width, page.height);
  void* cairo = rsvg->create(surface);
  bool good = rsvg->render(handle, cairo, &page, NULL) != 0;
  rsvg->destroy(cairo);
  if (good && kind == SR_PICTURE_PNG) good = rsvg->png(surface, write_bytes, out) == 0;
  rsvg->finish(surface);
  good = rsvg->status(surface) == 0 && good;
  rsvg->free_surface(surface);
  return good;
}

srStatus sr_plot_picture(const char* svg, size_t size, srPicture kind, srMessages* messages, srText* out) {
  const char* word = kind == SR_PICTURE_PNG ? "PNG" : "PDF";
  Library rsvg;
  double width = 0, height = 0;
  if (!load(&rsvg)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "%s needs the library librsvg-2.so.2, which cannot be loaded: install it (Debian: librsvg2-2), or "
                    "take SVG (a name that ends in .svg)",
                    word);
    return SR_INPUT;
  }
  void* handle = rsvg.open((const unsigned char*)svg, size, NULL);
  bool good = handle != NULL;
  if (good) rsvg.set_dpi(handle, 96);
  good = good && rsvg.size(handle, &width, &height) != 0 && draw(&rsvg, handle, width, height, kind, out);
  if (handle) rsvg.unref(handle);
  if (good && !out->failed) return SR_OK;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the figure could not be drawn as %s", word);
  return SR_FAILED;
}
