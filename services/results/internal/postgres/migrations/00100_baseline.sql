-- The schema of Prism 1.0.0. Later changes are migrations of their own; this file stays as it is.
--
-- Every key of prisms, versions and results begins with account_id, so that these tables can be hash-partitioned or
-- distributed by account without a change to a statement.
--
-- Keys compare byte by byte (COLLATE "C"): an index then doesn't depend on the collations of the operating system, whose
-- upgrades corrupt it silently. JSON is json, never jsonb, which reorders members.
--
-- Few tables refer to others: a foreign key locks the row that it refers to, on every insert, and no account or prism is ever
-- deleted.

-- +goose Up

-- Accounts, and their limits (spec: account-limits). Only accounts with limits have a row; 0 is no limit, and for stored_bytes
-- the limit of an account without one of its own.
CREATE TABLE accounts (
    id         uuid           NOT NULL,
    name       text           NOT NULL COLLATE "C",
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (id),
    CONSTRAINT accounts_name_key UNIQUE (name)
);

CREATE TABLE account_limits (
    account_id          uuid    NOT NULL,
    requests_per_second integer NOT NULL,
    concurrency         integer NOT NULL,
    results_per_day     integer NOT NULL,
    stored_bytes        bigint  NOT NULL DEFAULT 0,
    CONSTRAINT account_limits_pkey PRIMARY KEY (account_id),
    CONSTRAINT account_limits_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT account_limits_check CHECK (requests_per_second >= 0 AND concurrency >= 0 AND results_per_day >= 0),
    CONSTRAINT account_limits_stored_bytes_check CHECK (stored_bytes >= 0)
);

-- API keys have a role and may expire (spec: roles, key-expiry). A key of a session names its session and member.
CREATE TABLE api_keys (
    id           uuid           NOT NULL,
    account_id   uuid           NOT NULL,
    digest       bytea          NOT NULL,
    prefix       text           NOT NULL,
    name         text           NOT NULL,
    created_at   timestamptz(3) NOT NULL,
    last_used_at timestamptz(3),
    revoked_at   timestamptz(3),
    role         text           NOT NULL DEFAULT 'owner',
    expires_at   timestamptz(3),
    member_id    uuid,
    session_id   uuid,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_digest_key UNIQUE (digest),
    CONSTRAINT api_keys_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT api_keys_digest_check CHECK (octet_length(digest) = 32)
);
CREATE INDEX api_keys_by_id ON api_keys (account_id, id);
CREATE INDEX api_keys_active ON api_keys (account_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_session ON api_keys (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX api_keys_of_member ON api_keys (account_id, member_id) WHERE member_id IS NOT NULL;
CREATE INDEX api_keys_of_sessions_expiring ON api_keys (expires_at) WHERE session_id IS NOT NULL;

-- Members of accounts, and rules, which make members and have a claim. A member who was removed keeps its row, so that no rule
-- makes it a member again.
CREATE TABLE members (
    account_id   uuid           NOT NULL,
    id           uuid           NOT NULL,
    name         text           NOT NULL,
    email        text           NOT NULL,
    role         text           NOT NULL COLLATE "C",
    operator     boolean        NOT NULL,
    claim_name   text           COLLATE "C",
    claim_value  text           COLLATE "C",
    issuer       text           COLLATE "C",
    subject      text           COLLATE "C",
    signed_in_by text           COLLATE "C",
    created_at   timestamptz(3) NOT NULL,
    last_seen_at timestamptz(3),
    removed_at   timestamptz(3),
    CONSTRAINT members_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT members_identity_check CHECK ((issuer IS NULL) = (subject IS NULL)),
    CONSTRAINT members_claim_check CHECK ((claim_name IS NULL) = (claim_value IS NULL)),
    CONSTRAINT members_rule_check CHECK (claim_name IS NULL OR (signed_in_by IS NULL AND issuer IS NULL AND NOT operator))
);
COMMENT ON COLUMN members.claim_name IS 'of a rule, which makes members';
CREATE UNIQUE INDEX members_operator ON members (account_id) WHERE operator AND removed_at IS NULL;
CREATE UNIQUE INDEX members_identity ON members (issuer, subject, account_id) WHERE removed_at IS NULL;
CREATE INDEX members_claim ON members (claim_name, claim_value) WHERE claim_name IS NOT NULL AND removed_at IS NULL;

-- The claims that the operator has granted to accounts (spec: claim-grant).
CREATE TABLE claim_grants (
    account_id  uuid           NOT NULL,
    claim_name  text           NOT NULL COLLATE "C",
    claim_value text           NOT NULL COLLATE "C",
    granted_at  timestamptz(3) NOT NULL,
    CONSTRAINT claim_grants_pkey PRIMARY KEY (account_id, claim_name, claim_value)
);

-- Sign-in links, and sessions with their members, one of which comes first.
CREATE TABLE sign_in_links (
    digest     bytea          NOT NULL,
    account_id uuid           NOT NULL,
    member_id  uuid           NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT sign_in_links_pkey PRIMARY KEY (digest)
);
CREATE INDEX sign_in_links_of_member ON sign_in_links (account_id, member_id);
CREATE INDEX sign_in_links_expiring ON sign_in_links (expires_at);

CREATE TABLE sessions (
    id         uuid           NOT NULL,
    digest     bytea          NOT NULL,
    seen_at    timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    ends_at    timestamptz(3) NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_digest_key UNIQUE (digest)
);
CREATE INDEX sessions_expiring ON sessions (expires_at);

CREATE TABLE session_members (
    session_id   uuid           NOT NULL,
    account_id   uuid           NOT NULL,
    member_id    uuid           NOT NULL,
    signed_in_at timestamptz(3) NOT NULL,
    first        boolean        NOT NULL DEFAULT false,
    CONSTRAINT session_members_pkey PRIMARY KEY (session_id, account_id)
);
CREATE INDEX session_members_of_member ON session_members (account_id, member_id);

-- The audit: who changed what, and when (spec: audit-entry-members). An entry outlives what it is about, so it has no foreign
-- key. Entries are never changed (spec: audit-append-only).
CREATE TABLE audit (
    account_id  uuid           NOT NULL,
    id          uuid           NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    actor_kind  text           NOT NULL COLLATE "C",
    actor_id    uuid,
    actor_name  text           NOT NULL,
    action      text           NOT NULL COLLATE "C",
    object_kind text           NOT NULL COLLATE "C",
    object_id   uuid           NOT NULL,
    object_name text           NOT NULL,
    detail      json           NOT NULL,
    CONSTRAINT audit_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT audit_actor_check CHECK ((actor_kind IN ('key', 'member')) = (actor_id IS NOT NULL))
);
-- +goose StatementBegin
CREATE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

-- Prisms and their versions. versions_hash names the versions that a prism has, so that a definition in memory is not used for
-- the version of another history (spec: cached-definition). pins is the id of the prism's rows of calibration_pins, as text.
CREATE TABLE prisms (
    account_id     uuid           NOT NULL,
    id             uuid           NOT NULL,
    slug           text           NOT NULL COLLATE "C",
    name           text           NOT NULL,
    lens           json           NOT NULL,
    latest_version integer        NOT NULL,
    created_at     timestamptz(3) NOT NULL,
    archived_at    timestamptz(3),
    versions_hash  bigint         NOT NULL DEFAULT 0,
    retention_days integer,
    pins           text           COLLATE "C",
    CONSTRAINT prisms_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT prisms_slug_key UNIQUE (account_id, slug),
    CONSTRAINT prisms_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT prisms_latest_version_check CHECK (latest_version >= 1)
);

CREATE TABLE versions (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    number     integer        NOT NULL,
    definition json           NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT versions_pkey PRIMARY KEY (account_id, prism_id, number),
    CONSTRAINT versions_prism_fkey FOREIGN KEY (account_id, prism_id) REFERENCES prisms (account_id, id),
    CONSTRAINT versions_number_check CHECK (number >= 1)
);

-- Calibrations of questions, and which of them are pinned (spec: calibration-pins). Rows of an earlier id of pins stay for readers
-- that have found it. Nothing of both tables is ever changed.
CREATE TABLE calibrations (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    version    integer        NOT NULL,
    id         uuid           NOT NULL,
    question   text           NOT NULL COLLATE "C",
    fit        json           NOT NULL,
    measures   json           NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT calibrations_pkey PRIMARY KEY (account_id, prism_id, version, id)
);

CREATE TABLE calibration_pins (
    account_id     uuid    NOT NULL,
    prism_id       uuid    NOT NULL,
    pins_id        uuid    NOT NULL,
    version        integer NOT NULL,
    question       text    NOT NULL COLLATE "C",
    calibration_id uuid    NOT NULL,
    CONSTRAINT calibration_pins_pkey PRIMARY KEY (account_id, prism_id, pins_id, version, question)
);

-- Results are ordered by id, which begins with the time of creation. key_id to call are the call of the model and the API key that
-- made it (spec: record-members), run_id and run_row the row of a file that a result answers, and bytes what it counts
-- (spec: stored-bytes).
--
-- A result has no foreign key to its version: checking one locks the version's row on every save, which all saves of a busy prism
-- would fight for. Results are inserted from a select on prisms instead.
--
-- Autovacuum removes deleted results when they are 1% of the table and not a fifth: until then, whatever reads the oldest results
-- of a prism passes the index entries of the deleted ones (docs/performance.md).
CREATE TABLE results (
    account_id      uuid           NOT NULL,
    id              uuid           NOT NULL,
    prism_id        uuid           NOT NULL,
    version         integer        NOT NULL,
    ref             text           COLLATE "C",
    context         text           NOT NULL,
    fields          json           NOT NULL,
    status          text           NOT NULL COLLATE "C",
    error           text,
    took_ms         bigint         NOT NULL,
    created_at      timestamptz(3) NOT NULL,
    answers         json,
    idempotency_key text           COLLATE "C",
    retried_by      uuid,
    retry_of        uuid,
    key_id          uuid,
    model           text           COLLATE "C",
    input_tokens    bigint,
    output_tokens   bigint,
    cost            bigint,
    currency        text           COLLATE "C",
    call            json,
    run_id          uuid,
    run_row         bigint,
    bytes           integer,
    CONSTRAINT results_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT results_version_check CHECK (version >= 1),
    CONSTRAINT results_status_check CHECK (status IN ('ok', 'failed')),
    CONSTRAINT results_answers_check CHECK ((status = 'ok') = (answers IS NOT NULL)),
    CONSTRAINT results_error_check CHECK ((status = 'ok') = (error IS NULL)),
    CONSTRAINT results_retried_check CHECK (retried_by IS NULL OR (status = 'failed' AND idempotency_key IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0.02);
CREATE UNIQUE INDEX results_idempotency_key ON results (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX results_retry_of ON results (account_id, retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX results_by_prism ON results (account_id, prism_id, id);
CREATE INDEX results_by_ref ON results (account_id, ref, id) WHERE ref IS NOT NULL;
CREATE INDEX results_by_failure ON results (account_id, id) WHERE status = 'failed';
CREATE INDEX results_by_run ON results (account_id, run_id, run_row) WHERE run_id IS NOT NULL;
-- Finds what can be retried, and counts it without reading the results.
CREATE INDEX results_retryable ON results (account_id, prism_id, id) INCLUDE (version, created_at)
    WHERE status = 'failed' AND retried_by IS NULL;

-- Labels of results (spec: label-one). A label is deleted with its result, by the statement's transaction.
CREATE TABLE labels (
    account_id  uuid           NOT NULL,
    prism_id    uuid           NOT NULL,
    result_id   uuid           NOT NULL,
    question    text           NOT NULL COLLATE "C",
    version     integer        NOT NULL,
    value       text           NOT NULL COLLATE "C",
    sample      text           NOT NULL COLLATE "C",
    annotator   text           NOT NULL,
    origin      text           NOT NULL COLLATE "C",
    key_id      uuid           NOT NULL,
    labelled_at timestamptz(3) NOT NULL,
    hash        bigint         NOT NULL,
    CONSTRAINT labels_pkey PRIMARY KEY (account_id, prism_id, result_id, question)
);
CREATE INDEX labels_by_question ON labels (account_id, prism_id, version, question, result_id) INCLUDE (hash);

-- Which prisms are watched for drift, the references of their versions, and counts of answers in spans of time
-- (spec: drift-counting).
CREATE TABLE drift_watches (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    watched_at timestamptz(3) NOT NULL,
    reached    uuid           NOT NULL,
    due_at     timestamptz(3) NOT NULL,
    CONSTRAINT drift_watches_pkey PRIMARY KEY (account_id, prism_id)
) WITH (fillfactor = 70);

CREATE TABLE drift_versions (
    account_id    uuid    NOT NULL,
    prism_id      uuid    NOT NULL,
    version       integer NOT NULL,
    first_results bigint  NOT NULL,
    first_from    timestamptz(3),
    first_to      timestamptz(3),
    set_from      timestamptz(3),
    set_to        timestamptz(3),
    CONSTRAINT drift_versions_pkey PRIMARY KEY (account_id, prism_id, version),
    CONSTRAINT drift_versions_set_check CHECK ((set_from IS NULL) = (set_to IS NULL))
);

CREATE TABLE drift_counts (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    span       integer        NOT NULL,
    at         timestamptz(3) NOT NULL,
    version    integer        NOT NULL,
    results    bigint         NOT NULL,
    counts     bytea          NOT NULL,
    CONSTRAINT drift_counts_pkey PRIMARY KEY (account_id, prism_id, span, at, version)
);

-- Deletions of many results, each a row until it is done (spec: deletion-goes-on). For retention (spec: retention-set), id is that
-- of the prism, and the row stays.
CREATE TABLE deletions (
    account_id   uuid           NOT NULL,
    id           uuid           NOT NULL,
    prism_id     uuid           NOT NULL,
    days         integer,
    ref          text           COLLATE "C",
    status       text           COLLATE "C",
    saved_before timestamptz(3),
    due_at       timestamptz(3) NOT NULL,
    reached      uuid           NOT NULL,
    deleted      bigint         NOT NULL,
    leased_until timestamptz(3) NOT NULL,
    CONSTRAINT deletions_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT deletions_days_check CHECK ((days IS NULL) = (saved_before IS NOT NULL))
);
CREATE INDEX deletions_due ON deletions (due_at);

-- Retries of many results (spec: retry-many). A retry has a row until all its results had their turn, and a row for each chunk of at
-- most 200 results of one version: their ids one after the other, and a letter for the state of each. Ids are not compressed, which
-- would save nothing.
CREATE TABLE retries (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    id         uuid           NOT NULL,
    key_id     uuid           NOT NULL,
    leased_at  timestamptz(3) NOT NULL,
    CONSTRAINT retries_pkey PRIMARY KEY (account_id, prism_id),
    CONSTRAINT retries_id UNIQUE (account_id, id)
) WITH (fillfactor = 70);

CREATE TABLE retry_chunks (
    account_id   uuid           NOT NULL,
    retry_id     uuid           NOT NULL,
    number       integer        NOT NULL,
    version      integer        NOT NULL,
    ids          bytea          NOT NULL,
    states       text           NOT NULL COLLATE "C",
    pending      integer        NOT NULL,
    begun_at     timestamptz(3),
    token        uuid,
    leased_until timestamptz(3),
    CONSTRAINT retry_chunks_pkey PRIMARY KEY (account_id, retry_id, number),
    CONSTRAINT retry_chunks_ids_check CHECK (length(ids) = 16 * length(states)),
    CONSTRAINT retry_chunks_lease_check CHECK ((token IS NULL) = (leased_until IS NULL))
);
ALTER TABLE retry_chunks ALTER COLUMN ids SET STORAGE EXTERNAL;
COMMENT ON COLUMN retry_chunks.states IS 'a letter for each id: pending, or done';
CREATE INDEX retry_chunks_leased ON retry_chunks (account_id, retry_id, number) WHERE token IS NOT NULL;

-- Files of runs (spec: file-states), which of their parts are there, where their rows are, and contents for those who keep them
-- in the database. A file that was deleted has the status deleted until its content is gone.
CREATE TABLE files (
    account_id   uuid           NOT NULL,
    id           uuid           NOT NULL,
    name         text           NOT NULL,
    format       text           NOT NULL COLLATE "C",
    bytes        bigint         NOT NULL,
    sha256       bytea,
    status       text           NOT NULL COLLATE "C",
    error        text           NOT NULL,
    row_count    bigint         NOT NULL,
    chunks       integer        NOT NULL,
    layout       json,
    copy_id      uuid,
    copy_bytes   bigint         NOT NULL,
    created_at   timestamptz(3) NOT NULL,
    expires_at   timestamptz(3) NOT NULL,
    hashed       integer        NOT NULL,
    hash_state   bytea,
    completed_at timestamptz(3),
    readings     integer        NOT NULL,
    lease_token  uuid,
    leased_until timestamptz(3),
    CONSTRAINT files_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT files_status_check CHECK (status IN ('uploading', 'reading', 'ready', 'unusable', 'deleted')),
    CONSTRAINT files_leased_until_check CHECK ((status = 'reading') = (leased_until IS NOT NULL))
);
CREATE INDEX files_uploading ON files (account_id) WHERE status = 'uploading';
CREATE INDEX files_reading ON files (leased_until) WHERE status = 'reading';
CREATE INDEX files_expiring ON files (expires_at);

CREATE TABLE file_parts (
    account_id uuid    NOT NULL,
    file_id    uuid    NOT NULL,
    number     integer NOT NULL,
    bytes      integer NOT NULL,
    sha256     bytea   NOT NULL,
    CONSTRAINT file_parts_pkey PRIMARY KEY (account_id, file_id, number)
);

-- The order of the columns leaves no room unused between them: 96 bytes for up to 200 rows of a file.
CREATE TABLE file_chunks (
    account_id uuid    NOT NULL,
    file_id    uuid    NOT NULL,
    first_row  bigint  NOT NULL,
    position   bigint  NOT NULL,
    line       bigint  NOT NULL,
    bytes      integer NOT NULL,
    number     integer NOT NULL,
    row_count  integer NOT NULL,
    CONSTRAINT file_chunks_pkey PRIMARY KEY (account_id, file_id, number)
);

CREATE TABLE file_contents (
    account_id uuid  NOT NULL,
    file_id    uuid  NOT NULL,
    name       text  NOT NULL COLLATE "C",
    content    bytea NOT NULL,
    CONSTRAINT file_contents_pkey PRIMARY KEY (account_id, file_id, name)
);
-- Not compressed: a range of a content is read alone.
ALTER TABLE file_contents ALTER COLUMN content SET STORAGE EXTERNAL;

-- File runs (spec: run-states). A run has a row for each chunk of its file, with a letter for each row of the chunk, so that ten
-- million rows are 50,000 rows here.
CREATE TABLE runs (
    account_id      uuid             NOT NULL,
    id              uuid             NOT NULL,
    prism_id        uuid             NOT NULL,
    version         integer          NOT NULL,
    file_id         uuid             NOT NULL,
    name            text             NOT NULL,
    mapping         json             NOT NULL,
    status          text             NOT NULL COLLATE "C",
    reason          text             NOT NULL,
    key_id          uuid             NOT NULL,
    idempotency_key text             COLLATE "C",
    pause_at        double precision NOT NULL,
    rows_per_second double precision NOT NULL,
    concurrency     integer          NOT NULL,
    row_count       bigint           NOT NULL,
    chunks          integer          NOT NULL,
    attempt         integer          NOT NULL,
    retry_from      integer,
    created_at      timestamptz(3)   NOT NULL,
    started_at      timestamptz(3),
    finished_at     timestamptz(3),
    stopped_at      timestamptz(3),
    leased_at       timestamptz(3)   NOT NULL,
    watched_from    timestamptz(3)   NOT NULL,
    folded          integer          NOT NULL DEFAULT 0,
    ok              bigint           NOT NULL DEFAULT 0,
    failed          bigint           NOT NULL DEFAULT 0,
    invalid         bigint           NOT NULL DEFAULT 0,
    cancelled       bigint           NOT NULL DEFAULT 0,
    input_tokens    bigint           NOT NULL DEFAULT 0,
    output_tokens   bigint           NOT NULL DEFAULT 0,
    cost            bigint           NOT NULL DEFAULT 0,
    cost_rest       bigint           NOT NULL DEFAULT 0,
    currency        text             NOT NULL COLLATE "C" DEFAULT '',
    labels          bigint           NOT NULL DEFAULT 0,
    invalid_labels  bigint           NOT NULL DEFAULT 0,
    CONSTRAINT runs_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT runs_status_check
        CHECK (status IN ('queued', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished'))
) WITH (fillfactor = 70);
COMMENT ON COLUMN runs.folded IS 'the chunks below this number have all outcomes and no lease; ok to currency are their sums';
CREATE UNIQUE INDEX runs_idempotency_key ON runs (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_prism ON runs (account_id, prism_id, id);
CREATE INDEX runs_by_file ON runs (account_id, file_id) WHERE status NOT IN ('finished', 'cancelled');
CREATE INDEX runs_under_way ON runs (status) WHERE status IN ('queued', 'running', 'pausing', 'cancelling');
CREATE INDEX runs_retrying ON runs (account_id, id) WHERE retry_from IS NOT NULL;
CREATE INDEX runs_folding ON runs (account_id, id) WHERE folded < chunks;

CREATE TABLE run_chunks (
    account_id     uuid           NOT NULL,
    run_id         uuid           NOT NULL,
    number         integer        NOT NULL,
    first_row      bigint         NOT NULL,
    row_count      integer        NOT NULL,
    attempt        integer        NOT NULL,
    states         text           NOT NULL COLLATE "C",
    pending        integer        NOT NULL,
    ok             integer        NOT NULL,
    failed         integer        NOT NULL,
    invalid        integer        NOT NULL,
    cancelled      integer        NOT NULL,
    messages       json,
    outcomes       text           NOT NULL COLLATE "C",
    saved_at       timestamptz(3),
    begun_at       timestamptz(3),
    token          uuid,
    leased_until   timestamptz(3),
    granted        integer        NOT NULL,
    input_tokens   bigint         NOT NULL,
    output_tokens  bigint         NOT NULL,
    cost           bigint         NOT NULL,
    cost_rest      bigint         NOT NULL,
    currency       text           NOT NULL COLLATE "C",
    labels         bigint         NOT NULL DEFAULT 0,
    invalid_labels bigint         NOT NULL DEFAULT 0,
    CONSTRAINT run_chunks_pkey PRIMARY KEY (account_id, run_id, number),
    CONSTRAINT run_chunks_states_check
        CHECK (pending + ok + failed + invalid + cancelled = row_count AND length(states) = row_count),
    CONSTRAINT run_chunks_lease_check CHECK ((token IS NULL) = (leased_until IS NULL))
);
COMMENT ON COLUMN run_chunks.states IS 'a letter for each row: pending, pending after the lease (q), ok, failed, invalid, cancelled';
COMMENT ON COLUMN run_chunks.outcomes IS 'of the last rows: milliseconds since 1970 and then the letters that were saved at that time';
CREATE INDEX run_chunks_pending ON run_chunks (account_id, run_id, number) WHERE pending > 0;
CREATE INDEX run_chunks_leased ON run_chunks (account_id, run_id, number) WHERE token IS NOT NULL;
CREATE INDEX run_chunks_counted ON run_chunks (account_id, run_id, number) WHERE pending < row_count OR saved_at IS NOT NULL;
CREATE INDEX run_chunks_failed ON run_chunks (account_id, run_id, saved_at) WHERE failed > 0;
CREATE INDEX run_chunks_saved ON run_chunks (account_id, run_id, saved_at) WHERE saved_at IS NOT NULL;

-- What results used (spec: usage-is-exact): the sums, usage, and what is not added to them yet, usage_tail; usage_now is both.
-- A save inserts one row in the tail, which has no index and no two saves fight for (countInserted).
--
-- All rows of the tail are deleted within seconds, so it is vacuumed after a number of rows. Without a key, it can be replicated
-- logically only if its rows are written to the log in full. An update of usage changes no column of its index, and finds room on
-- the page of the row. An unknown model, key or currency is empty or the zero id, not null: it is part of the key.
CREATE TABLE usage (
    account_id    uuid    NOT NULL,
    day           integer NOT NULL,
    prism_id      uuid    NOT NULL,
    model         text    NOT NULL COLLATE "C",
    key_id        uuid    NOT NULL,
    currency      text    NOT NULL COLLATE "C",
    results       bigint  NOT NULL,
    failed        bigint  NOT NULL,
    input_tokens  bigint  NOT NULL,
    output_tokens bigint  NOT NULL,
    cost          bigint  NOT NULL,
    cost_rest     bigint  NOT NULL,
    CONSTRAINT usage_pkey PRIMARY KEY (account_id, day, prism_id, model, key_id, currency)
) WITH (fillfactor = 70);
COMMENT ON COLUMN usage.day IS 'days since 1970-01-01, in UTC';
COMMENT ON COLUMN usage.cost_rest IS 'what exceeds the whole units in cost, in 10^-12 of the currency';

CREATE TABLE usage_tail (
    account_id    uuid    NOT NULL,
    day           integer NOT NULL,
    prism_id      uuid    NOT NULL,
    status        text    NOT NULL COLLATE "C",
    key_id        uuid,
    model         text    COLLATE "C",
    input_tokens  bigint,
    output_tokens bigint,
    cost          bigint,
    currency      text    COLLATE "C",
    bytes         integer
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE usage_tail REPLICA IDENTITY FULL;

CREATE VIEW usage_now AS
SELECT account_id, day, prism_id, model, key_id, currency, results, failed, input_tokens, output_tokens, cost, cost_rest FROM usage
UNION ALL
SELECT account_id, day, prism_id, coalesce(model, '') AS model,
    coalesce(key_id, '00000000-0000-0000-0000-000000000000') AS key_id, coalesce(currency, '') AS currency, 1::bigint,
    (status = 'failed')::integer::bigint, coalesce(input_tokens, 0), coalesce(output_tokens, 0),
    coalesce(cost, 0) / 1000000000000, coalesce(cost, 0) % 1000000000000
FROM usage_tail;

-- How many bytes the results and files of each account have (spec: stored-bytes): the sums, and what is not added to them yet.
-- The bytes of a saved result are in its row of usage_tail, and added to the sums when the row is folded; all else is in
-- stored_bytes_tail. The tables are as usage and its tail.
CREATE TABLE stored_bytes (
    account_id uuid   NOT NULL,
    bytes      bigint NOT NULL,
    CONSTRAINT stored_bytes_pkey PRIMARY KEY (account_id)
) WITH (fillfactor = 50);

CREATE TABLE stored_bytes_tail (
    account_id uuid   NOT NULL,
    bytes      bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE stored_bytes_tail REPLICA IDENTITY FULL;

CREATE VIEW stored_bytes_now AS
SELECT account_id, bytes FROM stored_bytes
UNION ALL SELECT account_id, bytes FROM stored_bytes_tail
UNION ALL SELECT account_id, bytes FROM usage_tail WHERE bytes IS NOT NULL;

-- The functions of the triggers write as the role that migrates: the services' role may have no right to the tables. So they name
-- the schema of all that they use, and are safe from other search paths.
-- +goose StatementBegin
DO $do$ BEGIN
EXECUTE format($f$CREATE FUNCTION count_result() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $t$
BEGIN
    INSERT INTO %I.usage_tail VALUES (NEW.account_id,
        (NEW.created_at AT TIME ZONE 'UTC')::date OPERATOR(pg_catalog.-) DATE '1970-01-01',
        NEW.prism_id, NEW.status, NEW.key_id, NEW.model, NEW.input_tokens, NEW.output_tokens, NEW.cost, NEW.currency);
    RETURN NULL;
END $t$
$f$, current_schema());
EXECUTE format($f$CREATE FUNCTION store_result() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.stored_bytes_tail VALUES (NEW.account_id, coalesce(NEW.bytes, coalesce(octet_length(NEW.ref::text), 0)
        + coalesce(octet_length(NEW.context::text), 0) + coalesce(octet_length(NEW.fields::text), 0)
        + coalesce(octet_length(NEW.error::text), 0) + coalesce(octet_length(NEW.answers::text), 0)
        + coalesce(octet_length(NEW.call::text), 0) + 256));
    RETURN NULL;
END $t$
$f$, current_schema());
EXECUTE format($f$CREATE FUNCTION remove_results() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.stored_bytes_tail
    SELECT r.account_id, -sum(coalesce(r.bytes, coalesce(octet_length(r.ref::text), 0)
        + coalesce(octet_length(r.context::text), 0) + coalesce(octet_length(r.fields::text), 0)
        + coalesce(octet_length(r.error::text), 0) + coalesce(octet_length(r.answers::text), 0)
        + coalesce(octet_length(r.call::text), 0) + 256)) FROM removed r GROUP BY r.account_id;
    RETURN NULL;
END $t$
$f$, current_schema());
EXECUTE format($f$CREATE FUNCTION store_file() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.stored_bytes_tail
    SELECT f.account_id, sum(f.bytes) FROM (
        SELECT NEW.account_id, NEW.bytes + NEW.copy_bytes WHERE NEW.status <> 'deleted'
        UNION ALL SELECT OLD.account_id, -OLD.bytes - OLD.copy_bytes WHERE OLD.status <> 'deleted'
    ) f (account_id, bytes) GROUP BY f.account_id HAVING sum(f.bytes) <> 0;
    RETURN NULL;
END $t$
$f$, current_schema());
EXECUTE format($f$CREATE FUNCTION fold_bytes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.stored_bytes AS s
    SELECT m.account_id, sum(m.bytes) FROM moved m WHERE m.bytes IS NOT NULL GROUP BY m.account_id
    ON CONFLICT (account_id) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    RETURN NULL;
END $t$
$f$, current_schema());
END $do$;
-- +goose StatementEnd

-- A save of a result with a call counts it within its statement, which costs a third of what count_result would. The triggers count
-- the others: results without a call, and rows that were inserted by hand, as from a copy.
CREATE TRIGGER count_result AFTER INSERT ON results FOR EACH ROW WHEN (NEW.call IS NULL) EXECUTE FUNCTION count_result();
CREATE TRIGGER store_result AFTER INSERT ON results FOR EACH ROW WHEN (NEW.bytes IS NULL OR NEW.call IS NULL)
    EXECUTE FUNCTION store_result();
CREATE TRIGGER remove_results AFTER DELETE ON results REFERENCING OLD TABLE AS removed FOR EACH STATEMENT
    EXECUTE FUNCTION remove_results();
CREATE TRIGGER store_file AFTER INSERT OR DELETE OR UPDATE OF status, copy_bytes ON files FOR EACH ROW EXECUTE FUNCTION store_file();
CREATE TRIGGER fold_bytes AFTER DELETE ON usage_tail REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION fold_bytes();
