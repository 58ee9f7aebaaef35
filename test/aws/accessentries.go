package aws

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// accessEntry lets an IAM principal into an EKS cluster.
type accessEntry struct {
	Principal, Type string
	Groups          []string
	Policies        []string
}

// entryPath is /clusters/NAME/access-entries[/ARN[/access-policies]], as it was sent.
var entryPath = regexp.MustCompile(`^/clusters/([^/]+)/access-entries(?:/(.+?))?(/access-policies)?$`)

func isAccessEntry(path string) bool { return entryPath.MatchString(path) }

// AddAccessEntry adds an entry that exists.
func (s *Server) AddAccessEntry(cluster, principal, kind string, groups, policies []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[cluster+" "+principal] = &accessEntry{principal, kind, groups, policies}
}

// Groups are the Kubernetes groups of a principal's entry; false: there is none.
func (s *Server) Groups(cluster, principal string) ([]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[cluster+" "+principal]
	if !ok {
		return nil, false
	}
	return slices.Clone(e.Groups), true
}

var (
	principalARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+$`)
	groupName    = regexp.MustCompile(`^[^\s]{1,256}$`)
)

// accessEntries returns the operation of a request about access entries.
func (s *Server) accessEntries(c *call) answer {
	match := entryPath.FindStringSubmatch(c.http.URL.Path)
	cluster, principal := match[1], match[2]
	if text, err := url.PathUnescape(principal); err == nil {
		principal = text
	}
	at := cluster + " " + principal
	var in struct {
		PrincipalArn, Type, Username, ClientRequestToken string
		KubernetesGroups                                 []string
		Tags                                             map[string]string
	}
	decode := func() *Error {
		if err := json.Unmarshal(c.body, &in); err != nil {
			return &Error{400, "InvalidRequestException", err.Error()}
		}
		for _, g := range in.KubernetesGroups {
			if !groupName.MatchString(g) || strings.HasPrefix(g, "system:") || strings.HasPrefix(g, "eks:") || strings.HasPrefix(g, "aws:") || strings.HasPrefix(g, "amazon:") || strings.HasPrefix(g, "iam:") {
				return &Error{400, "InvalidParameterException", "The kubernetes group name " + g + " is invalid, it cannot start with a reserved prefix."}
			}
		}
		return nil
	}
	view := func(e *accessEntry) object {
		return object{"accessEntry": object{"clusterName": cluster, "principalArn": e.Principal, "type": e.Type, "kubernetesGroups": append([]string{}, e.Groups...), "createdAt": seconds(created)}}
	}
	missing := &Error{404, "ResourceNotFoundException", "The specified principalArn could not be found: " + principal}
	known := func(f answer) answer {
		return func(c *call) (any, *Error) {
			if _, ok := s.eks[regionOf(c.http)+"/"+cluster]; !ok {
				return nil, &Error{404, "ResourceNotFoundException", "No cluster found for name: " + cluster + "."}
			}
			return f(c)
		}
	}
	switch {
	case match[3] != "" && c.http.Method == http.MethodGet:
		c.operation = "eks.ListAssociatedAccessPolicies"
		return known(func(*call) (any, *Error) {
			e := s.entries[at]
			if e == nil {
				return nil, missing
			}
			list := []object{}
			for _, p := range e.Policies {
				list = append(list, object{"policyArn": p, "accessScope": object{"type": "cluster"}})
			}
			return object{"clusterName": cluster, "principalArn": principal, "associatedAccessPolicies": list}, nil
		})
	case principal == "" && c.http.Method == http.MethodPost:
		c.operation = "eks.CreateAccessEntry"
		return known(func(*call) (any, *Error) {
			if failure := decode(); failure != nil {
				return nil, failure
			}
			key := cluster + " " + in.PrincipalArn
			switch {
			case !principalARN.MatchString(in.PrincipalArn):
				return nil, &Error{400, "InvalidParameterException", "The principalArn parameter format is not valid"}
			case s.entries[key] != nil:
				return nil, &Error{409, "ResourceInUseException", "The specified access entry resource is already in use on this cluster."}
			case in.Type == "":
				in.Type = "STANDARD"
			}
			s.entries[key] = &accessEntry{in.PrincipalArn, in.Type, in.KubernetesGroups, nil}
			return view(s.entries[key]), nil
		})
	case c.http.Method == http.MethodPost:
		c.operation = "eks.UpdateAccessEntry"
		return known(func(*call) (any, *Error) {
			if failure := decode(); failure != nil {
				return nil, failure
			}
			e := s.entries[at]
			if e == nil {
				return nil, missing
			}
			if in.KubernetesGroups != nil {
				e.Groups = in.KubernetesGroups
			}
			return view(e), nil
		})
	case principal != "" && c.http.Method == http.MethodGet:
		c.operation = "eks.DescribeAccessEntry"
		return known(func(*call) (any, *Error) {
			if e := s.entries[at]; e != nil {
				return view(e), nil
			}
			return nil, missing
		})
	}
	return nil
}
