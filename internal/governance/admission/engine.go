package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	afs "sigs.k8s.io/kueue/pkg/util/admissionfairsharing"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// Config is the part of a cluster's Kueue configuration that changes decisions.
// The zero value is a default Kueue installation.
type Config struct {
	// FairSharing is true when the Kueue Configuration has fairSharing.
	FairSharing bool
	// FairSharingStrategies are fairSharing.preemptionStrategies; empty means Kueue's default pair.
	FairSharingStrategies []string
	// Now is the clock; nil means time.Now. It sets the times of conditions and decides whether a back-off is over.
	Now func() time.Time
	// Gates are the cluster's featureGates. Unknown or locked ones become warnings, see [Engine.Warnings].
	Gates map[string]bool
	// IgnoreUndeclaredResources is resources.quotaCheckStrategy: IgnoreUndeclared.
	IgnoreUndeclaredResources bool
	// ExcludeResourcePrefixes is resources.excludeResourcePrefixes.
	ExcludeResourcePrefixes []string
	// Transformations is resources.transformations.
	Transformations []config.ResourceTransformation
	// RequeueByCreation is waitForPodsReady.requeuingStrategy.timestamp: Creation. Otherwise, a workload whose pods were
	// not ready in time queues by the time of its eviction.
	RequeueByCreation bool
	// BlockAdmission is waitForPodsReady.blockAdmission: no workload is admitted before the
	// pods of all that have quota are ready.
	BlockAdmission bool
	// AdmissionFairSharing is admissionFairSharing; nil if Kueue has it off, or if that is not known. It affects
	// ClusterQueues with an admissionScope.
	AdmissionFairSharing *config.AdmissionFairSharing
	// DeviceClasses are resources.deviceClassMappings.
	DeviceClasses []config.DeviceClassMapping
	// Unread are kinds of resource.k8s.io (DeviceClass, ...) with objects that could not be read. A decision that needs
	// an object of such a kind is unknown, unless that object is loaded.
	Unread []string
	// OrderByUse is true when Kueue has admissionFairSharing on; nil when that is not known.
	OrderByUse *bool
}

// Engine holds one cluster's queues, quotas and workloads. Create it with [New].
type Engine struct {
	now         func() time.Time
	clock       simClock
	log         logr.Logger
	store       *store
	client      reader
	cache       *schdcache.Cache
	queues      *qcache.Manager
	requeue     func(context.Context) int
	preempt     *preemption.Preemptor
	ordering    workload.Ordering
	format      *resources.ResourceFormatter
	info        []workload.InfoOption
	quota       config.QuotaCheckStrategy
	fair        bool
	byUse       *bool // Config.OrderByUse
	use         *config.AdmissionFairSharing
	devices     devices
	podsFirst   bool                        // Config.BlockAdmission
	assumeReady bool                        // see AssumeReady
	recheck     *int                        // not nil: compare what a searcher concludes with Kueue's own search, and count
	strategies  []config.PreemptionStrategy // in the order in which Kueue tries them
	nominating  []*fairState                // set while the entries of a cycle are nominated, which changes nothing
	remembered  []*fairMemory               // by the number of the snapshot: each is used by one goroutine at a time

	cycle       int64
	queuesIn    map[string]bool // LocalQueues ("ns/name") known to the queue manager
	cqs         map[string]bool // ClusterQueues known to both caches
	held        map[string]bool // ClusterQueues kept inactive because their cohorts form a cycle
	faulty      map[string]bool // what is wrong with ClusterQueues that were left out
	stale       map[string]bool // cohorts the caches do not know as they are
	gathering   map[string]bool // cohorts that many queues join: see gather
	verdicts    map[workload.Reference]verdict
	backoff     map[workload.Reference]bool // waiting for status.requeueState.requeueAt
	todo        map[workload.Reference]bool // to be queued by flush
	queued      map[workload.Reference]queued
	unlisted    map[workload.Reference]bool // see relist
	rules       int                         // counts changes of objects that are not workloads
	started     map[workload.Reference]bool // admitted by a run: their pods count as ready
	unseeded    map[string]bool             // LocalQueues whose past use is to be read from their status
	keep        bool                        // evictions in progress go on: see KeepEvictions
	late        bool                        // see DelayRequeues
	asFound     bool                        // see AsFound
	flushed     bool                        // some workload was put into its queue since New
	derived     derived
	nominations map[workload.Reference]nomination // of the heads of StrictFIFO queues, nil when stale
	stuck       map[kueue.ClusterQueueReference]*stuck
	preemptors  map[kueue.ClusterQueueReference]workload.Reference // those that waited last for what they preempt
	warnings    []Warning
	uncounted   map[string]map[string]bool // workloads whose quota is not counted, by ClusterQueue
}

// verdict is the engine's latest decision about a workload that is not running.
type verdict struct {
	reason  string // one of Kueue's WorkloadQuotaReservedReason values
	message string
}

// New returns an empty engine. It switches Kueue's feature gates for the whole process (every Kueue gate that cfg.Gates
// does not name goes back to its default). Gates that cannot be set are reported by [Engine.Warnings]. It returns an
// error only for an unknown fair-sharing strategy.
func New(cfg Config) (*Engine, error) {
	e := &Engine{
		now:       cfg.Now,
		log:       logr.Discard(),
		store:     newStore(),
		format:    resources.NewResourceFormatter(),
		ordering:  cfg.ordering(),
		quota:     config.QuotaCheckBlockUndeclared,
		byUse:     cfg.OrderByUse,
		use:       cfg.AdmissionFairSharing,
		devices:   newDevices(cfg),
		podsFirst: cfg.BlockAdmission,
		started:   map[workload.Reference]bool{},
		unseeded:  map[string]bool{},
		queuesIn:  map[string]bool{},
		cqs:       map[string]bool{},
		held:      map[string]bool{},
		faulty:    map[string]bool{},
		stale:     map[string]bool{},
		gathering: map[string]bool{},
		verdicts:  map[workload.Reference]verdict{},
		backoff:   map[workload.Reference]bool{},
		todo:      map[workload.Reference]bool{},
		queued:    map[workload.Reference]queued{},
		unlisted:  map[workload.Reference]bool{},

		preemptors: map[kueue.ClusterQueueReference]workload.Reference{},
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.clock = simClock{now: e.now}
	e.client = reader{Client: embedded.NoClient(), store: e.store}
	e.store.unread, e.store.claiming = cfg.Unread, e.needsDevices
	e.warnings = gateWarnings(embedded.SetGates(cfg.Gates))
	if cfg.IgnoreUndeclaredResources {
		e.quota = config.QuotaCheckIgnoreUndeclared
	}
	fs, err := cfg.fairSharing()
	if err != nil {
		return nil, err
	}
	e.fair = fairsharing.Enabled(fs)
	e.strategies = strategies(fs)
	e.connect(cfg, fs)
	return e, nil
}

// fairSharing is Kueue's configuration of fair sharing, nil where it is off.
func (c Config) fairSharing() (*config.FairSharing, error) {
	if !c.FairSharing {
		return nil, nil
	}
	out := &config.FairSharing{}
	for _, s := range c.FairSharingStrategies {
		st := config.PreemptionStrategy(s)
		if st != config.LessThanOrEqualToFinalShare && st != config.LessThanInitialShare {
			return nil, fmt.Errorf("fair sharing strategy %q: want %s or %s", s, config.LessThanOrEqualToFinalShare, config.LessThanInitialShare)
		}
		out.PreemptionStrategies = append(out.PreemptionStrategies, st)
	}
	return out, nil
}

// connect makes Kueue's caches and its preemptor.
func (e *Engine) connect(cfg Config, fs *config.FairSharing) {
	// The same resource options go to both caches and to every Info built here:
	// a queue that counts differently from the cache would decide on other totals.
	cacheOpts := []schdcache.Option{schdcache.WithFairSharing(e.fair), schdcache.WithResourceFormatter(e.format)}
	store := expectations.New()
	queueOpts := []qcache.Option{
		qcache.WithClock(e.clock),
		qcache.WithResourceFormatter(e.format),
		qcache.WithPodsReadyRequeuingTimestamp(cfg.ordering().PodsReadyRequeuingTimestamp),
		// AddOrUpdateWorkload dereferences the store without a nil check.
		qcache.WithPreemptionExpectations(store),
		qcache.WithDRABackedResources(e.devices.backed),
	}
	for _, r := range slices.Concat(e.devices.mapper.CounterBasedResourceNames(), e.devices.mapper.CapacityBasedResourceNames()) {
		e.format.RegisterBinaryFormattedResource(r)
	}
	if e.use != nil {
		cacheOpts = append(cacheOpts, schdcache.WithAdmissionFairSharing(e.use))
		queueOpts = append(queueOpts, qcache.WithAdmissionFairSharing(e.use))
	}
	if p := cfg.ExcludeResourcePrefixes; len(p) > 0 {
		cacheOpts = append(cacheOpts, schdcache.WithExcludedResourcePrefixes(p))
		queueOpts = append(queueOpts, qcache.WithExcludedResourcePrefixes(p))
		e.info = append(e.info, workload.WithExcludedResourcePrefixes(p))
	}
	if t := cfg.Transformations; len(t) > 0 {
		cacheOpts = append(cacheOpts, schdcache.WithResourceTransformations(t))
		queueOpts = append(queueOpts, qcache.WithResourceTransformations(t))
		e.info = append(e.info, workload.WithResourceTransformations(t))
	}
	if features.Enabled(features.SchedulerLibraryIntegration) {
		cacheOpts = append(cacheOpts, schdcache.WithSchedulingSimulator(library{}))
	}
	e.cache = schdcache.New(e.client, cacheOpts...)
	// The manager's requeuer parameter has unexported methods. Of the two
	// implementations only this one works without a goroutine and a timer.
	manager, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(e.client, e.cache, queueOpts...)
	e.queues, e.requeue = manager, requeuer.ProcessRequeues
	e.preempt = preemption.New(e.client, e.ordering, noEvents{}, fs, afs.Enabled(e.use), e.clock, nil, store, nil)
}

// strategies are those of a configuration; without any, Kueue's default pair (parseStrategies in preemption.go).
func strategies(fs *config.FairSharing) []config.PreemptionStrategy {
	if fs != nil && len(fs.PreemptionStrategies) > 0 {
		return fs.PreemptionStrategies
	}
	return []config.PreemptionStrategy{config.LessThanOrEqualToFinalShare, config.LessThanInitialShare}
}

// Warnings lists what this engine cannot follow exactly: gates it could not set,
// configuration it does not model, objects it had to assume. Sorted, no duplicates.
func (e *Engine) Warnings() []Warning {
	out := slices.Concat(e.warnings, e.unmodelled(), e.uncountedWarnings())
	slices.SortFunc(out, compareWarnings)
	return slices.CompactFunc(out, func(a, b Warning) bool { return compareWarnings(a, b) == 0 })
}

func (e *Engine) warn(w Warning) { e.warnings = append(e.warnings, w) }

// simClock is the engine's clock in the form Kueue wants it. Nothing here waits:
// timers are never armed, because delayed work is re-examined by Run.
type simClock struct {
	clock.RealClock
	now func() time.Time
}

func (c simClock) Now() time.Time                  { return c.now() }
func (c simClock) Since(t time.Time) time.Duration { return c.now().Sub(t) }

// AfterFunc drops the call: only the queue for the second scheduling pass would use it (see secondPass).
func (c simClock) AfterFunc(time.Duration, func()) clock.Timer {
	t := time.NewTimer(0)
	t.Stop()
	return stoppedTimer{t}
}

type stoppedTimer struct{ *time.Timer }

func (s stoppedTimer) C() <-chan time.Time { return s.Timer.C }
