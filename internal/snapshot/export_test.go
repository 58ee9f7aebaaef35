package snapshot

// OpenWithin is Open with other limits, so that tests of them are small.
func OpenWithin(path string, maxText, maxYAML int64) (*Snapshot, error) {
	return open(path, limits{maxText, maxYAML})
}

// The limits of Open.
const (
	MaxText      = maxText
	MaxPlainYAML = maxPlainYAML
)
