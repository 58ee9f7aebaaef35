package validate

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// CountFlag matches the counts in a launching command. A range such as --nnodes=1:4 is matched with its colon.
var CountFlag = pattern.Lazy(`(?:^|\s)(-np|--nnodes|--nproc[-_]per[-_]node)(?:=|\s+)(\d+)(:?)`)

// NoteCounts notes numbers in the launching command that contradict the job: two pods with a command for three
// never start to train. Each job of a JobSet may be a group of its own.
func NoteCounts(s *resolve.Plan, j *jobobject.View) {
	nodes := j.Nodes()
	for _, r := range j.Starters() {
		c := jobobject.Container(r.Pod())
		var text strings.Builder
		for _, key := range []string{"command", "args"} {
			list, _ := c[key].([]any)
			for _, w := range list {
				text.WriteString(manifest.TextOf(w) + " ")
			}
		}
		for _, m := range CountFlag().FindAllStringSubmatch(text.String(), -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil || m[3] != "" {
				continue
			}
			switch {
			case m[1] == "--nnodes" && n != nodes && n != r.Each():
				s.Notef("the command sets --nnodes=%d, and the job has %d pods", n, nodes)
			case m[1] == "-np" && j.Kind.Launch().Meets == kinds.ByHostFile && n != nodes*s.Tasks.N:
				s.Notef("the command sets -np %d, and the job has %d pods with %d slots each", n, nodes, s.Tasks.N)
			case m[1] != "--nnodes" && m[1] != "-np" && s.TasksPerNode != nil && n != s.Tasks.N:
				s.Notef("the command sets %s=%d, which overrides %s %d", m[1], n, setting.TasksPerNode, s.Tasks.N)
			}
		}
	}
}

// imageText holds the characters of an image's name, tag and digest (the OCI
// distribution specification's references).
var imageText = pattern.Lazy(`^[A-Za-z0-9._/:@+-]*$`)

// NoteImages notes images that no node can pull, such as <account>.dkr.ecr... in a sample.
func NoteImages(s *resolve.Plan, j *jobobject.View) {
	for _, r := range j.Roles() {
		for _, list := range []string{"initContainers", "containers"} {
			for _, c := range jobobject.MapsIn(r.Pod()[list]) {
				if image := manifest.TextOf(c["image"]); !imageText().MatchString(image) {
					s.Notef("%s of %s: image %s is not a valid reference", manifest.TextOf(c["name"]), r.Name, manifest.QuoteText(image))
				}
			}
		}
	}
}

// NoteTypes notes instance types without the prefix that the nodes of HyperPod have.
func NoteTypes(s *resolve.Plan, j *jobobject.View) {
	for _, r := range j.Roles() {
		for _, name := range jobobject.RequiredLabel(r.Pod(), kinds.InstanceTypeLabel) {
			if t, known := instances.Lookup(name); known && t.Name != name {
				s.Notef("%s requires nodes of type %s; HyperPod labels its nodes %s", r.Name, name, t.Name)
			}
		}
	}
}
