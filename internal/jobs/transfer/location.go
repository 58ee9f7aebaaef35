// Package transfer copies files and folders between this machine and a pod, with the tar
// program of the pod's image. Lost connections are resumed after a comparison of sizes
// and hashes.
package transfer

import (
	"path"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Location is a file or folder, of this machine if Job is "".
type Location struct{ Job, Path string }

// ParseLocation reads JOB:PATH, or the path of a local file. A path that contains a colon
// is local if a slash comes before it, as in ./a:b; so is C:\a.
func ParseLocation(text string) Location {
	job, p, remote := strings.Cut(text, ":")
	if !remote || job == "" || strings.ContainsAny(job, `/\.`) && !named(job) || len(job) == 1 && strings.HasPrefix(p, `\`) {
		return Location{Path: text}
	}
	return Location{Job: job, Path: p}
}

// named reports NAMESPACE/NAME, KIND/NAME or KIND.GROUP/NAME: one slash between two names.
func named(job string) bool {
	before, after, both := strings.Cut(job, "/")
	if word, _, dotted := strings.Cut(before, "."); dotted {
		if _, known := kinds.JobNamed(word); known || strings.EqualFold(word, kinds.Workload.Kind) {
			before = word
		}
	}
	return both && before != "" && after != "" && !strings.ContainsAny(before, `.\`) && !strings.ContainsAny(after, `/\`)
}

// split returns the folder and the name of a path in a pod.
func split(p string) (dir, base string) {
	p = path.Clean(p)
	if p == "/" {
		return "/", "."
	}
	return path.Dir(p), path.Base(p)
}
