package admission

// KueueVersion is the version of Kueue whose rules this package follows. A test compares it with go.mod.
const KueueVersion = "v0.19.2"
