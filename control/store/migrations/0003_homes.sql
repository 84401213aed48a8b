-- A home belongs to one account. Null for other types, and in accounts that are older than this.
ALTER TABLE resource ADD COLUMN home_path text COLLATE "C";
CREATE UNIQUE INDEX resource_home ON resource (store_uid, home_path) WHERE NOT deleted AND home_path IS NOT NULL;
