package startjob

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// workingFile returns the file NAME.yaml of the working directory or of its folder jobs. It returns nil if there is none,
// if the file holds no job, or if flags define the program. A notice names a file that is not used.
func (r *run) workingFile() (*parse.Template, error) {
	o := r.options
	t, err := catalogue.Find(o.Name, catalogue.Dirs{Work: r.factory.TemplateDirs().Work})
	var path string
	var isJob bool
	switch {
	case errs.ExitOf(err) == errs.NotFound:
		return nil, nil
	case err != nil:
		_, source, text, broken := parse.BrokenText(err)
		if !broken {
			return nil, err
		}
		path, isJob = source, namesJob(text)
	case t.Source == catalogue.Embedded:
		return nil, nil
	default:
		path, isJob = t.Source, len(jobKindsOf(t)) > 0
	}
	if !isJob {
		r.factory.Notef("note: %s is not used because it is not a manifest of a job", path)
		return nil, nil
	}
	if flag := o.defines(); flag != "" {
		r.factory.Notef("note: %s is not used because --%s defines the program; use -f %s to start the file", path, flag, path)
		return nil, nil
	}
	return t, err
}

// namesJob reports whether a text that cannot be parsed names a kind of job at the start of a line.
func namesJob(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if kind, found := strings.CutPrefix(line, "kind:"); found {
			if _, known := kinds.JobNamed(strings.Trim(strings.TrimSpace(kind), `"'`)); known {
				return true
			}
		}
	}
	return false
}
