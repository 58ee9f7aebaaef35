package factory

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestNamePlugin: --debug names the program that a kubeconfig would run, without its
// arguments; otherwise nothing is printed.
func TestNamePlugin(t *testing.T) {
	for _, debug := range []bool{true, false} {
		var out bytes.Buffer
		f := &Factory{IO: &output.IO{Err: &out}, Global: Global{Debug: debug}}
		f.namePlugin(&api.ExecConfig{Command: "fetch\x1b[31m", Args: []string{"--secret=s3cr3t"}}, kube.Options{})
		f.namePlugin(nil, kube.Options{})
		text := out.String()
		if strings.Contains(text, "fetch") != debug || strings.Contains(text, "s3cr3t") || strings.Contains(text, "\x1b") {
			t.Errorf("debug %v: %q", debug, text)
		}
	}
}
