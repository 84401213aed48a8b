# What a damaged file may hold, and the rule that deltas and a snapshot lead to the same replica.
croft_fuzz(replica_key SOURCES replica_key/target.cc LINK croft::replica)
croft_fuzz(delta_apply SOURCES delta_apply/target.cc LINK croft::replica croft::contract)
