-- Long-running work, which goes on after its call, with the rights that its operator and token then have.
-- state: as croft.v1.Operation.State; from 3 on it has ended. instance: of the control that has taken it up, for as long
-- as that one holds its advisory lock. The cursor is the last item that was looked at.
CREATE TABLE operation (
  uid bigint PRIMARY KEY,
  organization_uid bigint NOT NULL,     -- its operator's
  operator_uid bigint NOT NULL,
  token_uid bigint NOT NULL,
  instance bigint NOT NULL DEFAULT 0,
  change_id bigint NOT NULL DEFAULT 0,  -- of the last change it made
  after_uid bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  state smallint NOT NULL,
  deletes boolean NOT NULL,
  counting boolean NOT NULL,            -- its items are still being counted
  after_name text COLLATE "C" NOT NULL DEFAULT '',
  cancelled_by text NOT NULL DEFAULT '',
  request bytea NOT NULL,               -- croft.v1.UpdateResourcesRequest, also of a deletion
  body bytea NOT NULL                   -- croft.v1.Operation: what has no column
);
CREATE INDEX operation_under_way ON operation (updated_at, uid) WHERE state < 3;
CREATE INDEX operation_ended ON operation (updated_at) WHERE state >= 3;
