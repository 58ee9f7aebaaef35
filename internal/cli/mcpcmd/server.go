package mcpcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// serve answers the client on stdin and stdout until it closes the connection.
func serve(ctx context.Context, o *Options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	err = s.Run(ctx, patient{&mcp.IOTransport{Reader: io.NopCloser(o.Factory.IO.In), Writer: unclosed{o.Factory.IO.Out}}})
	var unread *messageError
	if errors.As(err, &unread) {
		return refused(unread)
	}
	return err
}

// refused returns the error of a message that cannot be read. The server ends with it: nobody can tell where the next one
// begins, or to which request an answer would belong.
func refused(err error) error {
	var syntax *json.SyntaxError
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return errs.Wrap(err, "cannot read the messages of the MCP client")
	case errors.As(err, &syntax):
		return errs.Wrap(err, "the MCP client sent a message that is not JSON")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errs.New("the MCP client sent an incomplete message", "the input ended within a message").WithCause(err)
	case strings.Contains(err.Error(), "maximum line length"): // the SDK exports no error for it
		return errs.New("the MCP client sent a message that is too long", "must be at most 16 MB").WithCause(err)
	}
	return errs.Wrap(err, "the MCP client sent a message that is not JSON-RPC 2.0")
}

// unclosed is a writer that another one closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// newServer has the tools that the options allow, the documents and the prompts. None of
// them changes while it runs, so clients need no notifications about their lists.
func newServer(o *Options) (*mcp.Server, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "hyperpod", Version: o.Factory.Version}, &mcp.ServerOptions{Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}}})
	t := &toolbox{o: o, pending: map[string]preview{}}
	for _, c := range commands() {
		if !t.has(c) {
			continue
		}
		if err := t.add(s, c); err != nil {
			return nil, fmt.Errorf("tool %s: %w", c.name, err)
		}
	}
	addResources(s)
	addPrompts(s)
	s.AddReceivingMiddleware(t.unknownTool)
	return s, nil
}

// unknownTool answers calls of tools that the server does not have: with near names, or with what the tool needs.
func (t *toolbox) unknownTool(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		call, ok := r.(*mcp.CallToolRequest)
		if !ok {
			return next(ctx, method, r)
		}
		var names []string
		for _, c := range commands() {
			switch has := t.has(c); {
			case has && c.name == call.Params.Name:
				return next(ctx, method, r)
			case has:
				names = append(names, c.name)
			case c.name == call.Params.Name && c.write != "":
				return nil, invalid("tool %s needs hyperpod mcp --allow %s", c.name, c.write)
			case c.name == call.Params.Name:
				return nil, invalid("tool %s reads clusters of AWS; this server uses a sandbox or a snapshot", c.name)
			}
		}
		if near := errs.Near(call.Params.Name, names); len(near) > 0 {
			return nil, invalid("tool %s not found; did you mean: %s", shown(call.Params.Name), strings.Join(near, ", "))
		}
		return nil, invalid("tool %s not found; available: %s", shown(call.Params.Name), strings.Join(names, ", "))
	}
}

func invalid(format string, a ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, a...)}
}

// has reports whether the server has a tool: whether its options allow the write, and are not about a practice cluster alone.
func (t *toolbox) has(c command) bool {
	return (c.write == "" || slices.Contains(t.o.Allow, c.write)) && (!c.account || !t.o.Factory.IsOffline())
}

// add adds a tool to the server. Its arguments are checked against its schema; documents
// pass as they are, byte for byte.
func (t *toolbox) add(s *mcp.Server, c command) error {
	closed := false
	tool := &mcp.Tool{Name: c.name, Title: c.title, Description: c.help, InputSchema: c.inputSchema(),
		Annotations: &mcp.ToolAnnotations{Title: c.title, ReadOnlyHint: c.write == "", IdempotentHint: c.write != "start", OpenWorldHint: &closed}}
	destructive := c.write == "cancel"
	tool.Annotations.DestructiveHint = &destructive
	if c.schema != "" {
		tool.Description += " The document's schema is the resource " + schemaURI(c.schema)
		if c.other != "" {
			tool.Description += " or " + schemaURI(c.other)
		}
		tool.Description += "."
		var err error
		if tool.OutputSchema, err = c.outputSchema(); err != nil {
			return err
		}
	}
	s.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments, err := c.checked(r.Params.Arguments)
		if err != nil {
			return t.refusal(err).result(), nil
		}
		if c.waits {
			defer progress(ctx, r)()
		}
		a, err := t.call(ctx, c, arguments)
		if err != nil {
			return nil, err
		}
		return a.result(), nil
	})
	return nil
}

// progressEvery is the time between two reports of a call that waits.
const progressEvery = 5 * time.Second

// progress reports to a client that wants progress how many seconds a call has taken, until end is called. The first report
// comes at once.
func progress(ctx context.Context, r *mcp.CallToolRequest) (end func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, end = context.WithCancel(ctx)
	_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: "waiting"})
	crash.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n) * progressEvery.Seconds(), Message: "waiting"})
			}
		}
	})
	return end
}

// result returns the answer in the terms of the protocol.
func (a answer) result() *mcp.CallToolResult {
	r := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: a.failed}
	for _, text := range a.texts {
		r.Content = append(r.Content, &mcp.TextContent{Text: text})
	}
	if a.structured != nil {
		r.StructuredContent = a.structured
	}
	return r
}
