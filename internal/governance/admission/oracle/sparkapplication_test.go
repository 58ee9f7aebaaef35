package oracle

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	sparkv1beta2 "github.com/kubeflow/spark-operator/v2/api/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobs/sparkapplication"
	"sigs.k8s.io/kueue/pkg/podset"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// randomSpark is a SparkApplication of the forms that users write.
func randomSpark(r *rand.Rand) map[string]any {
	some := func(texts ...string) string { return texts[r.Intn(len(texts))] }
	whole := some(``, ``, `"nodeSelector":{"all":"1"},`)
	role := func(more ...string) string {
		fields := []string{some(``, `"cores":2`), some(``, `"coreRequest":"500m"`), some(``, `"coreLimit":"1200m"`), some(``, `"memory":"512m"`, `"memory":"2g"`, `"memory":"3Gi"`),
			some(``, `"memoryLimit":"1gb"`), some(``, `"gpu":{"name":"nvidia.com/gpu","quantity":2}`, `"gpu":{"name":"","quantity":2}`), some(``, `"labels":{"version":"4"}`),
			some(``, `"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"}`), some(``, `"tolerations":[{"key":"a","operator":"Exists"}]`),
			some(``, `"sidecars":[{"name":"log","image":"l","resources":{"requests":{"cpu":"1"}}}]`), some(``, `"initContainers":[{"name":"i","image":"l","resources":{"requests":{"cpu":"3"}}}]`),
			some(``, `"template":{"metadata":{"labels":{"own":"x"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]}}`),
			some(``, `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"n","operator":"Exists"}]}]}}}`)}
		if whole == "" {
			fields = append(fields, some(``, `"nodeSelector":{"n":"1"}`))
		}
		var kept []string
		for _, f := range append(fields, more...) {
			if f != "" {
				kept = append(kept, f)
			}
		}
		return "{" + strings.Join(kept, ",") + "}"
	}
	return object(fmt.Sprintf(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"a","namespace":"ns","uid":"u","labels":{"kueue.x-k8s.io/queue-name":"q"}},
		"spec":{"suspend":true,"type":"Scala","mode":"cluster","sparkVersion":"4.0.0","mainApplicationFile":"f",%s%s"driver":%s,"executor":%s}}`,
		whole, some(``, ``, `"sparkConf":{"spark.driver.memory":"4g","spark.executor.instances":"2"},`), role(), role(some(``, `"instances":3`, `"instances":0`))))
}

// TestSparkApplication compares the pod sets of random SparkApplications, as their operator
// completes them, with those of Kueue's integration, and what Kueue changes in one that it starts.
func TestSparkApplication(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewSource(int64(*first)))
	pods, lost, kept := int32(0), 0, 0
	for i := range min(*inputs, 3000) {
		job := randomSpark(r)
		app := typed[sparkv1beta2.SparkApplication](job)
		sparkv1beta2.SetSparkApplicationDefaults(app)
		theirs := (*sparkapplication.SparkApplication)(app)
		want, err := theirs.PodSets(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		raw := []byte(asJSON(job))
		wl, err := integration.WorkloadFor(ctx, raw, integration.NewLookup())
		if err != nil {
			t.Fatalf("input %d: %v\n%s", i, err, raw)
		}
		infos := make([]podset.PodSetInfo, len(want))
		for n := range want {
			pods += want[n].Count
			if len(wl.Spec.PodSets) != len(want) || wl.Spec.PodSets[n].Name != want[n].Name || wl.Spec.PodSets[n].Count != want[n].Count ||
				asJSON(wl.Spec.PodSets[n].TopologyRequest) != asJSON(want[n].TopologyRequest) || sparkPods(podsOf(wl.Spec.PodSets[n])) != sparkPods(podsOf(want[n])) {
				t.Fatalf("input %d, pod set %d:\nKueue %s\nours  %s\njob %s", i, n, asJSON(want), asJSON(wl.Spec.PodSets), raw)
			}
			infos[n] = podset.PodSetInfo{Name: want[n].Name, NodeSelector: map[string]string{"flavor": fmt.Sprint(n)}}
		}
		must(theirs.RunWithPodSetsInfo(ctx, nil, infos))
		for n, p := range kinds.SparkApplication.Parts(*typed[map[string]any](map[string]any{"metadata": job["metadata"], "spec": theirs.Spec})) {
			if kinds.Text(p.Template, "spec", "nodeSelector", "flavor") != fmt.Sprint(n) {
				t.Fatalf("input %d: %s of the started job lacks what Kueue adds: %s", i, p.Name, asJSON(p.Template))
			}
		}
		if whole := kinds.Text(job, "spec", "nodeSelector", "all"); whole != "" {
			for n := range infos {
				infos[n] = podset.FromPodSet(&wl.Spec.PodSets[n])
			}
			theirs.RestorePodSetsInfo(ctx, infos)
			if theirs.Spec.NodeSelector["all"]+theirs.Spec.Driver.NodeSelector["all"]+theirs.Spec.Executor.NodeSelector["all"] == "" {
				lost++
			} else {
				kept++
			}
		}
	}
	t.Logf("%d pods compared, node labels of the application lost in %d suspensions", pods, lost)
	if kept > 0 || lost == 0 {
		t.Errorf("Kueue keeps the node labels of %d applications that it suspends and loses those of %d: correct the comment of kinds.SparkApplication", kept, lost)
	}
	if int(pods) < min(*inputs, 3000) {
		t.Error("too few pods are compared")
	}
}

// sparkPods takes an empty list and none for the same.
func sparkPods(text string) string {
	return strings.NewReplacer("{}", "null", "[]", "null").Replace(text)
}
