// The words of MJCF, see words.h. Source: the schema table of MuJoCo's XML reference (versions 2.2 to 3.3).
#include "io/mjcf/words.h"

#include <string.h>

#define MAX_WORDS 128
#define TURNED "quat|axisangle|euler|xyaxes|zaxis"
#define DRIVE "ctrllimited|forcelimited|ctrlrange|forcerange|gear|cranklength|user|group"

typedef struct Words {
  const char* element;
  const char* used;
  const char* ignored;
} Words;

static const Words bodies[] = {
    {"mujoco", "model", ""},
    {"mujocoinclude", "model", ""},
    {"compiler",
     "autolimits|boundmass|boundinertia|settotalmass|balanceinertia|strippath|coordinate|angle|eulerseq|meshdir|"
     "assetdir|"
     "inertiafromgeom|inertiagrouprange|exactmeshinertia|fitaabb",
     "texturedir|discardvisual|usethread|fusestatic|saveinertial|alignfree|convexhull"},
    {"option", "timestep|gravity",
     "apirate|impratio|tolerance|ls_tolerance|noslip_tolerance|ccd_tolerance|mpr_tolerance|wind|magnetic|density|"
     "viscosity|o_margin|o_solref|o_solimp|o_friction|integrator|collision|cone|jacobian|solver|iterations|"
     "ls_iterations|noslip_iterations|ccd_iterations|mpr_iterations|sdf_iterations|sdf_initpoints|actuatorgroupdisable|"
     "sleep_tolerance"},
    {"flag",
     "constraint|gravity|equality|frictionloss|limit|contact|passive|spring|damper|clampctrl|filterparent|actuation|"
     "refsafe",
     "warmstart|sensor|midphase|eulerdamp|autoreset|override|energy|fwdinv|invdiscrete|sensornoise|multiccd|"
     "island|nativeccd|sleep"},
    {"worldbody", "childclass|name", ""},
    {"body", "name|childclass|gravcomp|pos|" TURNED, "mocap|user|sleep"},
    {"frame", "name|childclass|pos|" TURNED, ""},
    {"inertial", "pos|mass|diaginertia|fullinertia|" TURNED, ""},
    {"joint",
     "name|class|type|pos|axis|limited|stiffness|range|ref|springref|armature|damping|frictionloss|"
     "actuatorfrclimited|actuatorfrcrange|springdamper|solreflimit",
     "group|actuatorgravcomp|solimplimit|solreffriction|"
     "solimpfriction|margin|user"},
    {"freejoint", "name", "group|align"},
    {"geom",
     "name|class|type|contype|conaffinity|condim|group|priority|size|material|friction|mass|density|solref|solimp|"
     "margin|gap|fromto|pos|" TURNED "|mesh|hfield|rgba|shellinertia|fitscale",
     "solmix|fluidshape|fluidcoef|user"},
    {"site", "name|class|pos|fromto|" TURNED, "type|group|material|size|rgba|user"},
    {"mesh", "name|class|file|vertex|face|scale|refpos|refquat|inertia|maxhullvert",
     "content_type|normal|texcoord|smoothnormal|builtin|params|material|octree_maxdepth"},
    {"hfield", "name|nrow|ncol|size|elevation|file", "content_type"},
    {"material", "name|class|rgba",
     "texture|texrepeat|texuniform|emission|specular|shininess|reflectance|metallic|roughness"},
};

// Elements whose attributes are checked elsewhere, or nowhere: in <default> their words are checked here.
static const Words defaults[] = {
    {"camera",
     "orthographic|projection|fovy|ipd|resolution|output|pos|" TURNED
     "|mode|focal|focalpixel|principal|principalpixel|sensorsize|user",
     ""},
    {"light",
     "pos|dir|bulbradius|intensity|range|directional|type|castshadow|active|attenuation|cutoff|exponent|"
     "ambient|diffuse|specular|mode|texture",
     ""},
    {"pair", "condim|friction|solref|solreffriction|solimp|gap|margin", ""},
    {"equality", "active|solref|solimp", ""},
    {"tendon",
     "group|limited|actuatorfrclimited|range|actuatorfrcrange|solreflimit|solimplimit|solreffriction|"
     "solimpfriction|frictionloss|springlength|width|material|margin|stiffness|damping|armature|rgba|user",
     ""},
    {"general",
     DRIVE "|actlimited|actrange|actdim|dyntype|gaintype|biastype|dynprm|gainprm|biasprm|actearly|damping|"
           "armature|delay|nsample|interp",
     ""},
    {"motor", DRIVE "|damping|armature|delay|nsample|interp", ""},
    {"position", DRIVE "|inheritrange|kp|kv|dampratio|timeconst|damping|armature|delay|nsample|interp", ""},
    {"velocity", DRIVE "|kv|damping|armature|delay|nsample|interp", ""},
    {"intvelocity", DRIVE "|actrange|inheritrange|kp|kv|dampratio|damping|armature|delay|nsample|interp", ""},
    {"damper", DRIVE "|kv", ""},
    {"cylinder", DRIVE "|timeconst|area|diameter|bias", ""},
    {"muscle", DRIVE "|timeconst|tausmooth|range|force|scale|lmin|lmax|vmax|fpmax|fvmax", ""},
    {"adhesion", DRIVE "|gain", ""},
    {"plugin", DRIVE "|plugin|instance|actdim|actlimited|actrange|dyntype|dynprm|actearly", ""},
};

// Attributes above that have no effect on the motion: appearance, notes of users, threads and memory, and settings of MuJoCo's solver,
// which has no counterpart here. "" means any element.
static const Words still[] = {
    {"", "", "user|group|rgba|material"},
    {"compiler", "", "texturedir|discardvisual|usethread|fusestatic|saveinertial"},
    {"option", "",
     "apirate|impratio|tolerance|ls_tolerance|noslip_tolerance|ccd_tolerance|mpr_tolerance|magnetic|integrator|"
     "collision|"
     "cone|jacobian|solver|iterations|ls_iterations|noslip_iterations|ccd_iterations|mpr_iterations|sdf_iterations|"
     "sdf_initpoints|sleep_tolerance"},
    {"flag", "",
     "warmstart|sensor|midphase|eulerdamp|autoreset|energy|fwdinv|invdiscrete|sensornoise|multiccd|island|nativeccd|"
     "sleep"},
    {"body", "", "sleep"},
    {"site", "", "type|size"},
    {"mesh", "", "content_type|normal|texcoord|smoothnormal|octree_maxdepth"},
    {"material", "", "texture|texrepeat|texuniform|emission|specular|shininess|reflectance|metallic|roughness"},
};
// Elements of that sort; a sensor measures and does not act.
static const char still_elements[] = "size|visual|statistic|custom|texture|skin|layer|light|camera|lengthrange";

static const char* nearest_of(srMjcf* m, const char* word, const char* a, const char* b) {
  const char* words[MAX_WORDS];
  const int n = sr_text_split(&m->r->text, b, words, sr_text_split(&m->r->text, a, words, 0, MAX_WORDS), MAX_WORDS);
  return sr_nearest_word(word, words, n);
}

static const Words* find(const Words* words, int n, const char* element) {
  for (int i = 0; i < n; i++)
    if (strcmp(words[i].element, element) == 0) return &words[i];
  return NULL;
}

static bool is_sensor(const srXmlNode* node) { return node->parent && strcmp(node->parent->name, "sensor") == 0; }

static void ignore_attribute(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a) {
  const Words* own = find(still, SR_COUNT(still), node->name);
  const bool is_still = is_sensor(node) || sr_text_is_among(a->name, still[0].ignored) ||
                        (own && sr_text_is_among(a->name, own->ignored));
  (is_still ? sr_reader_ignore_still : sr_reader_ignore)(m->r, a->name_place, "'%s' of <%s>", a->name, node->name);
}

bool sr_mjcf_check_words(srMjcf* m, const srXmlNode* node, const char* used, const char* ignored) {
  bool good = true;
  for (int i = 0; i < node->nattribute; i++) {
    const srXmlAttribute* a = &node->attributes[i];
    if (sr_text_is_among(a->name, used)) continue;
    if (sr_text_is_among(a->name, ignored)) {
      ignore_attribute(m, node, a);
      continue;
    }
    good = false;
    sr_mjcf_error(m, a->name_place, "unknown attribute '%.60s' of <%.60s>%s", a->name, node->name,
                  sr_pool_guess(&m->r->pool, nearest_of(m, a->name, used, ignored)));
  }
  return good;
}

bool sr_mjcf_check_own_words(srMjcf* m, const srXmlNode* node) {
  const Words* own = find(bodies, SR_COUNT(bodies), node->name);
  SR_ASSERT(own != NULL);
  return sr_mjcf_check_words(m, node, own->used, own->ignored);
}

bool sr_mjcf_check_default(srMjcf* m, const srXmlNode* node) {
  static const char elements[] = "mesh|material|joint|geom|site|camera|light|pair|equality|tendon|" SR_MJCF_ACTUATORS;
  if (!sr_text_is_among(node->name, elements)) {
    sr_mjcf_other_element(m, node, elements, "");
    return false;
  }
  const Words* own = find(bodies, SR_COUNT(bodies), node->name);
  if (!own) own = find(defaults, SR_COUNT(defaults), node->name);
  if (own) sr_mjcf_check_words(m, node, own->used, own->ignored);
  for (const srXmlNode* child = node->first; child; child = child->next)
    sr_reader_ignore(m->r, child->place, "<%.60s> inside a default <%s>", child->name, node->name);
  return true;
}

void sr_mjcf_other_element(srMjcf* m, const srXmlNode* node, const char* used, const char* ignored) {
  if (sr_text_is_among(node->name, ignored)) {
    const bool is_still = is_sensor(node) || sr_text_is_among(node->name, still_elements);
    (is_still ? sr_reader_ignore_still : sr_reader_ignore)(m->r, node->place, "<%s>", node->name);
    return;
  }
  const char* nearest = nearest_of(m, node->name, used, ignored);
  const char* parent = node->parent ? node->parent->name : "";
  if (nearest)
    sr_mjcf_error(m, node->place, "unknown element <%.60s> in <%.60s>; did you mean <%s>?", node->name, parent,
                  nearest);
  else
    sr_mjcf_error(m, node->place, "unknown element <%.60s> in <%.60s>", node->name, parent);
}
