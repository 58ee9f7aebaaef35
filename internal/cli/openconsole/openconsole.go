// Package openconsole is `hyperpod open-console`.
package openconsole

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/browser"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are what was typed on the command line.
type Options struct {
	Factory    *factory.Factory
	Name, Kind string
	Print      bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "open-console [NAME]",
		Aliases: []string{"open"},
		Short:   "Open the web pages of the cluster or of a job",
		Long: `Print the web pages that exist for the cluster, or for a job, and open the first
one in the browser (--print opens none): the page of the HyperPod cluster and of
its EKS cluster in the AWS console, and the log of the job's main pod in
CloudWatch. A URL in an annotation of the job is a page too, and so is the
Ingress of a dashboard that has Grafana or TensorBoard in its name or labels.

Pages inside pods, such as TensorBoard, need a forwarded port: open-console
prints the command for each port that the job's containers declare.`,
		Example: `  hyperpod open-console
  hyperpod open-console smpv2-llama2 --print`,
		RunE: factory.RunE(o, func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.Name == "" {
				return nil
			}
			return factory.TakeJob(&o.Name, &o.Kind)(cmd, args)
		}, Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	cmd.Flags().BoolVar(&o.Print, "print", false, "print the pages and open none")
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error { return nil }

// Page is a web page, or the command that makes one reachable.
type Page struct {
	Name    string
	URL     string
	Command string
}

// Run prints the pages and opens the first.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	pages := consoles(ctx, cluster)
	name := o.Name
	if name == "" {
		pages = append(pages, ingresses(ctx, cluster, "")...)
	} else {
		job, err := podflags.Find(ctx, f, cluster, name, o.Kind)
		if err != nil {
			return err
		}
		more, err := o.ofJob(ctx, cluster, job)
		if err != nil {
			return err
		}
		name, pages = job.Name, append(more, pages...)
	}
	if len(pages) == 0 {
		e := errs.NotFoundf("no web page is known for this cluster").WithFact("server", cluster.Server())
		if name != "" {
			e = errs.NotFoundf("no web page is known for job %s", name).WithFact("server", cluster.Server())
		}
		return e.Suggest(errs.Run("port-forward", cmp.Or(name, "NAME"), "6006", "--open").WithNote("opens a port of a job"))
	}
	for _, p := range pages {
		if err := f.IO.PrintLine(p.Name + ": " + p.URL + p.Command); err != nil {
			return err
		}
	}
	if err := f.IO.Flush(); err != nil || o.Print {
		return err
	}
	for _, p := range pages {
		if p.URL != "" {
			if err := browser.Open(ctx, f.Env, p.URL); err != nil {
				f.Notef("warning: cannot open the browser: %v", err)
			}
			break
		}
	}
	return nil
}

// consoles returns the pages of the cluster in the AWS console.
func consoles(ctx context.Context, c *factory.Cluster) (out []Page) {
	site, ok := discovery.SiteOf(c.Server(), c.Context, c.ClusterName)
	if !ok {
		return nil
	}
	base := site.Console()
	if link := site.ClusterConsole(discovery.HyperPodName(ctx, c.Client)); link != "" {
		out = append(out, Page{Name: "HyperPod cluster", URL: link})
	}
	if eks := discovery.EKSName(c.Config(), c.Context, c.ClusterName); base != "" && eks != "" {
		out = append(out, Page{Name: "EKS cluster " + eks, URL: base + "/eks/clusters/" + url.PathEscape(eks) + "?region=" + site.Region})
	}
	return out
}

// ofJob returns the pages of a job: its log, and its ports.
func (o *Options) ofJob(ctx context.Context, c *factory.Cluster, job state.Job) (out []Page, err error) {
	out = append(Annotated(job.Annotations), ingresses(ctx, c, job.Namespace)...)
	pods, err := logs.Pods(ctx, c.Client, job)
	if err != nil {
		return nil, err
	}
	chosen, err := pick.Choose(job, pods, pick.Choice{})
	if err != nil || len(chosen) == 0 {
		return out, err
	}
	pod := chosen[0]
	site, ok := discovery.SiteOf(c.Server(), c.Context, c.ClusterName)
	eks := discovery.EKSName(c.Config(), c.Context, c.ClusterName)
	container, _ := pod.Container("")
	if sends, err := discovery.SendsLogs(ctx, c.Client); ok && eks != "" && err == nil && sends {
		l := discovery.LogStream{Node: pod.NodeName, Pod: pod.Name, Namespace: job.Namespace, Container: container}
		for _, ct := range pod.Containers {
			if ct.Name == container {
				l.ContainerID = ct.ID
			}
		}
		if link := site.LogLink(eks, l); link != "" {
			out = slices.Insert(out, 0, Page{Name: "log of pod " + pod.Name, URL: link})
		}
	}
	var object map[string]any
	if err := c.Get(ctx, kinds.Pod, job.Namespace, pod.Name, &object); err != nil {
		return out, nil // its ports are a detail
	}
	containers, _ := kinds.At(object, "spec", "containers").([]any)
	for _, ct := range containers {
		ports, _ := kinds.At(ct, "ports").([]any)
		for _, p := range ports {
			number := fmt.Sprint(kinds.At(p, "containerPort"))
			name := strings.TrimSpace("port " + number + " " + kinds.Text(p, "name"))
			out = append(out, Page{Name: name, Command: o.Factory.Line(errs.Run("port-forward", job.Name, number, "--open", "-n", job.Namespace))})
		}
	}
	return out, nil
}
