// Program hello is built and started by the tests of package program.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	switch {
	case len(os.Args) < 2:
		fmt.Println(greeting)
	case os.Args[1] == "fail":
		fmt.Fprintln(os.Stderr, "wrong setting")
		os.Exit(1)
	default:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		fmt.Println("api", os.Getenv("PRISM_LISTEN"))
		go func() {
			_ = http.ListenAndServe(os.Getenv("PRISM_ADMIN_LISTEN"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					w.WriteHeader(http.StatusNotFound)
				}
			}))
		}()
		<-ctx.Done()
	}
}
