-- The accounts that objects of a Kubernetes cluster declare, and the uid of the object of each (spec: operator-token).

-- +goose Up
CREATE TABLE declared_accounts (
    account_id uuid NOT NULL,
    object     uuid NOT NULL,
    CONSTRAINT declared_accounts_pkey PRIMARY KEY (account_id),
    CONSTRAINT declared_accounts_object_key UNIQUE (object),
    CONSTRAINT declared_accounts_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id)
);
