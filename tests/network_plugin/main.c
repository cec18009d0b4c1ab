// A program of a third party: main PARTS.so, with the public headers alone. Wires the rotor of the library to its law, steps to
// 2 s, prints angle, rate and state of the law; then a rotor that the library refuses.
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

static int wire(srNetwork* network) {
  const srAdmittance* rotor = sr_network_find_admittance(network, "rotor");
  const srImpedance* maxwell = sr_network_find_impedance(network, "maxwell");
  if (!rotor || !maxwell || sr_network_find_admittance(network, "stator")) return 1;
  const double rotor_p[] = {0.3, 0.7}, maxwell_p[] = {30.0, 4.0};
  const int a = sr_network_admittance(network, "rotor", rotor, rotor_p, 2, NULL);
  const int i = sr_network_impedance(network, "hinge", maxwell, maxwell_p, 2);
  if (sr_network_wires(network, 1.0, a, 0, i, 0, 2) != SR_OK) return 1;
  return sr_network_wire(network, 1.0, i, 0, a, 0) != SR_OK || sr_network_ready(network, 2) != SR_OK;
}

static int refused(const char* library) {
  srMessages* messages = sr_messages_create();
  srNetwork* network = sr_network_create(messages);
  const double p[] = {0.0, 0.0};
  if (sr_network_plugin(network, library) != SR_OK) return 1;
  const int a = sr_network_admittance(network, "bad", sr_network_find_admittance(network, "rotor"), p, 2, NULL);
  const int said = sr_messages_count(messages);
  const int told = said == 2 && strstr(sr_messages_get(messages, 0)->text, "code of the library '/") != NULL &&
                   strstr(sr_messages_get(messages, 1)->text, "its inertia must be positive") != NULL;
  sr_network_destroy(network);
  sr_messages_destroy(messages);
  return a != SR_REFUSED || !told;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  srNetwork* network = sr_network_create(NULL);
  if (sr_network_plugin(network, argv[1]) != SR_OK || wire(network) != 0) return 1;
  for (int k = 0; k < 2000; ++k) {
    if (sr_network_step(network, 1e-3) != SR_OK) return 1;
  }
  const double *x = sr_network_state(network, 0), *y = sr_network_state(network, 1);
  printf("%.17g %.17g %.17g\n", x[0], x[1], y[0]);
  sr_network_destroy(network);
  return refused(argv[1]);
}
