package templates

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// The fields of objects that a manifest brings along with its job are checked. Another
// version of their kind can have other fields.
func TestFieldsOfObjectsBesideJobs(t *testing.T) {
	for _, c := range []struct{ object, want string }{
		{"apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {ruls: []}", `no field "ruls" in spec; did you mean "rules"?`},
		{"apiVersion: networking.k8s.io/v1beta1\nkind: Ingress\nspec: {backend: {serviceName: a}}", ""},
		{"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {podSelector: {}, ingres: []}", `no field "ingres" in spec`},
		{"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules: [{verbs: get}]", `rules[0].verbs is the text "get": must be a list`},
		{"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nroleRef: {nme: a}", `no field "nme" in roleRef`},
		{"apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {minAvailable: [1]}", `spec.minAvailable is a list: must be a number or text`},
		{"apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nspec: {spec: {devices: {requests: [{name: a, deviceClassName: gpu}]}}}",
			`no field "deviceClassName" in spec.spec.devices.requests[0]`},
		{"apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimTemplate\nspec: {spec: {devices: {requests: [{name: a, deviceClassName: gpu}]}}}", ""},
		{"apiVersion: ray.io/v1alpha1\nkind: RayJob\nspec: {entrypoint: x, runtimeEnv: abc}", `no field "runtimeEnv" in spec`},
		{"apiVersion: ray.io/v1alpha1\nkind: RayService\nspec: {serveService: {metadata: {name: a}}, deploymentUnhealthySecondThreshold: 3}", ""},
		{"apiVersion: ray.io/v1alpha1\nkind: RayService\nspec: {deploymentUnhealthySecondThreshold: soon}", "must be a whole number"},
		{"apiVersion: v1\nkind: Namespace\nmetdata: {}", `no field "metdata" at the top`},
	} {
		text := strings.Replace(c.object, "\nspec", "\nmetadata: {name: a}\nspec", 1)
		if !strings.Contains(text, "metadata") {
			text += "\nmetadata: {name: a}"
		}
		_, err := parse.Text("t", "t", []byte(text+"\n"))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s:\n%v", text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s:\n%v\nwant %s", text, err, c.want)
		}
	}
}
