package canceljob

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// victim is one job to cancel.
type victim struct {
	kind                 kinds.Job
	namespace, name, uid string
	state                jobs.State // "" where it was chosen by name
	with                 []submit.Ref
}

// Run cancels the jobs. As with kubectl, a name that no job has does not keep the
// others; it is reported at the end.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	o.names = f.NameOnly()
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	victims, failed, err := o.choose(ctx, cluster)
	if err != nil {
		return err
	}
	if len(victims) == 0 {
		if failed == nil && len(o.Names) == 0 {
			f.Notef("note: no job is chosen: nothing was cancelled")
		}
		return failed
	}
	if ok, err := o.confirmed(ctx, victims); err != nil || !ok {
		return errs.Also(failed, err)
	}
	var gone []victim
	for _, v := range victims {
		if err := o.cancel(ctx, cluster, v); err != nil {
			failed = errs.Also(failed, err)
			if ctx.Err() != nil {
				return failed
			}
			continue
		}
		gone = append(gone, v)
	}
	if o.Wait && o.DryRun == factory.DryRunNone {
		if err := o.await(ctx, cluster, gone); err != nil {
			return errs.Also(failed, err)
		}
	}
	return failed
}

// await waits until the jobs are gone. The timeout is that of all of them together.
func (o *Options) await(ctx context.Context, c *factory.Cluster, gone []victim) error {
	waiting := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	for i, v := range gone {
		_, err := waitjob.Until(waiting, o.Factory, c, wait.Request{Kind: v.kind, Namespace: v.namespace, Name: v.name, UID: v.uid, Goal: wait.Deleted})
		if err != nil && waiting.Err() != nil && ctx.Err() == nil {
			e := &errs.Error{What: fmt.Sprintf("job %s is not gone after %s", v.name, o.Timeout), Code: errs.Timeout,
				Try: []errs.Suggestion{errs.Run("wait-job", v.name, "-n", v.namespace, "--for", "deleted")}}
			if more := len(gone) - i - 1; more > 0 {
				e.Why = fmt.Sprintf("%d of %d jobs were seen to go", i, len(gone))
			}
			return e
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose finds the jobs. failed is what could not be found of several names.
func (o *Options) choose(ctx context.Context, c *factory.Cluster) (found []victim, failed, err error) {
	if len(o.Names) == 0 {
		found, err = o.list(ctx, c)
		return found, nil, err
	}
	for _, name := range o.Names {
		j, err := findjob.Find(ctx, o.Factory, c, "delete", name, o.Kind)
		switch {
		case findjob.Absent(err) && o.Missing:
		case findjob.Absent(err) && len(o.Names) > 1:
			failed = errs.Also(failed, err)
		case err != nil:
			return nil, nil, errs.Also(failed, err)
		default:
			annotations := map[string]string{kinds.TogetherAnnotation: kinds.Text(j.Object, "metadata", "annotations", kinds.TogetherAnnotation)}
			found = append(found, victim{kind: j.Kind, namespace: j.Namespace, name: name, uid: j.UID(), with: submit.Together(annotations)})
			o.Factory.Global.Namespace = j.Namespace // settled, and said, once
		}
	}
	return found, failed, nil
}

// list chooses by --all or --selector, and --state.
func (o *Options) list(ctx context.Context, c *factory.Cluster) ([]victim, error) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	ns, err := o.Factory.Namespace(ctx, c, "delete", kinds.PyTorchJob.Resource)
	if err != nil {
		return nil, err
	}
	st, err := state.Load(ctx, c.Client, state.Want{Namespace: ns.Name, Selector: o.Selector, Jobs: served, Workloads: true}, c.Now())
	if err != nil {
		return nil, err
	}
	o.Factory.Missing(st.Missing)
	statuses := jobs.Statuses(st.Jobs, st.Workloads)
	var out []victim
	for i, j := range st.Jobs {
		if (o.Kind == "" || o.Kind == j.Kind.Kind) && statuses[i].State.In(o.States) && j.DeletionTimestamp == nil {
			out = append(out, victim{kind: j.Kind, namespace: j.Namespace, name: j.Name, uid: j.UID, state: statuses[i].State, with: submit.Together(j.Annotations)})
		}
	}
	return out, nil
}

// confirmed asks on a terminal. Elsewhere names are enough, and a choice needs
// --yes.
func (o *Options) confirmed(ctx context.Context, victims []victim) (bool, error) {
	f := o.Factory
	if o.Yes || o.DryRun != factory.DryRunNone {
		return true, nil
	}
	if !f.IO.InTTY || !f.IO.ErrTTY {
		if len(o.Names) > 0 {
			return true, nil
		}
		return false, errs.Usagef("%s would be cancelled, and there is no terminal to ask on", count(victims)).WithTry("--yes", "--dry-run   # shows them")
	}
	for _, v := range victims {
		line := fmt.Sprintf("  %s/%s in %s", strings.ToLower(v.kind.Kind), v.name, v.namespace)
		if v.state != "" {
			line += ", " + string(v.state)
		}
		fmt.Fprintln(f.IO.Err, output.Safe(line))
	}
	fmt.Fprintf(f.IO.Err, "Cancel %s? [y/N] ", count(victims))
	answer, err := factory.Interruptible(ctx, func() (string, error) {
		answer, _ := bufio.NewReader(f.IO.In).ReadString('\n')
		return answer, nil
	})
	if err != nil {
		fmt.Fprintln(f.IO.Err)
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	f.Notef("nothing was cancelled")
	return false, errs.Silent{Code: errs.Failure}
}

func count(victims []victim) string {
	if len(victims) == 1 {
		return "job " + victims[0].name
	}
	return fmt.Sprintf("%d jobs", len(victims))
}

// cancel deletes one job and what goes with it, and says so.
func (o *Options) cancel(ctx context.Context, c *factory.Cluster, v victim) error {
	f := o.Factory
	if o.DryRun == factory.DryRunClient {
		return o.say("Would cancel job %s (%s in %s)\n", v, v.name, v.kind.Kind, v.namespace)
	}
	// The UID makes sure that a job of the same name made meanwhile survives.
	err := c.Delete(ctx, v.kind.Resource, v.namespace, v.name, kube.DeleteOptions{Propagation: "Background", UID: v.uid, DryRun: o.DryRun == factory.DryRunServer})
	if kube.IsNotFound(err) && o.Missing {
		return nil
	}
	if err != nil {
		return errs.Wrap(err, fmt.Sprintf("job %s was not cancelled", v.name))
	}
	if o.DryRun == factory.DryRunServer {
		return o.say("Successfully cancelled job %s%s\n", v, v.name, factory.DryRunSuffix(o.DryRun))
	}
	removed, left := removeTogether(ctx, c, v)
	if err := o.say("Successfully cancelled job %s\n", v, v.name); err != nil {
		return err
	}
	if len(removed) > 0 {
		f.Notef("note: removed with it: %s", strings.Join(removed, ", "))
	}
	for _, l := range left {
		f.Notef("warning: left behind: %s", l)
	}
	return nil
}

// say prints the sentence, or with -o name the object.
func (o *Options) say(sentence string, v victim, args ...any) error {
	if o.names {
		_, err := fmt.Fprintln(o.Factory.IO.Out, v.kind.ObjectName(v.name))
		return err
	}
	_, err := fmt.Fprintf(o.Factory.IO.Out, sentence, args...)
	return err
}

// removeTogether removes what was submitted with a job. The cluster does that by
// itself where the job owns it; this is for what it could not be made to own.
func removeTogether(ctx context.Context, c *factory.Cluster, v victim) (removed, left []string) {
	for _, ref := range v.with {
		what := strings.ToLower(ref.Kind) + "/" + ref.Name
		r, err := discovery.ResourceOf(ctx, c.Client, map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind})
		object := map[string]any{}
		if err == nil {
			err = c.Get(ctx, r, v.namespace, ref.Name, &object)
		}
		if err == nil && submit.WentWith(object, v.kind.Kind, v.name) {
			err = c.Delete(ctx, r, v.namespace, ref.Name, kube.DeleteOptions{Propagation: "Background", UID: kinds.Text(object, "metadata", "uid")})
		} else if err == nil {
			continue // another's by now
		}
		switch {
		case err == nil, kube.IsNotFound(err):
			removed = append(removed, what)
		default:
			left = append(left, fmt.Sprintf("%s: %v", what, err))
		}
	}
	return removed, left
}
