package e2e

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// admissionWebhooks: a webhook of the cluster that hangs, or that redirects, fails a start with its name, and nothing is
// created.
func admissionWebhooks(t *testing.T, bed *cluster.Bed) {
	const namespace = "hyperpod-ns-researchers"
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections to it are accepted by the system, and never answered
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	moved := httptest.NewTLSServer(http.RedirectHandler("https://127.0.0.1:1/", http.StatusFound))
	defer moved.Close()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: moved.Certificate().Raw}))
	admin := newUser(t, bed.Kubeconfig)
	for name, client := range map[string]cluster.Object{
		"hangs":     {"url": "https://" + silent.Addr().String() + "/"},
		"redirects": {"url": moved.URL + "/", "caBundle": ca},
	} {
		t.Run(name, func(t *testing.T) {
			const kind = "validatingwebhookconfigurations"
			hook := cluster.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": cluster.Object{"name": name}, "webhooks": []any{cluster.Object{
				"name": name + ".example.com", "clientConfig": client, "timeoutSeconds": 1, "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
				"namespaceSelector": cluster.Object{"matchLabels": cluster.Object{"kubernetes.io/metadata.name": namespace}},
				"rules":             []any{cluster.Object{"apiGroups": []any{"kubeflow.org"}, "apiVersions": []any{"*"}, "operations": []any{"CREATE"}, "resources": []any{"pytorchjobs"}}}}}}
			if err := bed.ApplyObjects(t.Context(), hook); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if _, err := bed.Kubectl(t.Context(), "delete", kind, name); err != nil {
					t.Error(err)
				}
			}()
			u := admin.in(t)
			err := bed.WaitFor(t.Context(), "the webhook", func(ctx context.Context) error {
				r := u.run("start-job", "--name", "hooked", "--template", "smpv2-llama2", "-n", namespace, "--dry-run=server")
				if r.code == 0 {
					return errors.New("not called yet")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, more := range [][]string{nil, {"--dry-run=server"}, {"--replace"}} {
				r := u.run(append([]string{"start-job", "--name", "hooked", "--template", "smpv2-llama2", "-n", namespace}, more...)...)
				if r.code != 1 || !strings.Contains(r.stderr, name+".example.com") || strings.Count(r.stderr, "Error:") != 1 {
					t.Errorf("%v: exit code %d\n%s%s", more, r.code, r.stdout, r.stderr)
				}
			}
			if r := u.run("start-job", "--name", "hooked", "--template", "smpv2-llama2", "-n", namespace, "--dry-run", "-o", "table"); !strings.Contains(r.stdout, "does not say whether it accepts the job: ") || !strings.Contains(r.stdout, name+".example.com") {
				t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			if r := u.run("get-job", "hooked", "-n", namespace); r.code != 5 {
				t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// restrictedNotebook: pods of the templates notebook and dev run in a namespace with the level "restricted" of Pod
// Security; a dry run refuses what the API server refuses there.
func restrictedNotebook(t *testing.T, bed *cluster.Bed) {
	const namespace = "hyperpod-ns-researchers"
	label := func(value string) {
		t.Helper()
		if _, err := bed.Kubectl(t.Context(), "label", "namespace", namespace, "--overwrite", "pod-security.kubernetes.io/enforce"+value); err != nil {
			t.Fatal(err)
		}
	}
	label("=restricted")
	defer label("-")
	admin := newUser(t, bed.Kubeconfig)
	for _, name := range []string{"notebook", "dev"} {
		admin.ok("start-job", "--name", "my-"+name, "--template", name, "--image", "example.com/lab:1", "--instance-type", "ml.p5.48xlarge", "--accelerators", "1", "-n", namespace, "--wait", "--timeout", "60s")
	}
	r := admin.run("start-job", "--name", "plain", "--template", "smpv2-llama2", "-n", namespace, "--dry-run", "-o", "table")
	if r.code != 3 || !strings.Contains(r.stdout, "forbids the pods of Worker (Pod Security level restricted)") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	admin.ok("cancel-job", "my-notebook", "my-dev", "-n", namespace, "--wait", "--timeout", "60s")
}
