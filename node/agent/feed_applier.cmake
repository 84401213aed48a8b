croft_library(feed_applier
  SOURCES feed_applier.cc record_judge.cc
  LINK croft::contract
  PUBLIC_LINK croft::base croft::messages croft::replica)
