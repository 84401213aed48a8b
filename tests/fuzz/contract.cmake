# Parsers of proto/contract.
croft_fuzz(host_name SOURCES host_name/target.cc LINK croft::contract)
croft_fuzz(host_header SOURCES host_header/target.cc LINK croft::contract)
croft_fuzz(binding SOURCES binding/target.cc LINK croft::contract)
croft_fuzz(url_path SOURCES url_path/target.cc LINK croft::contract)
croft_fuzz(account_name SOURCES account_name/target.cc LINK croft::contract)
croft_fuzz(relative_path SOURCES relative_path/target.cc LINK croft::contract)
croft_fuzz(field_path SOURCES field_path/target.cc LINK croft::contract)
croft_fuzz(settings_file SOURCES settings_file/target.cc LINK croft::contract)
