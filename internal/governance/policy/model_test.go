package policy

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestServiceModel: the limits that Check knows are those of the service model that comes
// with botocore, field by field.
func TestServiceModel(t *testing.T) {
	model, err := aws.ServiceModel()
	if err != nil {
		t.Skip(err)
	}
	for shape, most := range map[string]float64{
		"EntityDescription": maxDescription, "PriorityWeight": maxWeight, "FairShareWeight": maxWeight, "PriorityClassList": MaxClasses,
		"ComputeQuotaResourceConfigList": maxRows, "AbsoluteBorrowLimitResourceList": maxRows, "BorrowLimit": maxBorrow,
		"InstanceCount": maxAmount, "AcceleratorsAmount": maxAmount, "VCpuAmount": maxAmount, "MemoryInGiBAmount": maxAmount, "AcceleratorPartitionConfigCountInteger": maxAmount,
	} {
		m := model[shape]
		if m.Max == nil || *m.Max != most || m.Min == nil || *m.Min != 0 {
			t.Errorf("%s: the model has %v to %v, Check 0 to %v", shape, m.Min, m.Max, most)
		}
	}
	for shape, pattern := range map[string]string{
		"EntityName": allocationName().String(),
		// The model's own pattern does not limit the length; namespaces and labels do.
		"ComputeQuotaTargetTeamName": `^[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?$`, "ClusterSchedulerPriorityClassName": `^[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?$`,
		"EntityDescription": `^[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]*$`,
	} {
		if got := "^" + model[shape].Pattern + "$"; got != pattern {
			t.Errorf("%s: the model has %s, Check %s", shape, got, pattern)
		}
	}
	enums := map[string]string{
		"FairShare": field[ClusterPolicy](t, "FairShare"), "IdleResourceSharing": field[ClusterPolicy](t, "IdleResourceSharing"), "ActivationState": field[Team](t, "Activation"),
		"ResourceSharingStrategy": field[Team](t, "Strategy"), "PreemptTeamTasks": field[Team](t, "PreemptTeamTasks"),
	}
	for shape, words := range enums {
		if got, want := slices.Sorted(slices.Values(model[shape].Enum)), slices.Sorted(slices.Values(strings.Split(words, ","))); !slices.Equal(got, want) {
			t.Errorf("%s: the model has %v, the document %v", shape, got, want)
		}
	}
	for _, name := range model["ClusterInstanceType"].Enum {
		if _, ok := instances.Lookup(name); !ok {
			t.Errorf("the service takes %s, and Check does not know it", name)
		}
	}
	profiles := map[string]bool{}
	for _, typ := range instances.All() {
		for _, p := range typ.MIG {
			profiles["mig-"+p] = true
		}
	}
	for _, p := range model["MIGProfileType"].Enum {
		if !profiles[p] {
			t.Errorf("the service takes %s, and no instance type has it", p)
		}
	}
	// What a team's name may be, against the model's pattern and the length that it leaves open.
	for name, ok := range map[string]bool{"a": true, "a-b": true, "a--b": true, "-a": false, "a-": false, "A": false, strings.Repeat("a", 40): true, strings.Repeat("a", 41): false, "": false, "a.b": false} {
		if teamName().MatchString(name) != ok {
			t.Errorf("team %s: %s", strconv.Quote(name), map[bool]string{true: "refused", false: "accepted"}[ok])
		}
	}
}

// field is the enum of a field of the document.
func field[T any](t *testing.T, name string) string {
	t.Helper()
	f, ok := reflect.TypeFor[T]().FieldByName(name)
	if !ok {
		t.Fatal(name)
	}
	return f.Tag.Get("enum")
}
