-- The log of changes by who and when, and from a version to the one that replaced it.
CREATE INDEX change_who ON change (who, revision);
CREATE INDEX change_time ON change (changed_at);
CREATE INDEX history_version ON history (previous_change_id, type, uid);
DROP INDEX history_previous_change;
-- Resources that were purged: nothing but their history says that they were.
CREATE INDEX history_deletion ON history (name, type, uid, change_id) WHERE deletion;
CREATE INDEX event_time ON event (happened_at);
