// What the YAML module sees of libyaml.
#include <yaml.h>
