package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Binaries holds the paths of what Build made. Paths of components that were not asked for are empty.
type Binaries struct {
	Etcd, APIServer, ControllerManager, Scheduler, Kubectl string
	Kueue, Kueuectl, KueueV1beta1                          string
	KWOK, TrainingOperator, MPIOperator                    string
	Stern, JobSet, KubeRay, LWS                            string

	manifests map[Component]string
}

// manifestsFile is in the folder of every component; change its name with its format.
const manifestsFile = "manifests.json"

// repository is the module whose folder test/cluster/modules pins the components.
const repository = "github.com/hyperpod-cli/hyperpod"

// CacheDir is where binaries are kept: $HYPERPOD_TEST_CACHE, else a folder of the user's cache.
func CacheDir() (string, error) {
	if dir := os.Getenv("HYPERPOD_TEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the test binaries: %w; set HYPERPOD_TEST_CACHE", err)
	}
	return filepath.Join(base, "hyperpod-testbed"), nil
}

// Build makes the binaries and manifests of the components (all but the optional ones when none is named), or finds
// them in the cache. The first build takes many minutes; progress goes to log, which may be nil.
func Build(ctx context.Context, log io.Writer, components ...Component) (Binaries, error) {
	if log == nil {
		log = io.Discard
	}
	if len(components) == 0 {
		components = Components()
	}
	// The manifests are rendered by the kubectl of this component.
	if !slices.Contains(components, Kubernetes) {
		components = append([]Component{Kubernetes}, components...)
	}
	b, err := newBuilder(ctx, log)
	if err != nil {
		return Binaries{}, err
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return Binaries{}, fmt.Errorf("cannot make the folder for test binaries: %w; set HYPERPOD_TEST_CACHE to one you may write", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(b.cache, "lock"))
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()

	bins := Binaries{manifests: map[Component]string{}}
	for _, c := range components {
		dir, err := b.component(ctx, c, bins.Kubectl)
		if err != nil {
			return Binaries{}, err
		}
		bins.add(c, dir)
	}
	return bins, nil
}

// Built says whether Build would find all the components (all when none is named) in the cache.
func Built(ctx context.Context, components ...Component) bool {
	if len(components) == 0 {
		components = Components()
	}
	b, err := newBuilder(ctx, io.Discard)
	if err != nil {
		return false
	}
	for _, c := range components {
		dir, err := b.folder(c)
		if err != nil {
			return false
		}
		if _, err := os.Stat(dir); err != nil {
			return false
		}
	}
	return true
}

func (b *Binaries) add(c Component, dir string) {
	bin := func(name string) string { return filepath.Join(dir, name) }
	switch c {
	case Kubernetes:
		b.Etcd, b.APIServer, b.Kubectl = bin("etcd"), bin("kube-apiserver"), bin("kubectl")
		b.ControllerManager, b.Scheduler = bin("kube-controller-manager"), bin("kube-scheduler")
	case Kueue:
		b.Kueue, b.Kueuectl = bin("kueue"), bin("kueuectl")
	case KueueOld:
		b.KueueV1beta1 = bin("kueue")
	case KWOK:
		b.KWOK = bin("kwok")
	case TrainingOperator:
		b.TrainingOperator = bin("training-operator")
	case MPIOperator:
		b.MPIOperator = bin("mpi-operator")
	case Stern:
		b.Stern = bin("stern")
	case JobSet:
		b.JobSet = bin("jobset")
	case KubeRay:
		b.KubeRay = bin("kuberay")
	case LWS:
		b.LWS = bin("lws")
	}
	b.manifests[c] = bin(manifestsFile)
}

type builder struct {
	log       io.Writer
	cache     string
	modules   string
	goVersion string
}

func newBuilder(ctx context.Context, log io.Writer) (*builder, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	modules, err := modulesDir()
	if err != nil {
		return nil, err
	}
	b := &builder{log: log, cache: cache, modules: modules}
	b.goVersion, err = b.goOutput(ctx, modules, "env", "GOVERSION")
	return b, err
}

// folder is where the cache keeps c as its files pin it now.
func (b *builder) folder(c Component) (string, error) {
	r, ok := recipes[c]
	if !ok {
		return "", fmt.Errorf("unknown test component %q; known: %v", c, slices.Concat(Components(), Optional()))
	}
	key, version, err := b.key(c, r)
	if err != nil {
		return "", err
	}
	return filepath.Join(b.cache, fmt.Sprintf("%s-%s-%s", c, version, key)), nil
}

// component returns the folder with everything of c, building it when it is not there.
func (b *builder) component(ctx context.Context, c Component, kubectl string) (string, error) {
	dir, err := b.folder(c)
	if err != nil {
		return "", err
	}
	r := recipes[c]
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(b.cache, "building-")
	if err != nil {
		return "", fmt.Errorf("cannot write to the cache of test binaries: %w", err)
	}
	defer os.RemoveAll(work)
	if err := b.compile(ctx, c, r, work); err != nil {
		return "", err
	}
	if kubectl == "" {
		kubectl = filepath.Join(work, "kubectl")
	}
	manifests, err := b.render(ctx, c, r, kubectl)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(work, manifestsFile), manifests, 0o644); err != nil {
		return "", fmt.Errorf("cannot keep the manifests of %s: %w", c, err)
	}
	// MkdirTemp makes folders that only their owner may enter.
	if err := os.Chmod(work, 0o755); err != nil {
		return "", err
	}
	// Renaming last means that a folder with the final name is always complete.
	if err := os.Rename(work, dir); err != nil {
		return "", fmt.Errorf("cannot keep the binaries of %s: %w", c, err)
	}
	return dir, nil
}

func (b *builder) compile(ctx context.Context, c Component, r recipe, out string) error {
	names := make([]string, 0, len(r.packages))
	for name := range r.packages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b.log, "building %s (%s)\n", name, c)
		began := time.Now()
		_, err := b.goOutput(ctx, filepath.Join(b.modules, string(c)), "build", "-mod=readonly",
			"-ldflags", "-s -w"+r.ldflags, "-o", filepath.Join(out, name), r.packages[name])
		if err != nil {
			return fmt.Errorf("cannot build %s: %w", name, err)
		}
		fmt.Fprintf(b.log, "built %s in %s\n", name, time.Since(began).Round(time.Second))
	}
	return nil
}

// render returns the manifests of c as its project ships them, as a JSON array: reading megabytes of YAML at each start takes seconds.
func (b *builder) render(ctx context.Context, c Component, r recipe, kubectl string) ([]byte, error) {
	var out bytes.Buffer
	if r.kustomize != "" {
		dir, err := b.moduleFolder(ctx, c, r.module)
		if err != nil {
			return nil, err
		}
		rendered, err := output(exec.CommandContext(ctx, kubectl, "kustomize", filepath.Join(dir, filepath.FromSlash(r.kustomize))))
		if err != nil {
			return nil, fmt.Errorf("cannot render the manifests of %s: %w", c, err)
		}
		out.Write(rendered)
	}
	for _, crd := range r.crds {
		module, path, _ := strings.Cut(crd, ":")
		dir, err := b.moduleFolder(ctx, c, module)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, fmt.Errorf("module %s has no CRD at %s; its layout has changed, adjust the recipe: %w", module, path, err)
		}
		fmt.Fprintf(&out, "\n---\n%s", text)
	}
	objects, err := parseObjects(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the manifests of %s: %w", c, err)
	}
	return json.Marshal(objects)
}

// moduleFolder is where the module cache keeps the version of module that component c pins.
func (b *builder) moduleFolder(ctx context.Context, c Component, module string) (string, error) {
	folder := filepath.Join(b.modules, string(c))
	list := func() (string, error) {
		return b.goOutput(ctx, folder, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
	}
	dir, err := list()
	if err != nil || dir != "" {
		return dir, err
	}
	if _, err := b.goOutput(ctx, folder, "mod", "download", module); err != nil {
		return "", fmt.Errorf("cannot download %s: %w", module, err)
	}
	return list()
}

var requireLine = regexp.MustCompile(`(?m)^(?:require|\t)\s*(\S+) (v\S+)`)

// key names everything that a build depends on.
func (b *builder) key(c Component, r recipe) (key, version string, err error) {
	sum := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(b.modules, string(c), name))
		if err != nil {
			return "", "", fmt.Errorf("cannot read what pins %s: %w", c, err)
		}
		fmt.Fprintf(sum, "%s %d\n%s\n", name, len(text), text)
		if name == "go.mod" {
			for _, m := range requireLine.FindAllSubmatch(text, -1) {
				if string(m[1]) == r.module {
					version = string(m[2])
				}
			}
		}
	}
	// fmt prints maps sorted by key, so this is stable.
	fmt.Fprintf(sum, "%s\n%s\n%s\n%v\n%s\n%v\n%v\n", manifestsFile, b.goVersion, r.ldflags, r.packages, r.kustomize, r.crds, buildEnv)
	if version == "" {
		return "", "", fmt.Errorf("modules/%s/go.mod does not require %s", c, r.module)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:12], version, nil
}

// buildEnv keeps the user's own Go settings out of the build. Static binaries, since operators run in a chroot.
var buildEnv = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"}

func (b *builder) goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), buildEnv...)
	out, err := output(cmd)
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("the go command is not on PATH: %w", err)
	}
	return strings.TrimSpace(string(out)), err
}

// output runs cmd and returns its standard output; the error carries the end of what it wrote to standard error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, lastLines(stderr.Bytes(), 20))
	}
	return stdout.Bytes(), nil
}

// modulesDir finds test/cluster/modules of the repository around the working directory.
// It cannot be embedded: Go leaves nested modules out of embedded folders.
func modulesDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("no working directory: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && regexp.MustCompile(`(?m)^module `+regexp.QuoteMeta(repository)+`$`).Match(text) {
			return filepath.Join(dir, "test", "cluster", "modules"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the repository of %s, whose test/cluster/modules pins the test binaries; run from there", start, repository)
		}
	}
}
