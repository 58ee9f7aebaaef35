package logview

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Line is one line of -o json. Rank is null if the pod has none; Time is null for text
// that the API server inserted. A line longer than the engine's buffer comes in parts;
// all but the last are Partial.
type Line struct {
	Pod       string
	Container string
	Role      *string
	Rank      *int
	Restart   int
	Time      *string
	Message   string
	Partial   bool `json:",omitempty"`
}

func (v *View) appendJSON(b []byte, s *logs.Source, l *logs.Line) []byte {
	if l.More && len(l.Text) == 0 {
		return b
	}
	out := Line{Pod: s.Pod, Container: s.Container, Restart: s.Run, Message: strings.ToValidUTF8(string(l.Text), "\uFFFD"), Partial: l.More}
	if s.Role != "" {
		role := strings.ToLower(s.Role)
		out.Role = &role
	}
	if s.Rank >= 0 {
		out.Rank = &s.Rank
	}
	if !l.Time.IsZero() {
		stamp := l.Time.UTC().Format(time.RFC3339Nano)
		out.Time = &stamp
	}
	data, err := output.JSONLine(out)
	if err != nil {
		return b // impossible: every field is text or a number
	}
	return append(b, data...)
}
