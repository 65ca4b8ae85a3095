package system

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// Portkey starts Portkey's gateway from root, where make bench installs it: one process of Node that hands calls on and keeps nothing.
// Its calls ask for the answer to the fields of the prism, in the words of OpenAI, of the model at host and port modelAddr.
func (s *Stores) Portkey(ctx context.Context, root, modelAddr string, p Prism) (*System, error) {
	script := filepath.Join(root, ".tools/portkey/node_modules/@portkey-ai/gateway/build/start-server.js")
	if _, err := os.Stat(script); err != nil {
		return nil, fmt.Errorf("the gateway of Portkey is not installed: run make bench (%w)", err)
	}
	node, err := program.Find("node")
	if err != nil {
		return nil, err
	}
	process, err := startServer(ctx, func(addr string) program.Command {
		_, port, _ := strings.Cut(addr, ":")
		return program.Command{Name: "portkey", Path: node, Args: []string{script, "--headless", "--port=" + port}}
	})
	if err != nil {
		return nil, err
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body, err := json.Marshal(struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
	}{"model", []message{{"user", p.Fields}}})
	if err != nil {
		return nil, err
	}
	system := &System{Name: PortkeyGateway, stores: s, Request: []byte("POST /v1/chat/completions HTTP/1.1\r\nHost: portkey\r\n" +
		"Authorization: Bearer key\r\nx-portkey-provider: openai\r\nx-portkey-custom-host: http://" + modelAddr + "/v1\r\n" +
		"Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + string(body))}
	system.add(process)
	return system, nil
}
