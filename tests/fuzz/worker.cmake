# Fuzz targets of node/worker and of the target's codec that it decodes.
croft_fuzz(range_header SOURCES range_header/target.cc LINK croft::worker_filters croft::base)
croft_fuzz(target_header SOURCES target_header/target.cc LINK croft::link croft::messages croft::base)
croft_fuzz(path_confinement SOURCES path_confinement/target.cc LINK croft::worker_store croft::contract croft::base)
croft_fuzz(preconditions SOURCES preconditions/target.cc LINK croft::worker_http)
