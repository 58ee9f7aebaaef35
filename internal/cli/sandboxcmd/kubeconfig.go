package sandboxcmd

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// marker is the first line of kubeconfig files that sandbox serve writes. It only
// replaces files with this line.
const marker = "# Written by hyperpod sandbox serve, which replaces and removes this file.\n"

// kubeconfigFile is the kubeconfig file of a served sandbox.
type kubeconfigFile struct {
	path    string
	own     bool // in the folder of the sandboxes, where only hyperpod writes
	content []byte
}

// write writes the kubeconfig in one step, readable only by its owner. It replaces
// only regular files that an earlier serve left.
func (k *kubeconfigFile) write(name, url, token string, authority []byte) error {
	if err := k.check(); err != nil {
		return err
	}
	k.content = kubeconfig(name, url, token, authority)
	_, err := atomicfile.Write(k.path, func(f *os.File) error { _, err := f.Write(k.content); return err })
	if err != nil {
		return errs.New("cannot write the kubeconfig", errs.FileReason(err)).WithFact("file", k.path).WithCause(err)
	}
	return nil
}

// check returns an error if the path holds something that serve must not replace.
func (k *kubeconfigFile) check() error {
	refuse := func(why string) error {
		return errs.New("cannot write the kubeconfig", why).WithFact("file", k.path).
			Suggest(errs.Option("--write-kubeconfig", "FILE").WithNote("a new file"))
	}
	info, err := os.Lstat(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return refuse(errs.FileReason(err))
	case !info.Mode().IsRegular():
		return refuse("the path exists and is not a regular file")
	case k.own:
		return nil
	}
	old, err := bounded.File(k.path, bounded.Kubeconfig)
	if err != nil {
		return refuse(errs.FileReason(err))
	}
	if !bytes.HasPrefix(old, []byte(marker)) {
		return refuse("the file exists and is not from sandbox serve")
	}
	return nil
}

// remove deletes the file if it still has this start's content: its token is void now.
func (k *kubeconfigFile) remove() {
	if now, err := bounded.File(k.path, bounded.Kubeconfig); err == nil && bytes.Equal(now, k.content) {
		_ = os.Remove(k.path) // a file that stays does no harm
	}
}

// kubeconfig returns a kubeconfig for a served sandbox; authority is its certificate
// in PEM form.
func kubeconfig(name, url, token string, authority []byte) []byte {
	return fmt.Appendf(nil, marker+`apiVersion: v1
kind: Config
current-context: sandbox-%[1]s
clusters:
- name: sandbox-%[1]s
  cluster: {server: %[2]q, certificate-authority-data: %[4]s}
contexts:
- name: sandbox-%[1]s
  context: {cluster: sandbox-%[1]s, user: sandbox}
users:
- name: sandbox
  user: {token: %[3]q}
`, name, url, token, base64.StdEncoding.EncodeToString(authority))
}
