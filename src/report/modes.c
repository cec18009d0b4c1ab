// Modes: eigenvalues with frequency, damping and shape, and the matrices they are of.
#include <math.h>

#include "report/report.h"

static bool is_oscillation(const srMode* mode) { return mode->im != 0; }
static const char* const* state_names(const srLinear* l) {
  return l->name ? l->name + l->npos + l->nvel : l->m->y_name;
}
static bool is_defective(const srMode* mode) { return mode->vectors < mode->multiplicity; }

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_entries(srJson* json, const char* key, const char* what, const char* const* names,
                        const srModeEntry* entry, int n) {
  sr_json_array(json, key);
  for (int i = 0; i < n; i++) {
    sr_json_object(json, NULL);
    sr_json_text(json, what, names[i]);
    sr_json_number(json, "modulus", entry[i].modulus);
    sr_json_number(json, "phase", entry[i].phase);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_mode(srJson* json, const srLinear* l, const srMode* mode) {
  sr_json_object(json, NULL);
  sr_json_number(json, "re", mode->re);
  sr_json_number(json, "im", mode->im);
  sr_json_number(json, "frequency", mode->frequency);
  sr_json_number(json, "damping", mode->damping);
  if (l->A) {
    sr_json_int(json, "multiplicity", mode->multiplicity);
    sr_json_int(json, "vectors", mode->vectors);
    sr_json_number(json, "condition", mode->condition);
  }
  put_entries(json, "shape", "joint", l->m->v_name, mode->shape, l->m->njv);
  if (l->nstate > 0) put_entries(json, "states", "state", state_names(l), mode->state, l->nstate);
  sr_json_object_end(json);
}

static void put_states(srJson* json, const srLinear* l) {
  sr_json_array(json, "states");
  for (int i = 0; i < l->nx; i++) {
    sr_json_object(json, NULL);
    sr_json_text(json, "name", l->name[i]);
    sr_json_text(json, "kind", i < l->npos ? "position" : i < l->npos + l->nvel ? "velocity" : "state");
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_names(srJson* json, const char* key, const char* const* name, int n) {
  sr_json_array(json, key);
  for (int i = 0; i < n; i++) sr_json_text(json, NULL, name[i]);
  sr_json_array_end(json);
}

// The part of the gains from input k to output j: 0 modulus, 1 phase.
static void put_gain(srJson* json, const srModePorts* p, int j, int k, int part) {
  sr_json_array(json, NULL);
  for (int i = 0; i < p->nfrequency; i++) {
    const double* g = p->gain + 2 * ((size_t)i * (size_t)(p->noutput * p->ninput) + (size_t)(j * p->ninput + k));
    sr_json_number(json, NULL, part == 0 ? hypot(g[0], g[1]) : atan2(g[1], g[0]));
  }
  sr_json_array_end(json);
}

// A, B, C, D; forces change no position or velocity at once, so D is 0.
static void put_ports(srJson* json, const srLinear* l, const srModePorts* p) {
  sr_json_object(json, "state_space");
  put_names(json, "inputs", p->input, p->ninput);
  put_names(json, "outputs", p->output, p->noutput);
  sr_json_matrix(json, "A", l->A, l->nx, l->nx);
  sr_json_matrix(json, "B", p->B, l->nx, p->ninput);
  sr_json_matrix(json, "C", p->C, p->noutput, l->nx);
  sr_json_array(json, "D");
  for (int j = 0; j < p->noutput; j++) {
    sr_json_array(json, NULL);
    for (int k = 0; k < p->ninput; k++) sr_json_number(json, NULL, 0);
    sr_json_array_end(json);
  }
  sr_json_array_end(json);
  sr_json_object_end(json);
  if (p->nfrequency == 0) return;
  sr_json_object(json, "response");
  sr_json_numbers(json, "frequency", p->frequency, p->nfrequency);
  for (int part = 0; part < 2; part++) {
    sr_json_array(json, part == 0 ? "modulus" : "phase");
    for (int j = 0; j < p->noutput; j++) {
      sr_json_array(json, NULL);
      for (int k = 0; k < p->ninput; k++) put_gain(json, p, j, k, part);
      sr_json_array_end(json);
    }
    sr_json_array_end(json);
  }
  sr_json_object_end(json);
}

static void put_modes(const srLinear* l, const srModes* modes, const srData* d, const srRest* rest,
                      const srModePorts* ports, srText* out) {
  const srModel* m = l->m;
  srJson json = sr_json_begin(out);
  sr_json_number(&json, "t", l->t);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_numbers(&json, "q", d->jq, m->njq);
  sr_json_numbers(&json, "v", d->jv, m->njv);
  sr_json_numbers(&json, "y", d->y, m->ny - m->ny_slot);
  if (l->A) sr_json_number(&json, "acceleration", l->acceleration);
  if (l->A) sr_json_text(&json, "stability", sr_stability_word(sr_modes_stability(modes)));
  sr_json_int(&json, "zeros", modes->zeros);
  if (l->A) sr_json_int(&json, "rigid", modes->rigid);
  sr_json_array(&json, "modes");
  for (int i = 0; i < modes->n; i++) put_mode(&json, l, &modes->mode[i]);
  sr_json_array_end(&json);
  if (l->A) {
    put_states(&json, l);
    sr_json_matrix(&json, "A", l->A, l->nx, l->nx);
  }
  if (l->M) {
    sr_json_matrix(&json, "M", l->M, l->npos, l->npos);
    sr_json_matrix(&json, "C", l->C, l->npos, l->npos);
    sr_json_matrix(&json, "K", l->K, l->npos, l->npos);
  }
  if (ports) put_ports(&json, l, ports);
  sr_put_rest(&json, rest);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
// The joints that move most, in order.
static void show_largest(srText* out, const srLinear* l, const srMode* mode) {
  enum { SHOWN = 3 };
  const double least = 0.01, degree = acos(-1.0) / 180;
  int shown[SHOWN];
  for (int k = 0; k < SHOWN; k++) {
    int best = -1;
    for (int i = 0; i < l->m->njv; i++) {
      bool taken = false;
      for (int j = 0; j < k; j++) taken = taken || shown[j] == i;
      if (!taken && mode->shape[i].modulus > least && (best < 0 || mode->shape[i].modulus > mode->shape[best].modulus))
        best = i;
    }
    shown[k] = best;
    if (best < 0) break;
    const srModeEntry* x = &mode->shape[best];
    sr_text_print(out, "%s%s %.3g", k ? ", " : "", l->m->v_name[best], x->modulus);
    if (x->phase != 0) sr_text_print(out, " at %.4g deg", x->phase / degree);
  }
}

static void show_shape(srText* out, const srLinear* l, const srMode* mode) {
  const double degree = acos(-1.0) / 180;
  for (int i = 0; i < l->m->njv; i++)
    sr_text_print(out, "    %-22s %12.6g %10.2f deg\n", l->m->v_name[i], mode->shape[i].modulus,
                  mode->shape[i].phase / degree);
  for (int i = 0; i < l->nstate; i++)
    sr_text_print(out, "    %-22s %12.6g %10.2f deg\n", state_names(l)[i], mode->state[i].modulus,
                  mode->state[i].phase / degree);
}

static void show_mode(srText* out, const srLinear* l, const srMode* mode, bool all) {
  sr_text_print(out, "  %15.8g", mode->re);
  if (is_oscillation(mode))
    sr_text_print(out, " +- %-15.8g %12.6g", fabs(mode->im), mode->frequency);
  else
    sr_text_print(out, " %18s %12s", "", "");
  if (isnan(mode->damping))
    sr_text_print(out, " %11s  ", "");
  else
    sr_text_print(out, " %11.5g  ", mode->damping);
  show_largest(out, l, mode);
  if (is_defective(mode))
    sr_text_print(out, " (defective: %d-fold, %d vector%s)", mode->multiplicity, mode->vectors,
                  mode->vectors == 1 ? "" : "s");
  else if (mode->multiplicity > 1)
    sr_text_print(out, " (%d-fold)", mode->multiplicity);
  sr_text_print(out, "\n");
  if (all) show_shape(out, l, mode);
}

static void show_modes(const srLinear* l, const srModes* modes, bool all, srText* out) {
  enum { SHOWN = 60 };
  int shown = 0;
  sr_text_print(out, "model %s, %s coordinates, linearized at t = %.9g s: %s\n", l->m->name,
                sr_formulation_word(l->m->formulation), l->t,
                l->A ? sr_stability_word(sr_modes_stability(modes)) : "the smallest eigenvalues");
  sr_show_line(out, "states", "%d: %d positions, %d velocities%s", l->nx, l->npos, l->nvel,
               l->nstate > 0 ? ", states of force elements and equations" : "");
  if (modes->zeros > 0 && l->A) sr_show_line(out, "zero eigenvalues", "%d, with %d shapes", modes->zeros, modes->rigid);
  sr_text_print(out, "  %15s    %-15s %12s %11s  %s\n", "re 1/s", "im 1/s", "f Hz", "damping", "shape");
  for (int i = 0; i < modes->n && (all || shown < SHOWN); i++) {
    if (modes->mode[i].im < 0) continue;  // its conjugate is shown
    show_mode(out, l, &modes->mode[i], all);
    shown++;
  }
  if (shown == SHOWN && !all) sr_text_print(out, "  ... more with --verbose\n");
}

// Largest gain of each pair over the frequencies.
static void show_ports(const srModePorts* p, srText* out) {
  if (p->nfrequency > 0)
    sr_text_print(out, "largest gain from %.4g to %.4g Hz\n", p->frequency[0], p->frequency[p->nfrequency - 1]);
  for (int j = 0; j < p->noutput * p->ninput && p->nfrequency > 0; j++) {
    int best = 0;
    double most = -1;
    for (int i = 0; i < p->nfrequency; i++) {
      const double* g = p->gain + 2 * ((size_t)i * (size_t)(p->noutput * p->ninput) + (size_t)j);
      if (!(hypot(g[0], g[1]) > most)) continue;
      most = hypot(g[0], g[1]);
      best = i;
    }
    sr_text_print(out, "  %-22s from %-22s %12.6g at %.6g Hz\n", p->output[j / p->ninput], p->input[j % p->ninput],
                  most, p->frequency[best]);
  }
}

void sr_report_modes(const srLinear* linear, const srModes* modes, const srData* d, const srRest* rest,
                     const srModePorts* ports, bool all, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON) {
    put_modes(linear, modes, d, rest, ports, out);
    return;
  }
  show_modes(linear, modes, all, out);
  sr_show_rest(out, rest);
  if (ports) show_ports(ports, out);
}

void sr_report_modes_few(const srModel* m, const srModes* modes, const srData* d, bool all, srReportForm form,
                         srText* out) {
  const srLinear l = {
      .m = m,
      .t = d->t,
      .nx = 2 * m->nv + m->ny,
      .npos = m->nv,
      .nvel = m->nv,
      .nstate = m->ny,
  };
  sr_report_modes(&l, modes, d, NULL, NULL, all, form, out);
}
