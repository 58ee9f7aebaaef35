package submit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// identify marks the job with the fingerprint of its definition, by which a later
// submission with the same key tells a repetition from another definition.
func identify(req Request) {
	if req.Key == "" || req.Job < 0 {
		return
	}
	body := req.Objects[req.Job].Body
	kinds.Set(body, Fingerprint(body), "metadata", "annotations", kinds.DefinitionAnnotation)
}

// Fingerprint returns the hash of what a job's definition states, without the labels and
// annotations of this tool: the command line and the user may differ between tries.
func Fingerprint(body map[string]any) string {
	body = maps.Clone(body)
	if meta, ok := body["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		for _, field := range []string{"labels", "annotations"} {
			of, _ := meta[field].(map[string]any)
			of = maps.Clone(of)
			maps.DeleteFunc(of, func(key string, _ any) bool { return strings.HasPrefix(key, kinds.OwnPrefix) })
			if delete(meta, field); len(of) > 0 {
				meta[field] = of
			}
		}
		body["metadata"] = meta
	}
	text, err := json.Marshal(body)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// reuse decides about a job that an earlier submission with the same key created: nil
// for the same definition. A job without fingerprint is compared by the given fields.
func reuse(req Request, o Object, found map[string]any, cause error) error {
	was := kinds.Text(found, "metadata", "annotations", kinds.DefinitionAnnotation)
	if was != "" && was == kinds.Text(o.Body, "metadata", "annotations", kinds.DefinitionAnnotation) {
		return nil
	}
	changes := diff(found, overlay(found, o.Body))
	if was == "" && len(changes) == 0 {
		return nil
	}
	return &Error{Code: OtherDefinition, Object: o, Namespace: req.Namespace, Found: found, Changes: changes, Err: cause}
}
