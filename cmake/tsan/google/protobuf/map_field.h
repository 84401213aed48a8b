// Preset tsan finds this header before protobuf's own. Under ThreadSanitizer protobuf's map fields
// have two members more, which Debian's libprotobuf, built without it, does not know of: the first
// map it reads by reflection would be read from where it is not.
#pragma once

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
