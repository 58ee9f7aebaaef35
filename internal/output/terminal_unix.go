//go:build !windows

package output

// An unset locale is the C locale, which is ASCII.
const unsetLocaleIsUTF8 = false

func brokenPipe(error) bool { return false }

func enableEscapes() {}
