-- A deleted row keeps its body until it is purged; the change that deleted it says when.
CREATE INDEX resource_deleted_name ON resource (type, name, uid) WHERE deleted;

-- What to find a resource by beside its columns: labels, a state that is not the usual one. Most resources have none.
-- The name is the resource's, which never changes; the rows go when the resource is purged.
CREATE TABLE term (
  type smallint NOT NULL,
  term text COLLATE "C" NOT NULL,
  uid bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (type, term, uid)
);
CREATE INDEX term_name ON term (type, term, name, uid);
CREATE INDEX term_resource ON term (type, uid);

-- The host is what follows 18 bytes of port and address.
CREATE INDEX binding_host ON binding (substring(encoded_key FROM 19), site_uid);

-- What the request's write counted, a serialised croft.v1.Counts. An answer with revision 0 is that of a request that
-- changed nothing.
ALTER TABLE request ADD COLUMN counts bytea NOT NULL DEFAULT '';
