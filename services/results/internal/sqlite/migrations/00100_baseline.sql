-- The schema of Prism 1.0.0. Later changes are migrations of their own; this file stays as it is.
--
-- Ids are the 16 bytes of a UUID, times are Unix milliseconds, JSON is the bytes as they were given. The keys are those of the
-- Postgres schema: all but those of accounts, keys and sign-ins begin with the account.

-- +goose Up

-- Accounts, and their limits (spec: account-limits). Only accounts with limits have a row; 0 is no limit, and for stored_bytes
-- the limit of an account without one of its own.
CREATE TABLE accounts (
    id         BLOB    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE account_limits (
    account_id          BLOB    NOT NULL PRIMARY KEY REFERENCES accounts (id),
    requests_per_second INTEGER NOT NULL CHECK (requests_per_second >= 0),
    concurrency         INTEGER NOT NULL CHECK (concurrency >= 0),
    results_per_day     INTEGER NOT NULL CHECK (results_per_day >= 0),
    stored_bytes        INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0)
) STRICT, WITHOUT ROWID;

-- API keys have a role and may expire (spec: roles, key-expiry). A key of a session names its session and member.
CREATE TABLE api_keys (
    id           BLOB    NOT NULL PRIMARY KEY,
    account_id   BLOB    NOT NULL REFERENCES accounts (id),
    digest       BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
    prefix       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    role         TEXT    NOT NULL DEFAULT 'owner',
    expires_at   INTEGER,
    member_id    BLOB,
    session_id   BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_id ON api_keys (account_id, id);
CREATE INDEX api_keys_active ON api_keys (account_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_session ON api_keys (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX api_keys_of_member ON api_keys (account_id, member_id) WHERE member_id IS NOT NULL;
CREATE INDEX api_keys_of_sessions_expiring ON api_keys (expires_at) WHERE session_id IS NOT NULL;

-- Members of accounts, and rules, which make members and have a claim. A member who was removed keeps its row, so that no rule
-- makes it a member again.
CREATE TABLE members (
    account_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    email        TEXT    NOT NULL,
    role         TEXT    NOT NULL,
    operator     INTEGER NOT NULL,
    claim_name   TEXT, -- of a rule, which makes members
    claim_value  TEXT,
    issuer       TEXT,
    subject      TEXT,
    signed_in_by TEXT,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER,
    removed_at   INTEGER,
    PRIMARY KEY (account_id, id),
    CHECK ((issuer IS NULL) = (subject IS NULL)),
    CHECK ((claim_name IS NULL) = (claim_value IS NULL)),
    CHECK (claim_name IS NULL OR (signed_in_by IS NULL AND issuer IS NULL AND NOT operator))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_operator ON members (account_id) WHERE operator AND removed_at IS NULL;
CREATE UNIQUE INDEX members_identity ON members (issuer, subject, account_id) WHERE removed_at IS NULL;
CREATE INDEX members_claim ON members (claim_name, claim_value) WHERE claim_name IS NOT NULL AND removed_at IS NULL;

-- The claims that the operator has granted to accounts (spec: claim-grant).
CREATE TABLE claim_grants (
    account_id  BLOB    NOT NULL,
    claim_name  TEXT    NOT NULL,
    claim_value TEXT    NOT NULL,
    granted_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, claim_name, claim_value)
) STRICT, WITHOUT ROWID;

-- Sign-in links, and sessions with their members, one of which comes first.
CREATE TABLE sign_in_links (
    digest     BLOB    NOT NULL PRIMARY KEY,
    account_id BLOB    NOT NULL,
    member_id  BLOB    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_of_member ON sign_in_links (account_id, member_id);
CREATE INDEX sign_in_links_expiring ON sign_in_links (expires_at);

CREATE TABLE sessions (
    id         BLOB    NOT NULL PRIMARY KEY,
    digest     BLOB    NOT NULL UNIQUE,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_expiring ON sessions (expires_at);

CREATE TABLE session_members (
    session_id   BLOB    NOT NULL,
    account_id   BLOB    NOT NULL,
    member_id    BLOB    NOT NULL,
    signed_in_at INTEGER NOT NULL,
    first        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_members_of_member ON session_members (account_id, member_id);

-- The audit: who changed what, and when (spec: audit-entry-members). An entry outlives what it is about, so it has no foreign
-- key. Entries are never changed (spec: audit-append-only).
CREATE TABLE audit (
    account_id  BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    actor_kind  TEXT    NOT NULL,
    actor_id    BLOB,
    actor_name  TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    object_kind TEXT    NOT NULL,
    object_id   BLOB    NOT NULL,
    object_name TEXT    NOT NULL,
    detail      BLOB    NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((actor_kind IN ('key', 'member')) = (actor_id IS NOT NULL))
) STRICT, WITHOUT ROWID;
-- +goose StatementBegin
CREATE TRIGGER audit_not_updated BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd

-- Prisms and their versions. versions_hash names the versions that a prism has, so that a definition in memory is not used for
-- the version of another history (spec: cached-definition). pins is the id of the prism's rows of calibration_pins, as text.
CREATE TABLE prisms (
    account_id     BLOB    NOT NULL REFERENCES accounts (id),
    id             BLOB    NOT NULL,
    slug           TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    lens           BLOB    NOT NULL,
    latest_version INTEGER NOT NULL CHECK (latest_version >= 1),
    created_at     INTEGER NOT NULL,
    archived_at    INTEGER,
    versions_hash  INTEGER NOT NULL DEFAULT 0,
    retention_days INTEGER,
    pins           TEXT,
    PRIMARY KEY (account_id, id)
) STRICT;
CREATE UNIQUE INDEX prisms_slug_key ON prisms (account_id, slug);

CREATE TABLE versions (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    number     INTEGER NOT NULL CHECK (number >= 1),
    definition BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id, number),
    FOREIGN KEY (account_id, prism_id) REFERENCES prisms (account_id, id)
) STRICT;

-- Calibrations of questions, and which of them are pinned (spec: calibration-pins). Nothing of both tables is ever changed.
CREATE TABLE calibrations (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    version    INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    question   TEXT    NOT NULL,
    fit        BLOB    NOT NULL,
    measures   BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id, version, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE calibration_pins (
    account_id     BLOB    NOT NULL,
    prism_id       BLOB    NOT NULL,
    pins_id        BLOB    NOT NULL,
    version        INTEGER NOT NULL,
    question       TEXT    NOT NULL,
    calibration_id BLOB    NOT NULL,
    PRIMARY KEY (account_id, prism_id, pins_id, version, question)
) STRICT, WITHOUT ROWID;

-- Results are ordered by id, which begins with the time of creation. key_id to call are the call of the model and the API key that
-- made it (spec: record-members), run_id and run_row the row of a file that a result answers, and bytes what it counts
-- (spec: stored-bytes). sqlite3 of 2022, which backups are made with, has no octet_length.
CREATE TABLE results (
    account_id      BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    prism_id        BLOB    NOT NULL,
    version         INTEGER NOT NULL CHECK (version >= 1),
    ref             TEXT,
    context         TEXT    NOT NULL,
    fields          BLOB    NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('ok', 'failed')),
    error           TEXT,
    took_ms         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    answers         BLOB,
    idempotency_key TEXT,
    retried_by      BLOB,
    retry_of        BLOB,
    key_id          BLOB,
    model           TEXT,
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    cost            INTEGER,
    currency        TEXT,
    call            BLOB,
    run_id          BLOB,
    run_row         INTEGER,
    bytes           INTEGER GENERATED ALWAYS AS (coalesce(length(CAST(ref AS BLOB)), 0)
        + length(CAST(context AS BLOB)) + length(CAST(fields AS BLOB)) + coalesce(length(CAST(error AS BLOB)), 0)
        + coalesce(length(CAST(answers AS BLOB)), 0) + coalesce(length(CAST(call AS BLOB)), 0) + 256) VIRTUAL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, prism_id, version) REFERENCES versions (account_id, prism_id, number),
    CHECK ((status = 'ok') = (answers IS NOT NULL)),
    CHECK ((status = 'ok') = (error IS NULL)),
    CHECK (retried_by IS NULL OR (status = 'failed' AND idempotency_key IS NULL))
) STRICT;
CREATE UNIQUE INDEX results_idempotency_key ON results (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX results_retry_of ON results (account_id, retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX results_by_prism ON results (account_id, prism_id, id);
CREATE INDEX results_by_ref ON results (account_id, ref, id) WHERE ref IS NOT NULL;
CREATE INDEX results_by_failure ON results (account_id, id) WHERE status = 'failed';
CREATE INDEX results_by_run ON results (account_id, run_id, run_row) WHERE run_id IS NOT NULL;
CREATE INDEX results_retryable ON results (account_id, prism_id, id, version, created_at)
    WHERE status = 'failed' AND retried_by IS NULL;

-- Labels of results (spec: label-one). A label is deleted with its result.
CREATE TABLE labels (
    account_id  BLOB    NOT NULL,
    prism_id    BLOB    NOT NULL,
    result_id   BLOB    NOT NULL,
    question    TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    value       TEXT    NOT NULL,
    sample      TEXT    NOT NULL,
    annotator   TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    key_id      BLOB    NOT NULL,
    labelled_at INTEGER NOT NULL,
    hash        INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id, result_id, question)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_question ON labels (account_id, prism_id, version, question, result_id, hash);

-- Which prisms are watched for drift, the references of their versions, and counts of answers in spans of time
-- (spec: drift-counting).
CREATE TABLE drift_watches (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    watched_at INTEGER NOT NULL,
    reached    BLOB    NOT NULL,
    due_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE drift_versions (
    account_id    BLOB    NOT NULL,
    prism_id      BLOB    NOT NULL,
    version       INTEGER NOT NULL,
    first_results INTEGER NOT NULL,
    first_from    INTEGER,
    first_to      INTEGER,
    set_from      INTEGER,
    set_to        INTEGER,
    PRIMARY KEY (account_id, prism_id, version),
    CHECK ((set_from IS NULL) = (set_to IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE drift_counts (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    span       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    results    INTEGER NOT NULL,
    counts     BLOB    NOT NULL,
    PRIMARY KEY (account_id, prism_id, span, at, version)
) STRICT, WITHOUT ROWID;

-- Deletions of many results, each a row until it is done (spec: deletion-goes-on). For retention (spec: retention-set), id is that
-- of the prism, and the row stays.
CREATE TABLE deletions (
    account_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    prism_id     BLOB    NOT NULL,
    days         INTEGER,
    ref          TEXT,
    status       TEXT,
    saved_before INTEGER,
    due_at       INTEGER NOT NULL,
    reached      BLOB    NOT NULL,
    deleted      INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((days IS NULL) = (saved_before IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX deletions_due ON deletions (due_at);

-- Retries of many results (spec: retry-many). A retry has a row until all its results had their turn, and a row for each chunk of at
-- most 200 results of one version: their ids one after the other, and a letter for the state of each, pending or done.
CREATE TABLE retries (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    key_id     BLOB    NOT NULL,
    leased_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id),
    UNIQUE (account_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE retry_chunks (
    account_id   BLOB    NOT NULL,
    retry_id     BLOB    NOT NULL,
    number       INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    ids          BLOB    NOT NULL,
    states       TEXT    NOT NULL,
    pending      INTEGER NOT NULL,
    begun_at     INTEGER,
    token        BLOB,
    leased_until INTEGER,
    PRIMARY KEY (account_id, retry_id, number),
    CHECK (length(ids) = 16 * length(states)),
    CHECK ((token IS NULL) = (leased_until IS NULL))
) STRICT;
CREATE INDEX retry_chunks_leased ON retry_chunks (account_id, retry_id, number) WHERE token IS NOT NULL;

-- Files of runs (spec: file-states), which of their parts are there, where their rows are, and contents for those who keep them
-- in the database. A file that was deleted has the status deleted until its content is gone.
CREATE TABLE files (
    account_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    format       TEXT    NOT NULL,
    bytes        INTEGER NOT NULL,
    sha256       BLOB,
    status       TEXT    NOT NULL CHECK (status IN ('uploading', 'reading', 'ready', 'unusable', 'deleted')),
    error        TEXT    NOT NULL,
    row_count    INTEGER NOT NULL,
    chunks       INTEGER NOT NULL,
    layout       BLOB,
    copy_id      BLOB,
    copy_bytes   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    hashed       INTEGER NOT NULL,
    hash_state   BLOB,
    completed_at INTEGER,
    readings     INTEGER NOT NULL,
    lease_token  BLOB,
    leased_until INTEGER,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'reading') = (leased_until IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX files_uploading ON files (account_id) WHERE status = 'uploading';
CREATE INDEX files_reading ON files (leased_until) WHERE status = 'reading';
CREATE INDEX files_expiring ON files (expires_at);

CREATE TABLE file_parts (
    account_id BLOB    NOT NULL,
    file_id    BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    sha256     BLOB    NOT NULL,
    PRIMARY KEY (account_id, file_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_chunks (
    account_id BLOB    NOT NULL,
    file_id    BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    first_row  INTEGER NOT NULL,
    row_count  INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    PRIMARY KEY (account_id, file_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_contents (
    account_id BLOB NOT NULL,
    file_id    BLOB NOT NULL,
    name       TEXT NOT NULL,
    content    BLOB NOT NULL,
    PRIMARY KEY (account_id, file_id, name)
) STRICT;

-- File runs (spec: run-states). A run has a row for each chunk of its file, with a letter for each row of the chunk, so that ten
-- million rows are 50,000 rows here.
CREATE TABLE runs (
    account_id      BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    prism_id        BLOB    NOT NULL,
    version         INTEGER NOT NULL,
    file_id         BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    mapping         BLOB    NOT NULL,
    status          TEXT    NOT NULL
        CHECK (status IN ('queued', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished')),
    reason          TEXT    NOT NULL,
    key_id          BLOB    NOT NULL,
    idempotency_key TEXT,
    pause_at        REAL    NOT NULL,
    rows_per_second REAL    NOT NULL,
    concurrency     INTEGER NOT NULL,
    row_count       INTEGER NOT NULL,
    chunks          INTEGER NOT NULL,
    attempt         INTEGER NOT NULL,
    retry_from      INTEGER,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    finished_at     INTEGER,
    stopped_at      INTEGER,
    leased_at       INTEGER NOT NULL,
    watched_from    INTEGER NOT NULL,
    folded          INTEGER NOT NULL DEFAULT 0, -- the chunks below this number have all outcomes and no lease; their sums follow
    ok              INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    invalid         INTEGER NOT NULL DEFAULT 0,
    cancelled       INTEGER NOT NULL DEFAULT 0,
    input_tokens    INTEGER NOT NULL DEFAULT 0,
    output_tokens   INTEGER NOT NULL DEFAULT 0,
    cost            INTEGER NOT NULL DEFAULT 0,
    cost_rest       INTEGER NOT NULL DEFAULT 0,
    currency        TEXT    NOT NULL DEFAULT '',
    labels          INTEGER NOT NULL DEFAULT 0,
    invalid_labels  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX runs_idempotency_key ON runs (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_prism ON runs (account_id, prism_id, id);
CREATE INDEX runs_by_file ON runs (account_id, file_id) WHERE status NOT IN ('finished', 'cancelled');
CREATE INDEX runs_under_way ON runs (status) WHERE status IN ('queued', 'running', 'pausing', 'cancelling');
CREATE INDEX runs_retrying ON runs (account_id, id) WHERE retry_from IS NOT NULL;
CREATE INDEX runs_folding ON runs (account_id, id) WHERE folded < chunks;

CREATE TABLE run_chunks (
    account_id     BLOB    NOT NULL,
    run_id         BLOB    NOT NULL,
    number         INTEGER NOT NULL,
    first_row      INTEGER NOT NULL,
    row_count      INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    states         TEXT    NOT NULL,
    pending        INTEGER NOT NULL,
    ok             INTEGER NOT NULL,
    failed         INTEGER NOT NULL,
    invalid        INTEGER NOT NULL,
    cancelled      INTEGER NOT NULL,
    messages       BLOB,
    outcomes       TEXT    NOT NULL,
    saved_at       INTEGER,
    begun_at       INTEGER,
    token          BLOB,
    leased_until   INTEGER,
    granted        INTEGER NOT NULL,
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    cost           INTEGER NOT NULL,
    cost_rest      INTEGER NOT NULL,
    currency       TEXT    NOT NULL,
    labels         INTEGER NOT NULL DEFAULT 0,
    invalid_labels INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, run_id, number),
    CHECK (pending + ok + failed + invalid + cancelled = row_count AND length(states) = row_count),
    CHECK ((token IS NULL) = (leased_until IS NULL))
) STRICT;
CREATE INDEX run_chunks_pending ON run_chunks (account_id, run_id, number) WHERE pending > 0;
CREATE INDEX run_chunks_leased ON run_chunks (account_id, run_id, number) WHERE token IS NOT NULL;
CREATE INDEX run_chunks_counted ON run_chunks (account_id, run_id, number) WHERE pending < row_count OR saved_at IS NOT NULL;
CREATE INDEX run_chunks_failed ON run_chunks (account_id, run_id, saved_at) WHERE failed > 0;
CREATE INDEX run_chunks_saved ON run_chunks (account_id, run_id, saved_at) WHERE saved_at IS NOT NULL;

-- What results used (spec: usage-is-exact). A day is a number of days since 1970. cost is whole units of the currency, cost_rest
-- is what exceeds them, in 10^-12 of the currency: SQLite has no integers above 64 bits. usage_now is the name that the statements
-- share with those of Postgres, whose table is behind.
CREATE TABLE usage (
    account_id    BLOB    NOT NULL,
    day           INTEGER NOT NULL,
    prism_id      BLOB    NOT NULL,
    model         TEXT    NOT NULL,
    key_id        BLOB    NOT NULL,
    currency      TEXT    NOT NULL,
    results       INTEGER NOT NULL,
    failed        INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost          INTEGER NOT NULL,
    cost_rest     INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, prism_id, model, key_id, currency)
) STRICT, WITHOUT ROWID;
CREATE VIEW usage_now AS SELECT * FROM usage;

-- The probe of a store that cannot be written saves a result of an account that is none, and deletes it (probe.go). It is not
-- counted.
-- +goose StatementBegin
CREATE TRIGGER count_result AFTER INSERT ON results WHEN NEW.account_id <> x'00' BEGIN
    INSERT INTO usage
    VALUES (NEW.account_id, NEW.created_at / 86400000, NEW.prism_id, coalesce(NEW.model, ''), coalesce(NEW.key_id, zeroblob(16)),
        coalesce(NEW.currency, ''), 1, NEW.status = 'failed', coalesce(NEW.input_tokens, 0), coalesce(NEW.output_tokens, 0),
        coalesce(NEW.cost, 0) / 1000000000000, coalesce(NEW.cost, 0) % 1000000000000)
    ON CONFLICT DO UPDATE SET
        results = results + 1, failed = failed + excluded.failed,
        input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
        cost = cost + excluded.cost + (cost_rest + excluded.cost_rest) / 1000000000000,
        cost_rest = (cost_rest + excluded.cost_rest) % 1000000000000;
END;
-- +goose StatementEnd

-- How many bytes the results and files of each account have (spec: stored-bytes). stored_bytes_now is as usage_now.
CREATE TABLE stored_bytes (
    account_id BLOB    NOT NULL PRIMARY KEY,
    bytes      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIEW stored_bytes_now AS SELECT * FROM stored_bytes;
-- +goose StatementBegin
CREATE TRIGGER store_result AFTER INSERT ON results WHEN NEW.account_id <> x'00' BEGIN
    INSERT INTO stored_bytes VALUES (NEW.account_id, NEW.bytes) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER remove_result AFTER DELETE ON results WHEN OLD.account_id <> x'00' BEGIN
    UPDATE stored_bytes SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER store_file AFTER INSERT ON files BEGIN
    INSERT INTO stored_bytes VALUES (NEW.account_id, NEW.bytes) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER change_file AFTER UPDATE OF status, copy_bytes ON files BEGIN
    UPDATE stored_bytes SET bytes = bytes + iif(NEW.status = 'deleted', 0, NEW.bytes + NEW.copy_bytes)
        - iif(OLD.status = 'deleted', 0, OLD.bytes + OLD.copy_bytes)
    WHERE account_id = NEW.account_id;
END;
-- +goose StatementEnd
