// Package browser opens the pages of a running Prism, the console and the API reference, in a real Chromium and uses them as
// people do: with the keyboard, in light and dark, on phones and large screens.
//
// PRISM_SCREENSHOTS names a folder for pictures of every page, and PRISM_README_PICTURES one for those of the README.
package browser
