package mcp

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestMessages: each line is answered as JSON-RPC and the protocol say.
func TestMessages(t *testing.T) {
	s := &Server{Name: "x", Version: "1", Tools: []Tool{{Name: "echo", InputSchema: Schema{Type: "object", Properties: map[string]Schema{
		"n": {Type: "integer"}, "b": {Type: "boolean"}, "l": {Type: "array", Items: &Schema{Type: "string"}}, "w": {Type: "string", Enum: []string{"a", "b"}}}},
		Call: func(_ context.Context, a map[string]any) (Result, error) {
			data, err := json.Marshal(a)
			return Result{Texts: []string{string(data)}, Structured: data}, err
		}}}}
	for _, c := range []struct{ name, in, want string }{
		{"a known revision", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`, `"protocolVersion":"2025-03-26"`},
		{"an unknown revision", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2099-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		{"ping with a text as id", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{"no JSON", `x`, `"error":{"code":-32700`},
		{"an unknown method", `{"jsonrpc":"2.0","id":2,"method":"x"}`, `"error":{"code":-32601`},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
		{"a request to cancel what is not there", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, ``},
		{"lists that are empty", `{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`, `"prompts":[]`},
		{"a call", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"n":2,"b":true,"l":["x"],"w":"a"}}}`, `"structuredContent":{"b":true,"l":["x"],"n":2,"w":"a"}`},
		{"a fraction", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.5}}}`, `must be of type integer`},
		{"a list of numbers", `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"l":[1]}}}`, `must be of type array`},
		{"a word that is not one of them", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"w":"c"}}}`, `"error":{"code":-32602`},
	} {
		var out strings.Builder
		if err := s.Serve(t.Context(), strings.NewReader(c.in+"\n"), &out); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := out.String(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestCancel: a cancelled call ends and gets no answer; others are answered meanwhile.
func TestCancel(t *testing.T) {
	started := make(chan struct{})
	s := &Server{Tools: []Tool{{Name: "wait", InputSchema: Schema{Type: "object"}, Call: func(ctx context.Context, _ map[string]any) (Result, error) {
		close(started)
		<-ctx.Done()
		return Result{}, ctx.Err()
	}}}}
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), in, out); out.Close() }()
	send := func(line string) { _, _ = feed.Write([]byte(line + "\n")) }
	send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`)
	<-started
	go func() {
		send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		feed.Close()
	}()
	all, err := io.ReadAll(answers)
	if err != nil || string(all) != `{"jsonrpc":"2.0","id":2,"result":{}}`+"\n" {
		t.Errorf("%v: %s", err, all)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
