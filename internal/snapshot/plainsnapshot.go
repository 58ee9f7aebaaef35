package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// snapshot completes the objects as an API server would have, and encodes them.
func (p *plainFile) snapshot() (*Snapshot, error) {
	now := p.latest.UTC().Truncate(time.Second)
	p.inactive(now)
	lacking := p.lacking()
	for i, o := range p.objects {
		p.objects[i].body = nil // its text replaces it
		meta := object.Child(o.body, "metadata")
		if _, ok := object.Time(meta["creationTimestamp"]); !ok && o.resource.FullName() != kinds.Pod.FullName() {
			// Who comes first in a file came first. Nothing depends on the age of pods.
			meta["creationTimestamp"] = object.Stamp(now.Add(time.Duration(i-len(p.objects)) * time.Second))
		}
		if err := p.add(o.resource, o.body); err != nil {
			return nil, err
		}
	}
	if len(p.raw[kinds.Namespace.FullName()]) == 0 {
		for _, ns := range slices.Sorted(maps.Keys(p.namespaces)) {
			_ = p.add(kinds.Namespace, map[string]any{"apiVersion": "v1", "kind": "Namespace",
				"metadata": map[string]any{"name": ns, "creationTimestamp": object.Stamp(now), "labels": map[string]any{"kubernetes.io/metadata.name": ns},
					"annotations": map[string]any{kinds.AssumedAnnotation: "true"}},
				"status": map[string]any{"phase": "Active"}})
		}
	}
	info := Info{Kind: fileKind, Format: fileFormat, Taken: now, KueueAPI: p.api, ResourceVersion: 1}
	for _, r := range lacking {
		info.Missing = append(info.Missing, Missing{Resource: r.FullName(), Reason: NotInFile})
	}
	return &Snapshot{Info: info, Plain: true, raw: p.raw}, nil
}

// lacking returns the kinds that the file lacks although a cluster would have some: nodes and pods, those that others in it
// name, own or count, and queues, workloads and jobs if it has none of these.
func (p *plainFile) lacking() []kinds.Resource {
	wanted := map[string]bool{kinds.Node.FullName(): true, kinds.Pod.FullName(): true}
	want := func(r kinds.Resource, named bool) {
		if named {
			wanted[r.FullName()] = true
		}
	}
	has, queued := map[string]bool{}, false
	for _, o := range p.objects {
		has[o.resource.FullName()] = true
		want(kinds.WorkloadPriorityClass, object.Text(o.body, "metadata", "labels", kinds.PriorityLabel) != "")
		switch o.resource.FullName() {
		case kinds.ClusterQueue.FullName():
			for _, g := range object.List(o.body, "spec", "resourceGroups") {
				want(kinds.ResourceFlavor, len(object.List(g, "flavors")) > 0)
			}
			want(kinds.AdmissionCheck, len(object.List(o.body, "spec", "admissionChecksStrategy", "admissionChecks")) > 0)
			for _, name := range []string{"pendingWorkloads", "reservingWorkloads"} {
				n, _ := object.Int(o.body, "status", name)
				want(kinds.Workload, n > 0)
			}
		case kinds.ResourceFlavor.FullName():
			want(kinds.Topology, object.Text(o.body, "spec", "topologyName") != "")
		case kinds.LocalQueue.FullName():
			want(kinds.ClusterQueue, true)
		case kinds.Workload.FullName():
			for _, k := range ownerKinds(o.body) {
				want(k, true)
			}
			want(kinds.LocalQueue, true)
			want(kinds.ClusterQueue, object.Text(o.body, "status", "admission", "clusterQueue") != "")
			want(kinds.WorkloadPriorityClass, object.Text(o.body, "spec", "priorityClassRef", "kind") == kinds.WorkloadPriorityClass.Kind)
		case kinds.Pod.FullName():
			for _, k := range ownerKinds(o.body) {
				want(k, k.FullName() != kinds.BatchJob.FullName()) // the Jobs of a JobSet are parts of a job
			}
		default:
			queued = queued || object.Text(o.body, "metadata", "labels", kinds.QueueLabel) != ""
		}
	}
	kueue := slices.ContainsFunc(p.objects, func(o plainObject) bool { return o.resource.Group == kinds.ClusterQueue.Group })
	job := slices.ContainsFunc(kinds.Jobs(), func(k kinds.Job) bool { return has[k.Resource.FullName()] })
	want(kinds.Workload, kueue && queued) // Kueue has made one for each job with a queue
	if !kueue && !job {
		for _, r := range []kinds.Resource{kinds.ClusterQueue, kinds.LocalQueue, kinds.Workload} {
			want(r, true)
		}
		for _, k := range kinds.Jobs() {
			want(k.Resource, true)
		}
	}
	var out []kinds.Resource
	for _, r := range kinds.All() {
		if wanted[r.FullName()] && !has[r.FullName()] {
			out = append(out, r)
		}
	}
	return out
}

// ownerKinds returns the kinds of jobs that own an object.
func ownerKinds(body map[string]any) (out []kinds.Resource) {
	for _, owner := range object.List(body, "metadata", "ownerReferences") {
		if k, known := kinds.JobFor(object.Text(owner, "apiVersion"), object.Text(owner, "kind")); known {
			out = append(out, k.Resource)
		}
	}
	return out
}

func keyOf(m map[string]any) store.Key {
	return store.Key{Namespace: object.Text(m, "metadata", "namespace"), Name: object.Text(m, "metadata", "name")}
}

// identify gives an object a UID where it has none.
func identify(r kinds.Resource, m map[string]any) {
	if object.Text(m, "metadata", "uid") != "" {
		return
	}
	k := keyOf(m)
	sum := sha256.Sum256([]byte(r.FullName() + "/" + k.Namespace + "/" + k.Name))
	id := hex.EncodeToString(sum[:16])
	object.Set(m, strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-"), "metadata", "uid")
}

// add gives an object the identity that a server would have given it. Two of one
// name are an error, unless they are the same object twice.
func (p *plainFile) add(r kinds.Resource, m map[string]any) error {
	k := keyOf(m)
	object.Set(m, "1", "metadata", "resourceVersion")
	identify(r, m)
	raw, err := store.Encode(m)
	if err != nil {
		return err
	}
	table := p.seen[r.FullName()]
	if table == nil {
		table = map[store.Key]json.RawMessage{}
		p.seen[r.FullName()] = table
	}
	if old, twice := table[k]; twice {
		if bytes.Equal(old, raw) {
			return nil
		}
		return unusable(fmt.Sprintf("it has two different objects %s %s", r.Kind, strings.TrimPrefix(k.Namespace+"/"+k.Name, "/")))
	}
	table[k] = raw
	p.raw[r.FullName()] = append(p.raw[r.FullName()], raw)
	return nil
}
