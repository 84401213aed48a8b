croft_fuzz(http1_request SOURCES http1_request/target.cc LINK croft::listener)
croft_fuzz(worker_response SOURCES worker_response/target.cc LINK croft::listener)
croft_fuzz(worker_payload SOURCES worker_payload/target.cc LINK croft::listener)
