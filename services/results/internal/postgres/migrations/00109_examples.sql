-- The results that examples of versions were taken from (spec: emptied-examples).

-- +goose Up
CREATE TABLE example_results (
    account_id uuid    NOT NULL,
    result_id  uuid    NOT NULL,
    prism_id   uuid    NOT NULL,
    version    integer NOT NULL,
    CONSTRAINT example_results_pkey PRIMARY KEY (account_id, result_id, prism_id, version)
);
