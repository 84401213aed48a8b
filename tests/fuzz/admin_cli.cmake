# Parsers of admin-cli.
if(CROFT_GRPC)
  croft_fuzz(manifest SOURCES manifest/target.cc LINK croft::admin_cli croft::contract croft::messages)
endif()
