-- Resources, the changes that made them what they are, and what hangs on them.
-- Text is compared by bytes (collation "C"), as the program does, whatever the database's locale.

-- One row: where this database's history is. Locked by the last statement of every change.
CREATE TABLE head (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  tag bigint NOT NULL DEFAULT 0,
  compaction_floor bigint NOT NULL DEFAULT 0,
  -- Of the PostgreSQL cluster this history belongs to; another identifier begins a new epoch.
  system_identifier bigint NOT NULL DEFAULT 0,
  timeline bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- change_id is drawn when a transaction begins, revision when it commits: commit order is revision order.
CREATE SEQUENCE change_id_sequence;
CREATE TABLE change (
  change_id bigint PRIMARY KEY,
  revision bigint NOT NULL UNIQUE,
  tag bigint NOT NULL,
  who text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  changed_at timestamptz NOT NULL
);

-- type: 1 platform, 2 farm, 3 node, 4 store, 5 pool, 6 site, 7 account, 101 organization.
CREATE SEQUENCE uid_sequence;
CREATE TABLE resource (
  type smallint NOT NULL,
  deleted boolean NOT NULL DEFAULT false,
  identity integer,                 -- of a pool
  uid bigint NOT NULL,
  farm_uid bigint NOT NULL,         -- 0: not a farm's member
  organization_uid bigint,          -- the owner
  store_uid bigint,                 -- an account's home store
  created_change_id bigint NOT NULL,
  change_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  name text COLLATE "C" NOT NULL,
  body bytea NOT NULL,              -- empty in a tombstone
  PRIMARY KEY (type, uid),
  CHECK (deleted OR organization_uid IS NOT NULL OR type = 1 OR (type = 101 AND name = 'organizations/root')),
  CHECK (deleted OR (farm_uid <> 0) = (type BETWEEN 3 AND 7)),
  CHECK (type <> 5 OR identity IS NOT NULL)
);
CREATE UNIQUE INDEX resource_name ON resource (type, name) WHERE NOT deleted;
CREATE INDEX resource_change ON resource (change_id);
CREATE INDEX resource_organization ON resource (organization_uid) WHERE NOT deleted;
CREATE INDEX resource_store ON resource (store_uid) WHERE NOT deleted AND store_uid IS NOT NULL;
CREATE UNIQUE INDEX resource_identity ON resource (farm_uid, identity)
  WHERE NOT deleted AND identity IS NOT NULL;
CREATE INDEX resource_tombstone ON resource (change_id) WHERE deleted;

-- Bodies as they were before an update or a deletion, and what each change touched.
CREATE TABLE history (
  type smallint NOT NULL,
  deletion boolean NOT NULL,
  uid bigint NOT NULL,
  change_id bigint NOT NULL,            -- the change that replaced this body
  previous_change_id bigint NOT NULL,   -- the change that had written it
  created_change_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (type, uid, change_id)
);
CREATE INDEX history_change ON history (change_id);
CREATE INDEX history_previous_change ON history (previous_change_id);
CREATE INDEX history_name ON history (name);

-- encoded_key as in the contract: port, address, host.
CREATE TABLE binding (
  farm_uid bigint NOT NULL,
  site_uid bigint NOT NULL,
  encoded_key bytea NOT NULL,
  PRIMARY KEY (farm_uid, encoded_key)
);
CREATE INDEX binding_site ON binding (site_uid);

-- Which resource names which other one in its body; farm, owner and home store are columns of the row.
CREATE TABLE reference (
  to_name text COLLATE "C" NOT NULL,
  from_type smallint NOT NULL,
  from_uid bigint NOT NULL,
  PRIMARY KEY (to_name, from_type, from_uid)
);
CREATE INDEX reference_from ON reference (from_type, from_uid);

-- The next free home of each store; a place is used once.
CREATE TABLE home_slot (
  store_uid bigint PRIMARY KEY,
  next_slot bigint NOT NULL
) WITH (fillfactor = 50);

-- Answers of the last 24 hours, for a request that is sent again.
CREATE TABLE request (
  who text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  change_id bigint NOT NULL,
  revision bigint NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  answer bytea NOT NULL,
  answered_at timestamptz NOT NULL,
  PRIMARY KEY (who, request_id)
);
CREATE INDEX request_age ON request (answered_at);

-- How far each node is, as its control instance last wrote it.
CREATE TABLE node_mark (
  node_uid bigint PRIMARY KEY,
  sent_revision bigint NOT NULL,
  applied_revision bigint NOT NULL,
  serving_revision bigint NOT NULL,
  connected boolean NOT NULL,
  ever_connected boolean NOT NULL,
  draining boolean NOT NULL,
  last_contact_at timestamptz NOT NULL,
  status bytea NOT NULL
) WITH (fillfactor = 30);

-- Only SHA-256 hashes of tokens are kept.
CREATE TABLE join_token (
  hash text COLLATE "C" PRIMARY KEY,
  node text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE TABLE operator_token (
  hash text COLLATE "C" PRIMARY KEY,
  who text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Encrypted under the key-encryption key, which is not in the database.
CREATE TABLE secret (
  key text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

CREATE TABLE event (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  happened_at timestamptz NOT NULL,
  node text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  site text COLLATE "C" NOT NULL,
  pool text COLLATE "C" NOT NULL,
  message text NOT NULL
);
CREATE INDEX event_node ON event (node, event_id);
CREATE INDEX event_site ON event (site, event_id) WHERE site <> '';
CREATE INDEX event_pool ON event (pool, event_id) WHERE pool <> '';
