// Package casebook writes down what Kueue's own tests give its scheduler and what the scheduler makes of it. It is compiled
// into a copy of Kueue, whose functions call it: see casebook_test.go of the oracle.
package casebook

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"k8s.io/client-go/kubernetes/scheme"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Case is one case of a test. A test that calls New of the cache twice has two.
type Case struct {
	Name            string
	Number          int
	Transformations []config.ResourceTransformation `json:",omitempty"`
	Excluded        []string                        `json:",omitempty"`
	PodsReady       bool                            `json:",omitempty"`
	// Use is what LocalQueues have used, by namespace/name.
	Use    map[string]corev1.ResourceList `json:",omitempty"`
	Cycles []*Cycle                       `json:",omitempty"`
	Direct []*Direct                      `json:",omitempty"`
}

// Settings are those of a scheduler.
type Settings struct {
	Gates          map[string]bool // that differ from the defaults
	Fair           *config.FairSharing
	ByUse          *config.AdmissionFairSharing
	QuotaCheck     config.QuotaCheckStrategy
	CreationOrders bool // the requeuing timestamp is Creation
	Now            time.Time
}

// Cycle is one call of schedule.
type Cycle struct {
	Settings
	Objects []json.RawMessage // before
	// After are the workloads after the cycle.
	After        []json.RawMessage
	Active       map[string][]string
	Inadmissible map[string][]string
	Events       json.RawMessage
}

// Direct is one call of GetTargets outside of a cycle.
type Direct struct {
	Settings
	Objects  []json.RawMessage
	Incoming json.RawMessage
	Queue    string
	// Flavors are those of the assignment, by pod set and resource, with their modes.
	Flavors []map[string]string
	Counts  []int32
	Targets map[string]string // reasons by namespace/name
}

var (
	mu      sync.Mutex
	name    string
	number  int
	current *Case
	cl      client.Client
	noted   []client.Object
	pending Case // options of the next cache
	fair    *config.FairSharing
)

func lock() func() { mu.Lock(); return mu.Unlock }

// Name tells the test that runs.
func Name(n string) { defer lock()(); name = n }

// Begin starts a case: its caches are made.
func Begin(c client.Client) {
	defer lock()()
	p := pending
	current, cl, noted, pending = &p, c, nil, Case{}
	number++
	current.Number = number
}

// Transform notes an option of the next cache.
func Transform(t []config.ResourceTransformation) { defer lock()(); pending.Transformations = t }

// Exclude notes an option of the next cache.
func Exclude(p []string) { defer lock()(); pending.Excluded = p }

// TrackPods notes an option of the next cache.
func TrackPods(on bool) { defer lock()(); pending.PodsReady = on }

// Use notes what a LocalQueue has used.
func Use(queue string, used corev1.ResourceList) {
	defer lock()()
	if current == nil {
		return
	}
	if current.Use == nil {
		current.Use = map[string]corev1.ResourceList{}
	}
	current.Use[queue] = used
}

// Fair notes how the next preemptor shares.
func Fair(f *config.FairSharing) { defer lock()(); fair = f }

// LastFair is what Fair was last told.
func LastFair() *config.FairSharing { defer lock()(); return fair }

// Note notes an object that a cache is given.
func Note(o client.Object) {
	defer lock()()
	if current == nil {
		return
	}
	c := o.DeepCopyObject().(client.Object)
	for i, old := range noted {
		if fmt.Sprintf("%T", old) == fmt.Sprintf("%T", c) && client.ObjectKeyFromObject(old) == client.ObjectKeyFromObject(c) {
			noted[i] = c
			return
		}
	}
	noted = append(noted, c)
}

// Gates returns the feature gates that differ from the defaults.
func Gates() map[string]bool {
	out := map[string]bool{}
	for f, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if on := utilfeature.DefaultFeatureGate.Enabled(f); on != spec.Default {
			out[string(f)] = on
		}
	}
	return out
}

func lists() []client.ObjectList {
	return []client.ObjectList{
		&corev1.NamespaceList{}, &corev1.NodeList{}, &corev1.PodList{}, &corev1.LimitRangeList{}, &nodev1.RuntimeClassList{},
		&resourcev1.DeviceClassList{}, &resourcev1.ResourceClaimTemplateList{}, &resourcev1.ResourceClaimList{}, &resourcev1.ResourceSliceList{},
		&schedulingv1.PriorityClassList{}, &kueue.WorkloadPriorityClassList{}, &kueue.TopologyList{}, &kueue.ResourceFlavorList{},
		&kueue.AdmissionCheckList{}, &kueue.CohortList{}, &kueue.ClusterQueueList{}, &kueue.LocalQueueList{}, &kueue.WorkloadList{},
	}
}

func encode(o client.Object, s *runtime.Scheme) json.RawMessage {
	if o.GetObjectKind().GroupVersionKind().Empty() {
		if gvk, err := apiutil.GVKForObject(o, s); err == nil {
			o.GetObjectKind().SetGroupVersionKind(gvk)
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return data
}

// objects returns those that the caches were given, and those of the API server that they were not.
func objects() []json.RawMessage {
	_ = kueue.AddToScheme(scheme.Scheme)
	var out []json.RawMessage
	seen := map[string]bool{}
	put := func(o client.Object) {
		o = o.DeepCopyObject().(client.Object)
		data := encode(o, scheme.Scheme)
		key := o.GetObjectKind().GroupVersionKind().Kind + " " + client.ObjectKeyFromObject(o).String()
		if !seen[key] {
			seen[key] = true
			out = append(out, data)
		}
	}
	for _, o := range noted {
		_, queue := o.(*kueue.LocalQueue)
		if gone := queue && !exists(o); !gone {
			put(o)
		}
	}
	for _, l := range lists() {
		if cl == nil || cl.List(context.Background(), l) != nil {
			continue
		}
		each(l, put)
	}
	return out
}

// exists reports whether an object is in the API server, or none of its kind was ever.
func exists(o client.Object) bool {
	var all kueue.LocalQueueList
	err := cl.List(context.Background(), &all)
	return err != nil || len(all.Items) == 0 || slices.ContainsFunc(all.Items, func(q kueue.LocalQueue) bool {
		return q.Namespace == o.GetNamespace() && q.Name == o.GetName()
	})
}

func each(l client.ObjectList, f func(client.Object)) {
	items, err := meta.ExtractList(l)
	if err != nil {
		panic(err)
	}
	for _, o := range items {
		f(o.(client.Object))
	}
}

// Start notes the state before a cycle. The result notes the state after it.
func Start(s Settings, active, inadmissible func() map[string][]string, recorder any) func() {
	defer lock()()
	if current == nil {
		return func() {}
	}
	current.Name = name
	s.Gates = Gates()
	c := &Cycle{Settings: s, Objects: objects()}
	current.Cycles = append(current.Cycles, c)
	return func() {
		defer lock()()
		var all kueue.WorkloadList
		if err := cl.List(context.Background(), &all); err != nil {
			panic(err)
		}
		each(&all, func(o client.Object) { c.After = append(c.After, encode(o, scheme.Scheme)) })
		c.Active, c.Inadmissible = active(), inadmissible()
		c.Events, _ = json.Marshal(recorder)
		save()
	}
}

// Targets notes a call of GetTargets outside of a cycle.
func Targets(d Direct, incoming client.Object) {
	defer lock()()
	if current == nil || len(current.Cycles) > 0 {
		return
	}
	current.Name = name
	d.Gates = Gates()
	d.Objects = objects()
	d.Incoming = encode(incoming.DeepCopyObject().(client.Object), scheme.Scheme)
	current.Direct = append(current.Direct, &d)
	save()
}

func save() {
	dir := os.Getenv("CASEBOOK")
	if dir == "" {
		return
	}
	data, err := json.Marshal(current)
	if err != nil {
		panic(err)
	}
	h := fnv.New64()
	fmt.Fprint(h, current.Name)
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%x-%d.json", h.Sum64(), current.Number)), data, 0o666); err != nil {
		panic(err)
	}
}

// Unit is one call of a function of Kueue by a test that runs no scheduling cycle.
type Unit struct {
	Settings
	Test    string
	Objects []json.RawMessage // of the API server, before
	Given   json.RawMessage
	Result  json.RawMessage
}

// Test is the name of the test that calls, if it starts with one of the prefixes.
func Test(prefixes ...string) string {
	if os.Getenv("CASEBOOK") == "" {
		return ""
	}
	var at [64]uintptr
	frames := goruntime.CallersFrames(at[:goruntime.Callers(2, at[:])])
	for {
		f, more := frames.Next()
		name := f.Function[strings.LastIndex(f.Function, "/")+1:]
		_, name, _ = strings.Cut(name, ".")
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				name, _, _ = strings.Cut(name, ".")
				return name
			}
		}
		if !more {
			return ""
		}
	}
}

// All are the objects of an API server.
func All(c client.Client) []json.RawMessage {
	_ = kueue.AddToScheme(scheme.Scheme)
	var out []json.RawMessage
	for _, l := range lists() {
		if c == nil || c.List(context.Background(), l) != nil {
			continue
		}
		each(l, func(o client.Object) { out = append(out, encode(o.DeepCopyObject().(client.Object), scheme.Scheme)) })
	}
	return out
}

// JSON encodes a value.
func JSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// Save writes a call down.
func (u Unit) Save() {
	u.Gates = Gates()
	data := JSON(u)
	h := fnv.New64()
	h.Write(data)
	dir := filepath.Join(os.Getenv("CASEBOOK"), "units")
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%x.json", u.Test, h.Sum64())), data, 0o666)
	}
	if err != nil {
		panic(err)
	}
}
