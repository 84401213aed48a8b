-- What an operator has accepted to vanish from a node: good for that history and number alone.
ALTER TABLE node_mark ADD COLUMN accepted_epoch bigint NOT NULL DEFAULT 0;
ALTER TABLE node_mark ADD COLUMN accepted_sites bigint NOT NULL DEFAULT 0;
