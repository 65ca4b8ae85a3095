// Package results saves the results of calls, reads, lists and exports them, and formats them with the Lens of their prism. Ad-hoc prisms are
// made here with their first result. Constraints of the tables decide every race; no caller composes a
// transaction.
//
// # Results, retries and idempotency keys
//
// A result is written once, by the call that created it. It changes at most once, when it is retried.
//
//	     SaveResult, SaveRetry
//	    ┌──────────┴──────────┐
//	    ▼                     ▼
//	┌──────┐    ┌────────────────────────┐  SaveRetry   ┌──────────────────────────┐
//	│  ok  │    │ failed, retried_by null├─────────────▶│ failed, retried_by = new │
//	└──────┘    └────────────────────────┘   of = this  └──────────────────────────┘
//	 final       may stay so                               final; its key has moved
//
// The retries of one call are a chain, and its idempotency key is always held by the last result:
//
//	first ──retried_by──▶ second ──retried_by──▶ third          (all but the last failed)
//	  ◀────retry_of────────  ◀────retry_of────────  └── idempotency_key
//
// A key has no row of its own. It is a column of the result that a repeat of the call must find.
//
//	(free) ──SaveResult──▶ held by the first ──SaveRetry──▶ held by the second ──SaveRetry──▶ …
//
// # Why constraints decide
//
// Callers check before they save, and may hold a lock, but the checks are old by the time of saving, and the lock may have
// expired, may be missing because Redis failed, or may never have been taken. So each rule is a constraint of the tables,
// and the error of a save says which rule it broke:
//
//	a result is saved once               primary key (account_id, id)              success: the stored result
//	a key belongs to one result          unique (account_id, idempotency_key)      contract.ErrKeyTaken
//	a result is retried once             unique (account_id, retry_of), and
//	                                     retried_by is set only if it is null      *store.RetriedError
//	only a failed result is retried      check (retried_by is null or failed)      store.ErrNotFound
//	a retried result gives up its key    check (retried_by is null or key is null)
//	a result is of a version             inserted by selecting from versions       store.ErrNotFound
//
// Ids are chosen before the model is called. A save whose response was lost is sent again with the same id and returns the
// stored result, even if the key has moved on by then: the id is looked up before the key.
//
// # Order and partitions
//
// An id is a UUIDv7, which begins with its time of creation. So lists are ordered by id, and need no index by time. The keys of
// the tables of prisms, results and all that belongs to them begin with account_id, so that the tables can be partitioned or
// distributed by account.
package results
