package schema

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// owner is an object and its place: "" is the object of the document.
type owner struct{ apiVersion, kind, at string }

func ownerAt(n *manifest.Node, at string) owner {
	return owner{n.Get("apiVersion").Str(), n.Get("kind").Str(), at}
}

// Field is a field that the known type of a kind lacks. Path leads to it in the document, and Own in the object of the kind, which
// can be a part of the document.
type Field struct {
	APIVersion, Kind string
	Path, Own        string
	Near             []string // the known fields beside it with a similar name
}

// Allow reports whether an object may have a field that the known type of its kind lacks: a later version of the kind can have it.
// Such a field stays as it is. Nil allows none.
type Allow func(Field) bool

// AllowAll allows every field.
func AllowAll(Field) bool { return true }

// allows reports whether a field may stay.
func (r *Report) allows(path string, near []string) bool {
	if r.Allow == nil {
		return false
	}
	own := strings.TrimPrefix(strings.TrimPrefix(path, r.of.at), ".")
	return r.Allow(Field{r.of.apiVersion, r.of.kind, path, own, near})
}

// NoteSent words the note about a field that is sent that the program does not know.
func NoteSent(f Field) string {
	return f.place() + " is sent as it is: this version does not know the field" + manifest.DidYouMean(f.Near)
}

// NoteAccepted words the note about a field that the cluster's schema has.
func NoteAccepted(f Field) string {
	return f.place() + " is sent as it is: only the cluster knows the field" + manifest.DidYouMean(f.Near)
}

// NoteKept words the note about a field of a job of the cluster that a template keeps.
func NoteKept(f Field) string {
	return f.place() + " stays as it is: this version does not know the field" + manifest.DidYouMean(f.Near)
}

// NoteUnchecked words the note about a field that a check passes over.
func NoteUnchecked(f Field) string {
	return f.place() + " is not checked: this version does not know the field" + manifest.DidYouMean(f.Near)
}

func (f Field) place() string { return words.Cut(f.Path, 200) + " of " + f.Kind }
