package mcpcmd

import (
	"io/fs"
	"path"
	"strings"

	"github.com/hyperpod-cli/hyperpod/docs"
	"github.com/hyperpod-cli/hyperpod/internal/mcp"
)

// The addresses of documents and schemas.
const (
	docsURI    = "hyperpod://docs/"
	schemasURI = "hyperpod://schema/"
)

func schemaURI(name string) string { return schemasURI + name }

// resources are the documents and schemas in the binary.
func resources() []mcp.Resource {
	var out []mcp.Resource
	_ = fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), path.Ext(file))
		r := mcp.Resource{URI: docsURI + name, Name: name, MIMEType: "text/markdown", Description: "documentation page " + name}
		if path.Ext(file) == ".json" {
			r = mcp.Resource{URI: schemaURI(name), Name: name + " schema", MIMEType: "application/schema+json", Description: "JSON Schema of the document of " + name}
		}
		r.Read = func() (string, error) {
			text, err := docs.Files.ReadFile(file)
			return string(text), err
		}
		out = append(out, r)
		return nil
	})
	return out
}

// prompts are requests that a user can choose.
func prompts() []mcp.Prompt {
	return []mcp.Prompt{
		{Name: "why-is-my-job-waiting", Title: "Why is my job waiting?", Description: "Explain why a job is pending, and what would let it run",
			Arguments: []mcp.Argument{{Name: "job", Description: "name of the job", Required: true}, {Name: "namespace", Description: "namespace of the team"}},
			Text: func(a map[string]string) string {
				text := "Why is my job " + quoted(a["job"]) + " waiting"
				if a["namespace"] != "" {
					text += " in namespace " + quoted(a["namespace"])
				}
				return text + "? Call explain_job. Answer in this order: since when and at which position it waits; what it lacks and which jobs hold it; when it may start, and what the estimate rests on; what would let it run now, as commands that I can paste. Say what you could not read. Do not change anything."
			}},
		{Name: "plan-a-quota-change", Title: "Plan a quota change", Description: "Find the governance change for a goal, and show what it does to jobs",
			Arguments: []mcp.Argument{{Name: "goal", Description: "what the change is for, for example: researchers need 16 more GPUs until Friday", Required: true}},
			Text: func(a map[string]string) string {
				return "Plan a change of quota. The goal is " + quoted(a["goal"]) + ". Call get_quota and governance_audit first. Try changes with simulate, the smallest first. Then show for the best one: what changes for each team, which jobs start, wait or are preempted, and what the team gives up. For a governance file, call governance_plan with its text. Do not apply anything."
			}},
	}
}

// quoted marks a value as one, on one line.
func quoted(text string) string {
	return `"` + strings.Join(strings.Fields(strings.ReplaceAll(text, `"`, "'")), " ") + `"`
}
