package mcpcmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hyperpod-cli/hyperpod/docs"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestTheListOfToolsIsShort: the list of all tools, which clients give to the model at each start, has less than 60 kB. It
// names the keys of documents and whether they are always there, and leaves the rest to the resources.
func TestTheListOfToolsIsShort(t *testing.T) {
	t.Parallel()
	io, _ := output.Test()
	s, err := newServer(&Options{Factory: &factory.Factory{IO: io, Env: func(string) string { return "" }}, Allow: writes()})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := mcp.NewInMemoryTransports()
	server, err := s.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = client.Close(), server.Wait() }()
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil || len(text) >= 60_000 || len(list.Tools) != len(commands()) {
		t.Errorf("%d tools of %d in %d bytes: %v", len(list.Tools), len(commands()), len(text), err)
	}
	for _, c := range commands() {
		if c.schema == "" {
			continue
		}
		announced, err := c.outputSchema()
		if err != nil {
			t.Fatal(err)
		}
		short, err := json.Marshal(announced)
		if err != nil || strings.Contains(string(short), "$schema") {
			t.Errorf("%s: %v: %s", c.name, err, short)
		}
		var alternatives struct {
			AnyOf []json.RawMessage `json:"anyOf"`
		}
		if err := json.Unmarshal(short, &alternatives); err != nil {
			t.Fatal(err)
		}
		if c.other == "" {
			alternatives.AnyOf = []json.RawMessage{short}
		}
		for i, name := range []string{c.schema, c.other}[:len(alternatives.AnyOf)] {
			file, err := docs.Files.ReadFile("schema/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var top, whole struct {
				Type       string
				Properties map[string]any
				Required   []string
			}
			if err := json.Unmarshal(alternatives.AnyOf[i], &top); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(file, &whole); err != nil {
				t.Fatal(err)
			}
			for key, property := range whole.Properties {
				if p, ok := property.(map[string]any); ok {
					whole.Properties[key] = map[string]any{"type": p["type"]}
				}
			}
			got, _ := json.Marshal(top)
			want, _ := json.Marshal(whole)
			if string(got) != string(want) || len(whole.Required) == 0 {
				t.Errorf("%s: %s, want the top level of %s", c.name, got, want)
			}
		}
	}
}
