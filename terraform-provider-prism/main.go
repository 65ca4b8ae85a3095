// Command terraform-provider-prism is the provider that OpenTofu and Terraform start (docs/terraform.md).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/prism-results/prism/terraform-provider-prism/internal/provider"
)

// version is set when a release is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := providerserver.Serve(ctx, func() framework.Provider { return provider.New(version) }, providerserver.ServeOpts{Address: provider.Address})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-prism:", err)
		os.Exit(1)
	}
}
