package pseudonym

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

var (
	// token is a word of a message with what can be part of a name.
	token = pattern.Lazy(`[A-Za-z0-9@_][A-Za-z0-9@_./:-]*`)
	word  = pattern.Lazy(`^[A-Za-z]+('[a-z]+)?$`)
)

// plainWords are words of messages that look like parts of names.
var plainWords = map[string]bool{}

func init() {
	for _, s := range strings.Fields("back-off Back-off re-queued re-evaluated e.g i.e n/a and/or node(s) pod(s) built-in non-zero up-to-date pre-empted out-of-memory") {
		plainWords[s] = true
	}
}

// Text replaces the names in a sentence. It keeps plain words, numbers and public names. Any other word
// becomes a pseudonym too, because it may be the name of something that no longer exists.
func (n *Names) Text(s string) string {
	return token().ReplaceAllStringFunc(s, func(t string) string {
		end := len(strings.TrimRight(t, ".:/-_"))
		return n.token(t[:end]) + t[end:]
	})
}

// sentence are words of Kueue's messages; a team that has one of them as its name keeps it in
// messages, because they are read again.
var sentence = map[string]bool{}

func init() {
	for _, s := range strings.Fields(`a an and at by due for from in is not no of on or over per than that the to with within
		flavor quota unused insufficient more needed resource requests maximum capacity previously considered podsets request
		cohort cluster queue priority preempted accommodate workload job reclamation fair sharing preemptor preemptee path borrowing limit
		exceeded couldn't assign flavors pod set doesn't match node affinity untolerated taint topology allow fit only out`) {
		sentence[s] = true
	}
}

func (n *Names) token(t string) string {
	switch p := n.of[t]; {
	case sentence[t] || p == "" && (plainWords[t] || word().MatchString(t) || n.keeps(t) || term().MatchString(t)):
		return t
	case p != "":
		return p
	}
	parts := strings.Split(t, "/")
	if len(parts) == 1 {
		return n.Name(t)
	}
	for i, part := range parts {
		if part == "" {
			continue
		}
		if parts[i] = n.token(part); parts[i] == part && !n.keeps(part) {
			parts[i] = n.Name(part) // a word in a path is a name
		}
	}
	return strings.Join(parts, "/")
}
