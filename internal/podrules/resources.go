package podrules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

func (c *checker) resources(p at, m map[string]any, claims map[string]bool) {
	seen := map[string]bool{}
	faults.Each(m["claims"], func(i int, claim map[string]any) {
		if name, ok := c.text(claim, "name"); ok {
			if request, ok := c.text(claim, "request"); ok && request != "" {
				name += "/" + request
			}
			if seen[name] {
				c.Add(p.To("claims", i), field.ErrorTypeDuplicate, name, "")
			}
			seen[name] = true
		}
		if name, ok := c.text(claim, "name"); ok && name != "" && !claims[name] && !c.options.Partial {
			c.Add(p.To("claims", i), field.ErrorTypeNotFound, name, "")
		}
	})
	limits, requests := faults.Inner(m, "limits"), faults.Inner(m, "requests")
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		c.amount(p.To("limits", name), name, limits[name])
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		amount, ok := c.amount(p.To("requests", name), name, requests[name])
		limit, given := limits[name]
		l, err := quantity(limit)
		switch {
		case c.Open(name) || limitsOpen(c.Open, limits):
		case !given && !overcommits(name):
			c.Required(p.To("limits"), "Limit must be set for non overcommitable resources")
		case !given || !ok || err != nil:
		case !overcommits(name) && amount.Cmp(l) != 0:
			c.Invalid(p.To("requests"), amount.String(), fmt.Sprintf("must be equal to %s limit of %s", name, l.String()))
		case amount.Cmp(l) > 0:
			c.Invalid(p.To("requests"), amount.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, l.String()))
		}
	}
	pages, base := false, false
	for _, list := range []map[string]any{limits, requests} {
		for name := range list {
			pages = pages || hugePages(name)
			base = base || name == "cpu" || name == "memory" || c.Open(name)
		}
	}
	if pages && !base {
		c.Forbidden(p, "HugePages require cpu or memory")
	}
}

func limitsOpen(open func(string) bool, limits map[string]any) bool {
	for name := range limits {
		if open(name) {
			return true
		}
	}
	return false
}

// amount checks the name and the amount of a resource. ok is false if the amount is not a quantity.
func (c *checker) amount(p at, name string, v any) (q apiresource.Quantity, ok bool) {
	if c.Open(name) {
		return q, false
	}
	before := len(c.Found)
	c.Invalid(p, name, validation.IsQualifiedName(name)...)
	switch {
	case len(c.Found) > before:
	case !strings.Contains(name, "/"):
		if !standard(name) {
			c.Invalid(p, name, "must be a standard resource for containers")
		}
	case !native(name) && !extended(name):
		c.Invalid(p, name, "doesn't follow extended resource name standard")
	}
	q, err := quantity(v)
	if err != nil {
		return q, false
	}
	if q.Sign() < 0 {
		c.Invalid(p, q.String(), "must be greater than or equal to 0")
	}
	if hugePages(name) && !wholePages(name, q) {
		c.Invalid(p, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))
	}
	if extended(name) && q.MilliValue()%1000 != 0 {
		c.Invalid(p, q.String(), "must be an integer")
	}
	return q, true
}

func quantity(v any) (apiresource.Quantity, error) {
	switch n := v.(type) {
	case string:
		return apiresource.ParseQuantity(strings.TrimSpace(n)) // as it reads JSON
	case int64:
		return *apiresource.NewQuantity(n, apiresource.DecimalSI), nil
	case int:
		return *apiresource.NewQuantity(int64(n), apiresource.DecimalSI), nil
	case float64:
		return apiresource.ParseQuantity(strconv.FormatFloat(n, 'f', -1, 64))
	case fmt.Stringer:
		return apiresource.ParseQuantity(n.String())
	}
	return apiresource.Quantity{}, apiresource.ErrFormatWrong
}

// standard reports whether a name without a slash is a resource of containers.
func standard(name string) bool {
	return name == "cpu" || name == "memory" || name == "ephemeral-storage" || hugePages(name)
}

func hugePages(name string) bool { return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) }

// wholePages reports whether an amount is a number of whole pages.
func wholePages(name string, amount apiresource.Quantity) bool {
	size, err := apiresource.ParseQuantity(strings.TrimPrefix(name, corev1.ResourceHugePagesPrefix))
	return err == nil && size.Value() > 0 && size.MilliValue()%1000 == 0 && amount.Value()%size.Value() == 0
}

// native reports whether Kubernetes itself defines the resource.
func native(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

// extended reports whether the resource is one of devices: its quota has the name with "requests." before it.
func extended(name string) bool {
	return !native(name) && !strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+name)) == 0
}

// overcommits reports whether the limit of a resource can be above its request.
func overcommits(name string) bool { return native(name) && !hugePages(name) }
