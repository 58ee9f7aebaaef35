// Package mcp is a server of the Model Context Protocol: JSON-RPC 2.0, a message on each
// line. It knows tools, resources and prompts as values and nothing of what they do.
//
// The official SDK would add 2 MB to the binary, with HTTP transports and authorization that
// a server on stdin does not need. Its client tests this package.
package mcp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// versions are the revisions of the protocol that the server speaks, the newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// maxMessage is the limit of one message in bytes.
const maxMessage = 8 << 20

// The error codes of JSON-RPC, and the protocol's own for a missing resource.
const (
	parseError       = -32700
	methodNotFound   = -32601
	invalidParams    = -32602
	internalError    = -32603
	resourceNotFound = -32002
)

// Tool is something that a model can call.
type Tool struct {
	Name        string      `json:"name"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description"`
	InputSchema Schema      `json:"inputSchema"`
	Annotations Annotations `json:"annotations"`
	// Call runs the tool. Its arguments have been checked against the names and types of the
	// schema. The error is one of the call, not of the tool: a tool that fails returns a Result.
	Call func(ctx context.Context, arguments map[string]any) (Result, error) `json:"-"`
}

// Annotations tell clients what a tool may do.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Schema is a JSON Schema of arguments.
type Schema struct {
	Type       string            `json:"type"` // object
	Properties map[string]Schema `json:"properties,omitempty"`
	Required   []string          `json:"required,omitempty"`
	// Additional is false for objects: unknown arguments are refused.
	Additional  *bool    `json:"additionalProperties,omitempty"`
	Items       *Schema  `json:"items,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description,omitempty"`
}

// Result is what a tool answers.
type Result struct {
	// Texts are shown to the model, in order.
	Texts []string
	// Structured is the last text as a JSON object, nil where it is none.
	Structured json.RawMessage
	Failed     bool
}

// Resource is a document that clients can read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType"`
	// Read returns the text.
	Read func() (string, error) `json:"-"`
}

// Prompt is a request that a user can choose.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description"`
	Arguments   []Argument `json:"arguments,omitempty"`
	// Text returns the message of the user.
	Text func(arguments map[string]string) string `json:"-"`
}

// Argument is one of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Server answers one client.
type Server struct {
	Name, Version, Instructions string
	Tools                       []Tool
	Resources                   []Resource
	Prompts                     []Prompt
}

// message is a request, a notification (no ID) or a response (no Method).
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func refuse(code int, format string, args ...any) error {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// connection is one client while it is served.
type connection struct {
	s   *Server
	out io.Writer
	// mu holds out, broken and running.
	mu      sync.Mutex
	broken  error
	running map[string]context.CancelFunc
	// turn is held by the tool that runs: the admission check has settings of the process.
	turn chan struct{}
}

// Serve answers the messages of in until it ends or the context does, and returns when
// every answer is written. The error is that of reading or writing.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{s: s, out: out, running: map[string]context.CancelFunc{}, turn: make(chan struct{}, 1)}
	lines := make(chan []byte)
	end := make(chan error, 1)
	crash.Go(func() {
		end <- readLines(ctx, in, lines)
		close(lines)
	})
	var wg crash.Group
	for {
		var line []byte
		var ok bool
		select {
		case line, ok = <-lines:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !ok {
			break
		}
		c.receive(ctx, line, &wg)
	}
	wg.Wait()
	return cmp.Or(<-end, c.broken)
}

// readLines sends the lines of a reader.
func readLines(ctx context.Context, in io.Reader, to chan<- []byte) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxMessage)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		select {
		case to <- slices.Clone(lines.Bytes()):
		case <-ctx.Done():
			return nil
		}
	}
	return lines.Err()
}

// receive handles a message; a call of a tool is answered in the background.
func (c *connection) receive(ctx context.Context, line []byte, wg *crash.Group) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		c.send(response{ID: json.RawMessage("null"), Error: &rpcError{parseError, "the message is not a JSON object"}})
		return
	}
	switch {
	case m.Method == "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			c.cancel(string(p.ID))
		}
		return
	case len(m.ID) == 0 || m.Method == "":
		return // another notification, or an answer to a request that was never sent
	}
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	c.running[string(m.ID)] = cancel
	c.mu.Unlock()
	do := func() {
		defer c.cancel(string(m.ID))
		result, err := c.answer(ctx, m)
		if ctx.Err() != nil {
			return // a cancelled request gets no answer
		}
		r := response{ID: m.ID, Result: result}
		if err != nil {
			r.Result = nil
			if !errors.As(err, &r.Error) {
				r.Error = &rpcError{internalError, err.Error()}
			}
		}
		c.send(r)
	}
	if m.Method != callMethod {
		do()
		return
	}
	wg.Go(do)
}

// callMethod is the method of requests that take their time.
const callMethod = "tools/call"

// cancel ends a request that is running.
func (c *connection) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end, ok := c.running[id]; ok {
		delete(c.running, id)
		end()
	}
}

func (c *connection) send(r response) {
	r.Version = "2.0"
	data, err := json.Marshal(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.broken == nil {
		_, err = c.out.Write(append(data, '\n'))
	}
	c.broken = cmp.Or(c.broken, err)
}

// answer returns the result of a request.
func (c *connection) answer(ctx context.Context, m message) (any, error) {
	switch m.Method {
	case "initialize":
		return c.initialize(m.Params)
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": orEmpty(c.s.Tools)}, nil
	case callMethod:
		return c.call(ctx, m.Params)
	case "resources/list":
		return map[string]any{"resources": orEmpty(c.s.Resources)}, nil
	case "resources/templates/list":
		return map[string]any{"resourceTemplates": []any{}}, nil
	case "resources/read":
		return c.read(m.Params)
	case "prompts/list":
		return map[string]any{"prompts": orEmpty(c.s.Prompts)}, nil
	case "prompts/get":
		return c.prompt(m.Params)
	}
	return nil, refuse(methodNotFound, "method %q not found", m.Method)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (c *connection) initialize(params json.RawMessage) (any, error) {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, refuse(invalidParams, "invalid params of initialize")
	}
	speak := versions[0]
	if slices.Contains(versions, p.Version) {
		speak = p.Version
	}
	return map[string]any{"protocolVersion": speak, "serverInfo": map[string]string{"name": c.s.Name, "version": c.s.Version}, "instructions": c.s.Instructions,
		"capabilities": map[string]any{"tools": struct{}{}, "resources": struct{}{}, "prompts": struct{}{}}}, nil
}

// call runs a tool. Tools run one after the other.
func (c *connection) call(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, refuse(invalidParams, "invalid params of tools/call")
	}
	i := slices.IndexFunc(c.s.Tools, func(t Tool) bool { return t.Name == p.Name })
	if i < 0 {
		return nil, refuse(invalidParams, "tool %q not found", p.Name)
	}
	t := c.s.Tools[i]
	if why := t.InputSchema.refuses(p.Arguments); why != "" {
		return nil, refuse(invalidParams, "%s: %s", t.Name, why)
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, err := t.Call(ctx, p.Arguments)
	if err != nil {
		return nil, err
	}
	content := []any{}
	for _, text := range r.Texts {
		content = append(content, map[string]string{"type": "text", "text": text})
	}
	out := map[string]any{"content": content, "isError": r.Failed}
	if r.Structured != nil {
		out["structuredContent"] = r.Structured
	}
	return out, nil
}

// refuses says why arguments do not fit, "" where they do.
func (s Schema) refuses(arguments map[string]any) string {
	for _, name := range s.Required {
		if _, ok := arguments[name]; !ok {
			return "argument " + name + " is required"
		}
	}
	for name, value := range arguments {
		of, ok := s.Properties[name]
		if !ok {
			return fmt.Sprintf("argument %q not found", name)
		}
		if !of.has(value) {
			return "argument " + name + " must be of type " + of.Type
		}
	}
	return ""
}

// has reports a value of the schema's type.
func (s Schema) has(value any) bool {
	switch v := value.(type) {
	case string:
		return s.Type == "string" && (len(s.Enum) == 0 || slices.Contains(s.Enum, v))
	case bool:
		return s.Type == "boolean"
	case float64:
		return s.Type == "integer" && v == float64(int64(v))
	case []any:
		return s.Type == "array" && !slices.ContainsFunc(v, func(one any) bool { return !s.Items.has(one) })
	}
	return false
}

func (c *connection) read(params json.RawMessage) (any, error) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, refuse(invalidParams, "invalid params of resources/read")
	}
	i := slices.IndexFunc(c.s.Resources, func(r Resource) bool { return r.URI == p.URI })
	if i < 0 {
		return nil, refuse(resourceNotFound, "resource %q not found", p.URI)
	}
	r := c.s.Resources[i]
	text, err := r.Read()
	if err != nil {
		return nil, err
	}
	return map[string]any{"contents": []any{map[string]string{"uri": r.URI, "mimeType": r.MIMEType, "text": text}}}, nil
}

func (c *connection) prompt(params json.RawMessage) (any, error) {
	var p struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, refuse(invalidParams, "invalid params of prompts/get")
	}
	i := slices.IndexFunc(c.s.Prompts, func(x Prompt) bool { return x.Name == p.Name })
	if i < 0 {
		return nil, refuse(invalidParams, "prompt %q not found", p.Name)
	}
	for _, a := range c.s.Prompts[i].Arguments {
		if a.Required && p.Arguments[a.Name] == "" {
			return nil, refuse(invalidParams, "argument %s is required", a.Name)
		}
	}
	return map[string]any{"description": c.s.Prompts[i].Description, "messages": []any{map[string]any{"role": "user",
		"content": map[string]string{"type": "text", "text": c.s.Prompts[i].Text(p.Arguments)}}}}, nil
}
