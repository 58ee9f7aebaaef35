// Package imports holds the import graph to the architecture: which package may
// know which library (docs/architecture.md).
package imports

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hyperpod-cli/hyperpod/"

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// list returns the packages of the module with their direct and transitive imports.
func list(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"cmd/...", module+"internal/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	pkgs := map[string]pkg{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs[strings.TrimPrefix(p.ImportPath, module)] = p
	}
	if len(pkgs) < 10 {
		t.Fatalf("only %d packages listed", len(pkgs))
	}
	return pkgs
}

func under(name string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return name == d || strings.HasPrefix(name, d+"/") })
}

// TestImportGraph holds every package of the module to the rules.
func TestImportGraph(t *testing.T) {
	rules := []struct {
		name    string
		applies func(pkg string) bool
		banned  func(imported string) bool
		deep    bool // transitive imports too
	}{
		{
			name: "logic knows nothing of commands, configuration files and styling",
			applies: func(p string) bool {
				return under(p, "internal/jobs", "internal/quota", "internal/queue", "internal/metrics", "internal/templates", "internal/governance",
					"internal/state", "internal/reader", "internal/kube", "internal/kinds", "internal/discovery", "internal/sandbox", "internal/errs", "internal/snapshot", "internal/atomicfile")
			},
			banned: func(i string) bool {
				return under(i, "github.com/spf13/viper", "charm.land", "github.com/olekukonko", module+"internal/cli",
					module+"internal/output", module+"internal/config")
			},
			deep: true,
		},
		{
			name:    "logic decides; only presentation and commands make words of it",
			applies: func(p string) bool { return under(p, logic...) },
			banned:  func(i string) bool { return under(i, module+"internal/present", module+"internal/cli") },
			deep:    true,
		},
		{
			name:    "templates know nothing of jobs on a cluster or of governance",
			applies: func(p string) bool { return under(p, "internal/templates") },
			banned: func(i string) bool {
				return under(i, module+"internal/governance", module+"internal/jobs", module+"internal/quota", module+"internal/queue", module+"internal/state")
			},
		},
		{
			name:    "only the command mcp knows the protocol",
			applies: func(p string) bool { return !under(p, "internal/cli/mcpcmd") },
			banned:  func(i string) bool { return under(i, "github.com/modelcontextprotocol") },
		},
		{
			name: "no cobra outside the commands",
			applies: func(p string) bool {
				return !under(p, "cmd", "internal/cli", "internal/present", "internal/governance", "internal/sandbox", "internal/snapshot", "internal/doctor")
			},
			banned: func(i string) bool { return under(i, "github.com/spf13/cobra") },
			deep:   true,
		},
		{
			name: "no cobra in packages built on the admission checker, whose Kueue imports it",
			applies: func(p string) bool {
				return under(p, "internal/present", "internal/governance", "internal/sandbox", "internal/snapshot", "internal/doctor")
			},
			banned: func(i string) bool { return under(i, "github.com/spf13/cobra") },
		},
		{
			name: "only the packages around Kueue's code import it",
			applies: func(p string) bool {
				return !under(p, "internal/governance/admission", "internal/governance/embedded", "internal/governance/integration")
			},
			banned: func(i string) bool { return under(i, "sigs.k8s.io/kueue/pkg") },
		},
		{
			name:    "the scheduling core knows no kinds of jobs",
			applies: func(p string) bool { return under(p, "internal/governance/admission") },
			banned: func(i string) bool {
				return under(i, "sigs.k8s.io/kueue/pkg/controller/jobs") && !strings.HasSuffix(i, "/constants")
			},
		},
		{
			name:    "the job integrations know no scheduling",
			applies: func(p string) bool { return under(p, "internal/governance/integration") },
			banned: func(i string) bool {
				return under(i, "sigs.k8s.io/kueue/pkg/scheduler", "sigs.k8s.io/kueue/pkg/cache") || strings.HasSuffix(i, "internal/governance/admission")
			},
		},
		{
			name:    "Kueue's scheduler package itself breaks go mod tidy",
			applies: func(string) bool { return true },
			banned:  func(i string) bool { return i == "sigs.k8s.io/kueue/pkg/scheduler" },
			deep:    true,
		},
		{
			name:    "no typed clientset, no command-line libraries of kubectl",
			applies: func(string) bool { return true },
			banned: func(i string) bool {
				return i == "k8s.io/client-go/kubernetes" || under(i, "k8s.io/cli-runtime", "k8s.io/kubectl")
			},
		},
		{
			name:    "no templates: executing one keeps all exported methods of all types in the binary, 16 MB",
			applies: func(p string) bool { return under(p, "internal", "cmd/hyperpod") },
			banned:  func(i string) bool { return i == "text/template" || i == "html/template" },
		},
		{
			name: "reading a cluster costs no Kueue and no typed clients",
			applies: func(p string) bool {
				return under(p, "internal/kube", "internal/reader", "internal/state", "internal/discovery", "internal/jobs")
			},
			banned: func(i string) bool {
				return under(i, "sigs.k8s.io/kueue", "sigs.k8s.io/controller-runtime", "k8s.io/client-go/kubernetes", "k8s.io/client-go/informers")
			},
			deep: true,
		},
		{
			name: "exec's protocols stay in the client and in the sandbox's server",
			applies: func(p string) bool {
				return !under(p, "internal/kube", "internal/sandbox/api", "internal/sandbox/portservice")
			},
			banned: func(i string) bool {
				return under(i, "k8s.io/client-go/tools/remotecommand", "k8s.io/client-go/transport/websocket", "k8s.io/client-go/transport/spdy",
					"k8s.io/streaming", "github.com/gorilla/websocket", "github.com/moby/spdystream")
			},
		},
		{
			name:    "the log engine prints nothing and knows no sandbox",
			applies: func(p string) bool { return under(p, "internal/jobs/logs", "internal/jobs/pick") },
			banned:  func(i string) bool { return under(i, module+"internal/sandbox", module+"internal/output") },
			deep:    true,
		},
		{
			name:    "only one package knows the AWS SDK",
			applies: func(p string) bool { return p != "internal/discovery/aws" },
			banned:  func(i string) bool { return under(i, "github.com/aws") },
		},
		{
			name:    "the SDK's clients of whole services are large: SageMaker lends its rules for endpoints only",
			applies: func(string) bool { return true },
			banned: func(i string) bool {
				return under(i, "github.com/aws/aws-sdk-go-v2/service/ssm", "github.com/aws/aws-sdk-go-v2/service/ec2")
			},
			deep: true,
		},
		{
			name:    "values of clusters are pure",
			applies: func(p string) bool { return p == "internal/clusters" },
			banned: func(i string) bool {
				return under(i, "github.com", "k8s.io", "net/http") && i != module+"internal/pattern"
			},
			deep: true,
		},
		{
			name:    "the API server's checks of custom resources are for tests: they cost 1 MB",
			applies: func(string) bool { return true },
			banned: func(i string) bool {
				return under(i, "k8s.io/apiextensions-apiserver/pkg/apiserver")
			},
			deep: true,
		},
		{
			name:    "documentation generators stay out of the shipped binary",
			applies: func(p string) bool { return p != "cmd/gendocs" },
			banned:  func(i string) bool { return i == "github.com/spf13/cobra/doc" },
			deep:    true,
		},
	}
	pkgs := list(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			applied := 0
			for name, p := range pkgs {
				if !r.applies(name) {
					continue
				}
				applied++
				imports := p.Imports
				if r.deep {
					imports = p.Deps
				}
				for _, i := range imports {
					if r.banned(i) {
						t.Errorf("%s imports %s", name, i)
					}
				}
			}
			if applied == 0 {
				t.Error("the rule applies to no package")
			}
		})
	}
}
