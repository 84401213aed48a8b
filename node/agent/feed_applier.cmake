croft_library(feed_applier
  SOURCES ack_notes.cc feed_applier.cc feed_order.cc record_judge.cc
  LINK croft::contract
  PUBLIC_LINK croft::base croft::messages croft::replica)
