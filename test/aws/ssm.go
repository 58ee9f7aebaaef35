package aws

import "regexp"

var sessionTarget = regexp.MustCompile(`^sagemaker-cluster:([a-z0-9]{12})_([A-Za-z0-9-]+)-(i-[0-9a-f]+)$`)

func (s *Server) ssm(operation string) answer {
	switch operation {
	case "TerminateSession":
		return func(c *call) (any, *Error) {
			in, failure := read[struct{ SessionId string }](c)
			return map[string]any{"SessionId": in.SessionId}, failure
		}
	case "StartSession":
	default:
		return nil
	}
	return func(c *call) (any, *Error) {
		in, failure := read[struct {
			Target, DocumentName, Reason string
			Parameters                   map[string][]string
		}](c)
		if failure != nil {
			return nil, failure
		}
		m := sessionTarget.FindStringSubmatch(in.Target)
		if m == nil {
			return nil, failf("TargetNotConnected", "%s is not connected.", in.Target)
		}
		r := s.clusters.Find(func(r *Record[cluster]) bool { return r.Value.id == m[1] })
		if r == nil || r.Value.node(m[3]) == nil || r.Value.node(m[3]).group != m[2] {
			return nil, failf("TargetNotConnected", "%s is not connected.", in.Target)
		}
		id := "ada-" + s.id()
		s.sessions = append(s.sessions, in.Target)
		return map[string]any{"SessionId": id, "TokenValue": "token", "StreamUrl": "wss://ssmmessages." + s.region + ".amazonaws.com/v1/data-channel/" + id}, nil
	}
}
