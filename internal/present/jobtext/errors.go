package jobtext

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/patch"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Error words an error of the packages below jobs. Other errors stay as they are.
func Error(err error) error {
	var (
		missing   *pick.NotFoundError
		unread    *logs.Error
		submitted *submit.Error
		patched   *patch.Error
	)
	switch {
	case errors.As(err, &missing):
		return notFound(missing).WithCause(err)
	case errors.As(err, &unread):
		return noLog(unread).WithCause(err)
	case errors.As(err, &submitted):
		return notSubmitted(submitted).WithCause(err)
	case errors.As(err, &patched):
		return notPatched(patched).WithCause(err)
	}
	return err
}

// CheckStates returns an error (exit code 2) if a name does not name a state.
func CheckStates(names []string) error {
	name, near, unknown := jobs.UnknownState(names)
	if !unknown {
		return nil
	}
	return errs.Usagef("invalid state %q", name).WithFact("must be one of", strings.Join(jobs.StateNames(), ", ")).Suggest(suggest.State(near))
}

func notFound(e *pick.NotFoundError) *errs.Error {
	switch e.What {
	case pick.OfRank:
		out := errs.NotFoundf("rank %s not found in job %s", e.Name, e.Job.Name)
		switch e.Ranks {
		case 0:
			return out.WithFact("ranks", "none known").Suggest(suggest.ListPods(e.Job.Namespace, e.Job.Name), suggest.Pod("NAME"))
		case 1:
			return out.WithFact("ranks", "0")
		}
		return out.WithFact("ranks", fmt.Sprintf("0 to %d", e.Ranks-1))
	case pick.OfRole:
		return near(errs.NotFoundf("role %q not found in job %s", e.Name, e.Job.Name), "roles", strings.ToLower(e.Name), e.Names, suggest.Role)
	case pick.OfContainer:
		return near(errs.NotFoundf("container %q not found in pod %s", e.Name, e.Pod), "containers", e.Name, e.Names, suggest.Container)
	case pick.OfContainers:
		return errs.NotFoundf("pod %s has no containers", e.Pod)
	}
	return near(errs.NotFoundf("pod %q not found in job %s of %s", e.Name, e.Job.Name, e.Job.Namespace), "pods", e.Name, e.Names, suggest.Pod)
}

// near adds the names that exist, and suggests those that look alike.
func near(e *errs.Error, label, name string, names []string, option func(string) errs.Suggestion) *errs.Error {
	e.WithFact(label, words.Some(names, 12))
	for _, n := range errs.Near(name, names) {
		e.Suggest(option(n))
	}
	return e
}

func noLog(e *logs.Error) *errs.Error {
	what, j := "cannot read the log of pod "+e.Pod, e.Job
	switch e.Code {
	case logs.NotStarted:
		return errs.New(what, fmt.Sprintf("container %s has not started yet", e.Container)).WithCode(errs.Pending).
			WithFact("message", kube.Message(e.Err)).Suggest(suggest.Follow("waits until it starts"))
	case logs.NoPrevious:
		return errs.New(what, fmt.Sprintf("container %s has no previous run", e.Container)).WithCode(errs.NotFound)
	case logs.PodGone:
		return errs.New(what, "the pod no longer exists").WithCode(errs.NotFound)
	case logs.SomeUnread:
		return errs.New(fmt.Sprintf("cannot read the logs of %d of %d pods", e.Count, e.All), "")
	case logs.NotBegun:
		out := errs.New("no log yet", fmt.Sprintf("container %s of pod %s has not started", e.Container, e.Pod)).WithCode(errs.Pending)
		if text := strings.Trim(e.Why.Reason+": "+e.Why.Message, ": "); text != "" {
			out.WithFact("reason", text)
		}
		return out.Suggest(suggest.Follow("waits for it"))
	case logs.NoSuchPod:
		return errs.New("no log yet", fmt.Sprintf("job %s does not have the chosen pods yet", j.Name)).WithCode(errs.Pending).Suggest(suggest.Follow("waits for it"))
	case logs.PodsDeleted:
		return errs.NotFoundf("no log: job %s %s and its pods are deleted", j.Name, strings.ToLower(string(e.State)))
	case logs.Preempted:
		return errs.New("no log", fmt.Sprintf("job %s was preempted and its pods are deleted", j.Name)).WithCode(errs.Pending).
			WithFact("since", jobs.Time(e.Since)).Suggest(suggest.Follow("waits until it runs again"), suggest.GetJob(j.Namespace, j.Name))
	case logs.Suspended:
		out := errs.New("no log", fmt.Sprintf("job %s is suspended and has no pods", j.Name)).WithCode(errs.Pending)
		return out.WithFact("since", jobs.Time(e.Since)).Suggest(suggest.Unsuspend(j.Namespace, j.Name), suggest.GetJob(j.Namespace, j.Name))
	case logs.ZeroReplicas:
		return errs.New("no log", fmt.Sprintf("the number of replicas of %s is 0", j.Name)).WithCode(errs.Pending).
			Suggest(suggest.Scale(j.Kind, j.Namespace, j.Name)...).Suggest(suggest.GetJob(j.Namespace, j.Name))
	case logs.NoPods:
		return errs.New("no log yet", fmt.Sprintf("job %s is %s and has no pods", j.Name, strings.ToLower(string(e.State)))).WithCode(errs.Pending).
			Suggest(suggest.Follow("waits for them"), suggest.GetJob(j.Namespace, j.Name))
	}
	return errs.Wrap(e.Err, what)
}

// changes adds a fact for each field that would change.
func changes(out *errs.Error, list []submit.Change) {
	for _, c := range list {
		switch {
		case c.Before == "":
			out.WithFact(c.Path, "would be added: "+c.After)
		case c.After == "":
			out.WithFact(c.Path, "would be removed: "+c.Before)
		default:
			out.WithFact(c.Path, c.Before+" -> "+c.After)
		}
	}
}

func notSubmitted(e *submit.Error) *errs.Error {
	object := fmt.Sprintf("%s %q", e.Object.Resource.Kind, e.Object.Name())
	exists := object + " already exists"
	if e.Object.Resource.Namespaced {
		exists += " in " + e.Namespace
	}
	switch e.Code {
	case submit.Exists:
		out := errs.New(exists, "nothing was changed")
		since(out, e.Found)
		if by := cmp.Or(kinds.Text(e.Found, "metadata", "labels", kinds.CreatedByLabel), kinds.Text(e.Found, "metadata", "annotations", kinds.CreatedByAnnotation)); by != "" {
			out.WithFact("by", by)
		}
		return out.Suggest(suggest.GenerateName(), suggest.GetJob(e.Namespace, e.Object.Name()))
	case submit.Differs:
		out := errs.New(exists+" and differs", "nothing was changed").WithCode(errs.No)
		changes(out, e.Changes)
		since(out, e.Found)
		return out.Suggest(suggest.ReplaceObjects())
	case submit.OtherDefinition:
		out := errs.New(object+" of this idempotency key has another definition", "nothing was changed").WithCode(errs.No)
		if changes(out, e.Changes); len(e.Changes) == 0 {
			out.WithFact("found", "fields that the definition no longer has")
		}
		since(out, e.Found)
		return out.WithAdvice("use another key and name for another definition").Suggest(suggest.GetJob(e.Namespace, e.Object.Name()))
	case submit.NotChangeable:
		return errs.Wrap(e.Err, exists+" and cannot be changed to match the manifest")
	case submit.NotRemoved:
		return errs.Wrap(e.Err, fmt.Sprintf("cannot remove %s of an earlier job of that name", e.Object))
	case submit.Unread:
		return errs.Wrap(e.Err, exists+" and cannot be compared")
	case submit.OutcomeUnknown:
		return errs.Wrap(e.Err, "cannot tell whether "+object+" was created").Suggest(suggest.ListJobs(e.Namespace).WithNote("shows it if it exists"))
	}
	out := errs.Wrap(Error(e.Err), "the job was not submitted")
	var left []string
	for _, o := range e.NotRestored {
		left = append(left, o.String()+" could not be restored")
	}
	for _, o := range e.NotRemoved {
		left = append(left, o.String()+" could not be removed")
	}
	for _, fact := range []struct {
		label string
		list  []string
	}{{"removed", texts(e.Removed)}, {"restored", texts(e.Restored)}, {"left", left}} {
		if len(fact.list) > 0 {
			out = out.WithFact(fact.label, strings.Join(fact.list, ", "))
		}
	}
	return out
}

func since(e *errs.Error, found map[string]any) {
	if at := kinds.Text(found, "metadata", "creationTimestamp"); at != "" {
		e.WithFact("since", at)
	}
}

func texts(objects []submit.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, o.String())
	}
	return out
}

func notPatched(e *patch.Error) *errs.Error {
	switch e.Code {
	case patch.Ended:
		return errs.New("job "+e.Job.Name+" has ended", "it "+strings.ToLower(string(e.State)))
	case patch.NoEffect:
		return errs.New("job "+e.Job.Name+" has ended", "its priority has no effect")
	case patch.NoSuspend:
		why := errs.New("job "+e.Job.Name+" cannot be suspended", "a "+e.Job.Kind.Kind+" has no suspend field")
		if e.Job.Kind.Itself {
			return why.Suggest(suggest.CancelJobs(e.Job.Namespace, e.Job.Name))
		}
		if e.Job.Kind.Scales {
			return why.Suggest(errs.Other("kubectl", "scale", e.Job.Kind.ObjectName(e.Job.Name), "--replicas", "0", "-n", e.Job.Namespace).WithNote("stops its pods"))
		}
		return why.WithAdvice("set its number of replicas to 0 to stop it")
	case patch.NoWorkload:
		return errs.New("job "+e.Job.Name+" has no Workload yet", "Kueue would undo a change of the job itself").Suggest(suggest.GetJob(e.Job.Namespace, e.Job.Name))
	}
	return errs.New("job "+e.Job.Name+" was replaced by another job of the same name", "nothing was changed")
}
