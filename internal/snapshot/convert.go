package snapshot

import (
	"encoding/json"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// convert brings objects of an older version of Kueue's API to the one that
// snapshots are kept at, in place. Other kinds are as the cluster has them.
func convert(r, at kinds.Resource, items []map[string]any) error {
	for i, m := range items {
		v, _ := m["apiVersion"].(string)
		if r.Group != kinds.KueueGroup || at.Version == r.Version && (v == "" || v == r.GroupVersion()) {
			m["apiVersion"], m["kind"] = at.GroupVersion(), at.Kind
			continue
		}
		if v == "" {
			m["apiVersion"], m["kind"] = at.GroupVersion(), at.Kind
		}
		out, err := toHub(r, m)
		if err != nil {
			return err
		}
		items[i] = out
	}
	return nil
}

// toHub converts one object with Kueue's own conversion.
func toHub(r kinds.Resource, m map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	objs, err := decode.Objects(raw)
	if err != nil || len(objs) != 1 {
		return nil, errs.New("cannot read a "+r.Kind, fmt.Sprintf("it is not one of %s", m["apiVersion"])).WithCause(err)
	}
	if raw, err = json.Marshal(objs[0]); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := kube.Decode(raw, &out); err != nil {
		return nil, err
	}
	out["apiVersion"], out["kind"] = r.GroupVersion(), r.Kind
	return out, nil
}
