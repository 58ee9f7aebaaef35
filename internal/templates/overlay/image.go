package overlay

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// imageHasPlaceholder reports whether the template writes a container's image with the
// placeholder for images inside longer text, as in ${REGISTRY}/${IMAGE}:${TAG}. The
// placeholder has the value of the flag then, and the rest of the text stays. A flag with
// a registry, tag or digest is a whole image, and replaces the text; so does a flag beside
// a value that was given to the parameter itself.
func (s *job) imageHasPlaceholder(r jobobject.Role, c map[string]any) bool {
	if strings.ContainsAny(s.Image, "/:@") {
		return false
	}
	containers, _ := r.Pod()["containers"].([]any)
	i := slices.IndexFunc(containers, func(item any) bool { m, _ := item.(map[string]any); return m["name"] == c["name"] })
	path := manifest.Location{Path: manifest.JoinPath(r.PodAt, "containers")}.Item(max(i, 0)).Path + ".image"
	steps, err := fieldpath.Parse(path)
	if err != nil {
		return false
	}
	n := s.Template.JobNode()
	for _, step := range steps {
		switch {
		case !step.List:
			n = n.Get(step.Key)
		case n != nil && step.Index < len(n.Items):
			n = n.Items[step.Index]
		default:
			n = nil
		}
		if n == nil {
			return false
		}
	}
	text := n.Str()
	if _, whole := (manifest.Location{}).Whole(text); whole {
		return false
	}
	return slices.ContainsFunc(manifest.Location{}.Mentions(text), func(m manifest.Mention) bool {
		of, known := setting.OfPlaceholder(m.Name)
		return known && of == setting.Image && !s.Given(m.Name)
	})
}
