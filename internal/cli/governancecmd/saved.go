package governancecmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

const savedSchema = "hyperpod.governance-saved-plan/v1"

// savedPlan is the file of plan --out: what to apply, and what the cluster was like.
type savedPlan struct {
	Schema   string
	Document *policy.Document
	Mapping  policy.Mapping
	Prune    bool
	// Target is what the plan changes, "" as plan.Kueue; ARN is that of the HyperPod
	// cluster of plan.SageMaker.
	Target, ARN string
	// Cluster are fingerprints or versions of what governs the cluster, by kind and name.
	Cluster map[string]string
	// File is the governance file; "" for stdin.
	File string `json:",omitempty"`
}

// file returns the governance file, or what stands for one that is unknown.
func (s *savedPlan) file() string { return cmp.Or(s.File, "FILE") }

func savedOf(r plan.Request, target, arn string, cluster map[string]string) savedPlan {
	file := r.File
	if file == "-" {
		file = ""
	}
	return savedPlan{savedSchema, r.Document, r.Mapping, r.Prune, target, arn, cluster, file}
}

func (s savedPlan) write(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if _, err := atomicfile.Write(path, func(w *os.File) error { _, err := w.Write(append(data, '\n')); return err }); err != nil {
		return errs.New("cannot save the plan in "+path, errs.FileReason(err)).WithCause(err)
	}
	return nil
}

// whole reports a plan that has everything that plan --out writes. Somebody may have changed the file since.
func (s *savedPlan) whole() bool {
	rounds := []string{policy.Down, policy.Up, policy.Nearest}
	if s.Document == nil || s.Mapping.Cohort == "" || !slices.Contains(rounds, s.Mapping.Round) || !slices.Contains([]string{"", plan.Kueue, plan.SageMaker}, s.Target) {
		return false
	}
	text, err := policy.Marshal(s.Document)
	if err != nil {
		return false
	}
	_, _, faults := policy.Parse(text)
	return len(faults) == 0
}

// decode reads a saved plan; nil if it is none.
func decode(data []byte) *savedPlan {
	p := &savedPlan{}
	if err := json.Unmarshal(data, p); err != nil || p.Schema != savedSchema || !p.whole() {
		return nil
	}
	return p
}

func load(ctx context.Context, f *factory.Factory, path string) (*savedPlan, error) {
	data, err := f.ReadNamed(ctx, path)
	if err != nil {
		return nil, err
	}
	p := decode(data)
	if p == nil {
		var head struct{ Schema string }
		if _ = json.Unmarshal(data, &head); policy.IsNewer(head.Schema, savedSchema) { // other members may have another type
			return nil, errs.New("cannot read "+path, fmt.Sprintf("a newer hyperpod wrote it (%s; this version reads %s)", head.Schema, savedSchema)).WithCode(errs.Usage).WithAdvice("upgrade hyperpod")
		}
		return nil, errs.Usagef("%s is not a saved plan", path).Suggest(errs.Run("governance", "plan", "-f", "FILE", "--out", path))
	}
	return p, nil
}

// fingerprints are hashes of what the objects say; status and bookkeeping do not count.
func fingerprints(l *policy.Live) map[string]string {
	out := map[string]string{}
	add := func(kind string, o client.Object, spec any) {
		data, err := json.Marshal(spec)
		if err != nil {
			return // typed specs have a JSON form
		}
		sum := sha256.Sum256(data)
		out[kind+" "+o.GetNamespace()+"/"+o.GetName()] = hex.EncodeToString(sum[:8])
	}
	for _, o := range l.ClusterQueues {
		add("ClusterQueue", o, o.Spec)
	}
	for _, o := range l.LocalQueues {
		add("LocalQueue", o, o.Spec)
	}
	for _, o := range l.Cohorts {
		add("Cohort", o, o.Spec)
	}
	for _, o := range l.Flavors {
		add("ResourceFlavor", o, o.Spec)
	}
	for _, o := range l.Classes {
		add("WorkloadPriorityClass", o, o.Value)
	}
	return out
}

// moved returns the objects that are not as they were.
func moved(before, now map[string]string) []string {
	var out []string
	for name, sum := range before {
		if now[name] != sum {
			out = append(out, name)
		}
	}
	for name := range now {
		if _, was := before[name]; !was {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
