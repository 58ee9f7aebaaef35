package startjob

import (
	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Storage holds the flags about volumes, identity and metadata. Fields have the names of their flags.
type Storage struct {
	PersistentVolumeClaims, Volumes []string
	ServiceAccount                  string
	Labels, Annotations             []string // --label, --annotation
}

// Title implements factory.OptionGroup.
func (*Storage) Title() string { return "Storage and identity" }

// AddFlags implements factory.OptionGroup.
func (s *Storage) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&s.PersistentVolumeClaims, "persistent-volume-claims", nil, "PersistentVolumeClaims to mount: CLAIM:MOUNT[,CLAIM:MOUNT...]")
	fs.StringArrayVar(&s.Volumes, "volumes", nil, "volumes to mount: NAME:HOSTPATH:MOUNT[,...], or name=,type=,mount_path=,... (repeatable; types: hostPath, pvc, fsx, efs, emptyDir)")
	fs.StringVar(&s.ServiceAccount, "service-account-name", "", "service account of the pods")
	fs.StringArrayVar(&s.Labels, "label", nil, "label K=V of the job and its pods (repeatable)")
	fs.StringArrayVar(&s.Annotations, "annotation", nil, "annotation K=V of the job (repeatable)")
}

// Validate implements factory.OptionGroup.
func (s *Storage) Validate() error { return nil }

func (s *Storage) set(v *values.Values) (err error) {
	v.ServiceAccount = s.ServiceAccount
	if v.Labels, err = values.ParsePairs(setting.Label, s.Labels); err != nil {
		return err
	}
	for label, flag := range map[string]string{kinds.QueueLabel: "--queue-name", kinds.PriorityLabel: "--priority"} {
		if value, given := v.Labels[label]; given {
			return errs.Usagef("--label cannot set %s: %s does", label, flag).Suggest(errs.Option(flag, value))
		}
	}
	if v.Annotations, err = values.ParsePairs(setting.Annotation, s.Annotations); err != nil {
		return err
	}
	v.Volumes, err = values.ParseVolumes(s.Volumes, s.PersistentVolumeClaims)
	return err
}

// Lifecycle holds the flags about failures and the end of a job. Fields have the names of their flags; a nil value was not
// given.
type Lifecycle struct {
	RestartPolicy  string
	AutoResume     *bool
	MaxRetry       *int
	Backoff        *int   // --backoff-limit
	Deadline, TTL  string // --active-deadline, --ttl-after-finished
	CleanPodPolicy string
}

// Title implements factory.OptionGroup.
func (*Lifecycle) Title() string { return "Failures and end" }

// AddFlags implements factory.OptionGroup.
func (l *Lifecycle) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&l.RestartPolicy, "restart-policy", "", "pod restart policy: "+restartPolicies)
	factory.OptionalBool(fs, &l.AutoResume, "auto-resume", "resume the job after HyperPod replaces a faulty node")
	factory.OptionalInt(fs, &l.MaxRetry, "max-retry", "maximum number of restarts with --auto-resume (default 1)")
	factory.OptionalInt(fs, &l.Backoff, "backoff-limit", "number of pod failures that the job tolerates")
	fs.StringVar(&l.Deadline, "active-deadline", "", "maximum run time, for example 2h; the job fails after it")
	fs.StringVar(&l.TTL, "ttl-after-finished", "", "delete the job this long after it finishes, for example 1h or 7d")
	fs.StringVar(&l.CleanPodPolicy, "clean-pod-policy", "", "pods to delete when the job finishes: "+cleanPodPolicies)
}

// Validate implements factory.OptionGroup.
func (l *Lifecycle) Validate() error { return atLeast("max-retry", l.MaxRetry, 0) }

func (l *Lifecycle) set(v *values.Values) (err error) {
	v.RestartPolicy = l.RestartPolicy
	v.AutoResume = l.AutoResume != nil && *l.AutoResume
	v.MaxRetry = l.MaxRetry
	v.RunPolicy.CleanPodPolicy, v.RunPolicy.Backoff = l.CleanPodPolicy, l.Backoff
	if l.TTL != "" {
		if v.RunPolicy.TTL, err = values.ParseSeconds(setting.TTL, l.TTL); err != nil {
			return err
		}
	}
	if l.Deadline != "" {
		v.RunPolicy.Deadline, err = values.ParseSeconds(setting.Deadline, l.Deadline)
	}
	return err
}
