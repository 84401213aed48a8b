-- Which manager owns which fields: a message of the resource's type with nothing but its field_owners. It is in no
-- body, no history and not in the feed. Most resources have none.
ALTER TABLE resource ADD COLUMN owners bytea;
