package getlog

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// link prints the links to the logs in CloudWatch on stderr. If something is missing, it
// prints a note; the command does not fail.
func (o *Options) link(ctx context.Context, c *factory.Cluster, namespace string, sources []logs.Source) {
	f := o.Factory
	site, ok := discovery.SiteOf(c.Server(), c.Context)
	eks := discovery.EKSName(c.Config(), c.Context)
	if !ok || eks == "" {
		f.Notef("note: no CloudWatch link: the cluster does not look like an EKS cluster")
		return
	}
	switch sends, err := discovery.SendsLogs(ctx, c.Client); {
	case kube.IsForbidden(err):
		f.Notef("note: no permission to check whether this cluster sends logs to CloudWatch; if it does:")
	case err != nil:
		f.Notef("warning: no CloudWatch link: %v", err)
		return
	case !sends:
		f.Notef("note: no CloudWatch link: the add-on amazon-cloudwatch-observability is not installed")
		return
	}
	for _, s := range sources {
		l := discovery.LogStream{Node: s.Node, Pod: s.Pod, Namespace: namespace, Container: s.Container, ContainerID: s.ContainerID}
		if url := site.LogLink(eks, l); url != "" {
			f.Notef("The pod cloudwatch log stream link is %s", url)
		}
	}
}
