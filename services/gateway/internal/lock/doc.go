// Package lock lets one of several concurrent calls on an idempotency key or a result go to the model while the others
// wait. It only saves model calls: the database's constraints decide, so every interleaving without a lock is right too
// (spec: redis-is-optional).
//
// Two implementations pass one suite, locktest: lock/memory for one process and lock/redis for many gateways. A gateway
// with Redis puts lock/memory before lock/redis (Layered): its callers wait in order in memory, and only the first of
// them polls Redis. While Redis is away, the calls of one process still go one by one.
//
// # A call
//
//	             Acquire
//	                │
//	  ┌─────────────┼──────────────────┬─────────────────┐
//	  │ free        │ held             │ too many wait   │ backend away
//	  │             ▼                  ▼                 ▼
//	  │          WAITING            ErrBusy       ErrUnavailable
//	  │             │                                    ▲
//	  │             ├── backend goes away ───────────────┘
//	  │             ├── deadline ────────▶ ErrTimeout
//	  │             ├── cancelled ───────▶ context.Canceled
//	  ▼             │ released, or the holder's lease expired
//	HELD ◀──────────┘
//	│  │ ▲
//	│  │ └─ renewed every third of the lease (Redis)
//	│  └─── not renewed within the lease, or the key is another's ──▶ EXPIRED ──▶ Release frees nothing
//	└────── Release ──▶ FREE
//
// TryAcquire is the same without WAITING: a held name is ErrHeld. A holder that dies is replaced when its lease expires,
// within 3 s.
package lock
