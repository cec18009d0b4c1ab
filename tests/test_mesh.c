// Meshes: files of three formats, their errors, the search for packages, volume integrals against closed forms, shapes
// in the model, and saving.
#define _POSIX_C_SOURCE 200809L  // setenv

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/mesh/mesh.h"
#include "io/mesh/triangles.h"
#include "io/package.h"
#include "loading.h"
#include "math/hull.h"
#include "math/pose.h"
#include "math/solid.h"

#define PI 3.14159265358979323846
#define FOLDER SARRUS_SOURCE_DIR "/tests/mesh"

// --------------------------------------------------------------------------------------------------------------- tools
// A mesh file in memory, with the messages of its reader.
typedef struct Read {
  srPool pool;
  srMessages* said;
  srTriangleList list;
  bool good;
} Read;

static Read read_bytes(const char* name, const char* text, size_t size) {
  Read x = {0};
  jmp_buf no_memory;
  sr_pool_init(&x.pool);
  x.said = sr_messages_create();
  x.list = (srTriangleList){.file = name, .messages = x.said};
  Read* kept = malloc(sizeof *kept);
  *kept = x;
  kept->list.pool = &kept->pool;
  kept->pool.on_fail = &no_memory;
  if (setjmp(no_memory) == 0) {
    char* copy = sr_pool_text_n(&kept->pool, text, size);
    kept->good = sr_triangles_read(&kept->list, copy, size);
  }
  x = *kept;
  free(kept);
  return x;
}

static Read read_text(const char* name, const char* text) { return read_bytes(name, text, strlen(text)); }

static void close_read(Read* x) {
  sr_pool_free(&x->pool);
  sr_messages_destroy(x->said);
}

// The first message as a line.
static const char* first_line(const srMessages* said) {
  static char line[400];
  line[0] = 0;
  if (sr_messages_count(said) > 0) sr_message_format(sr_messages_get(said, 0), line, sizeof line);
  return line;
}

#define ENSURE_SAYS(said, words)                                                                                       \
  do {                                                                                                                 \
    if (!strstr(first_line(said), words)) printf("  said: %s\n", first_line(said));                                    \
    ENSURE(strstr(first_line(said), words) != NULL);                                                                   \
  } while (0)

static void ensure_refused(const char* name, const char* text, const char* words) {
  Read x = read_text(name, text);
  const bool good = x.good;
  if (!good) ENSURE_SAYS(x.said, words);
  close_read(&x);
  ENSURE(!good);
}

// A model text, seen from tests/mesh; messages are kept.
typedef struct Compiled {
  srSpec* spec;
  srModel* m;
  srMessages* said;
  srStatus status;
} Compiled;

static Compiled compile(const char* text) {
  Compiled x = {.said = sr_messages_create()};
  x.status = sr_load_text(text, strlen(text), "test", FOLDER, NULL, x.said, &x.spec);
  if (x.status == SR_OK) x.status = sr_compile(x.spec, x.said, &x.m);
  return x;
}

static void close_compiled(Compiled* x) {
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
  sr_messages_destroy(x->said);
}

static Compiled compile_quietly(const char* text) {
  Compiled x = compile(text);
  loading_print(x.said);
  ENSURE_EQUAL(x.status, SR_OK);
  ENSURE_EQUAL(sr_messages_count(x.said), 0);
  return x;
}

static void ensure_error(const char* text, const char* words) {
  Compiled x = compile(text);
  const srStatus status = x.status;
  ENSURE_SAYS(x.said, words);
  close_compiled(&x);
  ENSURE_EQUAL(status, SR_INPUT);
}

static void ensure_same_inertia(const srModel* a, const srModel* b, double tolerance) {
  ENSURE_NEAR(a->body_mass[1], b->body_mass[1], tolerance * b->body_mass[1]);
  double size = 0;
  for (int k = 0; k < 9; k++) size = fmax(size, fabs(b->body_inertia[9 + k]));
  for (int k = 0; k < 3; k++) ENSURE_NEAR(a->body_com[4 + k], b->body_com[4 + k], tolerance);
  for (int k = 0; k < 9; k++) ENSURE_NEAR(a->body_inertia[9 + k], b->body_inertia[9 + k], tolerance * size);
}

#define MODEL(mesh, shape)                                                                                             \
  "<sarrus version='1'>" mesh "<body name='b'><joint type='revolute'/>" shape "</body></sarrus>"
#define TETRAHEDRON "vertices='0 0 0 1 0 0 0 1 0 0 0 1' faces='0 2 1 0 1 3 0 3 2 1 2 3'"

// ------------------------------------------------------------------------------------------------------------- formats
TEST(a_box_from_every_format_has_the_inertia_of_the_box) {
  static const char* const files[] = {"box.stl", "solid_box.stl", "box.obj", "box.dae"};
  Compiled box = compile_quietly(
      MODEL("", "<shape type='box' size='0.25 0.5 0.75' density='1200' at='0.3 -0.2 0.7' rpy='0.4 -1 2'/>"));
  for (int i = 0; i < 4; i++) {
    char text[600];
    snprintf(text, sizeof text,
             MODEL("<mesh name='m' file='%s'/>",
                   "<shape type='mesh' mesh='m' density='1200' at='0.3 -0.2 0.7' rpy='0.4 -1 2'/>"),
             files[i]);
    Compiled x = compile_quietly(text);
    ensure_same_inertia(x.m, box.m, 1e-12);
    ENSURE_EQUAL(x.m->mesh[0].nvertex, 8);  // corners in one place are one vertex
    ENSURE_EQUAL(x.m->mesh[0].ntriangle, 12);
    ENSURE_TEXT(x.m->mesh[0].file, files[i]);
    close_compiled(&x);
  }
  close_compiled(&box);
}

TEST(the_public_reader_gives_triangles_and_errors) {
  srMessages* said = sr_messages_create();
  srTriangles* t;
  ENSURE_EQUAL(sr_mesh_read(FOLDER "/box.obj", said, &t), SR_OK);
  ENSURE_EQUAL(t->nvertex, 8);
  ENSURE_EQUAL(t->ntriangle, 12);
  ENSURE_EQUAL(t->triangle[0], 0);
  ENSURE_NEAR(t->vertex[0], -0.125, 0);
  sr_mesh_destroy(t);
  ENSURE_EQUAL(sr_messages_count(said), 0);
  ENSURE_EQUAL(sr_mesh_read(FOLDER "/none.obj", said, &t), SR_IO);
  ENSURE(t == NULL);
  ENSURE_EQUAL(sr_mesh_read(SARRUS_SOURCE_DIR "/CMakeLists.txt", said, &t), SR_INPUT);
  ENSURE(t == NULL);
  ENSURE(strstr(sr_messages_get(said, 1)->text, "'.txt' is not known") != NULL);
  sr_messages_destroy(said);
}

TEST(stl_text_may_hold_several_solids_capitals_and_line_ends_of_windows) {
#define FACET                                                                                                          \
  "FACET NORMAL nan nan nan\r\nouter loop\r\nvertex 0 0 0\r\nvertex 1 0 0\r\nvertex 0 1 0\r\nendloop\r\nendfacet\r\n"
  Read x = read_text("a.STL", "SOLID a b\r\n" FACET "endsolid a b\r\nsolid\r\n" FACET FACET "endsolid\r\n");
  ENSURE(x.good);
  ENSURE_EQUAL(x.list.got.ntriangle, 3);
  ENSURE_EQUAL(x.list.got.nvertex, 3);
  close_read(&x);
}

TEST(stl_text_errors_have_their_place) {
#define BEGIN "solid\nfacet normal 0 0 1\nouter loop\n"
  ensure_refused("a.stl", BEGIN "vertex 0 0 zero\n", "a.stl:4:12: error: expected a finite number, found 'zero'");
  ensure_refused("a.stl", BEGIN "vertex 0 inf 0\n", "a.stl:4:10: error: expected a finite number, found 'inf'");
  ensure_refused("a.stl", BEGIN "vertex 0 0 0\nvertex 1 0 0\nendloop", "a.stl:6:1: error: expected vertex");
  ensure_refused("a.stl", BEGIN "vertex 0 0", "but the file ends");
  ensure_refused("a.stl", "solid\nface", "a.stl:2:1: error: expected facet or endsolid, found 'face'");
  ensure_refused("a.stl", "solid\n", "expected endsolid, but the file ends");
  ensure_refused("a.stl", "", "this is no STL file");
}

// A binary file of n triangles, of which `room` are there.
static size_t binary_stl(unsigned char* out, int n, int room, float coordinate) {
  memset(out, 0, 84 + 50 * (size_t)room);
  memcpy(out, "solid", 5);
  out[80] = (unsigned char)n;
  for (int i = 0; i < room; i++) {
    const float corner[9] = {0, 0, 0, coordinate, 0, 0, 0, 1, 0};
    memcpy(out + 84 + 50 * i + 12, corner, sizeof corner);  // this machine is little-endian, as the file
  }
  return 84 + 50 * (size_t)room;
}

TEST(binary_stl_checks_its_size_and_its_numbers) {
  unsigned char bytes[400];
  size_t size = binary_stl(bytes, 2, 2, 1);
  Read x = read_bytes("a.stl", (char*)bytes, size);
  ENSURE(x.good);
  ENSURE_EQUAL(x.list.got.ntriangle, 2);
  close_read(&x);
  x = read_bytes("a.stl", (char*)bytes, size - 1);
  ENSURE(!x.good);
  ENSURE_SAYS(x.said, "byte 80: this is no STL file: 183 bytes are too few for 2 triangles");
  close_read(&x);
  size = binary_stl(bytes, 1, 2, 1);
  x = read_bytes("a.stl", (char*)bytes, size);
  ENSURE(x.good);
  ENSURE_EQUAL(x.list.got.ntriangle, 1);
  ENSURE_SAYS(x.said, "warning: byte 134");
  close_read(&x);
  size = binary_stl(bytes, 2, 2, NAN);
  x = read_bytes("a.stl", (char*)bytes, size);
  ENSURE(!x.good);
  ENSURE_SAYS(x.said, "byte 108: a corner of triangle 0 is not a finite number");  // 84 + 12 + 3 * 4
  close_read(&x);
}

TEST(obj_errors_have_their_place) {
#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
  ensure_refused("a.obj", V3 "f 1 2 4\n", "a.obj:4:7: error: there is no vertex 4; the file has 3");
  ensure_refused("a.obj", V3 "f 1 2 0\n", "a.obj:4:7: error: there is no vertex 0");
  ensure_refused("a.obj", V3 "f 1 2 -4\n", "a.obj:4:7: error: there is no vertex -4");
  ensure_refused("a.obj", V3 "f 1 2\n", "a.obj:4:1: error: a face has three corners or more, got 2");
  ensure_refused("a.obj", V3 "f 1 2 x\n", "a.obj:4:7: error: expected the index of a vertex, found 'x'");
  ensure_refused("a.obj", V3 "f 1 2 99999999999\n", "expected the index of a vertex");
  ensure_refused("a.obj", "v 0 0\n", "a.obj:1:1: error: 'v' takes three numbers, got 2");
  ensure_refused("a.obj", "\nv 0 1e999 0\n", "a.obj:2:5: error: '1e999' is not a finite number");
  ensure_refused("a.msh", "", ".msh is not read");
  ensure_refused("mesh", "", "the ending '' is not known");
}

// Volume between the triangles and the origin.
static double enclosed(const srTriangles* t) {
  double volume = 0;
  for (int i = 0; i < t->ntriangle; i++) {
    const double* p[3];
    double cross[3];
    for (int k = 0; k < 3; k++) p[k] = t->vertex + 3 * t->triangle[3 * i + k];
    srm_cross3(p[1], p[2], cross);
    volume += srm_dot3(p[0], cross) / 6;
  }
  return volume;
}

// A cube whose top has two opposite corners raised by 0.5 and 0.6, cut by the diagonal that joins them or by the other one: the
// volumes are those of MuJoCo 3.14, and by hand 1 + (0.5 + 0.6)/3 or /6 where the top is a square.
TEST(obj_faces_of_four_corners_are_cut_along_the_shorter_diagonal) {
  static const struct {
    const char* top;
    double volume;
  } cases[] = {{"v 0 0 1\nv 1 0 1.5\nv 1 1 1\nv 0 1 1.6\n", 1 + 1.1 / 6},
               {"v 0 0 1.5\nv 1 0 1\nv 1 1 1.6\nv 0 1 1\n", 1 + 1.1 / 6},
               {"v 0.3 0.3 1\nv 1 0 1.5\nv 0.8 0.8 1\nv 0 1 1.6\n", 0.886666666666667},
               {"v 0 0 1\nv 0.8 0.2 1.5\nv 1 1 1\nv 0.2 0.8 1.6\n", 1.09333333333333}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n%sf 1 4 3\nf 1 3 2\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\n"
             "f 3 8 7\nf 4 1 5\nf 4 5 8\nf 5 6 7 8\n",
             cases[k].top);
    Read x = read_text("a.obj", text);
    ENSURE(x.good);
    ENSURE_NEAR(enclosed(&x.list.got), cases[k].volume, 1e-12);
    close_read(&x);
  }
  Read five = read_text("a.obj", "v 0 0 1\nv 2 0 1\nv 3 1 1\nv 1 2 1\nv 0 1 1\nf 1 2 3 4 5\n");
  ENSURE_EQUAL(five.list.got.ntriangle, 3);
  ENSURE_NEAR(enclosed(&five.list.got), 4.0 / 3, 1e-15);  // its area is 4
  close_read(&five);
}

TEST(obj_faces_may_precede_later_vertices) {
  Read x = read_text("a.obj", V3 "f -3 -2 -1\nv 0 0 1\nf -4 -1 -3\nf 1 2 4\n");  // negative: from where they stand
  ENSURE(x.good);
  ENSURE_EQUAL(x.list.got.ntriangle, 3);
  ENSURE_EQUAL(x.list.got.nvertex, 4);
  const int* corner = x.list.got.triangle;
  ENSURE_NEAR(x.list.got.vertex[3 * corner[0]], 0, 0);  // -3 is the first there
  ENSURE_NEAR(x.list.got.vertex[3 * corner[1]], 1, 0);
  corner += 3;
  ENSURE_NEAR(x.list.got.vertex[3 * corner[1] + 2], 1, 0);  // -1 is the fourth there
  close_read(&x);
}

TEST(zero_and_minus_zero_are_one_place) {
  Read x = read_text("a.obj", "v 0 -0 0\nv 1 0 0\nv 0 1 0\nv -0 0 -0\nv 0 0 1\nf 1 2 3\nf 4 5 2\n");
  ENSURE(x.good);
  ENSURE_EQUAL(x.list.got.nvertex, 4);
  close_read(&x);
}

#define DAE_HEAD                                                                                                       \
  "<COLLADA><library_geometries><geometry id='g'><mesh><source id='s'><float_array>0 0 0 1 0 0 0 1 0 0 0 "             \
  "1</float_array></source><vertices id='v'><input semantic='POSITION' source='#s'/></vertices>"
#define DAE_TAIL "</mesh></geometry></library_geometries></COLLADA>"
#define DAE_INPUT "<input semantic='VERTEX' source='#v' offset='0'/>"

TEST(dae_strips_and_fans_keep_their_sides) {
  // A tetrahedron as one strip and one fan: 0 2 1 3 makes (0 2 1) and (1 2 3); the fan about 0 makes (0 1 3), (0 3 2).
  Read x = read_text("a.dae", DAE_HEAD "<tristrips>" DAE_INPUT "<p>0 2 1 3</p></tristrips><trifans>" DAE_INPUT
                                       "<p>0 1 3 2</p></trifans>" DAE_TAIL);
  loading_print(x.said);
  ENSURE(x.good);
  ENSURE_EQUAL(x.list.got.ntriangle, 4);
  ENSURE_NEAR(enclosed(&x.list.got), 1.0 / 6, 1e-15);
  close_read(&x);
}

TEST(dae_errors_have_their_place) {
  ensure_refused("a.dae", "<robot/>", "a.dae:1:1: error: the root of a DAE file is <COLLADA>");
  ensure_refused("a.dae", "<COLLADA>", "error");
  ensure_refused("a.dae", DAE_HEAD "<triangles>" DAE_INPUT "<p>0 1 4</p></triangles>" DAE_TAIL,
                 "there is no position 4; there are 4");
  ensure_refused("a.dae", DAE_HEAD "<triangles>" DAE_INPUT "<p>0 1</p></triangles>" DAE_TAIL,
                 "2 indices make no whole number of corners");
  ensure_refused("a.dae", DAE_HEAD "<triangles>" DAE_INPUT "<p>0 1 x</p></triangles>" DAE_TAIL, "'x' in <p>");
  ensure_refused("a.dae", DAE_HEAD "<triangles><p>0 1 2</p></triangles>" DAE_TAIL,
                 "has no <input semantic=\"VERTEX\">");
  ensure_refused("a.dae", DAE_HEAD "<polylist>" DAE_INPUT "<vcount>3 9</vcount><p>0 1 2</p></polylist>" DAE_TAIL,
                 "<vcount> asks for more corners");
  ensure_refused("a.dae",
                 "<COLLADA><library_visual_scenes><visual_scene id='a'><node id='n'><instance_node url='#n'/></node>"
                 "</visual_scene></library_visual_scenes></COLLADA>",
                 "too often, or in a circle");
  ensure_refused("a.dae", "<COLLADA><asset><unit meter='0'/></asset></COLLADA>", "'meter' takes a positive number");
  ensure_refused("a.dae",
                 "<COLLADA><library_visual_scenes><visual_scene>\n<node><instance_geometry url='#none'/></node>"
                 "</visual_scene></library_visual_scenes></COLLADA>",
                 "a.dae:2:31: error: '#none' is not the id of a <geometry>");
}

TEST(dae_that_are_not_z_up_are_taken_as_they_are_with_a_warning) {
  Read x = read_text("a.dae", "<COLLADA><asset><up_axis>Y_UP</up_axis></asset></COLLADA>");
  ENSURE(x.good);
  ENSURE_SAYS(x.said, "warning: up_axis Y_UP is not applied");
  close_read(&x);
}

// ------------------------------------------------------------------------------------------------------------- volumes
// Corner tetrahedron of edge 1: V = 1/6, centroid 1/4, int x^2 = 1/60, int x y = 1/120.
TEST(a_tetrahedron_has_its_closed_form) {
  Compiled x = compile_quietly(MODEL("<mesh name='t' " TETRAHEDRON "/>", "<shape type='mesh' mesh='t' density='6'/>"));
  const double m = 1, c = 0.25;
  ENSURE_NEAR(x.m->body_mass[1], m, 1e-15);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(x.m->body_com[4 + k], c, 1e-15);
  const double square = 6.0 / 60 - m * c * c, product = 6.0 / 120 - m * c * c;  // about the centroid
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) ENSURE_NEAR(x.m->body_inertia[9 + 3 * i + k], i == k ? 2 * square : -product, 1e-15);
  close_compiled(&x);
}

TEST(a_scale_stretches_and_a_negative_one_mirrors) {
  Compiled x = compile_quietly(
      MODEL("<mesh name='t' scale='2 -3 4' " TETRAHEDRON "/>", "<shape type='mesh' mesh='t' density='6'/>"));
  const double s[3] = {2, -3, 4};
  ENSURE_NEAR(x.m->body_mass[1], 24, 1e-13);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(x.m->body_com[4 + k], 0.25 * s[k], 1e-14);
  // int x_i x_k dV of the scaled body is that of the other times s_i s_k |det|.
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      const double square = 1.0 / 10 - 1.0 / 16, product = 1.0 / 20 - 1.0 / 16;
      double J = -24 * s[i] * s[k] * product;
      if (i == k) J = 24 * square * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]);
      ENSURE_NEAR(x.m->body_inertia[9 + 3 * i + k], J, 1e-12);
    }
  ENSURE_EQUAL(x.m->mesh[0].triangle[1], 1);  // was 2: turned
  ENSURE_NEAR(x.m->mesh[0].vertex[3 * 2 + 1], -3, 0);
  close_compiled(&x);
}

// A sphere of radius 1 by n x 2n quads in latitude and longitude, as triangles; into a spec, moved by a pose.
static srSpec* sphere_spec(int n, const double pose[16]) {
  const int columns = 2 * n, nvertex = (n + 1) * columns;
  double* vertex = malloc(3 * (size_t)nvertex * sizeof *vertex);
  double* face = malloc(6 * (size_t)(n * columns) * sizeof *face);
  int f = 0;
  for (int i = 0; i <= n; i++)
    for (int k = 0; k < columns; k++) {
      const double a = PI * i / n, b = 2 * PI * k / columns, r = i == 0 || i == n ? 0 : sin(a);
      const double p[3] = {r * cos(b), r * sin(b), cos(a)};
      srm_pose_point(pose, p, vertex + 3 * (i * columns + k));
    }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < columns; k++) {  // at the poles all vertices of a row are one
      const int next = (k + 1) % columns, top = i == 0 ? 0 : 1, bottom = i == n - 1 ? 0 : 1;
      const int v[4] = {i * columns + top * k, (i + 1) * columns + bottom * k, (i + 1) * columns + bottom * next,
                        i * columns + top * next};
      const int corners[6] = {v[0], v[1], v[2], v[0], v[2], v[3]};
      for (int l = 0; l < 6; l++) face[f++] = corners[l];
    }
  srSpec* spec = srs_create();
  const int body = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("b")});
  srs_add_mesh(
      spec, SR_NO_OWNER,
      &(srMeshDef){.name = sr_text("m"), .vertices = sr_numbers(vertex, 3 * nvertex), .faces = sr_numbers(face, f)});
  srs_add_shape(spec, body,
                &(srShapeDef){.type = sr_text("mesh"), .mesh = sr_text("m"), .density = sr_number(0.75 / PI)});
  free(vertex);
  free(face);
  return spec;
}

// Mass (of 1 for the sphere itself) and inertia of the polyhedron.
static srModel* sphere_model(int n, const double pose[16]) {
  srSpec* spec = sphere_spec(n, pose);
  srMessages* said = sr_messages_create();
  srModel* m = NULL;
  sr_compile(spec, said, &m);
  loading_print(said);
  ENSURE_EQUAL(sr_messages_count(said), 0);  // closed, and outside is outside
  sr_messages_destroy(said);
  srs_destroy(spec);
  return m;
}

TEST(a_sphere_of_triangles_converges_with_order_two) {
  double identity[16], mass[4], inertia[4];
  srm_pose_identity(identity);
  for (int i = 0; i < 4; i++) {
    srModel* m = sphere_model(8 << i, identity);
    mass[i] = 1 - m->body_mass[1];
    inertia[i] = 0.4 - m->body_inertia[9];
    sr_model_destroy(m);
  }
  for (int i = 0; i < 3; i++) {
    ENSURE_NEAR(log2(mass[i] / mass[i + 1]), 2, 0.05);
    ENSURE_NEAR(log2(inertia[i] / inertia[i + 1]), 2, 0.08);
  }
  ENSURE_SMALL(mass[3], 2e-3);
}

TEST(a_mesh_that_is_turned_and_far_away_keeps_its_inertia) {
  double here[16], there[16], turned[9];
  const double rpy[3] = {0.3, -0.8, 2.1}, far[3] = {1000, -2000, 500};
  srm_pose_identity(here);
  here[0] = 2;  // an ellipsoid, so that turning shows
  srm_pose_identity(there);
  srm_pose_from_rpy(rpy, there);
  double both[16];
  srm_pose_compose(there, here, both);
  memcpy(both + 12, far, sizeof far);
  srModel *a = sphere_model(12, here), *b = sphere_model(12, both);
  ENSURE_NEAR(b->body_mass[1], a->body_mass[1], 1e-12);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(b->body_com[4 + k], far[k], 1e-12);
  srm_pose_rotate_tensor(there, a->body_inertia + 9, turned);
  for (int k = 0; k < 9; k++) ENSURE_NEAR(b->body_inertia[9 + k], turned[k], 1e-12);
  sr_model_destroy(a);
  sr_model_destroy(b);
}

TEST(open_and_inverted_surfaces_are_reported) {
#define SHAPE "<shape type='mesh' mesh='m' density='1'/>"
  Compiled x = compile(MODEL("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0 0 0 1' faces='0 2 1 0 1 3 1 2 3'/>", SHAPE));
  ENSURE_EQUAL(x.status, SR_OK);
  ENSURE_EQUAL(sr_messages_count(x.said), 1);
  ENSURE_SAYS(x.said, "mesh 'm' is not closed");
  close_compiled(&x);
  ensure_error(MODEL("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0 0 0 1' faces='0 1 2 0 3 1 0 2 3 1 3 2'/>", SHAPE),
               "mesh 'm' has the volume -0.166667 m^3");
  ensure_error(MODEL("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0' faces='0 1 2 0 2 1'/>", SHAPE),
               "has the volume 0 m^3");
  // A wrong index is one error, not one of the shape too.
  x = compile(MODEL("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0 0 0 1' faces='0 2 1 0 1 3 0 3 2 1 2 9'/>", SHAPE));
  ENSURE_EQUAL(x.status, SR_INPUT);
  ENSURE_EQUAL(sr_messages_count(x.said), 1);
  ENSURE_SAYS(x.said, "face 3 of mesh 'm' has the corner 9; its vertices are 0 to 3");
  close_compiled(&x);
  // Without a density nobody asks.
  x = compile_quietly(MODEL("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0' faces='0 1 2'/>",
                            "<inertial mass='1' inertia='1 1 1'/><shape type='mesh' mesh='m'/>"));
  close_compiled(&x);
}

// -------------------------------------------------------------------------------------------------------------- model
static double random_number(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 16777216.0;
}

// Every point inside of every face; every edge once in each direction, so faces and corners are those of a sphere (Euler).
static double check_hull(srPool* pool, const double* point, int n) {
  int* triangle = NULL;
  const int count = srm_hull(pool, point, n, &triangle);
  double centroid[3], J[9], gap;
  char* used = sr_pool_alloc(pool, (size_t)n);
  int corners = 0;
  for (int i = 0; i < 3 * count; i++) used[triangle[i]] = 1;
  for (int i = 0; i < n; i++) corners += used[i];
  ENSURE_EQUAL(count, 2 * corners - 4);
  for (int t = 0; t < count; t++) {
    const double *a = point + 3 * triangle[3 * t], *b = point + 3 * triangle[3 * t + 1];
    double ab[3], ac[3], normal[3];
    for (int k = 0; k < 3; k++) ab[k] = b[k] - a[k], ac[k] = point[3 * triangle[3 * t + 2] + k] - a[k];
    srm_cross3(ab, ac, normal);
    const double size = srm_norm3(normal);
    for (int i = 0; i < n; i++) ENSURE(srm_dot3(normal, point + 3 * i) - srm_dot3(normal, a) <= 1e-11 * size);
  }
  const double volume = srm_solid(point, n, triangle, count, centroid, J, &gap);
  ENSURE_NEAR(gap, 0, 1e-12);
  return volume;
}

TEST(a_convex_hull_has_all_points_inside) {
  srPool pool;
  double point[3 * 1000];
  unsigned seed = 7;
  int* none = NULL;
  sr_pool_init(&pool);
  int n = 0;
  for (int i = 0; i < 512; i++) {  // a grid in the unit cube: many points in a plane, in a line, and twice
    for (int k = 0; k < 3; k++) point[3 * n + k] = (double)(i >> 3 * k & 7) / 7;
    n++;
  }
  memcpy(point + 3 * n, point, 300 * sizeof *point);
  ENSURE_NEAR(check_hull(&pool, point, n + 100), 1, 1e-13);
  for (int i = 0; i < 1000; i++) {  // on a sphere: all are corners
    double z = 2 * random_number(&seed) - 1, angle = 2 * PI * random_number(&seed), r = sqrt(1 - z * z);
    point[3 * i] = 3 + r * cos(angle), point[3 * i + 1] = r * sin(angle), point[3 * i + 2] = z;
  }
  const double volume = check_hull(&pool, point, 1000);
  ENSURE(volume < 4 * PI / 3 && volume > 4 * PI / 3 * 0.98);
  for (int i = 0; i < 3 * 1000; i++) point[i] = random_number(&seed) + (i % 3 == 2 ? 1e-7 * random_number(&seed) : 0);
  const double full = check_hull(&pool, point, 1000);
  ENSURE(full < 1 && full > 0.9);
  for (int i = 0; i < 1000; i++) point[3 * i + 2] = 2 * point[3 * i] - point[3 * i + 1];  // in a plane
  ENSURE_EQUAL(srm_hull(&pool, point, 1000, &none), 0);
  ENSURE_EQUAL(srm_hull(&pool, point, 3, &none), 0);
  for (int i = 0; i < 3 * 10; i++) point[i] = 1;
  ENSURE_EQUAL(srm_hull(&pool, point, 10, &none), 0);
  sr_pool_free(&pool);
}

// The corners of the unit cube and points of a grid in it, all of them off by a little: faces between points that nearly coincide look
// anywhere, and quickhull alone loses a corner in some of these clouds.
TEST(a_hull_loses_no_corner_among_points_that_nearly_coincide) {
  for (unsigned trial = 1; trial <= 3000; trial++) {
    srPool pool;
    unsigned seed = trial * 77777u;
    double point[3 * 68], centroid[3], J[9], gap;
    int* triangle = NULL;
    for (int i = 0; i < 5; i++) (void)random_number(&seed);
    const int n = 8 + (int)(60 * random_number(&seed));
    const double noise = pow(10, -14 + 4 * random_number(&seed));
    const int grid = 2 + (int)(3 * random_number(&seed));
    for (int i = 0; i < 3 * n; i++) {
      const double at = i < 24 ? i / 3 >> i % 3 & 1 : floor(random_number(&seed) * grid) / (grid - 1);
      point[i] = (trial % 2 == 0 ? 1e3 : 0) + 8 * (at + noise * (random_number(&seed) - 0.5));
    }
    sr_pool_init(&pool);
    const int count = srm_hull(&pool, point, n, &triangle);
    ENSURE_NEAR(srm_solid(point, n, triangle, count, centroid, J, &gap), 512, 1e-4);
    sr_pool_free(&pool);
  }
}

// Every corner comes first once: 1/6 is the tetrahedron's, 1 * 2 * 3 the box's. A power of two changes no digit, so the faces are the same ones.
TEST(a_hull_depends_on_neither_the_order_nor_the_size_of_its_points) {
  static const double tetrahedron[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const double box[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0, 0, 0, 3, 1, 0, 3, 0, 2, 3, 1, 2, 3};
  static const int few[] = {4, 8};
  const double* const shapes[] = {tetrahedron, box};
  const double volume[] = {1.0 / 6, 6}, sizes[] = {ldexp(1, -40), ldexp(1, 40)};
  srPool pool;
  sr_pool_init(&pool);
  for (int c = 0; c < 2; c++)
    for (int first = 0; first < few[c]; first++)
      for (int mirror = 0; mirror < 2; mirror++) {
        const int n = few[c];
        double point[24], other[24];
        int *faces = NULL, *same = NULL;
        for (int i = 0; i < n; i++)
          for (int k = 0; k < 3; k++) point[3 * i + k] = (mirror ? -1 : 1) * shapes[c][3 * ((first + i) % n) + k];
        ENSURE_NEAR(check_hull(&pool, point, n), volume[c], 1e-14);
        const int count = srm_hull(&pool, point, n, &faces);
        ENSURE_EQUAL(count, 2 * n - 4);
        for (int s = 0; s < 2; s++) {
          for (int i = 0; i < 3 * n; i++) other[i] = sizes[s] * point[i];
          ENSURE_EQUAL(srm_hull(&pool, other, n, &same), count);
          ENSURE(memcmp(same, faces, 3 * (size_t)count * sizeof *faces) == 0);
        }
      }
  sr_pool_free(&pool);
}

TEST(shapes_and_meshes_are_in_the_model) {
  Compiled x = compile_quietly(
      "<sarrus version='1'><material name='steel' density='1'/><mesh name='t' " TETRAHEDRON
      "/>"
      "<ground><shape type='plane' use='collision'/></ground>"
      "<body name='a'><joint type='revolute'/><inertial mass='1'/><shape name='s' type='sphere' size='0.5' "
      "group='g'/></body>"
      "<body name='b' parent='a'><joint type='revolute' axis='1 0 0' at='1 0 0'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape type='mesh' mesh='t' use='visual' color='0.1 0.2 0.3 0.4' at='1 2 3' rpy='0 0 1' "
      "material='steel'/></body>"
      "</sarrus>");
  const srModel* m = x.m;
  ENSURE_EQUAL(m->nshape, 3);
  ENSURE_EQUAL(m->nmesh, 1);
  ENSURE_EQUAL(m->shape[0].body, 0);
  ENSURE_EQUAL(m->shape[0].type, SR_SHAPE_PLANE);
  ENSURE_EQUAL(m->shape[0].use, SR_SHAPE_COLLISION);
  ENSURE_EQUAL(m->shape[0].mesh, -1);
  ENSURE(m->shape[0].name == NULL && !m->shape[0].has_color);
  ENSURE_TEXT(m->shape[1].name, "s");
  ENSURE_TEXT(m->shape[1].group, "g");
  ENSURE_TEXT(sr_shape_word(m->shape[1].type), "sphere");
  ENSURE_NEAR(m->shape[1].size[0], 0.5, 0);
  ENSURE_EQUAL(m->shape[1].use, SR_SHAPE_BOTH);
  const srShape* last = &m->shape[2];
  ENSURE_EQUAL(last->body, sr_body_find(m, "b"));
  ENSURE_EQUAL(last->mesh, 0);
  ENSURE_EQUAL(last->use, SR_SHAPE_VISUAL);
  ENSURE_TEXT(last->material, "steel");
  ENSURE(last->has_color);
  ENSURE_NEAR(last->color[3], 0.4, 0);
  ENSURE_NEAR(last->pose[0], cos(1), 1e-15);
  ENSURE_NEAR(last->pose[14], 3, 0);
  ENSURE_EQUAL(m->mesh[0].nvertex, 4);
  ENSURE(m->mesh[0].file == NULL);
  close_compiled(&x);
}

// A cube of edge 1 m about (0.5, 0.5, 0.5), with vertices inside of it and on its faces, and no faces.
#define CUBE_OF_POINTS "vertices='0.5 0.5 0.5 0 0 0 1 0 0 0 1 0 0 0 1 1 1 0 0.3 0.2 0 1 0 1 0 1 1 1 1 1 0.9 0.9 0.9'"

TEST(a_hull_has_the_mass_of_the_solid_around_the_vertices) {
  Compiled x = compile_quietly(
      MODEL("<mesh name='cloud' scale='2' " CUBE_OF_POINTS "/>", "<shape type='hull' mesh='cloud' density='3'/>"));
  const srModel* m = x.m;  // edge 2: mass 3 * 8, J = mass (4 + 4)/12
  ENSURE_NEAR(m->body_mass[1], 24, 1e-13);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(m->body_com[4 + k], 1, 1e-14);
  for (int k = 0; k < 9; k++) ENSURE_NEAR(m->body_inertia[9 + k], k % 4 == 0 ? 16 : 0, 1e-12);
  ENSURE_EQUAL(m->shape[0].type, SR_SHAPE_HULL);
  ENSURE_EQUAL(m->shape[0].mesh, 0);
  ENSURE_EQUAL(m->mesh[0].ncorner, 8);
  ENSURE_EQUAL(m->mesh[0].nhull, 12);
  close_compiled(&x);
}

TEST(what_is_wrong_with_hulls_is_reported) {
#define HULL(mesh, shape) MODEL(mesh, "<inertial mass='1' inertia='1 1 1'/>" shape)
  ensure_error(HULL("", "<shape type='hull'/>"), "a shape of type 'hull' needs the attribute 'mesh'");
  ensure_error(HULL("<mesh name='flat' vertices='0 0 1 1 0 1 1 1 1 0 2 1'/>", "<shape type='hull' mesh='flat'/>"),
               "the vertices of mesh 'flat' are in a plane: a hull needs a volume");
  ensure_error(HULL("<mesh name='m' " CUBE_OF_POINTS "/>", "<shape type='mesh' mesh='m'/>"), "needs 'faces' too");
  ensure_error(HULL("<mesh name='m' " CUBE_OF_POINTS "/>", "<shape type='hull' mesh='m' size='1'/>"), "takes 0 values");
  ensure_error(HULL("", "<shape type='cone' size='0.1 0'/>"), "'size' of a cone must be positive, got 0");
  ensure_error(HULL("", "<shape type='cone' size='0.1'/>"), "'size' of a cone takes 2 values, got 1");
#undef HULL
}

TEST(what_is_wrong_with_meshes_is_reported) {
#define ONE(mesh, shape) MODEL(mesh, "<inertial mass='1' inertia='1 1 1'/>" shape)
  ensure_error(ONE("", "<shape type='mesh'/>"), "needs the attribute 'mesh'");
  ensure_error(ONE("<mesh name='hull' " TETRAHEDRON "/>", "<shape type='mesh' mesh='hul'/>"),
               "unknown mesh 'hul'; did you mean 'hull'?");
  ensure_error(ONE("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0' faces='0 1 3'/>", ""),
               "face 0 of mesh 'm' has the corner 3; its vertices are 0 to 2");
  ensure_error(ONE("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0' faces='0 1 1.5'/>", ""), "has the corner 1.5");
  ensure_error(ONE("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0' faces='0 1 2 0'/>", ""), "three indices each, got 4");
  ensure_error(ONE("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0 1' faces='0 1 2'/>", ""), "three numbers each, got 10");
  ensure_error(ONE("<mesh name='m' vertices='0 0 0 1 0 0 0 1 0'/>", "<shape type='mesh' mesh='m'/>"),
               "needs 'faces' too");
  ensure_error(ONE("<mesh name='m'/>", ""), "mesh 'm' needs 'file', or 'vertices' and 'faces'");
  ensure_error(ONE("<mesh name='m' scale='1 0 1' " TETRAHEDRON "/>", ""), "'scale' of a mesh must not be zero");
  ensure_error(ONE("<mesh name='m' file='box.stl' " TETRAHEDRON "/>", ""), "not both");
  ensure_error(ONE("<mesh name='m' " TETRAHEDRON "/><mesh name='m' " TETRAHEDRON "/>", ""), "that of another mesh");
  ensure_error(ONE("<mesh name='m' file='none.stl'/>", "<shape type='mesh' mesh='m' size='1'/>"), "is not found");
  Compiled x = compile(ONE("<mesh name='m' " TETRAHEDRON "/>", "<shape type='sphere' size='1' mesh='m'/>"));
  ENSURE_EQUAL(x.status, SR_OK);
  ENSURE_SAYS(x.said, "'mesh' does nothing");
  close_compiled(&x);
  x = compile(ONE("", "<shape type='sphere' size='1' color='1 2 0 1'/>"));
  ENSURE_EQUAL(x.status, SR_OK);
  ENSURE_SAYS(x.said, "beyond 0 to 1");
  ENSURE_NEAR(x.m->shape[0].color[1], 1, 0);
  close_compiled(&x);
}

TEST(no_contact_finds_a_visual_shape) {
#define BALL(use)                                                                                                      \
  "<inertial mass='1' inertia='1 1 1'/><shape name='ball' type='sphere' size='1' group='g' use='" use "'/>"
#define SCENE(use, more, a)                                                                                            \
  "<sarrus version='1'><mesh name='t' " TETRAHEDRON                                                                    \
  "/><ground><shape name='floor' type='plane'/></ground>"                                                              \
  "<body name='b'><joint type='free'/>" BALL(use) more "</body><contact a='" a                                         \
                                                       "' b='floor' K='1' restitution='1' friction='none'/></sarrus>"
  ensure_error(SCENE("visual", "", "ball"), "the shape 'ball' is for pictures alone");
  ensure_error(SCENE("visual", "", "b/ball"), "the shape 'b/ball' is for pictures alone");
  ensure_error(SCENE("visual", "", "b"), "the body 'b' has shapes for pictures alone");
  ensure_error(SCENE("visual", "", "g"), "the group 'g' has shapes for pictures alone");
  Compiled x = compile_quietly(SCENE("collision", "<shape type='mesh' mesh='t' use='visual'/>", "b"));
  ENSURE_EQUAL(x.m->ncontact, 1);
  close_compiled(&x);
  Compiled mesh = compile_quietly(SCENE("both", "<shape name='hull' type='mesh' mesh='t'/>", "hull"));
  ENSURE_EQUAL(mesh.m->ncontact, 1);
  close_compiled(&mesh);
}

// ------------------------------------------------------------------------------------------------------------ packages
TEST(packages_are_found_around_the_model) {
  srMessages* said = sr_messages_create();
  srSpec* spec;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load(FOLDER "/packages/arm_folder/models/arm.xml", NULL, said, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, said, &m), SR_OK);
  loading_print(said);
  ENSURE_EQUAL(sr_messages_count(said), 0);
  for (int i = 0; i < 3; i++) ENSURE_EQUAL(m->mesh[i].ntriangle, 4);
  ENSURE_NEAR(m->body_mass[1], 100, 1e-12);  // 600/6, and nothing from the picture
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(said);
}

// A reader as sr_load makes it, for the functions that other readers call.
typedef struct Desk {
  srReader r;
  srLoadOptions options;
  srImport how;
  jmp_buf no_memory;
} Desk;

static Desk* open_desk(const char* folder) {
  Desk* d = calloc(1, sizeof *d);
  sr_pool_init(&d->r.pool);
  sr_pool_init(&d->r.text);
  d->r.pool.on_fail = d->r.text.on_fail = &d->no_memory;
  d->r.messages = sr_messages_create();
  d->r.spec = srs_create();
  d->r.options = &d->options;
  d->r.folder = d->how.folder = folder;
  return d;
}

static void close_desk(Desk* d) {
  sr_pool_free(&d->r.pool);
  sr_pool_free(&d->r.text);
  sr_messages_destroy(d->r.messages);
  srs_destroy(d->r.spec);
  free(d);
}

static const double one[3] = {1, 1, 1};

TEST(packages_are_found_by_options_and_by_the_environment) {
  Desk* d = open_desk("/");
  const char* uri = "package://hand/meshes/palm.obj";
  srLookup lookup;
  ENSURE(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup) == NULL);
  ENSURE_TEXT(lookup.package, "hand");
  ENSURE(!lookup.has_package);
  ENSURE_TEXT(lookup.places, "/ and the folders above it");
  const char* const named[] = {"foot=/", "hand=" FOLDER "/packages/tools/share/hand"};
  d->options = (srLoadOptions){.packages = named, .npackage = 2};
  ENSURE_TEXT(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup),
              FOLDER "/packages/tools/share/hand/meshes/palm.obj");
  const char* const holder[] = {FOLDER "/packages/tools/share"};
  d->options = (srLoadOptions){.packages = holder, .npackage = 1};
  ENSURE(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup) != NULL);
  ENSURE(sr_package_find(&d->r, &d->how, "model://hand/meshes/palm.obj", SR_REACH_MESH, &lookup) != NULL);
  const char* const itself[] = {FOLDER "/packages/arm_folder"};
  d->options = (srLoadOptions){.packages = itself, .npackage = 1};
  ENSURE(sr_package_find(&d->r, &d->how, "package://arm_description/meshes/tetrahedron.obj", SR_REACH_MESH, &lookup) !=
         NULL);
  ENSURE(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup) == NULL);
  d->options = (srLoadOptions){0};
  setenv("ROS_PACKAGE_PATH", "/nowhere::" FOLDER "/packages/tools/share", 1);
  ENSURE(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup) != NULL);
  unsetenv("ROS_PACKAGE_PATH");
  ENSURE(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup) == NULL);
  setenv("AMENT_PREFIX_PATH", FOLDER "/packages/tools", 1);
  ENSURE(sr_package_find(&d->r, &d->how, uri, SR_REACH_MESH, &lookup) != NULL);
  unsetenv("AMENT_PREFIX_PATH");
  ENSURE_TEXT(sr_package_find(&d->r, &d->how, "file://" FOLDER "/box.stl", SR_REACH_MESH, &lookup), FOLDER "/box.stl");
  ENSURE(sr_package_find(&d->r, &d->how, FOLDER, SR_REACH_MESH, &lookup) == NULL);  // a folder is no file
  ENSURE(sr_package_find(&d->r, &d->how, "http://a/b.stl", SR_REACH_MESH, &lookup) == NULL);
  ENSURE(strstr(lookup.places, "only package://") != NULL);
  close_desk(d);
}

TEST(a_mesh_is_added_once_for_every_file_and_scale) {
  Desk* d = open_desk(FOLDER "/packages");
  const double mirrored[3] = {1, -1, 1};
  srAttr kept = sr_reader_word(&d->r, (srPlace){0}, "an element that is being made");
  const char* uri = "package://arm_description/meshes/tetrahedron.obj";
  d->how.folder = FOLDER "/packages/arm_folder/models";
  const char* name = sr_mesh_use(&d->r, &d->how, uri, one, NULL, (srPlace){0});
  ENSURE_TEXT(name, "tetrahedron");
  ENSURE(sr_mesh_use(&d->r, &d->how, uri, one, NULL, (srPlace){0}) == name);
  ENSURE(sr_mesh_use(&d->r, &d->how, FOLDER "/packages/arm_folder/meshes/tetrahedron.obj", one, "other",
                     (srPlace){0}) == name);
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, uri, mirrored, NULL, (srPlace){0}), "tetrahedron_2");
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, FOLDER "/box.stl", one, "hull/a", (srPlace){0}), "hull_a");
  ENSURE_EQUAL(srs_count(d->r.spec, SR_ELEMENT_MESH), 3);
  const srMeshDef* def = srs_get(d->r.spec, SR_ELEMENT_MESH, 0);
  ENSURE_TEXT(def->file.text, "arm_folder/meshes/tetrahedron.obj");  // seen from the folder of the model
  ENSURE_EQUAL(def->vertices.n, 12);
  ENSURE_EQUAL(def->faces.n, 12);
  ENSURE_TEXT(((const srMeshDef*)srs_get(d->r.spec, SR_ELEMENT_MESH, 2))->file.text, "../box.stl");
  ENSURE_TEXT(kept.text, "an element that is being made");
  ENSURE_EQUAL(sr_messages_count(d->r.messages), 0);
  close_desk(d);
}

TEST(a_missing_mesh_is_one_warning_with_the_places) {
  Desk* d = open_desk(FOLDER "/packages");
  const double doubled[3] = {2, 2, 2};
  const char* uri = "package://arm_folder/meshes/none.stl";
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, uri, one, NULL, (srPlace){"a.urdf", 3, 4}), "none");
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, uri, one, NULL, (srPlace){"a.urdf", 5, 4}), "none");
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, uri, doubled, NULL, (srPlace){"a.urdf", 6, 4}), "none_2");
  sr_mesh_tell_missing(&d->r);
  ENSURE_EQUAL(sr_messages_count(d->r.messages), 1);
  ENSURE_EQUAL(sr_messages_errors(d->r.messages), 0);
  const srMessage* m = sr_messages_get(d->r.messages, 0);
  ENSURE_EQUAL(m->place.line, 3);
  ENSURE_TEXT(m->text,
              "the package 'arm_folder' has not all of its files: 1 mesh has no triangles: 'meshes/none.stl'; searched "
              "in " FOLDER "/packages/arm_folder");
  ENSURE_TEXT(((const srMeshDef*)srs_get(d->r.spec, SR_ELEMENT_MESH, 0))->file.text, uri);
  close_desk(d);
  d = open_desk(NULL);
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, "box.stl", one, NULL, (srPlace){0}), "box");
  sr_mesh_tell_missing(&d->r);
  ENSURE_SAYS(d->r.messages, "comes from memory and has no folder");
  ENSURE_EQUAL(sr_messages_errors(d->r.messages), 0);
  close_desk(d);
}

TEST(the_missing_meshes_of_a_package_are_one_warning) {
  Desk* d = open_desk(FOLDER);
  char uri[80];
  for (int i = 0; i < 50; i++) {
    snprintf(uri, sizeof uri, "package://nowhere/meshes/%d.stl", i);
    sr_mesh_use(&d->r, &d->how, uri, one, NULL, (srPlace){"a.urdf", i + 1, 1});
  }
  sr_mesh_use(&d->r, &d->how, "parts/a.stl", one, NULL, (srPlace){"a.urdf", 60, 1});
  sr_mesh_use(&d->r, &d->how, "parts/b.stl", one, NULL, (srPlace){"a.urdf", 61, 1});
  sr_mesh_use(&d->r, &d->how, "pieces/c.stl", one, NULL, (srPlace){"a.urdf", 62, 1});
  sr_mesh_tell_missing(&d->r);
  ENSURE_EQUAL(sr_messages_count(d->r.messages), 3);
  ENSURE_TEXT(sr_messages_get(d->r.messages, 0)->text,
              "the package 'nowhere' is not found: 50 meshes have no triangles: 'meshes/0.stl', 'meshes/1.stl', "
              "'meshes/2.stl', 'meshes/3.stl', 'meshes/4.stl', 'meshes/5.stl', 'meshes/6.stl', 'meshes/7.stl', "
              "'meshes/8.stl', 'meshes/9.stl', 'meshes/10.stl', 'meshes/11.stl', ...; searched in " FOLDER
              " and the folders above it; give its location with --package nowhere=FOLDER");
  ENSURE_TEXT(sr_messages_get(d->r.messages, 1)->text,
              "files in " FOLDER "/parts are not found: 2 meshes have no triangles: 'a.stl', 'b.stl'");
  ENSURE_TEXT(sr_messages_get(d->r.messages, 2)->text,
              "the mesh 'pieces/c.stl' is not found: it has no triangles; tried " FOLDER "/pieces/c.stl");
  close_desk(d);
}

// A workspace as people have them: packages some levels below the folder that is given.
static void make_file(const char* folder, const char* name, const char* text) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (char* p = strchr(path + strlen(folder) + 1, '/'); p; p = strchr(p + 1, '/')) {
    *p = '\0';
    mkdir(path, 0700);
    *p = '/';
  }
  FILE* file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
}

TEST(packages_are_found_below_a_workspace) {
  char folder[] = "/tmp/sarrus-mesh-XXXXXX", expected[200], command[200];
  srLookup lookup;
  ENSURE(mkdtemp(folder) != NULL);
  make_file(folder, "src/universal/ur_description/package.xml", "<package><name>ur_description</name></package>");
  make_file(folder, "src/universal/ur_description/meshes/base.stl", "");
  make_file(folder, "src/universal/ur_description/inner/package.xml", "<package><name>inner</name></package>");
  make_file(folder, "src/universal/ur_description/inner/a.stl", "");
  make_file(folder, "src/old/CATKIN_IGNORE", "");
  make_file(folder, "src/old/legacy/package.xml", "<package><name>legacy</name></package>");
  make_file(folder, "src/old/legacy/a.stl", "");
  make_file(folder, "a/b/c/d/e/deep/package.xml", "<package><name>deep</name></package>");
  make_file(folder, "a/b/c/d/e/deep/a.stl", "");
  const char* const given[] = {folder};
  Desk* d = open_desk("/");
  d->options = (srLoadOptions){.packages = given, .npackage = 1};
  snprintf(expected, sizeof expected, "%s/src/universal/ur_description/meshes/base.stl", folder);
  ENSURE_TEXT(sr_package_find(&d->r, &d->how, "package://ur_description/meshes/base.stl", SR_REACH_MESH, &lookup),
              expected);
  ENSURE(sr_package_find(&d->r, &d->how, "package://ur_description/meshes/none.stl", SR_REACH_MESH, &lookup) == NULL);
  ENSURE(lookup.has_package);
  ENSURE(sr_package_find(&d->r, &d->how, "package://inner/a.stl", SR_REACH_MESH, &lookup) ==
         NULL);  // packages hold no packages
  ENSURE(sr_package_find(&d->r, &d->how, "package://legacy/a.stl", SR_REACH_MESH, &lookup) ==
         NULL);  // left out by its owner
  ENSURE(sr_package_find(&d->r, &d->how, "package://deep/a.stl", SR_REACH_MESH, &lookup) == NULL);  // six levels
  d->options = (srLoadOptions){0};
  setenv("ROS_PACKAGE_PATH", folder, 1);
  ENSURE_TEXT(sr_package_find(&d->r, &d->how, "package://ur_description/meshes/base.stl", SR_REACH_MESH, &lookup),
              expected);
  unsetenv("ROS_PACKAGE_PATH");
  close_desk(d);
  snprintf(command, sizeof command, "rm -r %s", folder);
  ENSURE_EQUAL(system(command), 0);
}

TEST(a_package_option_must_name_a_folder) {
  static const struct {
    const char *given, *message;
  } wrong[] = {{"arm=/nowhere/at/all", "--package arm=/nowhere/at/all: error: there is no folder '/nowhere/at/all'"},
               {"/nowhere/at/all", "there is no folder '/nowhere/at/all'"},
               {"=", "--package =: error: expected NAME=FOLDER"},
               {"arm=", "--package arm=: error: expected NAME=FOLDER"},
               {"", "expected NAME=FOLDER"}};
  for (int i = 0; i < SR_COUNT(wrong); i++) {
    srMessages* said = sr_messages_create();
    srSpec* spec;
    const srLoadOptions options = {.packages = &wrong[i].given, .npackage = 1};
    ENSURE_EQUAL(sr_load(FOLDER "/packages/arm_folder/models/arm.xml", &options, said, &spec), SR_INPUT);
    ENSURE_SAYS(said, wrong[i].message);
    sr_messages_destroy(said);
  }
}

TEST(a_broken_mesh_is_a_warning_with_its_place) {
  char folder[] = "/tmp/sarrus-mesh-XXXXXX", path[200];
  ENSURE(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/broken.obj", folder);
  FILE* file = fopen(path, "w");
  fputs("v 0 0 zero\n", file);
  fclose(file);
  Desk* d = open_desk(folder);
  ENSURE_TEXT(sr_mesh_use(&d->r, &d->how, "broken.obj", one, NULL, (srPlace){0}), "broken");
  ENSURE_EQUAL(sr_messages_count(d->r.messages), 2);
  ENSURE_EQUAL(sr_messages_errors(d->r.messages), 0);
  ENSURE_SAYS(d->r.messages, "broken.obj:1:7: warning: 'zero' is not a finite number");
  close_desk(d);
  remove(path);
  rmdir(folder);
}

// -------------------------------------------------------------------------------------------------------------- saving
TEST(a_saved_model_finds_its_meshes_from_another_folder) {
  char folder[] = "/tmp/sarrus-mesh-XXXXXX", path[200];
  srMessages* said = sr_messages_create();
  srSpec *spec, *again;
  ENSURE(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/saved.xml", folder);
  ENSURE_EQUAL(sr_load(FOLDER "/packages/arm_folder/models/arm.xml", NULL, said, &spec), SR_OK);
  srMeshDef lost = {.name = sr_text("lost"), .file = sr_text("lost.stl")};
  srs_add_mesh(spec, SR_NO_OWNER, &lost);
  ENSURE_EQUAL(sr_save(spec, path, said), SR_OK);
  ENSURE_EQUAL(sr_messages_count(said), 0);
  const char* const packages[] = {FOLDER "/packages", FOLDER "/packages/arm_folder"};
  ENSURE_EQUAL(sr_load(path, &(srLoadOptions){.packages = packages, .npackage = 2}, said, &again), SR_OK);
  ENSURE_EQUAL(sr_messages_count(said), 1);  // the lost one
  ENSURE(strstr(sr_messages_get(said, 0)->text, "packages/arm_folder/models/lost.stl") != NULL);
  for (int i = 0; i < 3; i++) {
    const srMeshDef *a = srs_get(spec, SR_ELEMENT_MESH, i), *b = srs_get(again, SR_ELEMENT_MESH, i);
    ENSURE_EQUAL(b->vertices.n, a->vertices.n);
    ENSURE(memcmp(a->vertices.numbers, b->vertices.numbers, (size_t)a->vertices.n * sizeof(double)) == 0);
    ENSURE(memcmp(a->faces.numbers, b->faces.numbers, (size_t)a->faces.n * sizeof(double)) == 0);
  }
  srs_destroy(again);
  size_t size;
  char* text = sr_save_text(spec, &size);
  ENSURE(strstr(text, "file=\"../meshes/tetrahedron.obj\"") != NULL);
  ENSURE(strstr(text, "vertices") == NULL);
  sr_free_text(text);
  srs_destroy(spec);
  sr_messages_destroy(said);
  remove(path);
  rmdir(folder);
}

// -------------------------------------------------------------------------------------------------------------- memory
typedef struct Ration {
  long left;
} Ration;

static void* rationed(void* user, void* pointer, size_t old_size, size_t new_size) {
  Ration* r = user;
  (void)old_size;
  if (new_size == 0) {
    free(pointer);
    return NULL;
  }
  return r->left-- > 0 ? realloc(pointer, new_size) : NULL;
}

// Whatever allocation fails: SR_MEMORY, and nothing is left behind (the sanitizer counts).
TEST(memory_that_runs_out_in_a_mesh_leaves_nothing_behind) {
  static const char* const files[] = {FOLDER "/box.stl", FOLDER "/box.obj", FOLDER "/box.dae"};
  for (int i = 0; i < 3; i++) {
    srStatus status = SR_MEMORY;
    for (long n = 0; status == SR_MEMORY && n < 1000; n++) {
      Ration ration = {n};
      srTriangles* t;
      sr_set_allocator(rationed, &ration);
      status = sr_mesh_read(files[i], NULL, &t);
      sr_mesh_destroy(t);
      sr_set_allocator(NULL, NULL);
    }
    ENSURE_EQUAL(status, SR_OK);
  }
  srStatus status = SR_MEMORY;
  static const char text[] = MODEL("<mesh name='m' file='box.dae'/>", "<inertial mass='1' inertia='1 1 1'/>");
  for (long n = 0; status == SR_MEMORY && n < 2000; n++) {
    Ration ration = {n};
    srSpec* spec;
    sr_set_allocator(rationed, &ration);
    status = sr_load_text(text, strlen(text), "test", FOLDER, NULL, NULL, &spec);
    srs_destroy(spec);
    sr_set_allocator(NULL, NULL);
  }
  ENSURE_EQUAL(status, SR_OK);
}
