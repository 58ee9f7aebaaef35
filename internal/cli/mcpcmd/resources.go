package mcpcmd

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hyperpod-cli/hyperpod/docs"
)

// The addresses of documents and schemas.
const (
	docsURI    = "hyperpod://docs/"
	schemasURI = "hyperpod://schema/"
)

func schemaURI(name string) string { return schemasURI + name }

// addResources adds the documents and schemas in the binary.
func addResources(s *mcp.Server) {
	_ = fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), path.Ext(file))
		r := &mcp.Resource{URI: docsURI + name, Name: name, MIMEType: "text/markdown", Description: "documentation page " + name}
		if path.Ext(file) == ".json" {
			r = &mcp.Resource{URI: schemaURI(name), Name: name + " schema", MIMEType: "application/schema+json", Description: "JSON Schema of the document of " + name}
		}
		s.AddResource(r, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			text, err := docs.Files.ReadFile(file)
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.URI, MIMEType: r.MIMEType, Text: string(text)}}}, err
		})
		return nil
	})
}

// request is a prompt: what a user can choose to ask.
type request struct {
	mcp.Prompt
	text func(arguments map[string]string) string
}

// addPrompts adds the requests that a user can choose.
func addPrompts(s *mcp.Server) {
	for _, p := range requests() {
		s.AddPrompt(&p.Prompt, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			for _, a := range p.Arguments {
				if a.Required && r.Params.Arguments[a.Name] == "" {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "argument " + a.Name + " is required"}
				}
			}
			return &mcp.GetPromptResult{Description: p.Description, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: p.text(r.Params.Arguments)}}}}, nil
		})
	}
}

func requests() []request {
	return []request{
		{mcp.Prompt{Name: "why-is-my-job-waiting", Title: "Why is my job waiting?", Description: "Explain why a job is pending, and what would let it run",
			Arguments: []*mcp.PromptArgument{{Name: "job", Description: "name of the job", Required: true}, {Name: "namespace", Description: "namespace of the team"}}},
			func(a map[string]string) string {
				text := "Why is my job " + quoted(a["job"]) + " waiting"
				if a["namespace"] != "" {
					text += " in namespace " + quoted(a["namespace"])
				}
				return text + "? Call explain_job. Answer in this order: since when and at which position it waits; what it lacks and which jobs hold it; when it may start, and what the estimate rests on; what would let it run now, as commands that I can paste. Say what you could not read. Do not change anything."
			}},
		{mcp.Prompt{Name: "plan-a-quota-change", Title: "Plan a quota change", Description: "Find the governance change for a goal, and show what it does to jobs",
			Arguments: []*mcp.PromptArgument{{Name: "goal", Description: "what the change is for, for example: researchers need 16 more GPUs until Friday", Required: true}}},
			func(a map[string]string) string {
				return "Plan a change of quota. The goal is " + quoted(a["goal"]) + ". Call get_quota and governance_audit first. Try changes with simulate, the smallest first. Then show for the best one: what changes for each team, which jobs start, wait or are preempted, and what the team gives up. For a governance file, call governance_export, change its text, and call governance_plan with it. Do not apply anything."
			}},
	}
}

// quoted marks a value as one, on one line.
func quoted(text string) string {
	return `"` + strings.Join(strings.Fields(strings.ReplaceAll(text, `"`, "'")), " ") + `"`
}
