// Package browser opens the API's page of a running Prism in a real Chromium and uses it as a reader does.
package browser
