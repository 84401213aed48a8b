-- Which instance of control wrote a node's marks. An instance holds the advisory lock of its id as long as it lives.
ALTER TABLE node_mark ADD COLUMN instance bigint NOT NULL DEFAULT 0;
