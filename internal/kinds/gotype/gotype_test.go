package gotype

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func TestEveryKindHasItsType(t *testing.T) {
	for _, k := range kinds.Jobs() {
		typ := Of(k)
		if typ == nil {
			t.Errorf("%s has no type", k.Kind)
			continue
		}
		if _, ok := typ.FieldByName("Spec"); !ok {
			t.Errorf("%s: %s has no spec", k.Kind, typ)
		}
	}
}
