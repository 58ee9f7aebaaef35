package getlog

import (
	"context"
	"errors"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/openconsole"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

// withPages words the error of a log. If the pods are gone, facts name the pages that may have their log: those
// that the job's annotations link to, and the log group in CloudWatch.
func (o *Options) withPages(ctx context.Context, c *factory.Cluster, err error) error {
	var gone *logs.Error
	worded := jobtext.Error(err)
	var e *errs.Error
	if !errors.As(err, &gone) || !slices.Contains([]logs.ErrorCode{logs.Preempted, logs.Suspended, logs.PodsDeleted}, gone.Code) || !errors.As(worded, &e) {
		return worded
	}
	for _, p := range openconsole.Annotated(gone.Job.Annotations) {
		e.WithFact(p.Name, p.URL)
	}
	site, ok := discovery.SiteOf(c.Server(), c.Context, c.ClusterName)
	link := site.LogGroupLink(discovery.EKSName(c.Config(), c.Context, c.ClusterName))
	if !ok || link == "" {
		return worded
	}
	if sends, err := discovery.SendsLogs(ctx, c.Client); sends || kube.IsForbidden(err) {
		e.WithFact("CloudWatch", link)
	}
	return worded
}

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
