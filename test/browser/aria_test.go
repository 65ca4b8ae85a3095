package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Bounds of looking for what should be on a page, and of the presses of Tab to reach it.
const (
	findBudget = 2 * time.Minute
	mostTabs   = 250
)

// node is an element as assistive technology sees it.
type node struct {
	role, name string
	object     runtime.RemoteObjectID
}

func (n node) String() string { return fmt.Sprintf("%s %q", n.role, n.name) }

// all are the elements of a role with a name, or with any name if it is "".
func (b *tab) all(role, name string) (found []node) {
	b.t.Helper()
	document, err := chromedp.Run(b.ctx, chromedp.Evaluate[*runtime.RemoteObject]("document"))
	if err != nil {
		return nil // the document is being replaced
	}
	tree, err := chromedp.Call(b.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{
		ObjectID: document.ObjectID, Role: role, AccessibleName: name,
	})
	if err != nil {
		return nil // the document was replaced in between
	}
	for _, n := range tree.Nodes {
		if n.Ignored || n.BackendDOMNodeID == 0 {
			continue
		}
		to, err := chromedp.Call(b.ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: n.BackendDOMNodeID})
		if err == nil {
			found = append(found, node{textOf(n.Role), textOf(n.Name), to.Object.ObjectID})
		}
	}
	return found
}

// find waits until there is an element of a role with a name, and is the first.
func (b *tab) find(role, name string) node {
	b.t.Helper()
	var found []node
	b.until(fmt.Sprintf("there is a %s %q", role, name), func() bool {
		found = b.all(role, name)
		return len(found) > 0
	})
	return found[0]
}

// called are the elements of a role with a name, or those whose names begin so if it ends with "…".
func (b *tab) called(role, name string) []node {
	b.t.Helper()
	prefix, cut := strings.CutSuffix(name, "…")
	if !cut {
		return b.all(role, name)
	}
	return slices.DeleteFunc(b.all(role, ""), func(n node) bool { return !strings.HasPrefix(n.name, prefix) })
}

// named is the whole name of the first element of a role whose name begins so.
func (b *tab) named(role, prefix string) (name string) {
	b.t.Helper()
	b.until(fmt.Sprintf("there is a %s %q…", role, prefix), func() bool {
		found := b.called(role, prefix+"…")
		if len(found) > 0 {
			name = found[0].name
		}
		return len(found) > 0
	})
	return name
}

// use waits until a function of the first element of a role and name, as called takes it, returns true. The page may put another element
// in its place meanwhile, or enable it.
func (b *tab) use(role, name, function string) {
	b.t.Helper()
	b.until(fmt.Sprintf("there is a %s %q that can be used", role, name), func() bool {
		found := b.called(role, name)
		if len(found) == 0 {
			return false
		}
		done, err := call[bool](b, found[0], function)
		return err == nil && done
	})
}

// until waits for a condition.
func (b *tab) until(what string, holds func() bool) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(findBudget)
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			b.t.Fatalf("not so within %s: %s. The page is %s with\n%s", findBudget, what, eval[string](b, "location.href"), eval[string](b, "(document.querySelector('main') ?? document.body).innerText.slice(0, 1500)"))
		case <-b.ctx.Done():
			b.t.Fatalf("not so: %s", what)
		}
	}
}

// focused is the element that has the keyboard.
func (b *tab) focused() node {
	b.t.Helper()
	at, err := chromedp.Run(b.ctx, chromedp.Evaluate[*runtime.RemoteObject]("document.activeElement"))
	if err != nil {
		b.t.Fatal(err)
	}
	tree, err := chromedp.Call(b.ctx, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: at.ObjectID, FetchRelatives: new(bool)})
	if err != nil || len(tree.Nodes) == 0 {
		return node{}
	}
	return node{textOf(tree.Nodes[0].Role), textOf(tree.Nodes[0].Name), at.ObjectID}
}

// tabTo presses Tab until an element of a role with a name has the keyboard, as one without a mouse does.
func (b *tab) tabTo(role, name string) {
	b.t.Helper()
	b.use(role, name, "function() { return this.isConnected && !this.disabled; }")
	var seen []string
	for range mostTabs {
		if at := b.focused(); at.role == role && at.name == name {
			return
		} else if at.role != "" {
			seen = append(seen, at.String())
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("Tab does not reach the %s %q, but %q", role, name, seen)
}

// press presses keys, one after the other.
func (b *tab) press(keys string, options ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, options...))
}

// with is the value of a JavaScript function of an element.
func with[T any](b *tab, n node, function string) T {
	b.t.Helper()
	value, err := call[T](b, n, function)
	if err != nil {
		b.t.Fatalf("%s: %s: %v", n, function, err)
	}
	return value
}

func call[T any](b *tab, n node, function string) (T, error) {
	return chromedp.Run(b.ctx, chromedp.CallFunctionOn[T](function, func(p *runtime.CallFunctionOnParams) { p.ObjectID = n.object }))
}

// openFirst opens the first row of the table in view.
func (b *tab) openFirst() {
	b.t.Helper()
	b.settle() // what takes the keys is there
	b.press("j")
	b.await("document.activeElement.closest('tbody tr') !== null")
	b.press(kb.Enter)
}

// pick chooses the option of the list that has the keyboard whose words begin so.
func (b *tab) pick(option string) {
	b.t.Helper()
	b.press(kb.Home)
	b.until(fmt.Sprintf("the option %q is chosen", option), func() bool {
		at := eval[struct {
			Words string
			Last  bool
		}](b, `(({ selectedOptions: [chosen], selectedIndex, length }) =>
			({ Words: chosen?.text ?? "", Last: selectedIndex === length - 1 }))(document.activeElement)`)
		if strings.HasPrefix(at.Words, option) {
			return true
		}
		b.press(map[bool]string{true: kb.Home, false: kb.ArrowDown}[at.Last])
		return false
	})
}

func textOf(v *accessibility.Value) (text string) {
	if v != nil {
		_ = json.Unmarshal(v.Value, &text)
	}
	return text
}
