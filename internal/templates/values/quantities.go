package values

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Beyond these no machine is meant: a quantity that large is a slip of the hand,
// and the API would cut it to what 64 bits hold.
var (
	mostCPU   = resource.MustParse("1M")  // cores
	mostBytes = resource.MustParse("1Pi") // memory
)

// checkQuantities validates --vcpu, --memory and their limits by themselves.
func (v Values) checkQuantities() error {
	amounts := map[string]resource.Quantity{}
	for _, q := range []struct {
		flag, have string
		most       resource.Quantity
	}{{"--vcpu", v.VCPU, mostCPU}, {"--memory", v.Memory, mostBytes}, {"--vcpu-limit", v.VCPULimit, mostCPU}, {"--memory-limit", v.MemoryLimit, mostBytes}} {
		if q.have == "" {
			continue
		}
		n, err := resource.ParseQuantity(q.have)
		if err != nil || n.Sign() <= 0 {
			return errs.Usagef("%s %q is no quantity such as 500m, 4 or 16Gi", q.flag, manifest.Clip(q.have))
		}
		if n.Cmp(q.most) > 0 {
			return errs.Usagef("%s %s is more than any machine has", q.flag, manifest.Clip(q.have))
		}
		amounts[q.flag] = n
	}
	for _, flag := range []string{"--vcpu", "--memory"} {
		request, asked := amounts[flag]
		if limit, limited := amounts[flag+"-limit"]; asked && limited && limit.Cmp(request) < 0 {
			return errs.Usagef("%s-limit %s is below %s %s", flag, limit.String(), flag, request.String())
		}
	}
	return nil
}
