croft_fuzz(link_frame SOURCES link_frame/target.cc LINK croft::link)
