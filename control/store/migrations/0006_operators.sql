-- Operators (type 102) and tokens (type 103) are resources; beside a token's row stands only the hash of its secret.
-- Tokens from before belong to administrators; control gives each a resource at its next start.
ALTER TABLE operator_token DROP COLUMN who;
ALTER TABLE operator_token ADD COLUMN token_uid bigint;
ALTER TABLE operator_token ADD COLUMN operator_uid bigint;
ALTER TABLE operator_token ADD CHECK ((token_uid IS NULL) = (operator_uid IS NULL));
CREATE UNIQUE INDEX operator_token_token ON operator_token (token_uid) WHERE token_uid IS NOT NULL;

-- The organizations below one.
CREATE INDEX resource_organization_below ON resource (organization_uid) WHERE type = 101 AND NOT deleted;
