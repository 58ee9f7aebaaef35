package startjob

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// settings are what the flags and the definition state together about one job. The flags win.
type settings struct {
	// Values go to the template. Namespace, queue and priority are empty until the cluster has been asked.
	values.Values
	// namespace is the namespace of the flags, else of the definition. stated is the definition's own.
	namespace, stated string
	// scheduler is SageMaker, Kueue, None, or empty for the default of the namespace.
	scheduler string
	// queue and priority are the names given by flags or a configuration file. A manifest's labels count after them.
	queue, priority string
}

// settings combines the flags with the definition.
func (r *run) settings(d definition) (settings, error) {
	o := r.options
	flags, err := o.values()
	if err != nil {
		return settings{}, err
	}
	if len(r.env) > 0 {
		flags.Environment = merged(r.env, flags.Environment)
	}
	s := settings{Values: flags, scheduler: o.SchedulerType, queue: o.Queue, priority: o.Priority}
	if d.file != nil {
		flags.Name = cmp.Or(flags.Name, d.file.Name)
		s.Values = underFlags(d.file.under(flags), flags, o)
		s.scheduler = cmp.Or(s.scheduler, d.file.schedulerType)
		s.queue, s.priority = cmp.Or(s.queue, d.file.Queue), cmp.Or(s.priority, d.file.Priority)
		s.stated = d.file.Namespace
	} else {
		s.stated = resolve.Namespace(d.template, s.Values)
	}
	s.namespace = cmp.Or(r.factory.Global.Namespace, d.namespace, s.stated)
	switch prefix := resolve.GenerateName(d.template, s.Values); {
	case o.GenerateName:
		name := cmp.Or(flags.Name, resolve.Name(d.template, s.Values), strings.TrimSuffix(prefix, "-"))
		if name == "" {
			return s, nameRequired()
		}
		s.Name = name + "-" + o.suffix(name)
	case s.Name == "" && prefix != "":
		// The name is made here and not by the server: a lost answer can then be checked by name.
		s.Name = prefix + o.suffix(flags.Name)
	}
	s.annotate(map[string]string{
		kinds.TemplateAnnotation:    d.template.Name,
		kinds.CreatedByAnnotation:   r.factory.User(),
		kinds.IdempotencyAnnotation: o.IdempotencyKey,
		kinds.CommandAnnotation:     o.CommandLine,
	})
	return s, nil
}

// given returns the values with the namespace, queue and priority that were given. The cluster has not confirmed them.
func (s settings) given() values.Values {
	v := s.Values
	v.Namespace = s.namespace
	if s.scheduler == noScheduler {
		v.PodPriorityClass = s.priority
	} else {
		v.Queue, v.Priority = s.queue, s.priority
	}
	return v
}

// underFlags lets switches that were given as false win over a file. Namespace, queue and priority are removed: the
// cluster checks them first.
func underFlags(v, flags values.Values, o *Options) values.Values {
	if o.AutoResume != nil {
		v.AutoResume = *o.AutoResume
		if !v.AutoResume && flags.MaxRetry == nil {
			v.MaxRetry = nil
		}
	}
	if o.DeepHealthOnly != nil {
		v.DeepHealthOnly = *o.DeepHealthOnly
	}
	v.Namespace, v.Queue, v.Priority = "", "", ""
	return v
}

// annotate adds annotations that the user did not set. Empty values are left out.
func (s *settings) annotate(own map[string]string) {
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	for key, value := range own {
		if _, given := s.Annotations[key]; !given && value != "" {
			s.Annotations[key] = value
		}
	}
}

// suffix returns the end of a generated name. With an idempotency key, the same name and key give the same suffix, so that
// a second start finds the first one's job.
func (o *Options) suffix(name string) string {
	if o.IdempotencyKey == "" {
		return strings.ToLower(rand.Text()[:5])
	}
	sum := sha256.Sum256([]byte(name + "\x00" + o.IdempotencyKey))
	return hex.EncodeToString(sum[:])[:8]
}
