package values

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// No machine has more than this: a larger quantity is a typing error, and the API would cut it to what 64 bits
// hold.
var (
	mostCPU   = resource.MustParse("1M")  // cores
	mostBytes = resource.MustParse("1Pi") // memory
)

// checkQuantities validates --vcpu, --memory and their limits by themselves.
func (v Values) checkQuantities() error {
	amounts := map[setting.Setting]resource.Quantity{}
	for _, q := range []struct {
		of   setting.Setting
		have string
		most resource.Quantity
	}{{setting.VCPU, v.VCPU, mostCPU}, {setting.Memory, v.Memory, mostBytes}, {setting.VCPULimit, v.VCPULimit, mostCPU}, {setting.MemoryLimit, v.MemoryLimit, mostBytes}} {
		if q.have == "" {
			continue
		}
		n, err := resource.ParseQuantity(q.have)
		if err != nil || n.Sign() <= 0 {
			return q.of.Invalid(q.have, "must be a quantity greater than 0, such as 500m, 4 or 16Gi")
		}
		if n.Cmp(q.most) > 0 {
			return q.of.Invalid(q.have, "must be at most %s", q.most.String())
		}
		amounts[q.of] = n
	}
	for request, limit := range map[setting.Setting]setting.Setting{setting.VCPU: setting.VCPULimit, setting.Memory: setting.MemoryLimit} {
		amount, asked := amounts[request]
		if most, limited := amounts[limit]; asked && limited && most.Cmp(amount) < 0 {
			return limit.Invalid(most.String(), "must be at least %s, the value of %s", amount.String(), request)
		}
	}
	return nil
}
