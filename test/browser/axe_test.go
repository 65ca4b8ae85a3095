package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// axe is the source of axe-core, which `make deps` installs from npm.
func axe(t *testing.T) string {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, ".tools/axe/node_modules/axe-core/axe.min.js"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("make deps installs axe-core: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// laptop is the width, in pixels, at which every page is held to all rules of axe.
const laptop = 1280

// Rules of axe: all of WCAG 2.2 AA, and those on which a theme has a say.
const (
	allRules    = `{ type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }`
	colourRules = `{ type: "rule", values: ["color-contrast", "link-in-text-block"] }`
)

// looks are the windows in which a page is held to rules. A theme changes colours alone. A zoom of 200% shows a laptop's page
// in half its pixels.
var looks = []struct {
	scheme, rules string
	width, height int64
	scale         float64
	brief         bool // a brief view is held to its rules too
}{
	{"dark", colourRules, 360, 780, 1, false},
	{"dark", colourRules, laptop, 720, 1, true},
	{"light", allRules, 360, 780, 1, true},
	{"light", allRules, 1600, 900, 1, false},
	{"light", allRules, laptop / 2, 360, 2, false},
	{"light", allRules, laptop, 720, 1, true},
}

// accessible holds the page in view to WCAG 2.2 AA as far as axe-core can: in light and dark, on a phone, a laptop and a
// large screen, and at a zoom of 200% (spec: console-themes).
func (b *tab) accessible(axe string, p view) {
	b.t.Helper()
	for _, l := range looks {
		if p.brief && !l.brief {
			continue
		}
		b.scheme(l.scheme)
		b.do(chromedp.EmulateViewport(l.width, l.height, chromedp.EmulateScale(l.scale)))
		b.act(p)
		b.settle()
		for _, found := range b.violations(axe, l.rules) {
			b.t.Errorf("%s, %d px: %s", l.scheme, l.width, found)
		}
		if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
			b.t.Errorf("%s, %d px: the page is %d px wide", l.scheme, l.width, wide)
		}
	}
}

// violations are what axe finds on the page as it is now.
func (b *tab) violations(axe, rules string) []string {
	b.t.Helper()
	// The policy of the page allows no script but its own, so axe comes in by the protocol.
	if !eval[bool](b, "typeof window.axe === 'object'") {
		eval[bool](b, axe+"; true")
	}
	return eval[[]string](b, fmt.Sprintf(`axe.run(document, { runOnly: %s, resultTypes: ["violations"] }).then((found) => found.violations.map(
		(v) => v.id + " (" + v.help + "): " + v.nodes.map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? n.all[0]?.message ?? n.none[0]?.message ?? "")).slice(0, 4).join(" | ")))`, rules))
}

// scheme has the page see a theme of the system.
func (b *tab) scheme(name string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// highest is the most pixels from top to bottom of a picture.
const highest = 2400

// keepPictures writes what a page looks like into the folder PRISM_SCREENSHOTS, if there is one: the whole page, but no more of
// the page than its window below what floats.
func (b *tab) keepPictures(p view) {
	b.t.Helper()
	folder := os.Getenv("PRISM_SCREENSHOTS")
	if folder == "" {
		return
	}
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{
		{"light", "light", laptop, 720},
		{"dark", "dark", laptop, 720},
		{"phone", "light", 360, 780},
		{"phone-dark", "dark", 360, 780},
	} {
		b.scheme(look.scheme)
		b.do(chromedp.EmulateViewport(look.width, look.height))
		b.act(p)
		b.settle()
		if whole := eval[int64](b, "document.documentElement.scrollHeight"); p.act == nil && whole > look.height {
			b.do(chromedp.EmulateViewport(look.width, min(whole, highest)))
			b.settle()
		}
		picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o750); err != nil {
			b.t.Fatal(err)
		}
		file := filepath.Join(folder, strings.ReplaceAll(p.name, " ", "-")+"-"+look.name+".png")
		if err := os.WriteFile(file, picture, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}
