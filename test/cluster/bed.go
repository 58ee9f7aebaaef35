package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// KueueVersion chooses the Kueue of a bed.
type KueueVersion string

const (
	// KueueCurrent is the version the product embeds; it serves v1beta2 and v1beta1.
	KueueCurrent KueueVersion = "current"
	// KueueV1beta1 is an older version that serves only v1beta1.
	KueueV1beta1 KueueVersion = "v1beta1"
)

// Tuning raises an operator's limits for benchmarks. Zero values keep what the operator ships with.
type Tuning struct {
	Threads int // workers per kind
	QPS     int // requests a second to the API server; bursts are twice that
}

// Options of a bed. The zero value is a bed with the current Kueue in a temporary folder.
type Options struct {
	Kueue             KueueVersion
	KueueFeatureGates map[string]bool
	NoFairSharing     bool // preemption by priority and reclaim only
	// DeviceClasses are resources.deviceClassMappings of Kueue's configuration: resources by the class of their devices.
	DeviceClasses map[string]string
	// UseHalfLife is admissionFairSharing.usageHalfLifeTime of Kueue's configuration; 0 leaves admission fair sharing off.
	UseHalfLife time.Duration
	// KueueOnly leaves out the operators of job kinds, those kinds, and the scheduler: half of a bed, for
	// tests that make Workloads themselves.
	KueueOnly bool
	// AllKinds serves every kind that the current Kueue manages, and switches on its integration, also with KueueOnly.
	AllKinds         bool
	TrainingOperator Tuning
	MPIOperator      Tuning
	APIServerArgs    []string // added to the API server's flags

	// Reaches are other beds to whose API servers Kueue can connect, at the addresses in their kubeconfigs: workers of MultiKueue.
	Reaches []*Bed

	// More are optional components to run: the operators of kinds that Kueue manages and an
	// ordinary bed only serves.
	More []Component
	// RayJobStatus is what Ray says of a job, by its submission id: PENDING, RUNNING, SUCCEEDED,
	// FAILED or STOPPED. Without it every job is RUNNING. Ray itself runs in the pods, so here it is a fake.
	RayJobStatus func(submissionID string) string

	Log io.Writer // progress; nil for none
	Dir string    // state and logs, kept after Stop; empty for a temporary folder, which Stop removes
}

// gates are Kueue's feature gates: those asked for, and those that the kinds need.
func (o Options) gates() map[string]bool {
	gates := maps.Clone(o.KueueFeatureGates)
	if o.AllKinds {
		if gates == nil {
			gates = map[string]bool{}
		}
		gates["SparkApplicationIntegration"] = true
	}
	return gates
}

// components are what a bed with these options needs. kueuectl comes with the current Kueue, so that is always there.
func (o Options) components() []Component {
	components := []Component{Kubernetes, Kueue, KWOK}
	if !o.KueueOnly || o.AllKinds {
		components = append(components, TrainingOperator, MPIOperator)
	}
	if o.Kueue == KueueV1beta1 {
		components = append(components, KueueOld)
	}
	return append(components, o.More...)
}

// without reports that a bed leaves out an object that Kueue ships or integrates with: the kind of others.
func (o Options) without(object Object) bool {
	if !isDefinition(object) || o.AllKinds {
		return false
	}
	return o.KueueOnly && field(object, "spec", "group") != "kueue.x-k8s.io" || slices.Contains(rareKinds, field(object, "spec", "names", "kind"))
}

// Bed is a running cluster.
type Bed struct {
	Kubeconfig   string // file of a cluster administrator
	Server       string // URL of the API server
	CA           []byte // PEM of its authority
	KubectlPath  string
	KueuectlPath string
	PodLog       string // what every fake pod's log reads from; one line a time in CRI format
	LogDir       string // one file per process

	options  Options
	binaries Binaries
	dir      string
	address  net.IP
	ports    ports
	pki      *pki
	client   *http.Client
	host     *thread
	threads  []*thread
	closers  []io.Closer

	operators []operator

	mu        sync.Mutex
	processes []*process // in the order of their start
	apiDown   bool       // stopped on purpose: some operators then end
	stopped   bool
}

const (
	tempPrefix = "hyperpod-testbed-"
	folderLock = "in-use"
)

// startTimeout is for a slow, busy machine; a start usually takes well under a minute.
const startTimeout = 5 * time.Minute

// Start builds what is missing and starts a bed. On failure everything is stopped again and the
// error carries the end of the log of the process that failed.
func Start(ctx context.Context, options Options) (*Bed, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	if options.Kueue == "" {
		options.Kueue = KueueCurrent
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	if options.Kueue != KueueCurrent && options.Kueue != KueueV1beta1 {
		return nil, fmt.Errorf("unknown Kueue %q; choose %q or %q", options.Kueue, KueueCurrent, KueueV1beta1)
	}
	binaries, err := Build(ctx, options.Log, options.components()...)
	if err != nil {
		return nil, err
	}
	b := &Bed{options: options, binaries: binaries, KubectlPath: binaries.Kubectl, KueuectlPath: binaries.Kueuectl}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %s", startTimeout))
	defer cancel()
	if err := b.start(ctx); err != nil {
		err = fmt.Errorf("the test cluster does not start: %w", err)
		return nil, errors.Join(err, b.Stop())
	}
	return b, nil
}

func (b *Bed) start(ctx context.Context) error {
	if err := b.prepare(); err != nil {
		return err
	}
	progress := b.progress()
	in, err := b.plan()
	if err != nil {
		return err
	}
	if err := b.define(ctx, in.definitions); err != nil {
		return err
	}
	if err := b.startEtcd(ctx); err != nil {
		return err
	}
	if err := b.startAPIServer(ctx); err != nil {
		return err
	}
	progress("API server ready at " + b.Server)
	controllerManager, scheduler, err := b.startControllers()
	if err != nil {
		return err
	}
	kwok, err := b.startKWOK()
	if err != nil {
		return err
	}
	if err := b.startOperators(ctx, in, progress); err != nil {
		return err
	}
	waits := []func() error{
		func() error {
			return controllerManager.waitReady(ctx, healthy(probeClient, fmt.Sprintf("https://127.0.0.1:%d/healthz", b.ports.controllerManager)))
		},
		func() error {
			return kwok.waitReady(ctx, healthy(probeClient, fmt.Sprintf("https://127.0.0.1:%d/healthz", b.ports.kwok)))
		},
		// Pods are refused in a namespace until the controller-manager has made its default account.
		func() error {
			return controllerManager.waitReady(ctx, func(ctx context.Context) error {
				return b.Get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil)
			})
		},
	}
	if scheduler != nil {
		waits = append(waits, func() error {
			return scheduler.waitReady(ctx, healthy(probeClient, fmt.Sprintf("https://127.0.0.1:%d/healthz", b.ports.scheduler)))
		})
	}
	if err := parallel(waits...); err != nil {
		return err
	}
	progress("ready")
	return nil
}

// prepare makes folders, certificates and the administrator's kubeconfig.
func (b *Bed) prepare() error {
	var err error
	if b.options.Dir != "" {
		if b.dir, err = filepath.Abs(b.options.Dir); err == nil {
			err = os.MkdirAll(b.dir, 0o755)
		}
	} else {
		removeLeftovers(filepath.Join(os.TempDir(), tempPrefix+"*"))
		b.dir, err = os.MkdirTemp("", tempPrefix)
	}
	if err != nil {
		return fmt.Errorf("cannot make the folder of the bed: %w", err)
	}
	// Two beds in one folder would ruin each other.
	lock, err := holdFolder(b.dir)
	if err != nil {
		return fmt.Errorf("cannot use %s for the bed, another one may be running there: %w", b.dir, err)
	}
	b.closers = append(b.closers, lock)
	if _, err := os.Stat(filepath.Join(b.dir, "etcd")); err == nil {
		return fmt.Errorf("%s holds the state of an earlier bed, whose certificates are gone; choose an empty folder", b.dir)
	}
	b.LogDir = filepath.Join(b.dir, "logs")
	if err := os.MkdirAll(b.LogDir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for logs: %w", err)
	}
	if b.address, err = ownAddress(); err != nil {
		return err
	}
	if b.ports, err = newPorts(); err != nil {
		return err
	}
	if b.host, err = newThread(false); err != nil {
		return err
	}
	b.threads = append(b.threads, b.host)
	if b.pki, err = newPKI(filepath.Join(b.dir, "pki")); err != nil {
		return err
	}
	admin, err := b.pki.ca.client("testbed-admin", "system:masters")
	if err != nil {
		return err
	}
	if err := admin.write(b.pki.dir, "admin"); err != nil {
		return err
	}
	b.Server, b.CA = fmt.Sprintf("https://127.0.0.1:%d", b.ports.api), b.pki.ca.pem
	if b.client, err = newClient(b.CA, admin); err != nil {
		return err
	}
	b.Kubeconfig, err = b.writeKubeconfig("admin", "", admin)
	return err
}

// kueueAPIVersion is the newest version of Kueue's API that the bed serves.
func (b *Bed) kueueAPIVersion() string {
	if b.options.Kueue == KueueV1beta1 {
		return "kueue.x-k8s.io/v1beta1"
	}
	return "kueue.x-k8s.io/v1beta2"
}

func (b *Bed) progress() func(string) {
	began := time.Now()
	return func(what string) { fmt.Fprintf(b.options.Log, "%5.1fs %s\n", time.Since(began).Seconds(), what) }
}
