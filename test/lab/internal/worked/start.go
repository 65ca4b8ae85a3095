package worked

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/launch"
)

// WithPrism starts a standalone Prism with a file of models, or with the offline model if that is "", and stops it after use.
func WithPrism(ctx context.Context, models string, use func(c *client.Client) error) (err error) {
	dir, err := os.MkdirTemp("", "prism-quality-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := launch.Options{Dir: dir}
	if models != "" {
		o.ModelsFile = filepath.Join(dir, "models.yaml")
		if err := os.WriteFile(o.ModelsFile, []byte(models), 0o600); err != nil {
			return err
		}
	}
	prism, err := o.Standalone(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, prism.Stop()) }()
	if err := prism.Start(ctx); err != nil {
		return err
	}
	key, err := prism.DemoKey(ctx)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{URL: prism.URL(), Key: key, UserAgent: "prism-quality"})
	if err != nil {
		return err
	}
	return use(c)
}
