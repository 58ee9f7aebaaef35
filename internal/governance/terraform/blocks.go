package terraform

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// onlyOnce are the blocks of BlockQuotaType that stand once: lists of one element in JSON.
var onlyOnce = []string{"compute_quota_config", "compute_quota_target", "resource_sharing_config", "accelerator_partition"}

// renamed are the attributes of QuotaType that BlockQuotaType calls otherwise.
var renamed = map[string]string{"v_cpu": "vcpu", "memory_in_gi_b": "memory_in_gib"}

// defaultBorrowLimit is what the provider plans where no limit is given, also for strategies that do not borrow.
const defaultBorrowLimit = 50

// fromBlocks reads the values of a BlockQuotaType.
func fromBlocks(values json.RawMessage) (quotaResource, error) {
	var q quotaResource
	var of any
	read := json.NewDecoder(bytes.NewReader(values))
	read.UseNumber()
	if err := read.Decode(&of); err != nil {
		return q, err
	}
	text, err := json.Marshal(withoutBlocks(of))
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(text, &q); err != nil {
		return q, err
	}
	if s := q.Config.Sharing; s != nil && s.BorrowLimit != nil && *s.BorrowLimit == defaultBorrowLimit && s.Strategy != "" && s.Strategy != policy.LendAndBorrow {
		s.BorrowLimit = nil
	}
	return q, nil
}

// withoutBlocks returns values of BlockQuotaType as QuotaType has them.
func withoutBlocks(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutBlocks(v[i])
		}
	case map[string]any:
		for name, value := range v {
			if list, ok := value.([]any); ok && slices.Contains(onlyOnce, name) {
				value = nil
				if len(list) > 0 {
					value = list[0]
				}
			}
			v[name] = withoutBlocks(value)
		}
		for to, from := range renamed {
			if value, ok := v[from]; ok {
				v[to] = value
			}
		}
	}
	return v
}

// inBlocks is the path of an attribute of QuotaType in BlockQuotaType.
func inBlocks(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if name, ok := renamed[part]; ok {
			parts[i] = name
		}
		if slices.Contains(onlyOnce, part) {
			parts[i] += "[0]"
		}
	}
	return strings.Join(parts, ".")
}
