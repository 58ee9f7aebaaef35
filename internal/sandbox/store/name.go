package store

// nameLetters are the letters of generated suffixes: those of Kubernetes, which
// spell no words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

const (
	suffixLength = 5
	suffixes     = 27 * 27 * 27 * 27 * 27 // how many suffixes there are
	// scatter is coprime to suffixes, so that different numbers get different
	// suffixes, and far from a simple fraction of it, so that neighbours look unlike.
	scatter = 8_867_573
	// maxPrefix leaves the suffix its place in a name of 63 characters.
	maxPrefix = 63 - suffixLength
)

// GenerateName returns a name that starts with a prefix and that no object of the
// resource in the namespace has. The suffix follows from the resource version that
// the next change gets, so a name comes back only after 14 million changes.
func (s *Store) GenerateName(resource, namespace, prefix string) string {
	prefix = prefix[:min(len(prefix), maxPrefix)]
	for n := s.rv + 1; ; n++ {
		name := prefix + suffix(n)
		if s.Get(resource, namespace, name) == nil {
			return name
		}
	}
}

func suffix(n int64) string {
	n = scattered(n)
	var b [suffixLength]byte
	for i := range b {
		b[i] = nameLetters[n%int64(len(nameLetters))]
		n /= int64(len(nameLetters))
	}
	return string(b[:])
}

func scattered(n int64) int64 { return n % suffixes * scatter % suffixes }
