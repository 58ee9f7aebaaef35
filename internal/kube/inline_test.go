package kube

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestFromKubeconfig: a kubeconfig that a cluster stores may name a server with TLS and a token, and nothing of this machine.
func TestFromKubeconfig(t *testing.T) {
	text := func(cluster, user string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {%s}}]\nusers: [{name: u, user: {%s}}]\n", cluster, user)
	}
	ca := "certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte("x"))
	good := "server: 'https://worker:6443', " + ca
	for name, c := range map[string]struct{ text, refused string }{
		"token":              {text(good, "token: hush"), ""},
		"certificate":        {text(good, "client-certificate-data: aA==, client-key-data: aA=="), ""},
		"empty":              {"", "no usable context"},
		"not YAML":           {"token: [hush", "not a valid kubeconfig"},
		"not a map":          {"hush", "not a valid kubeconfig"},
		"no context":         {strings.Replace(text(good, "token: hush"), "current-context: c", "", 1), "no usable context"},
		"a program":          {text(good, "exec: {apiVersion: client.authentication.k8s.io/v1, command: hush}"), "runs a program"},
		"an auth provider":   {text(good, "auth-provider: {name: hush}"), "runs a program"},
		"a token file":       {text(good, "tokenFile: /hush"), "names files"},
		"a certificate file": {text(good, "client-certificate: /hush, client-key: /hush"), "names files"},
		"a password":         {text(good, "username: a, password: hush"), "has a password"},
		"a CA file":          {text("server: 'https://worker:6443', certificate-authority: /hush", "token: hush"), "names files"},
		"no TLS":             {text("server: 'http://worker:6443'", "token: hush"), "does not verify"},
		"not verified":       {text("server: 'https://worker:6443', insecure-skip-tls-verify: true", "token: hush"), "does not verify"},
		"a proxy":            {text(good+", proxy-url: 'http://hush'", "token: hush"), "names a proxy"},
		"no server":          {text(ca, "token: hush"), "does not verify"},
	} {
		cfg, err := FromKubeconfig([]byte(c.text))
		switch {
		case c.refused == "" && (err != nil || cfg.Host != "https://worker:6443"):
			t.Errorf("%s: %v, %v", name, cfg, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "hush")):
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}
