package browser

import (
	"os"
	"testing"
)

// TestThePages uses the pages of one Prism in one Chromium, and TestTheReference the API reference of another Prism in another one,
// because a machine of two cores has no room for more.
// spec: docs-page
func TestThePages(t *testing.T) {
	t.Parallel()
	server := startPrism(t)
	browser := startBrowser(t)
	if folder := os.Getenv("PRISM_README_PICTURES"); folder != "" {
		t.Run("the pictures of the README", func(t *testing.T) { keepReadmePictures(t, server, browser, folder) })
	}
	t.Run("a journey", func(t *testing.T) { testJourney(t, server, browser) })
	t.Run("an analyst", func(t *testing.T) { testAnalyst(t, server, browser) })
	t.Run("the console", func(t *testing.T) { testConsole(t, server, browser) })
	t.Run("states of the console", func(t *testing.T) { testStates(t, server, browser) })
	t.Run("pages that stay where they are", func(t *testing.T) { testShifts(t, server, browser) })
	t.Run("an input method", func(t *testing.T) { testInputMethod(t, server, browser) })
	t.Run("several right options", func(t *testing.T) { testTags(t, server, browser) })
}

// spec: docs-page
func TestTheReference(t *testing.T) {
	t.Parallel()
	server, browser := startPrism(t), startBrowser(t)
	testReference(t, server, browser)
	testReferenceDrawn(t, server, browser)
}
