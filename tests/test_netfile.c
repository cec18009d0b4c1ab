// Network files: the same numbers as the same network built in C, as the same mechanism as a model, and as closed forms; what is
// reported, refused and allocated.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "loading.h"
#include "messages.h"
#include "runner.h"

static srNetworkFile* open_network(const char* file, const char* settings) {
  char path[512], text[256];
  srSetting items[8];
  snprintf(path, sizeof path, "%s/models/paper3/networks/%s.xml", SARRUS_SOURCE_DIR, file);
  snprintf(text, sizeof text, "%s", settings);
  const int n = loading_settings(text, items, 8);
  srMessages* messages = sr_messages_create();
  srNetworkFile* f = NULL;
  const srStatus status = sr_network_load(path, &(srLoadOptions){.settings = items, .nsetting = n}, messages, &f);
  loading_print(messages);
  const int said = sr_messages_count(messages);
  sr_messages_destroy(messages);  // ready says nothing in these tests
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(said, 0);
  return f;
}

// Of a text; the messages are kept.
static char said[8192];
static srMessages* told;
static srNetworkFile* open_net_text(const char* text) {
  srNetworkFile* f = NULL;
  told = sr_messages_create();
  (void)sr_network_load_text(text, strlen(text), "net", NULL, NULL, told, &f);
  messages_keep(told, said, sizeof said);
  return f;
}

static void close_net(srNetworkFile* f) {
  sr_network_file_destroy(f);
  sr_messages_destroy(told);
}

static void ready(srNetwork* n) { ENSURE_EQUAL(sr_network_ready(n, 1), SR_OK); }

static void steps(srNetwork* n, double T, int count) {
  for (int i = 0; i < count; ++i) ENSURE_EQUAL(sr_network_step(n, T), SR_OK);
}

static const double* state(srNetworkFile* f, const char* name) {
  return sr_network_state(f->network, sr_network_find(f->network, name));
}

static void same_states(srNetwork* a, srNetwork* b) {
  const int n = sr_network_states(a, -1);
  ENSURE_EQUAL(n, sr_network_states(b, -1));
  for (int i = 0; i < n; ++i) ENSURE(sr_network_state(a, 0)[i] == sr_network_state(b, 0)[i]);
}

// ---- the same network in C --------------------------------------------------------------------------------------------------

static int table_rates(const srAdmittanceIn* in, double* xdot) {
  xdot[0] = in->x[1];
  xdot[1] = in->u[0] / in->p[0];
  return 0;
}

static int table_motion(const srAdmittanceIn* in, double* out) {
  out[0] = in->x[0], out[1] = in->x[1];
  return 0;
}

static int pulsating(void* self, double t, const double* in, double* out) {
  (void)self, (void)in;
  out[0] = 0.336 + 0.144 * sin(100 * t);
  return 0;
}

// The example of docs/using/network.md.
TEST(a_turntable_from_a_file_moves_as_the_one_in_c_to_the_last_bit) {
  srNetworkFile* f = open_network("turntable", "");
  srNetwork* n = sr_network_create(NULL);
  const srAdmittance table = {
      .name = "table", .np = 1, .nx = 2, .nu = 1, .nout = 2, .rates = table_rates, .motion = table_motion};
  const int a = sr_network_admittance(n, "table", &table, (double[]){0.05}, 1, NULL);
  const int b = sr_network_friction(n, "bearing", sr_friction_find("kikuuwe"), NULL, 1, 0.5, 0.5);
  const int m = sr_network_map(n, "motor", 0, 1, pulsating, NULL);
  ENSURE_EQUAL(sr_network_wire(n, 1, a, 1, b, 0), SR_OK);
  ENSURE_EQUAL(sr_network_wire(n, 1, b, 0, a, 0), SR_OK);
  ENSURE_EQUAL(sr_network_wire(n, 1, m, 0, a, 0), SR_OK);
  ready(n);
  ready(f->network);
  for (int i = 0; i < 1000; ++i) {
    ENSURE_EQUAL(sr_network_step(n, 1e-4), SR_OK);
    ENSURE_EQUAL(sr_network_step(f->network, 1e-4), SR_OK);
  }
  ENSURE(fabs(state(f, "table")[1]) > 1e-6);
  same_states(n, f->network);
  for (int i = 0; i < 100; ++i) {
    ENSURE_EQUAL(sr_network_euler(n, 1e-5), SR_OK);
    ENSURE_EQUAL(sr_network_euler(f->network, 1e-5), SR_OK);
  }
  same_states(n, f->network);
  sr_network_destroy(n);
  sr_network_file_destroy(f);
}

static int loads(void* self, double t, const double* in, double* out) {
  (void)self, (void)in;
  out[0] = t < 4.0 ? fmin(0.52, 0.3 * t) : 0.336 + 0.144 * sin(100.0 * t);
  out[1] = t < 4.0 ? fmin(0.52, 0.3 * t) : 0.336 + 0.144 * cos(100.0 * t);
  return 0;
}

static int joint_friction(srNetwork* n, const char* name, double F) {
  srFrictionParameters p = sr_friction_defaults();
  p.K = 5000.0;
  p.B = 1.0;
  return sr_network_friction(n, name, sr_friction_find("kikuuwe"), &p, 1, F, F);
}

TEST(a_mechanism_in_a_network_file_moves_as_in_c_and_as_the_model_with_the_same_laws) {
  const double T = 1e-4, F = 0.02, t_end = 0.2;
  const int count = 2000;
  srNetworkFile* f = open_network("two-link", "F=0.02");
  ready(f->network);
  steps(f->network, T, count);

  Loaded links = open_model("paper3/networks/links", "");
  srNetwork* n = sr_network_create(NULL);
  const int arm = sr_network_multibody(n, "arm", links.m, NULL, NULL, 0);
  const int load = sr_network_map(n, "load", 0, 2, loads, NULL);
  const int friction[2] = {joint_friction(n, "friction0", F), joint_friction(n, "friction1", F)};
  for (int i = 0; i < 2; ++i) {
    const srTerminal joint = sr_network_joint_terminal(n, arm, i ? "theta1" : "theta0");
    ENSURE_EQUAL(sr_network_attach(n, friction[i], joint), SR_OK);
    ENSURE_EQUAL(sr_network_apply(n, 1, load, i, joint), SR_OK);
  }
  ready(n);
  steps(n, T, count);
  same_states(n, f->network);

  Loaded inside = open_model("paper3/two-link", "F=0.02");
  srRunOptions options = sr_run_options(inside.m);
  options.t_end = t_end;
  options.every = 1;
  ENSURE_EQUAL(sr_run(inside.m, inside.d, &options, NULL, &inside.result), SR_OK);
  ENSURE(fabs(inside.d->v[0]) > 1e-2);  // it slides
  for (int i = 0; i < 2; ++i) {
    ENSURE_NEAR(state(f, "arm")[i], inside.d->q[i], 1e-12);
    ENSURE_NEAR(state(f, "arm")[2 + i], inside.d->v[i], 1e-12);
  }
  sr_network_destroy(n);
  close_model(&links);
  close_model(&inside);
  sr_network_file_destroy(f);
}

TEST(joints_by_penalty_from_a_file_move_as_in_c_to_the_last_bit) {
  const double Jx = 0.5 * (0.3 * 0.3) / 1200, J = 0.5 * (0.3 * 0.3) / 12, half = 0.3 / 2, k = 1e5;
  const double joint_p[7] = {k, 1e-4 * k, 0.05 * k, 5e-6 * k, 0, 0, 1};
  srNetwork* n = sr_network_create(NULL);
  for (int i = 0; i < 2; ++i) {
    const srRigidDef rod = {
        .mass = 0.5, .inertia = {Jx, 0, 0, 0, J, 0, 0, 0, J}, .p = {i ? 3 * 0.3 / 2 : half, 0, 0}, .q = {1, 0, 0, 0}};
    ENSURE_EQUAL(sr_network_body(n, i ? "lower" : "upper", &rod), i);
  }
  const int load = sr_network_map(n, "load", 0, 2, loads, NULL);
  int hinge[2], friction[2];
  for (int i = 0; i < 2; ++i) {
    hinge[i] = sr_network_impedance(n, "hinge", sr_network_find_impedance(n, "hinge"), joint_p, 7);
    friction[i] = joint_friction(n, "friction", 0.5);
  }
  const srTerminal base0 = sr_network_ground(n, NULL);
  const srTerminal link0 = sr_network_body_terminal(n, 0, (double[]){-half, 0, 0}, false);
  const srTerminal base1 = sr_network_body_terminal(n, 0, (double[]){half, 0, 0}, false);
  const srTerminal link1 = sr_network_body_terminal(n, 1, (double[]){-half, 0, 0}, false);
  const srTerminal axis[2] = {sr_network_axis_terminal(n, base0, link0, (double[]){0, 0, 1}),
                              sr_network_axis_terminal(n, base1, link1, (double[]){0, 0, 1})};
  for (int i = 0; i < 2; ++i) {
    ENSURE_EQUAL(sr_network_frames(n, hinge[i], i ? base1 : base0, i ? link1 : link0), SR_OK);
    ENSURE_EQUAL(sr_network_attach(n, friction[i], axis[i]), SR_OK);
    ENSURE_EQUAL(sr_network_apply(n, 1, load, i, axis[i]), SR_OK);
  }
  srNetworkFile* f = open_network("penalty", "");
  ready(n);
  ENSURE_EQUAL(sr_network_ready(f->network, 2), SR_OK);  // bits do not depend on threads
  steps(n, 1e-4, 300);
  steps(f->network, 1e-4, 300);
  ENSURE(fabs(state(f, "upper")[12]) > 1e-6);
  same_states(n, f->network);
  sr_network_destroy(n);
  sr_network_file_destroy(f);
}

// Simulation I: 5/7 of the speed, by angular momentum about the floor.
TEST(a_sphere_on_a_plane_from_a_file_rolls_with_five_sevenths_of_its_speed) {
  srNetworkFile* f = open_network("rolling-sphere", "");
  srNetworkResult result;
  ENSURE_EQUAL(sr_network_run(f, &f->options, NULL, &result), SR_OK);
  ENSURE_NEAR(state(f, "ball")[3], 10.0 / 7.0, 1e-6);
  ENSURE_EQUAL(result.steps, 10000);
  sr_network_file_destroy(f);
}

// ---- laws of all connections ------------------------------------------------------------------------------------------------

// Mass m on a spring k with damper c along x, from x0 at rest: closed form.
#define OSCILLATOR(parts)                                                                                              \
  "<network version='1'><parameter name='k' value='30'/><parameter name='c' value='0.4'/>"                             \
  "<mass name='m' mass='2' at='1.3 0 0'/><ground name='wall' at='1 0 0'/><ground name='far' at='-4 0 0'/>"             \
  "<terminal name='point' of='m'/><terminal name='x' of='m' part='x'/>" parts "</network>"

static double damped(double t) {
  const double m = 2, k = 30, c = 0.4, d = 0.5 * c / m, w = sqrt(k / m - d * d);
  return exp(-d * t) * 0.3 * (cos(w * t) + d / w * sin(w * t));
}

static double position_at_2(const char* text, int count) {
  srNetworkFile* f = open_net_text(text);
  printf("%s", said);
  ENSURE(f != NULL);
  ready(f->network);
  messages_keep(told, said, sizeof said);
  ENSURE_TEXT(said, "");
  steps(f->network, 2.0 / count, count);
  const double x = state(f, "m")[0];
  close_net(f);
  return x;
}

TEST(springs_and_dampers_of_every_kind_and_formulas_follow_the_closed_form_with_order_4) {
  static const char* const ways[] = {
      // on a coordinate, and against the ground
      OSCILLATOR("<spring name='s' stiffness='k' length='1' damping='c' to='x'/>"),
      OSCILLATOR("<spring name='s' stiffness='k' length='1' to='x'/>"
                 "<terminal name='w' of='wall' part='x'/><damper name='d' damping='c' a='w' b='x'/>"),
      // distance from a point far behind: length 5 at rest
      OSCILLATOR("<spring name='s' stiffness='k' length='5' damping='c' a='far' b='point'/>"),
      // an impedance by formulas, and by the name of a law
      OSCILLATOR(
          "<element name='e' to='x'><position name='p'/><velocity name='v'/><force name='f' value='-k*(p - 1) - c*v'/>"
          "</element>"),
      OSCILLATOR("<impedance name='s' law='joint-spring' parameters='k 1' to='x'/>"
                 "<impedance name='d' law='joint-damper' parameters='c' to='x'/>"),
      // by wires and a map
      OSCILLATOR("<map name='law'><input name='p'/><input name='v'/><output name='f' value='k*p + c*v'/></map>"
                 "<wire from='m.x' to='law.p'/><constant to='law.p' value='-1'/><wire from='m.vx' to='law.v'/>"
                 "<wire from='law.f' to='m.fx' coefficient='-1'/>"),
  };
  for (int i = 0; i < (int)(sizeof ways / sizeof ways[0]); ++i) {
    const double coarse = fabs(position_at_2(ways[i], 200) - 1 - damped(2)),
                 fine = fabs(position_at_2(ways[i], 400) - 1 - damped(2));
    ENSURE_SMALL(fine, 1e-7);
    ENSURE_NEAR(log2(coarse / fine), 4.0, 0.1);
  }
}

TEST(states_of_an_impedance_by_formulas_are_integrated) {
  // Maxwell element: spring k behind damper c, held at x = 1: f = -k exp(-k t/c).
  srNetworkFile* f = open_net_text(
      "<network version='1'><element name='e'><position name='x'/><state name='y' initial='0' rate='2*(x - y)'/>"
      "<force name='f' value='-6*(x - y) + 0*tau'/></element><constant to='e.x' value='1'/></network>");
  ENSURE_TEXT(said, "");
  ready(f->network);
  steps(f->network, 0.01, 100);
  ENSURE_NEAR(state(f, "e")[0], 1 - exp(-2), 1e-9);
  ENSURE_EQUAL(sr_network_evaluate(f->network, 0.1), SR_OK);
  ENSURE_NEAR(sr_network_output(f->network, 0)[0], -6 * exp(-2), 1e-8);
  close_net(f);
}

// ---- messages -----------------------------------------------------------------------------------------------------------------

#define NET(inside) "<network version='1'>\n" inside "\n</network>"

TEST(every_mistake_in_a_network_file_is_reported_with_its_place) {
  static const struct {
    const char *text, *expected;
  } bad[] = {
      {NET("<mess name='m' mass='1'/>"),
       "net:2:1: error: unknown element <mess> inside <network>; did you mean <mass>?"},
      {NET("<mass name='m' mas='1'/>"), "net:2:16: error: unknown attribute 'mas' of <mass>; did you mean 'mass'?"},
      {NET("<mass name='m'/>"), "net:2:1: error: <mass> needs the attribute 'mass'"},
      {NET("<mass name='m' mass='-1'/>"),
       "net:2:1: error: the component 'm' is not possible: its mass must be positive"},
      {NET("<mass name='m' mass='1' at='1 2'/>"), "net:2:29: error: 'at' of <mass> takes 3 values, not 2"},
      {NET("<mass name='m' mass='k'/>"), "net:2:22: error: unknown name 'k'"},
      {NET("<mass name='m' mass='1'/><mass name='m' mass='1'/>"),
       "net:2:38: error: there is a component or a terminal 'm'"},
      {NET("<output name='y' value='1'/>"), "<output> belongs inside <equations or map>, not inside <network>"},
      {NET("<wire from='m.x' to='m.fx'/>"), "net:2:13: error: 'm.x' begins with no component"},
      {NET("<mass name='m' mass='1'/>\n<wire from='m.q' to='m.fx'/>"),
       "net:3:13: error: 'm' has no output 'q'; it has x, y, z, vx, vy or vz"},
      {NET("<mass name='m' mass='1'/>\n<wire from='m' to='m.fx'/>"), "'m' is no signal: COMPONENT.SIGNAL was expected"},
      {NET("<mass name='m' mass='1'/>\n<wire from='m.x' to='m.fx' count='7'/>"),
       "'m' has 6 outputs: 0 to 6 is not among them"},
      {NET("<mass name='m' mass='1'/>\n<spring name='s' stiffness='1' to='m'/>"),
       "net:3:36: error: 'm' is a component, not a terminal"},
      {NET("<mass name='m' mass='1'/><terminal name='t' of='m'/>\n<spring name='s' stiffness='1' to='t'/>"),
       "net:3:1: error: 's' takes 1 positions and 1 velocities and gives 1 forces, but the terminal has 3"},
      {NET("<mass name='m' mass='1'/><terminal name='t' of='m'/>\n<spring name='s' stiffness='1' a='t'/>"),
       "net:3:1: error: <spring> has 'to', or 'a' and 'b'"},
      {NET("<mass name='m' mass='1'/>\n<terminal name='t' of='m' part='x z'/>"), "'part' takes neighbours of x y z"},
      {NET("<mass name='m' mass='1'/>\n<terminal name='t' of='m' coordinate='q'/>"),
       "net:3:39: error: 'coordinate' is not for a terminal of a mass"},
      {NET("<mass name='m' mass='1'/><terminal name='t' of='m'/>\n<push terminal='t' force='1 2'/>"),
       "the terminal has 3 coordinates, and 'force' 2"},
      {NET("<ground name='g'/>\n<push terminal='g' force='0 0 0 0 0 1'/>"), "a force on the ground moves nothing"},
      {NET("<friction name='f' F='1' law='kikuwe' K='1'/>"),
       "net:2:31: error: unknown friction law 'kikuwe'; did you mean 'kikuuwe'?"},
      {NET("<friction name='f' F='1'/>"), "the law 'kikuuwe' of 'f' needs 'K'"},
      {NET("<plane name='p' K='1' normal='hunt-crossley'/>"), "cannot use 'hunt-crossley'"},
      {NET("<plane name='p' K='1' friction='kikuuwe'/>"), "the friction of 'p' needs 'mu-k' or 'mu-s'"},
      {NET("<equations name='e'><input name='u'/><state name='x' rate='u'/>\n<output name='y' "
           "value='2*u'/></equations>"),
       "net:3:27: error: 'u' is an input: the motion of an admittance must not depend"},
      {NET("<equations name='e'>\n<state name='x' rate='x'/><state name='x' rate='1'/></equations>"),
       "net:3:27: error: the name 'x' in 'e' is that of another input or state"},
      {NET("<map name='e'><output name='y' value='1'/>\n<output name='y' value='2'/></map>"),
       "net:3:1: error: there is an output 'y' in 'e' already"},
      {NET("<map name='e'><output name='y' value='1 +'/></map>"), "net:2:"},
      {NET("<impedance name='i' law='none'/>"), "net:2:26: error: there is no impedance 'none'"},
      {NET("<admittance name='i' law='none'/>"), "net:2:27: error: there is no admittance 'none'"},
      {NET("<plugin library='parts'/>"), "runs only on request"},
      {NET("<mechanism name='a' file='a.xml'/>"), "the network comes from memory and has no folder"},
      {NET("<run step='0'/>"), "net:2:12: error: 'step' of <run> must be greater than zero, not 0"},
      {NET("<run/><run/>"), "there is a <run> already"},
      {NET("<run threads='1.5'/>"), "'threads' must be a whole number"},
      {"<network version='2'/>", "unknown version '2'"},
      {"<sarrus version='1'/>", "the root of a network file is <network version=\"1\">, not <sarrus>"},
      {NET(""), "net:1:1: error: the network has no components"},
      {NET("text"), "stray text 'text' inside <network>"},
  };
  for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); ++i) {
    srNetworkFile* f = open_net_text(bad[i].text);
    const bool right = !f && strstr(said, bad[i].expected);
    if (!right) printf("%s\n  expected %s\n  got %s", bad[i].text, bad[i].expected, said);
    ENSURE(right);
    close_net(f);
  }
}

TEST(a_value_for_a_parameter_that_a_mechanism_does_not_have_is_reported_where_it_is_written) {
  static const char text[] =
      NET("<mechanism name='arm' file='links.xml'>\n<set parameter='ll' value='1'/></mechanism>");
  char folder[512];
  snprintf(folder, sizeof folder, "%s/models/paper3/networks", SARRUS_SOURCE_DIR);
  srNetworkFile* f = NULL;
  told = sr_messages_create();
  ENSURE_EQUAL(sr_network_load_text(text, sizeof text - 1, "net", folder, NULL, told, &f), SR_INPUT);
  messages_keep(told, said, sizeof said);
  ENSURE_TEXT(said, "net:3:17: error: the model has no parameter 'll'; it has l, m\n");
  close_net(f);
}

TEST(errors_of_a_network_come_at_once_and_followers_are_not_reported) {
  srNetworkFile* f = open_net_text(
      NET("<mass name='m' mass='x'/>\n<terminal name='t' of='m'/>\n<spring name='s' stiffness='y' to='t'/>\n"
          "<wire from='m.x' to='n.u'/>"));
  ENSURE(f == NULL);
  ENSURE_EQUAL(sr_messages_errors(told), 3);
  ENSURE(strstr(said, "net:2:22: ") && strstr(said, "net:4:29: ") && strstr(said, "net:5:22: "));
  close_net(f);
}

TEST(an_algebraic_loop_of_a_file_is_named_and_a_loose_input_too) {
  srNetworkFile* f =
      open_net_text(NET("<map name='a'><input name='u'/><output name='y' value='u'/></map>\n"
                        "<map name='b'><input name='u'/><input name='loose'/><output name='y' value='u'/></map>\n"
                        "<map name='c'><input name='u'/><output name='y' value='u'/></map>\n"
                        "<wire from='a.y' to='b.u'/><wire from='b.y' to='a.u'/><wire from='b.y' to='c.u'/>"));
  ENSURE_TEXT(said, "");
  ENSURE_EQUAL(sr_network_ready(f->network, 1), SR_INPUT);
  messages_keep(told, said, sizeof said);
  ENSURE(strstr(said, "net:3:1: error: an algebraic loop: 'b', 'a' and back") != NULL);
  ENSURE(strstr(said, "'c'") == NULL);  // it waits for the ring, but is no part of it
  close_net(f);
  f = open_net_text(NET("<map name='b'><input name='u'/><output name='y' value='u'/></map>"));
  ENSURE_EQUAL(sr_network_ready(f->network, 1), SR_OK);
  messages_keep(told, said, sizeof said);
  ENSURE_TEXT(said, "net:2:1: warning: input 'u' of 'b' has no wire: it is 0\n");
  ENSURE(!sr_network_connected(f->network, 0, 0));
  srText text = {0};
  sr_report_network_check(f, told, SR_REPORT_JSON, &text);
  ENSURE(strstr(text.data, "\"unconnected\": [\"input(b).u\"]") != NULL);
  sr_text_free(&text);
  close_net(f);
}

TEST(the_order_of_evaluation_is_reported) {
  srNetworkFile* f =
      open_net_text(NET("<map name='late'><input name='u'/><output name='y' value='u'/></map>"
                        "<map name='early'><output name='y' value='t'/></map><mass name='m' mass='1'/>"
                        "<wire from='early.y' to='late.u'/><wire from='late.y' to='m.fx'/>"));
  ENSURE_TEXT(said, "");
  ready(f->network);
  srText text = {0};
  sr_report_network_check(f, NULL, SR_REPORT_JSON, &text);
  ENSURE(strstr(text.data, "\"order\": [[\"early\"], [\"late\"]]") != NULL);
  ENSURE(strstr(text.data, "\"ny\": 6") != NULL);
  sr_text_free(&text);
  close_net(f);
}

// ---- runs -----------------------------------------------------------------------------------------------------------------------

typedef struct Rows {
  int n, columns;
  double first[16], last[16], second_time;
} Rows;

static int on_row(void* user, const double* row) {
  Rows* rows = user;
  memcpy(rows->n == 0 ? rows->first : rows->last, row, (size_t)rows->columns * sizeof *row);
  if (rows->n == 1) rows->second_time = row[0];
  rows->n++;
  return 0;
}

TEST(a_run_of_a_network_ends_where_it_should_and_its_columns_have_names) {
  static const char text[] =
      NET("<mass name='m' mass='2' v='1 0 0'/><terminal name='t' of='m' part='x'/>\n"
          "<damper name='d' damping='0.5' to='t'/><record what='d.f'/><run step='0.01' t-end='0.255' every='0.02'/>");
  srNetworkFile* f = open_net_text(text);
  ENSURE_TEXT(said, "");
  srColumns* columns = NULL;
  const char* const more[] = {"input(d).?"};
  ENSURE_EQUAL(sr_network_columns_create(f, more, 1, told, &columns), SR_OK);
  static const char* const names[] = {"t",    "m.x",  "m.y", "m.z",        "m.vx",
                                      "m.vy", "m.vz", "d.f", "input(d).x", "input(d).v"};
  ENSURE_EQUAL(columns->count, 10);
  for (int i = 0; i < 10; ++i) ENSURE_TEXT(columns->names[i], names[i]);
  ENSURE_TEXT(columns->units[4], "m/s");
  sr_network_columns_destroy(columns);
  Rows rows = {.columns = 8};
  srNetworkOptions o = f->options;
  o.row = on_row;
  o.user = &rows;
  srNetworkResult result;
  ENSURE_EQUAL(sr_network_run(f, &o, told, &result), SR_OK);
  ENSURE_EQUAL(result.steps, 26);
  ENSURE_EQUAL(rows.n, 14);  // 0, 0.02 .. 0.24, 0.255 (step 26 is shorter)
  ENSURE_NEAR(rows.second_time, 0.02, 1e-15);
  ENSURE(result.t == 0.255);
  ENSURE_NEAR(rows.last[4], exp(-0.25 * 0.255), 1e-12);
  ENSURE_NEAR(rows.last[7], -0.5 * exp(-0.25 * 0.255), 1e-12);
  close_net(f);
}

TEST(a_network_run_that_cannot_go_on_says_where_and_keeps_what_it_has) {
  srNetworkFile* f = open_net_text(NET(
      "<equations name='e'><state name='x' initial='1' rate='x^2'/><output name='y' value='sqrt(1.5 - x)'/></equations>"
      "<run step='0.01' t-end='2'/>"));
  srNetworkResult result;
  ENSURE_EQUAL(sr_network_run(f, &f->options, told, &result), SR_FAILED);
  ENSURE(strstr(result.error_message, "'e' at t = 0.33") != NULL);  // x = 1/(1 - t) = 1.5
  ENSURE_NEAR(result.t, 0.33, 0.01);
  close_net(f);
  f = open_net_text(NET("<mass name='m' mass='1'/>"));
  srNetworkOptions o = f->options;
  o.method = "dopri5";
  ENSURE_EQUAL(sr_network_run(f, &o, told, &result), SR_INPUT);
  o = f->options;
  o.step = NAN;
  ENSURE_EQUAL(sr_network_run(f, &o, told, &result), SR_INPUT);
  o = f->options;
  o.step = 1e-300;
  ENSURE_EQUAL(sr_network_run(f, &o, told, &result), SR_INPUT);
  close_net(f);
}

// ---- memory -----------------------------------------------------------------------------------------------------------------------

TEST(stepping_a_network_file_allocates_nothing) {
  static const char* const files[] = {"turntable", "two-link", "penalty", "rolling-sphere"};
  for (int i = 0; i < 4; ++i) {
    srNetworkFile* f = open_network(files[i], "");
    ready(f->network);
    Heap heap = {0};
    sr_set_allocator(heap_allocator, &heap);
    for (int k = 0; k < 5 && heap.calls == 0; ++k) {
      (void)sr_network_step(f->network, 1e-4);
      (void)sr_network_euler(f->network, 1e-4);
      (void)sr_network_evaluate(f->network, -1);
    }
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(heap.calls, 0);
    sr_network_file_destroy(f);
  }
}

TEST(memory_that_runs_out_while_a_network_file_is_read_is_reported_and_leaks_nothing) {
  static const char text[] =
      NET("<parameter name='k' value='2'/><repeat count='2'><mass name='m{i}' mass='k'/><terminal name='t{i}' "
          "of='m{i}'/></repeat>"
          "<spring name='s' stiffness='k' a='t0' b='t1'/><map name='f'><output name='y' value='sin(k*t)'/></map>"
          "<equations name='e'><state name='x' rate='1'/><output name='y' value='x'/></equations>"
          "<wire from='f.y' to='m0.fx'/><record what='s.f'/>");
  Heap heap = {0};
  sr_set_allocator(heap_allocator, &heap);
  bool done = false;
  for (long fail = 1; fail < 2000 && !done; ++fail) {
    srNetworkFile* f = NULL;
    srColumns* columns = NULL;
    heap.calls = 0;
    heap.fail_at = fail;
    srMessages* messages = sr_messages_create();
    if (messages && sr_network_load_text(text, sizeof text - 1, "net", NULL, NULL, messages, &f) == SR_OK &&
        sr_network_ready(f->network, 1) == SR_OK)
      done = sr_network_columns_create(f, NULL, 0, messages, &columns) == SR_OK && heap.calls < fail;
    sr_network_columns_destroy(columns);
    sr_network_file_destroy(f);
    sr_messages_destroy(messages);
    if (heap.live != 0) break;
  }
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(heap.live, 0);
  ENSURE(done);
}

TEST(a_file_is_a_network_by_its_root) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/paper3/networks/turntable.xml", SARRUS_SOURCE_DIR);
  ENSURE(sr_is_network(path));
  snprintf(path, sizeof path, "%s/models/paper3/two-link.xml", SARRUS_SOURCE_DIR);
  ENSURE(!sr_is_network(path));
  ENSURE(!sr_is_network("no/such/file"));
}
