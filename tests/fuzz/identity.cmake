# Fuzz targets of control/identity.
croft_fuzz(signing_request SOURCES signing_request/target.cc LINK croft::identity)
