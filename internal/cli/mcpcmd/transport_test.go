package mcpcmd

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestCancel: a cancelled call ends, other requests are answered meanwhile, and the server
// ends with its input.
func TestCancel(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
	started := make(chan struct{})
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	in, feed := io.Pipe()
	var out strings.Builder
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context(), patient{&mcp.IOTransport{Reader: in, Writer: unclosed{&out}}}) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
	} {
		_, _ = io.WriteString(feed, line+"\n")
	}
	<-started
	_, _ = io.WriteString(feed, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`+"\n")
	feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, `"id":3,"result":{}`) || strings.Contains(got, `"id":2,"result"`) {
		t.Error(got)
	}
}
