// Package crash lets a test kill a service at a named step, to prove that what the step leaves behind is right. In a build
// without the tag crashpoints, which is every build that is shipped, a step is nothing at all.
package crash

// Point is a step at which a service can be killed.
type Point string

// The steps of a call that goes to the model and is saved.
const (
	BeforeLock   Point = "before-lock"   // gateway: about to take the lock
	AfterLock    Point = "after-lock"    // gateway: holds the lock
	BeforeModel  Point = "before-model"  // gateway: looked up and checked, about to call model-proxy
	AfterModel   Point = "after-model"   // gateway: has the model's answer, has not sent it to be saved
	BeforeCommit Point = "before-commit" // results: has the answer, has not sent it to the database
	InCommit     Point = "in-commit"     // results: inside the transaction that saves; over a network its outcome is not known
	AfterCommit  Point = "after-commit"  // results: the answer is durable, nobody was told
)

// Points are all steps in the order of a call.
func Points() []Point {
	return []Point{BeforeLock, AfterLock, BeforeModel, AfterModel, BeforeCommit, InCommit, AfterCommit}
}
