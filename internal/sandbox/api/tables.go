package api

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// column is one column of kubectl get.
type column struct {
	name string
	wide bool // only with -o wide
	cell func(o map[string]any, now time.Time) any
}

func at(names ...string) func(map[string]any, time.Time) any {
	return func(o map[string]any, _ time.Time) any { return object.Text(o, names...) }
}

func count(names ...string) func(map[string]any, time.Time) any {
	return func(o map[string]any, _ time.Time) any {
		n, _ := object.Int(o, names...)
		return n
	}
}

func since(names ...string) func(map[string]any, time.Time) any {
	return func(o map[string]any, now time.Time) any {
		t, ok := object.Time(o, names...)
		if !ok {
			return ""
		}
		return duration.HumanDuration(now.Sub(t))
	}
}

var (
	nameColumn = column{name: "Name", cell: at("metadata", "name")}
	ageColumn  = column{name: "Age", cell: since("metadata", "creationTimestamp")}
)

// tableOf renders a page for kubectl get. Every kind has at least the columns name and
// age.
func (s *Server) tableOf(c *call, p page, header bool) any {
	columns := []column{nameColumn}
	if c.res.Kind == "Event" {
		columns = nil // events are known by what they say
	}
	columns = append(columns, c.res.columns...)
	if c.res.Kind != "Event" {
		columns = append(columns, ageColumn)
	}
	now := s.backend.Now()
	defs := []metav1.TableColumnDefinition{}
	if header {
		for _, col := range columns {
			d := metav1.TableColumnDefinition{Name: col.name, Type: "string", Description: col.name}
			if col.name == "Name" {
				d.Format = "name"
			}
			if col.wide {
				d.Priority = 1
			}
			defs = append(defs, d)
		}
	}
	rows := make([]any, 0, len(p.objects))
	for _, o := range p.objects {
		cells := make([]any, 0, len(columns))
		for _, col := range columns {
			cells = append(cells, col.cell(o.Map(), now))
		}
		row := map[string]any{"cells": cells}
		if v := rowObject(c, o); v != nil {
			row["object"] = v
		}
		rows = append(rows, row)
	}
	return map[string]any{"kind": "Table", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": p.meta, "columnDefinitions": defs, "rows": rows}
}

func rowObject(c *call, o *store.Object) any {
	switch metav1.IncludeObjectPolicy(c.URL.Query().Get("includeObject")) {
	case metav1.IncludeNone:
		return nil
	case metav1.IncludeObject:
		return o.Raw
	}
	return metadataOf(o)
}
