package state

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// Event is what a component reported about an object. Clusters forget events
// after about an hour.
type Event struct {
	Meta
	// Kind, Object and ObjectUID name what it is about.
	Kind, Object, ObjectUID string
	Type                    string // Normal or Warning
	Reason, Message, Source string
	// First and Last are when it happened the first and the last time of Count.
	First, Last time.Time
	Count       int
}

type wireEvent struct {
	Metadata wireMeta `json:"metadata"`
	Involved struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"involvedObject"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Source  struct {
		Component string `json:"component"`
	} `json:"source"`
	ReportingComponent string `json:"reportingComponent"`
	FirstTimestamp     stamp  `json:"firstTimestamp"`
	LastTimestamp      stamp  `json:"lastTimestamp"`
	Count              whole  `json:"count"`
	// EventTime and Series are the newer form, where First and LastTimestamp are empty.
	EventTime stamp `json:"eventTime"`
	Series    struct {
		Count            whole `json:"count"`
		LastObservedTime stamp `json:"lastObservedTime"`
	} `json:"series"`
}

func (w *wireEvent) event() Event {
	e := Event{
		Meta: w.Metadata.meta(), Kind: w.Involved.Kind, Object: w.Involved.Name, ObjectUID: w.Involved.UID,
		Type: w.Type, Reason: w.Reason, Message: w.Message, Source: w.Source.Component,
		Count: max(1, int(w.Count), int(w.Series.Count)),
	}
	if e.Source == "" {
		e.Source = w.ReportingComponent
	}
	e.First = firstTime(w.FirstTimestamp.Time, w.EventTime.Time, e.CreationTimestamp)
	e.Last = firstTime(w.Series.LastObservedTime.Time, w.LastTimestamp.Time, e.First)
	return e
}

// firstTime returns the first time that is set.
func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// ListEvents reads events. Its field selector may have involvedObject.kind, .name
// and .uid, type and reason.
func ListEvents(ctx context.Context, c *kube.Client, namespace string, o kube.ListOptions) ([]Event, error) {
	return reader.List(ctx, c, kinds.Event, namespace, o, (*wireEvent).event)
}

// DecodeEvent makes an Event of an object's JSON.
func DecodeEvent(object []byte) (Event, error) {
	var w wireEvent
	err := kube.Decode(object, &w)
	return w.event(), err
}
