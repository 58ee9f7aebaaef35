package openconsole

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestLinksInAnnotations(t *testing.T) {
	got := Annotated(map[string]string{
		"wandb":                "https://wandb.example.com/run/1",
		"example.com/grafana":  " https://grafana.example.com/d/x?var-job=a ",
		"example.com/note":     "see https://example.com",
		"example.com/script":   "javascript:alert(1)",
		"example.com/file":     "file:///etc/passwd",
		"example.com/password": "https://user:secret@example.com/",
		"example.com/relative": "/d/x",
		"example.com/no-host":  "https:///x",
	})
	want := []Page{{Name: "grafana", URL: "https://grafana.example.com/d/x?var-job=a"}, {Name: "wandb", URL: "https://wandb.example.com/run/1"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestPagesOfIngresses(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"name":"my-grafana"},"spec":{"rules":[{"host":"g.example.com"}]}}`:                                                                          "http://g.example.com/",
		`{"metadata":{"name":"x","labels":{"app.kubernetes.io/name":"grafana"}},"spec":{"tls":[{"hosts":["g.example.com"]}],"rules":[{"host":"g.example.com"}]}}`: "https://g.example.com/",
		`{"metadata":{"name":"tensorboard"},"spec":{"rules":[{"host":"*.example.com"},{"host":"t.example.com","http":{"paths":[{"path":"/tb"}]}}]}}`:              "http://t.example.com/tb",
		`{"metadata":{"name":"tensorboard"},"spec":{"rules":[{"host":"t.example.com","http":{"paths":[{"path":"/tb(/|$)(.*)"}]}}]}}`:                              "http://t.example.com/",
		`{"metadata":{"name":"web"},"spec":{"rules":[{"host":"g.example.com"}]}}`:                                                                                 "",
		`{"metadata":{"name":"grafana"},"spec":{"rules":[{}]}}`:                                                                                                   "",
		`{"metadata":{"name":"grafana"}}`: "",
	} {
		var i ingress
		if err := json.Unmarshal([]byte(text), &i); err != nil {
			t.Fatal(err)
		}
		got, ok := i.page()
		if got.URL != want || ok != (want != "") {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
