package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// documentsVariable names the folder in which the commands of scripts record the documents
// that they print.
const documentsVariable = "HYPERPOD_TEST_DOCUMENTS"

// mostRecorded is how much of a command's output is kept. What is longer is not judged.
const mostRecorded = 4 << 20

// printedDocument is what one command line printed.
type printedDocument struct {
	CommandLine []string
	Command     string // such as "governance plan"
	Output      string // the value of -o
	Text        string
}

// recorder keeps what passes through it.
type recorder struct {
	to   io.Writer
	kept bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.kept.Len() <= mostRecorded {
		r.kept.Write(p)
	}
	return r.to.Write(p)
}

func (r *recorder) Flush() error {
	if f, ok := r.to.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// recordDocuments lets a command of a script keep its output; end records it, if it is JSON.
func recordDocuments() (option func(*factory.Factory), end func()) {
	dir := os.Getenv(documentsVariable)
	if dir == "" {
		return func(*factory.Factory) {}, func() {}
	}
	var of *factory.Factory
	r := &recorder{}
	option = func(f *factory.Factory) {
		of, r.to, f.IO.Out = f, f.IO.Out, r
	}
	end = func() {
		if r.kept.Len() == 0 || r.kept.Len() > mostRecorded || !slices.Contains([]string{"", "json", "jsonl"}, of.Global.Output) ||
			!bytes.ContainsAny(r.kept.Bytes()[:1], "{[") {
			return
		}
		file, err := os.CreateTemp(dir, "*.json")
		if err != nil {
			panic(err)
		}
		defer file.Close()
		if err := json.NewEncoder(file).Encode(printedDocument{os.Args[1:], of.Command, of.Global.Output, r.kept.String()}); err != nil {
			panic(err)
		}
	}
	return option, end
}

// schemasOf are the schemas of documents without a key Schema, by command. A document keeps
// one of them.
var schemasOf = map[string][]string{
	"list-jobs": {"list-jobs-verbose", "list-jobs"}, "get-job": {"get-job-verbose", "get-job"},
	"list-pods": {"list-pods-verbose", "list-pods"}, "wait-job": {"wait-job", "list-jobs-verbose", "wait-job-deleted"},
	"get-log": {"get-log"}, "list-templates": {"list-templates"}, "get-template": {"get-template"}, "create-template": {"get-template"},
	"validate-template": {"validate-template"}, "list-instance-types": {"list-instance-types"}, "save-snapshot": {"save-snapshot"},
	"sandbox list": {"sandbox-list"}, "config view": {"config-view"}, "version": {"version"}, "governance export": {"governance.schema"},
	"get-clusters": {"get-clusters", "get-clusters-group"}, "describe-cluster": {"describe-cluster"},
	"list-cluster-nodes": {"list-cluster-nodes"}, "list-cluster-events": {"list-cluster-events", "list-cluster-events-follow"},
	"create-cluster": {"create-cluster"}, "update-cluster": {"create-cluster"}, "update-cluster-software": {"create-cluster"},
	"add-cluster-nodes": {"change-cluster-nodes"}, "check-cluster-nodes": {"change-cluster-nodes"}, "reboot-cluster-nodes": {"change-cluster-nodes"},
	"replace-cluster-nodes": {"change-cluster-nodes"}, "delete-cluster-nodes": {"change-cluster-nodes"},
}

// watched are the schemas of the lines of --watch, by command.
var watched = map[string][]string{
	"list-jobs": {"list-jobs-watch-verbose", "list-jobs-watch"}, "get-job": {"list-jobs-watch-verbose"},
	"get-quota": {"get-quota-watch", "get-quota-by-watch"}, "get-queue": {"get-queue-watch"},
	"get-clusters": {"get-clusters-watch", "get-clusters-group-watch"},
}

// notDocuments are the outputs that are others' documents: objects of the API, requests of AWS,
// governance files, the credentials that a kubeconfig asks for, what a program in a pod printed.
func notDocument(p printedDocument, d map[string]any) bool {
	_, version := d["apiVersion"].(string)
	_, kind := d["kind"].(string)
	switch p.Command {
	case "exec", "completion bash", "completion zsh", "completion fish", "completion powershell", "start-session":
		return true
	case "create-cluster", "update-cluster", "update-cluster-software":
		return slices.ContainsFunc(p.CommandLine, func(a string) bool { return strings.HasPrefix(a, "--dry-run") })
	case "get-log":
		return p.Output == "" // lines of the program
	case "save-snapshot":
		return slices.Contains(p.CommandLine, "-") // the snapshot itself
	case "start-job", "get-job", "get-token", "governance rbac", "governance export", "get-template":
		_, entries := d["accessEntries"]
		return version && kind || entries
	}
	return false
}

var schemaName = regexp.MustCompile(`^hyperpod\.([a-z-]+)/v[0-9]+$`)

// checkDocuments holds every JSON document of every script: it has a schema in docs/schema
// and keeps it, and no list in it is null.
func checkDocuments(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	validators := map[string]func([]byte) error{}
	faults := map[string]bool{}
	for _, file := range files {
		var p printedDocument
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		if err != nil {
			t.Fatal(err)
		}
		for dec := json.NewDecoder(strings.NewReader(p.Text)); ; {
			var d json.RawMessage
			if err := dec.Decode(&d); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("hyperpod %s prints what is not JSON: %v", strings.Join(p.CommandLine, " "), err)
				break
			}
			name, fault := p.fault(validators, d)
			if fault != "" && !faults[p.Command+fault] {
				faults[p.Command+fault] = true
				t.Errorf("hyperpod %s\n  %s\n%.600s", strings.Join(p.CommandLine, " "), fault, d)
			}
			kept[name]++
		}
	}
	// With a part of the scripts there are fewer.
	if len(files) > 300 {
		for _, names := range schemasOf {
			if !slices.ContainsFunc(names, func(n string) bool { return kept[n] > 0 }) {
				t.Errorf("no script prints a document of %s", strings.Join(names, ", "))
			}
		}
	}
}

// fault returns the schema that a document keeps, and why it keeps none.
func (p printedDocument) fault(validators map[string]func([]byte) error, d json.RawMessage) (name, fault string) {
	var object map[string]any
	_ = json.Unmarshal(d, &object)
	if notDocument(p, object) {
		return "", ""
	}
	names := schemasOf[p.Command]
	if m := schemaName.FindStringSubmatch(fmt.Sprint(object["Schema"])); m != nil {
		names = []string{m[1]}
		if object["Slurm"] != nil && m[1] == "explain-job" {
			names = []string{"explain-job-slurm"}
		}
	} else if _, ok := object["Type"]; ok && watched[p.Command] != nil {
		names = watched[p.Command]
	}
	var why []string
	for _, n := range names {
		if validators[n] == nil {
			schema, err := os.ReadFile("../../docs/schema/" + n + ".json")
			if err != nil {
				why = append(why, err.Error())
				continue
			}
			validators[n] = fixture.Validator(schema)
		}
		err := validators[n](d)
		if err == nil {
			return n, ""
		}
		why = append(why, n+": "+err.Error())
	}
	if len(names) == 0 {
		return "", "has no schema (command " + p.Command + ")"
	}
	return names[0], strings.Join(why, "\n  ")
}
