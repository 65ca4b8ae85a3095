package browser

import (
	"github.com/chromedp/chromedp"
)

// tooSmall finds the controls in view that are less than 44 pixels high or wide. The label of a box, and the padding of a link, are part of the
// target; a link within a sentence is as high as the sentence (WCAG 2.5.5).
const tooSmall = `(() => {
	const controls = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=tab], [role=option], [role=slider]";
	const inSentence = (e) => e.localName === "a" && getComputedStyle(e).display === "inline" &&
		[...e.parentElement.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && /\p{L}/u.test(node.data));
	const target = (e) => {
		const parts = /^(checkbox|radio|file)$/.test(e.type) ? [e, ...e.labels] : [e];
		const boxes = parts.map((part) => part.getBoundingClientRect()).filter(({ width, height }) => width > 1 && height > 1);
		const most = (of) => Math.max(...boxes.map(of)), least = (of) => Math.min(...boxes.map(of));
		return boxes.length ? [most((b) => b.right) - least((b) => b.left), most((b) => b.bottom) - least((b) => b.top)] : undefined;
	};
	return [...document.querySelectorAll(controls)].flatMap((e) => {
		// What is beside the page, such as the link to skip to its content, is for keyboards.
		const beside = e.getBoundingClientRect().right + scrollX <= 0;
		const seen = !beside && e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.disabled && !e.closest("[inert]");
		const [width, height] = seen && !inSentence(e) && target(e) || [44, 44];
		return width > 43.5 && height > 43.5 ? [] : [e.localName + " " + (e.ariaLabel || e.labels?.[0]?.innerText || e.innerText || e.title).slice(0, 60)
			+ " ." + e.className + ": " + Math.round(width) + " × " + Math.round(height)];
	});
})()`

// cut finds the tabs whose words leave them, and so lie over those of the next one.
const cut = `[...document.querySelectorAll(".tabs a")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText)`

// underAFinger holds each control of the page in view to the size of a finger, on a phone.
// spec: console-fingers
func (b *tab) underAFinger(p view) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(360, 780, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.act(p)
	b.settle()
	if !eval[bool](b, `matchMedia("(pointer: coarse)").matches`) {
		b.t.Fatal("the browser has no fingers")
	}
	if found := eval[[]string](b, tooSmall); len(found) > 0 {
		b.t.Errorf("%d controls are smaller than a finger: %q", len(found), found[:min(len(found), 12)])
	}
	if found := eval[[]string](b, cut); len(found) > 0 {
		b.t.Errorf("the words of tabs lie over each other: %q", found)
	}
	b.do(chromedp.EmulateViewport(360, 780))
}
