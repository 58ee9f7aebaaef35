// Package findtemplate finds the template that a name on the command line means,
// the team's included, and makes templates of jobs.
package findtemplate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Where returns the namespace of the team's templates. It is called only when they are needed.
type Where func(context.Context, *factory.Cluster) (string, error)

// InNamespace resolves the namespace from the global flags, the context or discovery.
func InNamespace(f *factory.Factory) Where {
	return func(ctx context.Context, c *factory.Cluster) (string, error) {
		ns, err := f.Namespace(ctx, c, "get", kinds.ConfigMap)
		return ns.Name, err
	}
}

// Find returns the template with a name: a file, a template in one of the folders, an embedded one, else the team's. The
// last costs one request for the namespace and one for the ConfigMap. "team/NAME" always means the team's. The error about
// a name that is not found reports if the team's templates cannot be read.
func Find(ctx context.Context, f *factory.Factory, name string, where Where) (*parse.Template, error) {
	if own, ok := strings.CutPrefix(name, team.Prefix); ok && team.CheckName(own) == nil {
		return fromTeam(ctx, f, own, where)
	}
	t, absent := factory.Interruptible(ctx, func() (*parse.Template, error) { return catalogue.Find(name, f.TemplateDirs()) })
	var e *errs.Error
	if errs.ExitOf(absent) != errs.NotFound || !errors.As(absent, &e) || catalogue.IsFile(name) || team.CheckName(name) != nil {
		return t, absent
	}
	t, err := fromTeam(ctx, f, name, where)
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, kube.ErrNoCluster):
		return nil, e.WithFact("team", "its templates are not searched: no cluster")
	case errors.Is(err, discovery.ErrSeveral):
		return nil, Elsewhere(ctx, f, name, err, e)
	case kube.IsForbidden(err):
		return nil, e.WithFact("team", "its templates are not searched: "+reason(err))
	case errs.ExitOf(err) == errs.NotFound:
		return nil, e.WithFact("team", err.Error())
	}
	return nil, err
}

// Elsewhere returns the error about a template of a team whose namespace was not given, where the user has several: that
// no team has it, with the facts of absent (nil: none), or which have it. err asks for the namespace; it stays where the
// templates of all namespaces cannot be listed.
func Elsewhere(ctx context.Context, f *factory.Factory, name string, err error, absent *errs.Error) error {
	c, failed := f.Cluster(ctx)
	if failed != nil || team.CheckName(name) != nil {
		return err
	}
	found, failed := team.Namespaces(ctx, c.Client, name)
	switch {
	case failed != nil && absent != nil:
		return absent.WithFact("team", "its templates are not searched: no namespace given").Suggest(suggest.Namespace("NAME"))
	case failed != nil:
		return err
	case len(found) > 0:
		return errs.Usagef("no namespace given: template %q is one of a team", name).
			WithFact("found in", words.Some(found, 8)).Suggest(suggest.Namespace(found[0]))
	case absent != nil:
		return absent.WithFact("team", "no team has a template of this name")
	}
	return errs.NotFoundf("template %q not found in any namespace", name).Suggest(errs.Run("list-templates").WithNote("of the namespace of -n"))
}

func fromTeam(ctx context.Context, f *factory.Factory, name string, where Where) (*parse.Template, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	ns, err := where(ctx, c)
	if err != nil {
		return nil, err
	}
	return team.Get(ctx, c.Client, ns, name)
}

// reason returns why something failed, without what failed.
func reason(err error) string {
	var e *errs.Error
	if errors.As(err, &e) && e.Why != "" {
		return e.Why
	}
	return err.Error()
}

// Team lists the team's templates for a command that shows all templates. What cannot be read becomes a notice, not an
// error.
func Team(ctx context.Context, f *factory.Factory, where Where) ([]*parse.Template, []team.Unusable) {
	c, err := f.Cluster(ctx)
	if errors.Is(err, kube.ErrNoCluster) {
		f.Notef("note: no cluster: the team's templates are not shown")
		return nil, nil
	}
	var ns string
	if err == nil {
		ns, err = where(ctx, c)
	}
	if err == nil {
		var found []*parse.Template
		var unusable []team.Unusable
		if found, unusable, err = team.List(ctx, c.Client, ns); err == nil {
			return found, unusable
		}
	}
	if kube.IsForbidden(err) && ns != "" {
		f.Notef("note: the team's templates are hidden: you need permission to list configmaps in %s (a template can still be used by its name)", ns)
	} else {
		f.Notef("note: the team's templates are not shown: %v", err)
	}
	return nil, nil
}

// OfJob makes a template of a job of the cluster, in the form in which its owner wrote it. The job is an argument as
// factory.SplitJob reads it.
func OfJob(ctx context.Context, f *factory.Factory, argument, kind string, conv convert.Conversion) (*parse.Template, findjob.Job, error) {
	a, err := factory.SplitJob(argument, kind)
	if err != nil {
		return nil, findjob.Job{}, err
	}
	namespace, err := a.In(f.Global.Namespace)
	if err != nil {
		return nil, findjob.Job{}, err
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, findjob.Job{}, err
	}
	job, err := findjob.FindIn(ctx, f, c, namespace, "get", a.Name, a.Kind)
	if err != nil {
		return nil, job, err
	}
	conv.Source = cmp.Or(conv.Source, "job "+job.Name())
	conv.Help = cmp.Or(conv.Help, "created from job "+job.Name())
	t, notes, err := FromJob(ctx, c, job, conv)
	f.Notes(notes)
	return t, job, err
}

// FromJob makes a template of a job in the form in which its owner wrote it: what the admission added to its pods is
// removed if its Workload can be read. notes are notices for the user.
func FromJob(ctx context.Context, c *factory.Cluster, job findjob.Job, conv convert.Conversion) (t *parse.Template, notes []string, err error) {
	object := jobobject.Clean(job.Object)
	conv.Origin = kinds.Text(job.Object, "metadata", "annotations", kinds.ParametersAnnotation)
	if managed(job) && job.Kind.Placed() {
		sets, err := podSets(ctx, c.Client, job)
		if err != nil {
			notes = append(notes, "node selectors may include those that the admission added: cannot read the Workload of the job ("+reason(err)+")")
		}
		jobobject.RestorePlacement(object, sets)
	}
	t, more, err := convert.FromObjects([]map[string]any{object}, conv)
	return t, append(notes, more...), err
}

// managed reports whether Kueue manages a job.
func managed(j findjob.Job) bool {
	meta, _ := j.Object["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return labels[kinds.QueueLabel] != nil
}

// podSets returns the pod sets of the Workload of a job, none if it has no Workload.
func podSets(ctx context.Context, c *kube.Client, j findjob.Job) ([]map[string]any, error) {
	data, err := WorkloadOf(ctx, c, j)
	if err != nil || data == nil {
		return nil, err
	}
	return PodSets(data)
}

// PodSets returns the pod sets of a Workload.
func PodSets(workload []byte) ([]map[string]any, error) {
	var w struct {
		Spec struct {
			PodSets []map[string]any `json:"podSets"`
		} `json:"spec"`
	}
	err := kube.Decode(workload, &w)
	return w.Spec.PodSets, err
}

// WorkloadOf returns the Workload of a job as JSON, nil if there is none: one with the label of its UID, or one that the job owns.
// An elastic job has one for each of its sizes; the newest is the present one.
func WorkloadOf(ctx context.Context, c *kube.Client, j findjob.Job) ([]byte, error) {
	r, err := reader.Served(ctx, c, kinds.Workload)
	if err != nil {
		return nil, err
	}
	selector := j.Kind.WorkloadSelector(j.UID())
	page, err := kube.List[json.RawMessage](ctx, c, r, j.Namespace, kube.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var newest json.RawMessage
	var created time.Time
	for _, item := range page.Items {
		var o struct {
			Metadata struct {
				Created time.Time `json:"creationTimestamp"`
				Owners  []owner   `json:"ownerReferences"`
			} `json:"metadata"`
		}
		if err := kube.Decode(item, &o); err != nil {
			return nil, err
		}
		if selector == "" && !slices.Contains(o.Metadata.Owners, owner{j.UID()}) {
			continue
		}
		if at := o.Metadata.Created; newest == nil || !at.Before(created) {
			newest, created = item, at
		}
	}
	if newest == nil {
		return nil, nil
	}
	var o map[string]any
	if err := kube.Decode(newest, &o); err != nil {
		return nil, err
	}
	o["apiVersion"], o["kind"] = r.GroupVersion(), r.Kind // items of a list lack them
	return json.Marshal(o)
}

// owner is what is read of an owner of an object.
type owner struct {
	UID string `json:"uid"`
}
