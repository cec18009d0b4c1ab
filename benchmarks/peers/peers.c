// The peers of this build. SARRUS_LIBRARY_V3 and HAVE_* come from CMakeLists.txt.
#include "peer.h"

const PeerKind* const peer_kinds[] = {
    &peer_sarrus,
#ifdef SARRUS_LIBRARY_V3
    &peer_sarrus_v3,
#endif
    &peer_generated,
#ifdef SARRUS_LIBRARY_V3
    &peer_generated_v3,
#endif
#ifdef HAVE_MUJOCO
    &peer_mujoco,
#endif
#ifdef HAVE_SIMBODY
    &peer_simbody,
#endif
#ifdef HAVE_KDL
    &peer_kdl,
#endif
};
const int peer_kind_count = sizeof peer_kinds / sizeof *peer_kinds;
