package sandbox

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/access"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/api"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

//go:embed scenarios/*.yaml
var scenarioFiles embed.FS

// operatorFiles are the objects that the operators of a new sandbox bring along. They do
// not belong to the scenario.
//
//go:embed operators/*.yaml
var operatorFiles embed.FS

// Scenario is a cluster that a sandbox can start as.
type Scenario struct {
	Name string
	Help string
	// JobDuration is how long a job without a duration of its own runs.
	JobDuration time.Duration
}

// DefaultScenario is the scenario of a sandbox that names none.
const DefaultScenario = "enterprise"

// Scenarios returns the scenarios, the default first.
func Scenarios() []Scenario {
	return []Scenario{
		{DefaultScenario, "5 teams that share 80 GPUs, with running and pending jobs", time.Hour},
		{"startup", "3 teams with equal weights that share 15 GPUs", time.Hour},
		{"john-smith", "john has 3 nodes with weight 0, smith 1 with weight 100", time.Hour},
		{"lend-three", "a team uses 2 of its 6 GPUs, another 4 of 5; a job borrows 3", time.Hour},
		{"bad-node", "a job on 2 nodes, one of them about to be replaced", time.Hour},
	}
}

func findScenario(name string) (Scenario, error) {
	var names []string
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	e := errs.NotFoundf("scenario %q not found", name).WithCode(errs.Usage).WithFact("available", strings.Join(names, ", "))
	if near := errs.Near(name, names); len(near) > 0 {
		e = e.Suggest(suggest.Scenario(near[0]))
	}
	return Scenario{}, e
}

// ScenarioObjects returns a scenario's objects as YAML documents. A real cluster with
// Kueue and the training operators accepts them, too.
func ScenarioObjects(name string) ([]byte, error) {
	if _, err := findScenario(name); err != nil {
		return nil, err
	}
	return scenarioFiles.ReadFile("scenarios/" + name + ".yaml")
}

// Create creates a sandbox from a scenario and opens it, with its folder if that is
// missing. A sandbox that already exists is an error.
func Create(ctx context.Context, path, scenario string, o Options) (*Sandbox, error) {
	sc, err := findScenario(scenario)
	if err != nil {
		return nil, err
	}
	s := newSandbox(path, o)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, errs.New("cannot create sandbox "+s.Name(), errs.FileReason(err)).WithFact("folder", filepath.Dir(path)).WithCause(err)
	}
	sweepLocks(filepath.Dir(path))
	ctx, next, err := turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer next()
	release, err := s.file.lock(ctx, s.opts)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := s.file.stamp(); !errors.Is(err, fs.ErrNotExist) {
		return nil, errs.New("cannot create sandbox "+s.Name(), "it already exists").WithFact("file", path).
			Suggest(suggest.DeleteSandbox(s.Name())).WithAdvice("choose another name, or delete it first")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Now().UTC()
	w := &work{store: store.New(), now: now,
		head: header{Scenario: scenario, Created: now.Truncate(time.Second), JobDuration: Duration(sc.JobDuration)}}
	if err := w.populate(ctx, scenario); err != nil {
		_ = os.Remove(s.file.lockPath())
		return nil, errs.Wrap(err, "cannot create scenario "+scenario)
	}
	seen, err := s.file.save(w.head, w.store)
	if err != nil {
		_ = os.Remove(s.file.lockPath())
		return nil, err
	}
	s.keep(w, seen)
	return s, nil
}

// defaultAge is the age of a scenario's objects that give none.
const defaultAge = 30 * 24 * time.Hour

// populate creates a scenario's objects, each at its own time, and runs the controllers
// in between, so that the sandbox has a history.
func (w *work) populate(ctx context.Context, scenario string) error {
	data, err := ScenarioObjects(scenario)
	if err != nil {
		return err
	}
	type item struct {
		object map[string]any
		ago    time.Duration
	}
	items := []item{}
	for _, ns := range []string{"default", "kube-system", "kube-public"} {
		items = append(items, item{map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}, defaultAge})
	}
	// The API server creates these classes itself.
	for i, name := range []string{"system-cluster-critical", "system-node-critical"} {
		items = append(items, item{map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": map[string]any{"name": name},
			"value": int64(2000000000 + 1000*i), "preemptionPolicy": "PreemptLowerPriority"}, defaultAge})
	}
	operators, err := fs.Glob(operatorFiles, "operators/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range operators {
		text, err := operatorFiles.ReadFile(name)
		if err != nil {
			return err
		}
		data = append(append(data, "\n---\n"...), text...)
	}
	for _, doc := range strings.Split("\n"+string(data), "\n---") {
		m := map[string]any{}
		if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
			return err
		}
		if len(m) == 0 {
			continue
		}
		ago, err := takeAgo(m)
		if err != nil {
			return err
		}
		items = append(items, item{m, ago})
	}
	slices.SortStableFunc(items, func(a, b item) int { return int(b.ago/time.Second - a.ago/time.Second) })
	end := w.now
	for i, it := range items {
		if w.now = end.Add(-it.ago); w.due() {
			if err := w.settle(ctx); err != nil {
				return err
			}
		}
		stampFaults(it.object, w.now)
		object, err := roundTrip(it.object)
		if err != nil {
			return err
		}
		if _, err := api.NewServer(fixed{now: w.now}).Insert(w.store, object); err != nil {
			return err
		}
		if i+1 == len(items) || items[i+1].ago != it.ago {
			if err := w.settle(ctx); err != nil {
				return err
			}
		}
	}
	w.now = end
	if err := access.AddDefaults(w.store, object.Stamp(w.head.Created)); err != nil {
		return err
	}
	return w.settle(ctx)
}

// takeAgo reads and removes the annotation with an object's age.
func takeAgo(m map[string]any) (time.Duration, error) {
	meta, _ := m["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	s, ok := annotations[api.AgoAnnotation].(string)
	if !ok {
		return defaultAge, nil
	}
	if delete(annotations, api.AgoAnnotation); len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return time.ParseDuration(s)
}

// stampFaults writes the time of an object's faults, where the scenario has TIME.
func stampFaults(m map[string]any, now time.Time) {
	annotations := object.Map(m, "metadata", "annotations")
	if text, ok := annotations[kinds.FaultDetailsAnnotation].(string); ok {
		annotations[kinds.FaultDetailsAnnotation] = strings.ReplaceAll(text, "TIME", now.Format(time.RFC3339))
	}
}

// fixed is the backend of an API server that only inserts objects.
type fixed struct {
	api.Backend
	now time.Time
}

// Now returns the creation time of the inserted objects.
func (f fixed) Now() time.Time { return f.now }

// roundTrip converts YAML's numbers to the types of decoded JSON.
func roundTrip(m map[string]any) (map[string]any, error) {
	raw, err := store.Encode(m)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, kjson.Unmarshal(raw, &out)
}
