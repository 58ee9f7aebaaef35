package admission

// KueueVersion is the version of Kueue whose rules this package follows. A test
// holds it against go.mod.
const KueueVersion = "v0.19.2"
