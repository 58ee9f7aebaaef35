package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Mapping chooses how the document becomes Kueue objects where the service does not
// document its own way. The zero value is not useful; start from DefaultMapping.
type Mapping struct {
	// Cohort is the cohort of the teams that lend.
	Cohort string
	// OwnCohort is the prefix of the cohort's name for a team with DontLend.
	OwnCohort string
	// Round is how to round a fraction of a device: Down, Up or Nearest.
	Round string
}

// The ways of rounding.
const (
	Down    = "Down"
	Up      = "Up"
	Nearest = "Nearest"
)

// DefaultMapping returns the mapping that clusters with task governance use.
func DefaultMapping() Mapping {
	return Mapping{Cohort: "shared-pool", OwnCohort: "dedicated-pool-", Round: Down}
}

// Assumption names something that the mapping infers.
type Assumption string

// The assumptions.
const (
	AssumedRounding   Assumption = "Rounding"   // how a percentage of a small quota is rounded
	AssumedLend       Assumption = "Lend"       // Lend is membership of the shared cohort with borrowing limit 0
	AssumedDontLend   Assumption = "DontLend"   // DontLend is a cohort of its own
	AssumedPartition  Assumption = "Partition"  // MIG slices are covered as nvidia.com/mig-PROFILE
	AssumedActivation Assumption = "Activation" // activation is the label activate-quota of the namespace
	AssumedClass      Assumption = "ClassValue" // the value of a WorkloadPriorityClass is the weight
	AssumedEFA        Assumption = "EFA"        // EFA interfaces follow the accelerators
)

// Objects are the Kueue objects of a document.
type Objects struct {
	Namespaces    []*corev1.Namespace
	Classes       []*kueue.WorkloadPriorityClass
	Flavors       []*kueue.ResourceFlavor
	Cohorts       []*kueue.Cohort
	ClusterQueues []*kueue.ClusterQueue
	LocalQueues   []*kueue.LocalQueue
	// Unstated has the namespaces of the teams whose activation the document leaves out, each with the ClusterQueue of the team.
	Unstated map[string]string
	// Assumptions that mattered, sorted.
	Assumptions []Assumption
}

// Labels of task governance on namespaces (SageMaker Developer Guide, task governance).
const (
	labelManaged  = "sagemaker.amazonaws.com/sagemaker-managed-queue"
	labelTeam     = "sagemaker.amazonaws.com/quota-allocation-id"
	labelActivate = "sagemaker.amazonaws.com/activate-quota"
)

// ToKueue maps a document to Kueue objects. It returns an error for a spec that Kueue's API does not accept. Run Check
// first: it finds all other faults.
func ToKueue(d *Document, m Mapping) (*Objects, error) {
	t := newMapper(m)
	if err := t.shared(d); err != nil {
		return nil, err
	}
	for i := range d.Teams {
		if err := t.team(&d.Teams[i]); err != nil {
			return nil, err
		}
	}
	t.out.Assumptions = slices.Sorted(maps.Keys(t.assumed))
	return t.out, nil
}

// Assumed returns the assumptions of ToKueue. It does not keep the objects: a document can have many.
func Assumed(d *Document, m Mapping) ([]Assumption, error) {
	t := newMapper(m)
	if err := t.shared(d); err != nil {
		return nil, err
	}
	for i := range d.Teams {
		if err := t.team(&d.Teams[i]); err != nil {
			return nil, err
		}
		t.out = newObjects()
	}
	return slices.Sorted(maps.Keys(t.assumed)), nil
}

// prioritySuffix ends the name of the WorkloadPriorityClass of a class.
const prioritySuffix = "-priority"

// ClassObject returns the name of the WorkloadPriorityClass of a class.
func ClassObject(class string) string { return class + prioritySuffix }

type mapper struct {
	Mapping
	out     *Objects
	assumed map[Assumption]bool
	flavors map[string]bool
	formed  map[string][]kueue.ResourceGroup // by what groups makes them of
}

func newMapper(m Mapping) *mapper {
	return &mapper{Mapping: m, out: newObjects(), assumed: map[Assumption]bool{}, flavors: map[string]bool{}, formed: map[string][]kueue.ResourceGroup{}}
}

func newObjects() *Objects { return &Objects{Unstated: map[string]string{}} }

// shared adds the objects that belong to no team.
func (t *mapper) shared(d *Document) error {
	if d.Policy != nil {
		for _, c := range d.Policy.PriorityClasses {
			t.assumed[AssumedClass] = true
			t.out.Classes = append(t.out.Classes, &kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.Name + prioritySuffix}, Value: int32(c.Weight)})
		}
	}
	if d.Kueue == nil {
		return nil
	}
	return t.objects(d.Kueue)
}

func (t *mapper) objects(k *Kueue) error {
	for _, r := range k.PriorityClasses {
		t.out.Classes = append(t.out.Classes, &kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: r.Name}, Value: int32(r.Value)})
	}
	for _, o := range k.Flavors {
		f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: o.Name}}
		if err := fromPlain(o.Spec, &f.Spec); err != nil {
			return fmt.Errorf("flavor %s: %w", o.Name, err)
		}
		t.flavors[o.Name] = true
		t.out.Flavors = append(t.out.Flavors, f)
	}
	for _, o := range k.Cohorts {
		c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: o.Name}}
		if err := fromPlain(o.Spec, &c.Spec); err != nil {
			return fmt.Errorf("cohort %s: %w", o.Name, err)
		}
		t.out.Cohorts = append(t.out.Cohorts, c)
	}
	return nil
}

func (t *mapper) team(team *Team) error {
	spec, err := t.spec(team)
	if err != nil {
		return fmt.Errorf("team %s: %w", team.Team, err)
	}
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: team.Queue()}, Spec: *spec}
	t.out.ClusterQueues = append(t.out.ClusterQueues, q)
	if team.Kueue == nil || team.Kueue.LocalQueues == nil {
		t.out.Namespaces = append(t.out.Namespaces, t.namespace(team))
		if team.Activation == "" {
			t.out.Unstated[team.Namespace()] = q.Name
		}
	}
	for _, l := range team.LocalQueues() {
		t.out.LocalQueues = append(t.out.LocalQueues, &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name},
			Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(q.Name)}})
	}
	for _, g := range spec.ResourceGroups {
		for _, f := range g.Flavors {
			t.flavor(string(f.Name))
		}
	}
	return nil
}

func (t *mapper) namespace(team *Team) *corev1.Namespace {
	activation := team.Activation
	if activation == "" {
		activation = Enabled
	} else if activation == Disabled {
		t.assumed[AssumedActivation] = true
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team.Namespace(),
		Labels: map[string]string{labelManaged: "true", labelTeam: team.Team, labelActivate: activation}}}
}

// flavor adds the flavor of an instance type, once.
func (t *mapper) flavor(name string) {
	if _, known := instances.Lookup(name); !known || t.flavors[name] {
		return
	}
	t.flavors[name] = true
	t.out.Flavors = append(t.out.Flavors, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ResourceFlavorSpec{NodeLabels: map[string]string{"node.kubernetes.io/instance-type": name}}})
}

// spec returns the spec of a team's ClusterQueue.
func (t *mapper) spec(team *Team) (*kueue.ClusterQueueSpec, error) {
	within := kueue.PreemptionPolicyLowerPriority
	if team.PreemptTeamTasks == Never {
		within = kueue.PreemptionPolicyNever
	}
	weight := *resource.NewQuantity(int64(team.Weight()), resource.DecimalSI)
	spec := &kueue.ClusterQueueSpec{
		CohortName:       kueue.CohortReference(t.Cohort),
		QueueingStrategy: kueue.BestEffortFIFO,
		Preemption:       &kueue.ClusterQueuePreemption{WithinClusterQueue: within, ReclaimWithinCohort: kueue.PreemptionPolicyAny},
		FairSharing:      &kueue.FairSharing{Weight: &weight},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			corev1.LabelMetadataName: team.Namespace()}},
		ResourceGroups: t.sharedGroups(team),
	}
	switch team.Shares() {
	case DontLend:
		t.assumed[AssumedDontLend] = true
		spec.CohortName = kueue.CohortReference(t.OwnCohort + team.Team)
	case Lend:
		t.assumed[AssumedLend] = true
	}
	if team.Kueue == nil || len(team.Kueue.Spec) == 0 {
		return spec, nil
	}
	plain, err := toPlain(spec)
	if err != nil {
		return nil, err
	}
	for key, value := range team.Kueue.Spec {
		if plain[key] = value; value == nil {
			delete(plain, key)
		}
	}
	out := &kueue.ClusterQueueSpec{}
	if err := fromPlain(plain, out); err != nil {
		return nil, err
	}
	return out, nil
}

// sharedGroups returns what groups returns. Teams with equal quota share it, so nothing may change it.
func (t *mapper) sharedGroups(team *Team) []kueue.ResourceGroup {
	key, err := json.Marshal([]any{team.Quota, team.AbsoluteBorrowLimits, team.Shares(), team.Percent()})
	if err != nil {
		return t.groups(team) // amounts that were decoded from JSON or YAML always have a JSON form
	}
	groups, known := t.formed[string(key)]
	if !known {
		groups = t.groups(team)
		t.formed[string(key)] = groups
	}
	return groups
}

// groups returns the one resource group of a team: its flavors in the order of the document.
func (t *mapper) groups(team *Team) []kueue.ResourceGroup {
	own, order := t.sum(team.Quota, nil)
	absolute, order := t.sum(team.AbsoluteBorrowLimits, order)
	if len(order) == 0 {
		return nil
	}
	names := slices.Clone(covered)
	extra := map[string]bool{}
	for _, by := range []map[string]amounts{own, absolute} {
		for _, a := range by {
			for r := range a {
				if !slices.Contains(covered, r) {
					extra[r] = true
					t.assumed[AssumedPartition] = true
				}
			}
		}
	}
	names = append(names, slices.Sorted(maps.Keys(extra))...)
	g := kueue.ResourceGroup{CoveredResources: make([]corev1.ResourceName, len(names)), Flavors: make([]kueue.FlavorQuotas, len(order))}
	for i, r := range names {
		g.CoveredResources[i] = corev1.ResourceName(r)
	}
	for i, typ := range order {
		f := &g.Flavors[i]
		*f = kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(typ), Resources: make([]kueue.ResourceQuota, len(names))}
		borrow := make([]resource.Quantity, len(names))
		for j, r := range names {
			nominal := own[typ][r]
			limit := t.percent(nominal, team.Percent(), r)
			if a, given := absolute[typ]; given && team.Shares() == LendAndBorrow {
				limit = a[r]
			}
			borrow[j] = quantity(r, limit)
			f.Resources[j] = kueue.ResourceQuota{Name: corev1.ResourceName(r), NominalQuota: quantity(r, nominal), BorrowingLimit: &borrow[j]}
		}
	}
	return []kueue.ResourceGroup{g}
}

// sum adds up rows by instance type and appends new types to order.
func (t *mapper) sum(rows []Quota, order []string) (map[string]amounts, []string) {
	by := map[string]amounts{}
	for _, q := range rows {
		a, ok := q.Amounts()
		if !ok {
			continue
		}
		if q.Count == nil && a[instances.EFA] > 0 {
			t.assumed[AssumedEFA] = true
		}
		name := instances.Full(q.InstanceType)
		if by[name] == nil {
			by[name] = amounts{}
		}
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		for r, n := range a {
			by[name][r] += n
		}
	}
	return by, order
}

// percent returns a part of a quota. Devices are whole; cores are rounded to thousandths and
// memory to bytes, which nobody notices.
func (t *mapper) percent(nominal int64, percent int, r string) int64 {
	whole, rest := nominal/100*int64(percent), nominal%100*int64(percent)
	part := rest / 100
	if rest%100 != 0 {
		if r != "cpu" && r != "memory" {
			t.assumed[AssumedRounding] = true
		}
		switch t.Round {
		case Up:
			part++
		case Nearest:
			part = int64(math.Round(float64(rest) / 100))
		}
	}
	return whole + part
}

func toPlain(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(data, &out)
}

// fromPlain decodes strictly: a field that Kueue does not have is an error.
func fromPlain(plain map[string]any, into any) error {
	data, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
