package kinds

import (
	"fmt"
	"testing"
)

// A group is decided about where its last pod is, with fast admission where its first one is. Pods beyond its size do not count.
func TestByGroup(t *testing.T) {
	pod := func(text string) map[string]any {
		var name, group, size, fast string
		fmt.Sscan(text, &name, &group, &size, &fast)
		o := map[string]any{"apiVersion": "v1", "kind": "Pod"}
		Set(o, name, "metadata", "name")
		if group != "" {
			Set(o, group, "metadata", "labels", PodGroupName)
			Set(o, size, "metadata", "annotations", PodGroupTotal)
			Set(o, fast, "metadata", "annotations", podGroupFast)
		}
		return o
	}
	for _, c := range []struct {
		pods []string
		want string
	}{
		{[]string{"a1 a 2", "b1 b 2", "x", "b2 b 2", "a2 a 2"}, "[[2] [1 3] [0 4]]"},
		{[]string{"a1 a 2 true", "b1 b 1", "a2 a 2 true"}, "[[0 2] [1]]"},
		{[]string{"a1 a 1", "b1 b 1", "a2 a 1"}, "[[0 2] [1]]"},
		{[]string{"a1 a 3", "b1 b 1", "a2 a 3"}, "[[1] [0 2]]"},
		{[]string{"a1 a 1", "b1 b 1", "a2 a 3"}, "[[0 2] [1]]"},
	} {
		var list []map[string]any
		for _, text := range c.pods {
			list = append(list, pod(text))
		}
		if got := fmt.Sprint(ByGroup(list)); got != c.want {
			t.Errorf("%v: %s, want %s", c.pods, got, c.want)
		}
	}
}
