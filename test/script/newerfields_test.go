package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/gotype"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// newerServer is a sandbox whose kinds have more fields than the program knows: spec.futureField, and spec.successPolicies, which is
// like a known field of a JobSet.
type newerServer struct {
	box http.Handler
	// closed refuses to show the schemas. A request that asks for a strict validation sets strict.
	closed, strict atomic.Bool
	asked          atomic.Int64 // for schemas
}

func (s *newerServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path, found := strings.CutPrefix(r.URL.Path, "/openapi/v3/apis/"); found {
		s.asked.Add(1)
		if s.closed.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		group, version, _ := strings.Cut(path, "/")
		names := map[string]string{"batch": "Job", "kubeflow.org": "PyTorchJob", "jobset.x-k8s.io": "JobSet"}
		_, _ = fmt.Fprintf(w, `{"components": {"schemas": {"k": {"properties": {"spec": {"properties": {"futureField": {}, "successPolicies": {}}}},
			"x-kubernetes-group-version-kind": [{"group": %q, "version": %q, "kind": %q}]}}}}`, group, version, names[group])
		return
	}
	if r.Method == http.MethodPost {
		q := r.URL.Query()
		if q.Get("fieldValidation") == "Strict" {
			s.strict.Store(true)
		}
		q.Set("fieldValidation", "Ignore")
		r.URL.RawQuery = q.Encode()
	}
	s.box.ServeHTTP(w, r)
}

// newer starts a newerServer and returns the environment that leads to it.
func newer(t *testing.T, home string) (s *newerServer, url string, env []string) {
	t.Helper()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s = &newerServer{box: box}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	path := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(path, fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return s, server.URL, []string{"KUBECONFIG=" + path}
}

const newerNamespace = "hyperpod-ns-ml-engineers"

// newerJobs have a field that only the cluster knows.
var newerJobs = map[string]string{
	"/apis/batch/v1/namespaces/" + newerNamespace + "/jobs": `apiVersion: batch/v1
kind: Job
metadata: {name: newer}
spec:
  futureField: {a: 1, b: null}
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: "i:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
`,
	"/apis/kubeflow.org/v1/namespaces/" + newerNamespace + "/pytorchjobs": `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: newer}
spec:
  futureField: {a: 1, b: null}
  pytorchReplicaSpecs:
    Worker: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: "i:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}}
`,
	"/apis/jobset.x-k8s.io/v1alpha2/namespaces/" + newerNamespace + "/jobsets": `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: newer}
spec:
  futureField: {a: 1, b: null}
  successPolicies: 1
  replicatedJobs:
  - {name: w, template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "i:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}
`,
}

// The cluster decides about fields that the program does not know.
func TestNewerFields(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s, url, env := newer(t, home)
	start := func(args ...string) (string, error) {
		return both(t, home, env, append([]string{"start-job", "-n", newerNamespace}, args...)...)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "job.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(what, out string, err error, fails bool, want ...string) {
		t.Helper()
		if (err != nil) != fails {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: no %q in\n%s", what, w, out)
			}
		}
	}
	for path, text := range newerJobs {
		write(text)
		before := s.asked.Load()
		out, err := start("-f", file)
		has(path, out, err, false, "Successfully created job newer", "note: spec.futureField of ", "is sent as it is: only the cluster knows the field")
		if n := s.asked.Load() - before; n != 1 {
			t.Errorf("%s: %d requests for schemas", path, n)
		}
		object := stored(t, url+path+"/newer")
		if got := fmt.Sprint(object["spec"].(map[string]any)["futureField"]); got != "map[a:1 b:<nil>]" {
			t.Errorf("%s: stored %s", path, got)
		}
		if strings.Contains(path, "jobsets") && object["spec"].(map[string]any)["successPolicies"] == nil {
			t.Error("a field like a known one was not sent")
		}
		out, err = start("--from", "newer", "--name", "again")
		has("--from", out, err, false, "Successfully created job again")
		if object := stored(t, url+path+"/again"); fmt.Sprint(object["spec"].(map[string]any)["futureField"]) != "map[a:1 b:<nil>]" {
			t.Errorf("%s: the copy lost the field: %v", path, object["spec"])
		}
		out, err = both(t, home, env, "create-template", "kept", "--job", "newer", "-n", newerNamespace, "--dry-run=client", "--description", "d")
		has("create-template", out, err, false, "futureField:", "note: spec.futureField of ", "stays as it is: this version does not know the field")
		for _, name := range []string{"newer", "again"} {
			out, err := runWith(t, home, env, "cancel-job", name, "-n", newerNamespace, "--yes")
			has("cancel-job", out, err, false)
		}
	}
	if !s.strict.Load() {
		t.Error("no submission asked for a strict validation")
	}
	text := newerJobs["/apis/batch/v1/namespaces/"+newerNamespace+"/jobs"]
	write(text)
	template := func(args ...string) (string, error) {
		out, err := command(t, append([]string{"hyperpod", "create-template", "own", "-f", file, "-n", newerNamespace, "--dry-run=client"}, args...), env).CombinedOutput()
		return string(out), err
	}
	out, err := template()
	has("a template of a manifest", out, err, false, "futureField:", "stays as it is: this version does not know the field")
	out, err = start("-f", file, "--dry-run=client", "-o", "yaml")
	has("client dry run", out, err, false, "futureField:", "b: null", "only the cluster knows")
	out, err = start("-f", file, "--dry-run", "-o", "json")
	has("dry run", out, err, false, `"Verdict": "Admitted"`)
	out, err = start("-f", folder, "--dry-run=client", "-o", "yaml")
	has("a folder", out, err, false, "futureField:")
	write(strings.Replace(text, "futureField", "paralelism", 1))
	out, err = start("-f", file)
	has("a misspelling", out, err, true, `no field "paralelism" in spec; did you mean "parallelism"?`)
	if strings.Contains(out, "--allow-unknown") {
		t.Errorf("a misspelling is not a reason for --allow-unknown:\n%s", out)
	}
	write(strings.Replace(text, "futureField", "otherField", 1))
	out, err = start("-f", file)
	has("a field that the cluster does not know", out, err, true, `no field "otherField" in spec`)
	if strings.Contains(out, "--allow-unknown") {
		t.Errorf("the cluster would refuse the field:\n%s", out)
	}
	write(strings.Replace(text, "futureField: {a: 1, b: null}", "parallelism: 1", 1))
	out, err = start("-f", file, "--set", "spec.futureField=7", "--dry-run=client", "-o", "yaml")
	has("--set", out, err, false, "futureField: 7")
	out, err = start("-f", file, "--set", "spec.parallelism=two", "--dry-run=client")
	has("a wrong type", out, err, true, "must be a whole number")

	s.closed.Store(true)
	write(text)
	out, err = start("-f", file)
	has("no schema to read", out, err, true, `no field "futureField" in spec`, "--allow-unknown")
	out, err = template()
	has("a template without a schema to read", out, err, true, `no field "futureField" in spec`, "--allow-unknown")
	out, err = template("--allow-unknown")
	has("a template with --allow-unknown", out, err, false, "futureField:")
	out, err = start("-f", file, "--allow-unknown")
	has("--allow-unknown", out, err, false, "Successfully created job newer", "this version does not know the field")
	if object := stored(t, url+"/apis/batch/v1/namespaces/"+newerNamespace+"/jobs/newer"); object["spec"].(map[string]any)["futureField"] == nil {
		t.Error("the field was dropped")
	}
	out, err = start("--from", "newer", "--name", "again")
	has("a copy of a job of the cluster", out, err, false, "Successfully created job again")
	if object := stored(t, url+"/apis/batch/v1/namespaces/"+newerNamespace+"/jobs/again"); object["spec"].(map[string]any)["futureField"] == nil {
		t.Error("the copy lost the field")
	}
	out, err = start("--from", "newer", "--name", "third", "--set", "spec.otherField=1")
	has("a copy with an unknown field", out, err, true, `no field "otherField" in spec`)
}

// newerSpecs are specs of all job kinds. $C is the spec of a pod, $B one that ends.
var newerSpecs = map[string]string{
	"PyTorchJob":         "{pytorchReplicaSpecs: {Worker: {replicas: 1, template: {spec: $C}}}}",
	"TFJob":              "{tfReplicaSpecs: {Worker: {replicas: 1, template: {spec: $C}}}}",
	"XGBoostJob":         "{xgbReplicaSpecs: {Master: {replicas: 1, template: {spec: $C}}}}",
	"JAXJob":             "{jaxReplicaSpecs: {Worker: {replicas: 1, template: {spec: $C}}}}",
	"PaddleJob":          "{paddleReplicaSpecs: {Worker: {replicas: 1, template: {spec: $C}}}}",
	"MPIJob":             "{mpiReplicaSpecs: {Launcher: {replicas: 1, template: {spec: $C}}, Worker: {replicas: 1, template: {spec: $C}}}}",
	"HyperPodPyTorchJob": "{replicaSpecs: [{name: pods, replicas: 1, template: {spec: $C}}]}",
	"Job":                "{template: {spec: $B}}",
	"JobSet":             "{replicatedJobs: [{name: r, template: {spec: {template: {spec: $B}}}}]}",
	"RayJob":             "{entrypoint: e, shutdownAfterJobFinishes: true, rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: {spec: $C}}}}",
	"RayCluster":         "{headGroupSpec: {rayStartParams: {}, template: {spec: $C}}}",
	"RayService":         "{serveConfigV2: x, rayClusterConfig: {headGroupSpec: {rayStartParams: {}, template: {spec: $C}}}}",
	"TrainJob":           "{runtimeRef: {name: torch-distributed}, trainer: {numNodes: 1, resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}}",
	"AppWrapper":         "{components: [{template: {apiVersion: batch/v1, kind: Job, metadata: {name: in}, spec: {template: {spec: $B}}}}]}",
	"Deployment":         "{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: $C}}",
	"StatefulSet":        "{serviceName: a, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: $C}}",
	"LeaderWorkerSet":    "{replicas: 1, leaderWorkerTemplate: {size: 1, workerTemplate: {spec: $C}}}",
	"Notebook":           "{template: {spec: $C}}",
	"SparkApplication":   "{type: Python, image: \"i:1\", sparkVersion: 4.0.0, mainApplicationFile: f, driver: {cores: 1}, executor: {instances: 1}}",
	"Workspace":          "{displayName: d, image: i, resources: {limits: {nvidia.com/gpu: 1}}}",
	"InferenceEndpointConfig": "{modelName: m, modelSourceConfig: {modelSourceType: s3}, worker: {image: i, modelInvocationPort: {containerPort: 80}, " +
		"modelVolumeMount: {name: v}, resources: {limits: {nvidia.com/gpu: 1}}}, replicas: 1}",
	"JumpStartModel": "{model: {modelId: m}, server: {instanceType: ml.g5.xlarge}}",
	"Pod":            "$B",
}

// An unknown field of any kind is sent as it is, also by the tools of `hyperpod mcp`.
func TestNewerFieldsOfKinds(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s, url, env := newer(t, home)
	s.closed.Store(true)
	c := connectMCP(t, home, env)
	for _, k := range kinds.Jobs() {
		spec := newerSpecs[k.Kind]
		if spec == "" {
			if gotype.Of(k) != nil {
				t.Errorf("%s is not tested", k.Kind)
			}
			continue
		}
		pod := `containers: [{name: c, image: "i:1", resources: {limits: {nvidia.com/gpu: 1}}}]`
		if container := k.Launch().Container; container != "" {
			pod = strings.Replace(pod, "name: c", "name: "+container, 1)
		}
		spec = strings.NewReplacer("$C", "{"+pod+"}", "$B", "{restartPolicy: Never, "+pod+"}").Replace(spec)
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: newer}\nspec: {futureField: {a: 1, b: null}, %s\n", k.GroupVersion(), k.Kind, spec[1:])
		for _, allow := range []bool{false, true} {
			got := texts(callTool(t, c, "dry_run_job", map[string]any{"manifest": text, "namespace": newerNamespace, "allow_unknown": allow}))
			if strings.Contains(got, `"Verdict":`) != allow || strings.Contains(got, "Refused") || strings.Contains(got, `no field \"futureField\" in spec`) == allow {
				t.Errorf("%s, allow_unknown %v: %s", k.Kind, allow, got)
			}
			got = texts(callTool(t, c, "validate_template", map[string]any{"template": text, "allow_unknown": allow}))
			if strings.Contains(got, `"Valid":true`) != allow || !strings.Contains(got, "futureField") {
				t.Errorf("%s, allow_unknown %v: %s", k.Kind, allow, got)
			}
		}
		file := filepath.Join(home, "job.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := runWith(t, home, env, "start-job", "-f", file, "-n", newerNamespace, "--allow-unknown", "--yes"); err != nil {
			t.Errorf("%s: %v\n%s", k.Kind, err, out)
			continue
		}
		object := stored(t, url+k.Path(newerNamespace, "newer"))
		if got := fmt.Sprint(object["spec"].(map[string]any)["futureField"]); got != "map[a:1 b:<nil>]" {
			t.Errorf("%s: stored %s", k.Kind, got)
		}
	}
}

// stored reads an object from the server.
func stored(t *testing.T, url string) map[string]any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", url, data, err)
	}
	return object
}
