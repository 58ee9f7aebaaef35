package parse

import "github.com/hyperpod-cli/hyperpod/internal/kinds"

// Info describes a template for lists and completion.
type Info struct {
	Name, Source, Help string
	Kinds              []string
}

// Info describes the template.
func (t *Template) Info() Info { return Info{t.Name, t.Source, t.Help, t.Kinds()} }

func (i Info) hasJob() bool {
	_, ok := kinds.JobNamed(i.JobKind())
	return ok
}

// JobKind returns the kind of the job that the template creates, or of its first object.
func (i Info) JobKind() string {
	beside := ""
	for _, k := range i.Kinds {
		switch job, ok := kinds.JobNamed(k); {
		case ok && !job.Beside:
			return k
		case ok && beside == "":
			beside = k
		}
	}
	if beside != "" {
		return beside
	}
	if len(i.Kinds) > 0 {
		return i.Kinds[0]
	}
	return ""
}

// IsJobKind reports whether the table of kinds has a job kind of this name.
func IsJobKind(kind string) bool { return Info{Kinds: []string{kind}}.hasJob() }
