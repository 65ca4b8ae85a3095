package redistest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

const (
	// clusterMasters is the number of masters, each of which has a replica.
	clusterMasters = 3
	// usable and allSlots are in the answer to CLUSTER INFO of a node that serves, while every slot has a master that is alive.
	usable   = "cluster_state:ok"
	allSlots = "cluster_slots_ok:16384"
)

// Cluster is a Redis Cluster of three masters and a replica of each, which keep nothing on disk.
type Cluster struct {
	nodes []*Server
	cli   string // the program redis-cli
}

// StartCluster starts the nodes, and returns when each has a slot or a master and knows the others. Close ends them.
func StartCluster(ctx context.Context) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, failoverBudget)
	defer cancel()
	c := &Cluster{}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.cli, err = proc.Find("redis-cli", "/usr/lib/redis/*/bin"); err != nil {
		return err
	}
	create := []string{"--cluster-replicas", "1", "--cluster-yes", "--cluster", "create"}
	for range 2 * clusterMasters {
		node, err := Start(ctx, Options{TCP: true, cluster: true})
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, node)
		create = append(create, node.address())
	}
	if err := c.run(ctx, create...); err != nil {
		return err
	}
	return awaitCluster(ctx, c.nodes, "CLUSTER INFO", usable, "CLUSTER INFO", allSlots, "CLUSTER INFO", fmt.Sprintf("cluster_known_nodes:%d", len(c.nodes)))
}

// URL names the cluster by all its nodes.
func (c *Cluster) URL() string {
	addrs := addresses(c.nodes)
	return "redis+cluster://" + addrs[0] + "?addr=" + strings.Join(addrs[1:], "&addr=")
}

// Masters are host and port of each node that was a master at the start.
func (c *Cluster) Masters() []string { return addresses(c.nodes[:clusterMasters]) }

func addresses(nodes []*Server) (addrs []string) {
	for _, node := range nodes {
		addrs = append(addrs, node.TCPAddr())
	}
	return addrs
}

// MoveSlots has the first master give slots, with the keys in them, to the second one. It returns when all nodes know.
func (c *Cluster) MoveSlots(ctx context.Context, slots int) error {
	ctx, cancel := context.WithTimeout(ctx, failoverBudget)
	defer cancel()
	from, err := c.nodes[0].ask(ctx, "CLUSTER MYID")
	if err != nil {
		return err
	}
	to, err := c.nodes[1].ask(ctx, "CLUSTER MYID")
	if err != nil {
		return err
	}
	return c.run(ctx, "--cluster-from", from, "--cluster-to", to, "--cluster-slots", strconv.Itoa(slots), "--cluster-yes",
		"--cluster", "reshard", c.nodes[0].TCPAddr())
}

// FailOver kills the last master, and returns when its replica has all its slots and the other nodes know.
func (c *Cluster) FailOver(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failoverBudget)
	defer cancel()
	dead := c.nodes[clusterMasters-1]
	id, err := dead.ask(ctx, "CLUSTER MYID")
	if err != nil {
		return err
	}
	if err := dead.Kill(); err != nil {
		return err
	}
	living := slices.DeleteFunc(slices.Clone(c.nodes), func(node *Server) bool { return node == dead })
	return awaitCluster(ctx, living, "CLUSTER NODES", id+" "+dead.address()+" master,fail", "CLUSTER INFO", allSlots, "CLUSTER INFO", usable)
}

// awaitCluster sends each command to each node until its response contains the text that follows it.
func awaitCluster(ctx context.Context, nodes []*Server, commandsAndTexts ...string) error {
	for _, node := range nodes {
		for pair := range slices.Chunk(commandsAndTexts, 2) {
			if err := node.await(ctx, pair[0], pair[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs redis-cli.
func (c *Cluster) run(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, c.cli, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("redistest: redis-cli %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// address is a node's address for the other nodes.
func (s *Server) address() string { return s.TCPAddr() + "@" + strconv.Itoa(s.bus) }

// Close ends the nodes.
func (c *Cluster) Close() error {
	var errs []error
	for _, node := range c.nodes {
		errs = append(errs, node.Close())
	}
	return errors.Join(errs...)
}
