package oracle

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	awv1beta2 "github.com/project-codeflare/appwrapper/api/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobs/appwrapper"
	"sigs.k8s.io/kueue/pkg/podset"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// randomWrapper is an AppWrapper of the kinds of components that users write.
func randomWrapper(r *rand.Rand) map[string]any {
	some := func(texts ...string) string { return texts[r.Intn(len(texts))] }
	container := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"image":%q,"resources":%s%s}`, name, some("i", "i:1"),
			some(`{}`, `{"requests":{"cpu":"2","memory":"4Gi"}}`, `{"limits":{"nvidia.com/gpu":"8"}}`, `{"requests":{"cpu":"1"},"limits":{"cpu":"2","nvidia.com/gpu":"4"}}`),
			some(``, `,"command":["run"]`, `,"volumeMounts":[{"name":"v","mountPath":"/v"}]`, `,"env":[{"name":"A","value":"1"}]`))
	}
	pods := func() string {
		return fmt.Sprintf(`{%s"spec":{"containers":[%s%s]%s}}`, some(``, `"metadata":{"labels":{"x":"y"},"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"}},`),
			container("c"), some(``, `,`+container("side")), some(``, `,"nodeSelector":{"n":"1"}`, `,"tolerations":[{"key":"a","operator":"Exists"}]`,
				`,"initContainers":[{"name":"log","image":"l","restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}}]`, `,"runtimeClassName":"r"`, `,"overhead":{"cpu":"250m"}`))
	}
	count := func(key string) string { return some(``, fmt.Sprintf(`%q:%d,`, key, r.Intn(4)+1)) }
	one := func(i int) string {
		ray := func() string {
			groups := []string{}
			for g := range r.Intn(3) {
				groups = append(groups, fmt.Sprintf(`{"groupName":"g%d",%s%s"template":%s}`, g, count("replicas"), some(``, `"numOfHosts":2,`), pods()))
			}
			return fmt.Sprintf(`{"headGroupSpec":{"template":%s},"workerGroupSpecs":[%s]}`, pods(), strings.Join(groups, ","))
		}
		meta := fmt.Sprintf(`"metadata":{"name":"c%d"}`, i)
		switch r.Intn(10) {
		case 0:
			return fmt.Sprintf(`{"template":{"apiVersion":"v1","kind":"Service",%s,"spec":{"clusterIP":"None"}}}`, meta)
		case 1:
			return fmt.Sprintf(`{"template":{"apiVersion":"v1","kind":"Pod",%s,"spec":%s}}`, meta, asJSON(kinds.At(object(pods()), "spec")))
		case 2:
			return fmt.Sprintf(`{"template":{"apiVersion":"apps/v1","kind":%q,%s,"spec":{%s"template":%s}}}`, some("Deployment", "StatefulSet"), meta, count("replicas"), pods())
		case 3:
			return fmt.Sprintf(`{"template":{"apiVersion":"batch/v1","kind":"Job",%s,"spec":{%s%s"template":%s}}}`, meta, count("parallelism"), count("completions"), pods())
		case 4:
			rows := []string{}
			for n := range r.Intn(2) + 1 {
				rows = append(rows, fmt.Sprintf(`{"name":"r%d",%s"template":{"spec":{%s%s"template":%s}}}`, n, count("replicas"), count("parallelism"), count("completions"), pods()))
			}
			return fmt.Sprintf(`{"template":{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",%s,"spec":{"replicatedJobs":[%s]}}}`, meta, strings.Join(rows, ","))
		case 5:
			return fmt.Sprintf(`{"template":{"apiVersion":"ray.io/v1","kind":"RayCluster",%s,"spec":%s}}`, meta, ray())
		case 6:
			return fmt.Sprintf(`{"template":{"apiVersion":"ray.io/v1","kind":"RayJob",%s,"spec":{"rayClusterSpec":%s}}}`, meta, ray())
		case 7: // pods that only a declaration finds
			return fmt.Sprintf(`{"podSets":[{"path":"template.spec.mpiReplicaSpecs.Worker.template",%s"annotations":{"workload.codeflare.dev.appwrapper/tas-pod-index-label":"x"}}],
				"template":{"apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob",%s,"spec":{"mpiReplicaSpecs":{"Worker":{"template":%s}}}}}`, count("replicas"), meta, pods())
		case 8:
			return fmt.Sprintf(`{"podSets":[{"path":"template.spec.replicatedJobs[1].template.spec.template","replicas":2},{"path":"template.spec.replicatedJobs[0].template.spec.template"}],
				"template":{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",%s,"spec":{"replicatedJobs":[{"name":"a","template":{"spec":{"template":%s}}},{"name":"b","replicas":2,"template":{"spec":{"template":%s}}}]}}}`, meta, pods(), pods())
		}
		return fmt.Sprintf(`{"template":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",%s,"spec":{"pytorchReplicaSpecs":{%s"Worker":{%s"template":%s}}}}}`,
			meta, some(``, `"Master":{"template":`+pods()+`},`), count("replicas"), pods())
	}
	list := []string{}
	for i := range r.Intn(3) + 1 {
		list = append(list, one(i))
	}
	return object(`{"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper","metadata":{"name":"a","namespace":"ns","uid":"u","labels":{"kueue.x-k8s.io/queue-name":"q"}},
		"spec":{"suspend":true,"components":[` + strings.Join(list, ",") + `]}}`)
}

func object(text string) map[string]any {
	var m map[string]any
	must(json.Unmarshal([]byte(text), &m))
	return m
}

// TestAppWrapper compares the pod sets of random AppWrappers with those of Kueue's
// integration, and what Kueue changes in one that it starts and stops.
func TestAppWrapper(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewSource(int64(*first)))
	compared, several, pods := 0, 0, int32(0)
	for i := range min(*inputs, 3000) {
		job := randomWrapper(r)
		theirs := (*appwrapper.AppWrapper)(typed[awv1beta2.AppWrapper](job))
		want, err := theirs.PodSets(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		raw := []byte(asJSON(job))
		if at, why := kinds.AppWrapper.Refuse(job); (why != "") != (len(want) == 0 || len(want) > 8) {
			t.Fatalf("input %d: refused for %s %s, with %d pod sets\n%s", i, at, why, len(want), raw)
		} else if why != "" {
			continue
		}
		compared++
		if len(want) > 1 {
			several++
		}
		wl, err := integration.WorkloadFor(ctx, raw, integration.NewLookup())
		if err != nil {
			t.Fatalf("input %d: %v\n%s", i, err, raw)
		}
		for n := range want {
			pods += want[n].Count
			if len(wl.Spec.PodSets) != len(want) || wl.Spec.PodSets[n].Name != want[n].Name || wl.Spec.PodSets[n].Count != want[n].Count ||
				asJSON(wl.Spec.PodSets[n].TopologyRequest) != asJSON(want[n].TopologyRequest) || podsOf(wl.Spec.PodSets[n]) != podsOf(want[n]) {
				t.Fatalf("input %d, pod set %d:\nKueue %s\nours  %s\njob %s", i, n, asJSON(want), asJSON(wl.Spec.PodSets), raw)
			}
		}
		infos := make([]podset.PodSetInfo, len(want))
		for n := range want {
			infos[n] = podset.PodSetInfo{Name: want[n].Name, NodeSelector: map[string]string{"flavor": fmt.Sprint(n)}}
		}
		must(theirs.RunWithPodSetsInfo(ctx, nil, infos))
		spec := typed[map[string]any](map[string]any{"spec": theirs.Spec})
		for n, p := range kinds.AppWrapper.Parts(map[string]any{"metadata": job["metadata"], "spec": (*spec)["spec"]}) {
			if kinds.Text(p.Template, "spec", "nodeSelector", "flavor") != fmt.Sprint(n) {
				t.Fatalf("input %d: part %s of the started job lacks what Kueue adds: %s", i, p.Name, asJSON(p.Template))
			}
		}
	}
	t.Logf("%d inputs compared, %d with several pod sets, %d pods", compared, several, pods)
	if compared < min(*inputs, 3000)/2 {
		t.Error("too few inputs are compared")
	}
}

// podsOf has what Kueue decides by: what the API server defaults is equal.
func podsOf(ps kueue.PodSet) string {
	s := ps.Template.Spec
	text := asJSON(ps.Template.Labels) + asJSON(ps.Template.Annotations) + asJSON(s.NodeSelector) + asJSON(s.Tolerations) + asJSON(s.Affinity) + asJSON(s.Overhead) + asJSON(s.RuntimeClassName)
	for _, c := range append(s.InitContainers, s.Containers...) {
		text += c.Name + asJSON(c.Resources) + asJSON(c.RestartPolicy)
	}
	return text
}
