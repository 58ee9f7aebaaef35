package versions

import "strings"

// BuiltIn is the version of Kueue that is linked in. Decisions follow its rules. A test compares it with go.mod.
const BuiltIn = "v0.19.2"

// OfImage returns the version in an image's tag ("kueue:v0.19.2-eksbuild.1" is v0.19.2), "" when the tag is none.
func OfImage(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, ok := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !ok {
		return ""
	}
	return Release(tag)
}

// Release returns the vX.Y.Z at the beginning of a text, such as a label, "" when there is none.
func Release(text string) string {
	text = "v" + strings.TrimPrefix(text, "v")
	text, _, _ = strings.Cut(text, "-")
	text, _, _ = strings.Cut(text, "+")
	parts := strings.Split(text[1:], ".")
	if len(parts) < 2 {
		return ""
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return ""
		}
	}
	return text
}
