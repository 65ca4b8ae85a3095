// Package crash lets a test kill a service at a named step, to check what the service leaves behind. Shipped builds are without
// the tag crashpoints, and a step does nothing.
package crash

// Point is a step at which a service can be killed.
type Point string

// The steps of a call that goes to the model and is saved.
const (
	BeforeLock   Point = "before-lock"   // gateway: about to take the lock
	AfterLock    Point = "after-lock"    // gateway: holds the lock
	BeforeModel  Point = "before-model"  // gateway: looked up and checked, about to call model-proxy
	AfterModel   Point = "after-model"   // gateway: has the answers, has not sent the save
	BeforeCommit Point = "before-commit" // results: has the answers, has not sent them to the database
	InCommit     Point = "in-commit"     // results: inside the transaction that saves; over a network its outcome is not known
	AfterCommit  Point = "after-commit"  // results: the answers are durable, the response is not sent
)

// The steps of a file.
const (
	AfterPart   Point = "after-part"   // results: the content of a part is stored, the part is not recorded
	InReading   Point = "in-reading"   // results: some chunks of a file are stored
	BeforeReady Point = "before-ready" // results: a file was read to its end, which is not stored
)

// The steps of deletions.
const (
	InRemoval  Point = "in-removal"  // results: the content of a deleted file is removed, the file is not forgotten
	InDeletion Point = "in-deletion" // results: a part of a deletion of results is durable, its job goes on or has ended
)

// The steps of the fold of the tail.
const (
	InFold    Point = "in-fold"    // results: changes have their numbers, the transaction is not committed
	AfterFold Point = "after-fold" // results: the numbers are durable
)

// The steps of the writer of the index.
const (
	InIndex    Point = "in-index"    // results: a piece of the index is written, the transaction is not committed
	AfterIndex Point = "after-index" // results: the piece is durable
)

// The steps of deliveries in results.
const (
	InFanOut      Point = "in-fan-out"     // results: events for webhooks are stored, the transaction is not committed
	AfterFanOut   Point = "after-fan-out"  // results: the events are durable
	AfterTake     Point = "after-take"     // results: a webhook is leased, the lease is not handed out
	BeforeOutcome Point = "before-outcome" // results: has what became of tries, has not sent it to the database
	AfterOutcome  Point = "after-outcome"  // results: it is durable, the response is not sent
)

// FanOutPoints are all steps of deliveries in results in their order.
func FanOutPoints() []Point {
	return []Point{InFanOut, AfterFanOut, AfterTake, BeforeOutcome, AfterOutcome}
}

// FilePoints are all steps of a file, in their order.
func FilePoints() []Point { return []Point{AfterPart, InReading, BeforeReady} }

// Points are all steps of a call in the order of a call.
func Points() []Point {
	return []Point{BeforeLock, AfterLock, BeforeModel, AfterModel, BeforeCommit, InCommit, AfterCommit}
}

// The further steps of a worker of runs. A row passes BeforeModel and AfterModel between them.
const (
	BeforeLease Point = "before-lease" // runs: about to lease a chunk
	AfterLease  Point = "after-lease"  // runs: leased a chunk, has begun no row
	BeforeRows  Point = "before-rows"  // runs: has answers of rows, has not sent them to be saved
	AfterRows   Point = "after-rows"   // runs: the answers of rows are saved
)

// The steps of a sender of events of webhooks.
const (
	AfterDeliveriesLease Point = "after-deliveries-lease" // webhooks: leased a webhook, has sent nothing
	AfterDeliveryTry     Point = "after-delivery-try"     // webhooks: a receiver has an event, results do not know
	AfterDeliveriesSave  Point = "after-deliveries-save"  // webhooks: what became of the tries is saved
)

// DeliveryPoints are all steps of a sender in their order.
func DeliveryPoints() []Point {
	return []Point{AfterDeliveriesLease, AfterDeliveryTry, AfterDeliveriesSave}
}

// RunPoints are all steps of a worker of runs in their order.
func RunPoints() []Point {
	return []Point{BeforeLease, AfterLease, BeforeModel, AfterModel, BeforeRows, AfterRows}
}
