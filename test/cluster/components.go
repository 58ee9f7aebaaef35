package cluster

import "slices"

// Component names one set of binaries that Build can make. Its value is the folder under modules/.
type Component string

// The components of a bed.
const (
	Kubernetes       Component = "k8s"
	Kueue            Component = "kueue"
	KueueOld         Component = "kueue-v1beta1"
	KWOK             Component = "kwok"
	TrainingOperator Component = "training-operator"
	MPIOperator      Component = "mpi-operator"
	// Stern is not part of a bed: tests compare logs with it.
	Stern Component = "stern"
	// JobSet, KubeRay and LWS run only in beds that ask for them (Options.More). LWS takes seconds to build after Kueue.
	JobSet  Component = "jobset"
	KubeRay Component = "kuberay"
	LWS     Component = "lws"
)

// Optional lists the components that are built only where a bed asks for them: what they do is
// recorded once, so that no test run pays for building them.
func Optional() []Component { return []Component{JobSet, KubeRay} }

// Components lists every component but the optional ones, cheapest failure first: kubectl renders
// the manifests of the others.
func Components() []Component {
	return []Component{Kubernetes, Kueue, KueueOld, KWOK, TrainingOperator, MPIOperator, Stern, LWS}
}

// recipe says how a component is built and where its manifests are.
type recipe struct {
	module   string            // the module whose version names the component
	packages map[string]string // binary name → package
	ldflags  string
	// kustomize is a folder of module that kubectl kustomize turns into the manifests.
	kustomize string
	// crds are files "module:path" with CRDs of kinds that the component integrates with.
	crds []string
}

// integratedCRDs are kinds that Kueue manages and only optional components reconcile. Each costs the API server
// a second at every start, so these are only the ones that the product knows.
var integratedCRDs = []string{
	"github.com/ray-project/kuberay/ray-operator:config/crd/bases/ray.io_rayclusters.yaml",
	"github.com/ray-project/kuberay/ray-operator:config/crd/bases/ray.io_rayjobs.yaml",
	"sigs.k8s.io/jobset:config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
}

// newerCRDs are kinds that only the newer Kueue manages, and that nothing in the bed reconciles.
var newerCRDs = []string{
	"github.com/kubeflow/trainer/v2:manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml",
	"github.com/kubeflow/trainer/v2:manifests/base/crds/trainer.kubeflow.org_trainingruntimes.yaml",
	"github.com/kubeflow/trainer/v2:manifests/base/crds/trainer.kubeflow.org_clustertrainingruntimes.yaml",
	"github.com/project-codeflare/appwrapper:config/crd/bases/workload.codeflare.dev_appwrappers.yaml",
}

// rareCRDs are further kinds that the newer Kueue manages. Only beds with AllKinds serve them.
var rareCRDs = []string{
	"sigs.k8s.io/lws:config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
	"github.com/kubeflow/spark-operator/v2:config/crd/bases/sparkoperator.k8s.io_sparkapplications.yaml",
	"github.com/ray-project/kuberay/ray-operator:config/crd/bases/ray.io_rayservices.yaml",
}

// rareKinds are the kinds of rareCRDs.
var rareKinds = []string{"LeaderWorkerSet", "SparkApplication", "RayService"}

// Without these the servers call themselves v0.0.0-master, and clients take them for ancient.
const kubernetesVersionFlags = " -X k8s.io/component-base/version.gitVersion=v1.35.4" +
	" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=35" +
	" -X k8s.io/component-base/version.gitTreeState=clean" +
	" -X k8s.io/client-go/pkg/version.gitVersion=v1.35.4" +
	" -X k8s.io/client-go/pkg/version.gitMajor=1 -X k8s.io/client-go/pkg/version.gitMinor=35"

var recipes = map[Component]recipe{
	Kubernetes: {
		module: "k8s.io/kubernetes",
		packages: map[string]string{
			"etcd":                    "go.etcd.io/etcd/server/v3",
			"kube-apiserver":          "k8s.io/kubernetes/cmd/kube-apiserver",
			"kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
			"kube-scheduler":          "k8s.io/kubernetes/cmd/kube-scheduler",
			"kubectl":                 "k8s.io/kubernetes/cmd/kubectl",
		},
		ldflags: kubernetesVersionFlags,
	},
	Kueue: {
		module: "sigs.k8s.io/kueue",
		packages: map[string]string{
			"kueue":    "sigs.k8s.io/kueue/cmd/kueue",
			"kueuectl": "sigs.k8s.io/kueue/cmd/kueuectl",
		},
		kustomize: "config/default",
		crds:      slices.Concat(integratedCRDs, newerCRDs, rareCRDs),
	},
	KueueOld: {
		module:    "sigs.k8s.io/kueue",
		packages:  map[string]string{"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
		kustomize: "config/default",
		crds:      integratedCRDs,
	},
	KWOK: {
		module:   "sigs.k8s.io/kwok",
		packages: map[string]string{"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
	},
	TrainingOperator: {
		module:    "github.com/kubeflow/training-operator",
		packages:  map[string]string{"training-operator": "github.com/kubeflow/training-operator/cmd/training-operator.v1"},
		kustomize: "manifests/overlays/standalone",
	},
	Stern: {
		module:   "github.com/stern/stern",
		packages: map[string]string{"stern": "github.com/stern/stern"},
	},
	JobSet: {
		module:    "sigs.k8s.io/jobset",
		packages:  map[string]string{"jobset": "sigs.k8s.io/jobset"},
		kustomize: "config/default",
	},
	KubeRay: {
		module:    "github.com/ray-project/kuberay/ray-operator",
		packages:  map[string]string{"kuberay": "github.com/ray-project/kuberay/ray-operator"},
		kustomize: "config/default",
	},
	LWS: {
		module:    "sigs.k8s.io/lws",
		packages:  map[string]string{"lws": "sigs.k8s.io/lws/cmd"},
		kustomize: "config/default",
	},
	MPIOperator: {
		module:    "github.com/kubeflow/mpi-operator",
		packages:  map[string]string{"mpi-operator": "github.com/kubeflow/mpi-operator/cmd/mpi-operator"},
		kustomize: "manifests/overlays/standalone",
	},
}
