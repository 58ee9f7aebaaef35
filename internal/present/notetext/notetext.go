// Package notetext words the reservations that come with answers of the admission
// engine: what it does not follow, which objects it left out, and what was assumed.
package notetext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Error words an error of package inputs. Other errors stay as they are.
func Error(err error) error {
	var rules *inputs.RulesError
	if !errors.As(err, &rules) {
		return err
	}
	return errs.New("cannot check with the rules of the cluster", rules.Err.Error()).
		WithAdvice("ask a cluster administrator to correct Kueue's configuration").WithCause(err)
}

// Fill sets the sentences of notes that have none.
func Fill(notes []inputs.Note) {
	for i := range notes {
		if notes[i].Message == "" {
			notes[i].Message = Note(notes[i])
		}
	}
}

// Note returns a note as a sentence without a full stop.
func Note(n inputs.Note) string {
	switch n.Code {
	case inputs.ConfigurationUnknown:
		text := "Kueue's configuration is unknown (" + manager(n.Manager) + ")"
		if n.Manager == inputs.ManagerInvalid {
			text = "Kueue's configuration is invalid"
		}
		switch {
		case n.Settings == nil:
			return text + ": assuming its defaults"
		case len(n.Settings) == 0:
			return text + "; this answer does not depend on it"
		}
		return text + ": assuming the defaults of " + words.Some(n.Settings, len(n.Settings))
	case inputs.VersionUnknown:
		return "the cluster's Kueue version is unknown: checked with the rules of " + versions.BuiltIn
	case inputs.VersionDiffers:
		return fmt.Sprintf("the cluster runs Kueue %s: checked with the rules of %s", n.Version, versions.BuiltIn) + differences(n.Differences)
	case inputs.Invalid:
		return invalid(n.Err)
	case inputs.NotModelled:
		if n.RuntimeClasses {
			return "some jobs use a runtime class that cannot be read: the overhead that it may add is not counted"
		}
		return Warning(n.Warning)
	case inputs.Assumed:
		return assumption(n.Assumption)
	case inputs.GateAssumed:
		return fmt.Sprintf("Kueue governs a %s only with its feature gate %s, which is off by default: assuming that it is on", n.Kind, n.Gate)
	case inputs.Beside:
		return "counted before the job, with the same manifest: " + words.Some(n.Names, 4)
	case inputs.CPUNotCounted:
		return fmt.Sprintf("Kueue does not count the CPU of %s: set %s", n.Unseen, n.Counted)
	}
	return n.Code
}

func manager(s inputs.ManagerState) string {
	switch s {
	case inputs.ManagerEmpty:
		return "its ConfigMap " + state.ManagerConfigMap + " has no " + state.ManagerConfigKey
	case inputs.ManagerNotInFile:
		return "it is not in the file"
	case inputs.ManagerForbidden:
		return "no permission to read it"
	case inputs.ManagerMissing:
		return "there is no ConfigMap " + state.ManagerConfigMap + " in " + state.ManagerNamespace
	}
	return "it could not be read"
}

// Invalid returns why an engine left objects out: the error of its Load.
func Invalid(err error) string {
	var texts []string
	for _, one := range admission.Problems(err) {
		texts = append(texts, invalid(one))
	}
	return strings.Join(texts, "\n")
}

// invalid returns why an engine left an object out.
func invalid(err error) string {
	var refused *admission.InvalidError
	if errors.As(err, &refused) {
		return refused.Kind + " " + refused.Name + ": " + quotatext.Faults(refused.Faults)
	}
	return words.OneLine(err.Error())
}

func assumption(a *inputs.Assumption) string {
	if a.Queue == "" {
		return fmt.Sprintf("ClusterQueue %s has quota in use by workloads that %s", a.ClusterQueue, unread(a.Unread, "are"))
	}
	basis := "by the usual names"
	if a.Seen {
		basis = "its workloads were admitted there"
	}
	return fmt.Sprintf("assuming that LocalQueue %s uses ClusterQueue %s (%s): it %s", a.Queue, a.ClusterQueue, basis, unread(a.Unread, "is"))
}

// unread returns why something could not be read, behind its name; be is the verb that goes
// with the name.
func unread(reason, be string) string {
	switch reason {
	case state.NotInFile:
		return be + " not in the file"
	case state.Failed:
		return "could not be read"
	}
	return "cannot be read (no permission)"
}

// Warning returns what an engine does not follow.
func Warning(w *admission.Warning) string {
	switch w.Code {
	case admission.GateUnknown:
		return fmt.Sprintf("feature gate %s=%t is not followed: this Kueue version does not have it", w.Name, w.On)
	case admission.GateLocked:
		return fmt.Sprintf("feature gate %s=%t is not followed: this Kueue version has it fixed to %t", w.Name, w.On, !w.On)
	case admission.GatesRefused:
		return "feature gates are not followed: " + w.Reason
	case admission.NamespaceUnknown:
		return "namespace " + w.Name + " was not given: its labels are assumed to be empty"
	case admission.MultiKueueCheck:
		return "admission check " + w.Name + " uses MultiKueue: decisions of other clusters are not modelled"
	case admission.OrderedByUse:
		return "ClusterQueues with admission fair sharing, whose order by past use is not modelled: " + words.Some(w.Names, 4)
	case admission.MaybeOrderedByUse:
		return "ClusterQueues configured for admission fair sharing (Kueue may have it enabled), whose order by past use is not modelled: " + words.Some(w.Names, 4)
	case admission.ConcurrentQueues:
		return "ClusterQueues with a concurrentAdmissionPolicy, which is not modelled, as Kueue's feature gates are unknown: " + words.Some(w.Names, 4)
	case admission.ClaimingWorkloads:
		return "workloads with resource claims, whose devices cannot be counted because something could not be read: " + words.Some(w.Names, 4)
	case admission.OwnClaims:
		return "it uses resource claims, whose devices cannot be counted because something could not be read"
	case admission.UncountedUnknown:
		return uncounted(w, "is not known")
	case admission.UncountedInvalid:
		return uncounted(w, "is left out")
	}
	return string(w.Code)
}

func uncounted(w *admission.Warning, what string) string {
	subject := fmt.Sprintf("%d workloads hold", len(w.Names))
	if len(w.Names) == 1 {
		subject = "workload " + w.Names[0] + " holds"
	}
	return fmt.Sprintf("%s quota in ClusterQueue %s, which %s: %s usage is not counted", subject, w.Name, what, words.Verb(len(w.Names), "its", "their"))
}
