package report

import (
	"strings"
	"testing"
)

// Errors about the form of a file use no words of Go.
func TestPriceFileInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\n":               `unknown field "apiVersion"`,
		"[1]\n":                          "the file must have currency, date and instances",
		"text\n":                         "the file must have currency, date and instances",
		"currency: [EUR]\n":              "currency has the wrong type",
		"instances: {a: {hour: much}}\n": "hour has the wrong type",
	} {
		_, err := ParsePrices([]byte(text), nil)
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "json") {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
