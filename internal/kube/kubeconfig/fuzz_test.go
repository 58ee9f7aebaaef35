package kubeconfig

import (
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// FuzzEdit: a kubeconfig that can be edited is one for clientcmd afterwards, with the entry;
// editing it again changes nothing.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{"", "# a\nkind: Config\napiVersion: v1\nusers:\n- name: b # c\n  user: {token: x}\n", "clusters: [", "users: null\ncontexts: []\n", "a: &x 1\nb: *x\n", "---\nkind: Config\n---\n", "clusters: {}\n",
		"{}", "users:\n- name: ml\n  user: {}\n- name: ml\n"} {
		f.Add([]byte(s))
	}
	e := Entry{Name: "ml", Context: "ml", Namespace: "team", Server: "https://127.0.0.1:1", CA: "YQ==", Exec: Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "hyperpod", Args: []string{"get-token"}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := edit(text, e)
		if err != nil {
			return
		}
		again, err := edit(out, e)
		if err != nil || string(again) != string(out) {
			t.Errorf("%q\nbecomes %q,\nthen %q, %v", text, out, again, err)
		}
		cfg, err := clientcmd.Load(out)
		if err != nil {
			if _, before := clientcmd.Load(text); before == nil {
				t.Errorf("%q\nbecomes %q: %v", text, out, err)
			}
			return
		}
		if cfg.CurrentContext != "ml" || cfg.Clusters["ml"] == nil || cfg.Clusters["ml"].Server != e.Server || cfg.AuthInfos["ml"] == nil || cfg.AuthInfos["ml"].Exec == nil || cfg.Contexts["ml"].Namespace != "team" {
			t.Errorf("%q\nbecomes %q", text, out)
		}
	})
}
