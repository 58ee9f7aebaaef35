package terraform

import (
	"encoding/json"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// shown is the output of terraform show -json for a plan or a state.
type shown struct {
	FormatVersion string  `json:"format_version"`
	Planned       *values `json:"planned_values"`
	Values        *values `json:"values"`
}

type values struct {
	Root module `json:"root_module"`
}

type module struct {
	Resources []resource `json:"resources"`
	Children  []module   `json:"child_modules"`
}

type resource struct {
	Address string          `json:"address"`
	Mode    string          `json:"mode"`
	Type    string          `json:"type"`
	Values  json.RawMessage `json:"values"`
}

// Source is a document that was read from Terraform.
type Source struct {
	Document *policy.Document
	policy   string
	teams    []string     // addresses
	blocks   map[int]bool // teams of BlockQuotaType
}

// Is reports whether a text is the output of terraform show -json.
func Is(data []byte) bool {
	if text := strings.TrimLeft(string(data[:min(len(data), 512)]), " \t\r\n\ufeff"); !strings.HasPrefix(text, "{") {
		return false
	}
	var s shown
	return json.Unmarshal(data, &s) == nil && s.FormatVersion != "" && (s.Planned != nil || s.Values != nil)
}

// Read returns the document in the output of terraform show -json. Values that are not
// known before the apply are missing in it. Several policies, or no resource of task
// governance, are an error.
func Read(data []byte) (*Source, error) {
	var s shown
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, &Error{Code: NotPlan, Err: err}
	}
	root := s.Planned
	if root == nil {
		root = s.Values
	}
	out := &Source{Document: &policy.Document{Version: policy.Version}}
	if root != nil {
		if err := out.module(root.Root); err != nil {
			return nil, err
		}
	}
	if out.policy == "" && len(out.teams) == 0 {
		return nil, &Error{Code: NoGovernance}
	}
	return out, nil
}

func (s *Source) module(m module) error {
	for _, r := range m.Resources {
		if r.Mode == "data" {
			continue
		}
		switch r.Type {
		case QuotaType:
			var q quotaResource
			if err := json.Unmarshal(r.Values, &q); err != nil {
				return &Error{Code: InvalidResource, Address: r.Address, Err: err}
			}
			s.team(r.Address, q)
		case BlockQuotaType:
			q, err := fromBlocks(r.Values)
			if err != nil {
				return &Error{Code: InvalidResource, Address: r.Address, Err: err}
			}
			if s.blocks == nil {
				s.blocks = map[int]bool{}
			}
			s.blocks[len(s.teams)] = true
			s.team(r.Address, q)
		case PolicyType:
			if s.policy != "" {
				return &Error{Code: TwoPolicies, Address: r.Address, Other: s.policy}
			}
			var p policyResource
			if err := json.Unmarshal(r.Values, &p); err != nil {
				return &Error{Code: InvalidResource, Address: r.Address, Err: err}
			}
			s.Document.Policy, s.policy = p.policy(), r.Address
		}
	}
	for _, child := range m.Children {
		if err := s.module(child); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) team(address string, q quotaResource) {
	s.Document.Teams = append(s.Document.Teams, q.team())
	s.teams = append(s.teams, address)
}

// Place returns the resource and attribute of a field of the document: for
// teams[0].quota[1].count
// awscc_sagemaker_compute_quota.x.compute_quota_config.compute_quota_resources[1].count.
func (s *Source) Place(path string) string {
	if field, ok := strings.CutPrefix(path, "policy"); ok {
		if s.policy == "" {
			return ""
		}
		return s.policy + attribute("policy."+strings.TrimPrefix(field, "."))
	}
	rest, ok := strings.CutPrefix(path, "teams[")
	if !ok {
		return ""
	}
	number, field, _ := strings.Cut(rest, "]")
	i := 0
	for _, c := range number {
		if c < '0' || c > '9' || i > len(s.teams) {
			return ""
		}
		i = 10*i + int(c-'0')
	}
	if number == "" || i >= len(s.teams) {
		return ""
	}
	at := attribute(strings.TrimPrefix(field, "."))
	if s.blocks[i] {
		at = inBlocks(at)
	}
	return s.teams[i] + at
}

// attribute returns the attribute of a field below a resource, with a dot before it.
func attribute(field string) (out string) {
	prefix := ""
	if rest, ok := strings.CutPrefix(field, "policy."); ok {
		prefix, field = "policy.", rest
	}
	for i, part := range strings.Split(field, ".") {
		name, index, indexed := strings.Cut(part, "[")
		if i > 0 {
			prefix = ""
		}
		if known, ok := attributes[prefix+name]; ok && (i == 0 || name != "name") {
			name = known
		}
		if name != "" {
			out += "." + name
		}
		if indexed {
			out += "[" + index
		}
	}
	return out
}
