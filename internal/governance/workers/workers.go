// Package workers finds the worker clusters of MultiKueue: the clusters to which Kueue sends the jobs of a ClusterQueue whose
// admission check names them, and which decide whether those jobs run. Source: Kueue's apis/kueue/v1beta2/multikueue_types.go
// and pkg/controller/admissionchecks/multikueue.
package workers

import (
	"cmp"
	"context"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Cluster is a worker cluster.
type Cluster struct {
	// Name is the name of its MultiKueueCluster.
	Name string
	// Inactive is why Kueue sends no jobs there, "" if it does.
	Inactive string
	// Config connects to it with Kueue's own credentials. It is nil with Unread.
	Config *rest.Config
	// Unread is why Config is nil, "" if it is not.
	Unread string
}

// Of returns the worker clusters of an admission check, in the order of its MultiKueueConfig. own are workers to which the
// caller connects by other means; their kubeconfigs are not read. It returns an error if the list of workers cannot be read.
func Of(ctx context.Context, c *kube.Client, check *kueue.AdmissionCheck, own func(name string) bool) ([]Cluster, error) {
	p := check.Spec.Parameters
	if p == nil || p.Kind != kinds.MultiKueueConfig.Kind {
		return nil, nil
	}
	var config kueue.MultiKueueConfig
	if err := get(ctx, c, kinds.MultiKueueConfig, p.Name, &config); err != nil {
		if kube.IsNotFound(err) && !kube.IsNotInFile(err) && !kube.IsNotServed(err) {
			return nil, nil
		}
		return nil, err
	}
	out := make([]Cluster, len(config.Spec.Clusters))
	var wg crash.Group
	for i, name := range config.Spec.Clusters {
		wg.Go(func() { out[i] = find(ctx, c, name, own(name)) })
	}
	wg.Wait()
	return out, ctx.Err()
}

// find reads one worker, and its kubeconfig unless the caller has another.
func find(ctx context.Context, c *kube.Client, name string, own bool) Cluster {
	out := Cluster{Name: name}
	var worker struct {
		Spec struct {
			ClusterSource kueue.ClusterSource `json:"clusterSource"`
			KubeConfig    *kueue.KubeConfig   `json:"kubeConfig"` // v1beta1
		} `json:"spec"`
		Status kueue.MultiKueueClusterStatus `json:"status"`
	}
	switch err := get(ctx, c, kinds.MultiKueueCluster, name, &worker); {
	case kube.IsNotFound(err):
		out.Inactive = "its MultiKueueCluster does not exist"
		return out
	case err != nil:
		out.Unread = "its MultiKueueCluster could not be read: " + err.Error()
		return out
	}
	if active := apimeta.FindStatusCondition(worker.Status.Conditions, kueue.MultiKueueClusterActive); active == nil || active.Status != metav1.ConditionTrue {
		out.Inactive = "Kueue is not connected to it"
		if active != nil && active.Message != "" {
			out.Inactive += ": " + active.Message
		}
		return out
	}
	if own {
		return out
	}
	from := cmp.Or(worker.Spec.ClusterSource.KubeConfig, worker.Spec.KubeConfig)
	switch {
	case from == nil:
		out.Unread = "Kueue connects to it with a ClusterProfile"
		return out
	case from.LocationType == kueue.PathLocationType:
		out.Unread = "its kubeconfig is a file of Kueue's pod"
		return out
	}
	var secret struct {
		Data map[string][]byte `json:"data"`
	}
	where := "Secret " + state.ManagerNamespace + "/" + from.Location
	switch err := c.Get(ctx, kinds.Secret, state.ManagerNamespace, from.Location, &secret); {
	case kube.IsForbidden(err):
		out.Unread = "no permission to get " + where + " with its kubeconfig"
		return out
	case err != nil:
		out.Unread = where + " with its kubeconfig could not be read: " + err.Error()
		return out
	}
	config, err := kube.FromKubeconfig(secret.Data[kueue.MultiKueueConfigSecretKey])
	if err != nil {
		out.Unread = "the kubeconfig in " + where + " is not used: " + err.Error()
		return out
	}
	out.Config = config
	return out
}

// get reads an object of Kueue at the version that the cluster serves.
func get(ctx context.Context, c *kube.Client, r kinds.Resource, name string, into any) error {
	at, err := reader.Served(ctx, c, r)
	if err != nil {
		return err
	}
	return c.Get(ctx, at, "", name, into)
}
