package kinds

import (
	"slices"
	"strings"
	"testing"
)

// The pods of a pod group are jobs beside a Job; other pods and Deployments go along with it.
func TestSeveral(t *testing.T) {
	for _, c := range []struct {
		objects []string
		want    []int
	}{
		{[]string{"v1 Pod group", "v1 ConfigMap", "batch/v1 Job", "v1 Pod group"}, []int{0, 2, 3}},
		{[]string{"v1 Pod", "batch/v1 Job", "apps/v1 Deployment"}, []int{1}},
		{[]string{"apps/v1 Deployment group", "batch/v1 Job"}, []int{1}},
		{[]string{"v1 Pod", "apps/v1 Deployment", "v1 Pod group"}, []int{0, 1, 2}},
		{[]string{"v1 ConfigMap"}, nil},
	} {
		fields := func(i int) []string { return append(strings.Fields(c.objects[i]), "") }
		got := Several(len(c.objects), func(i int) (string, string) { return fields(i)[0], fields(i)[1] }, func(i int) bool { return fields(i)[2] != "" })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.objects, got, c.want)
		}
	}
}
