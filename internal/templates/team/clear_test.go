package team

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// A team's template is readable by the team, so secret values in clear are refused.
func TestRefuseSecrets(t *testing.T) {
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        image: i\n"
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {token: aHVudGVyMg==}\n":             "Secret s: data.token",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: hunter2}\n":            "Secret s: stringData.token",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: \"${TOKEN}\"}\n":       "",
		job + "        args: [--hub-token=hunter2]\n":                                                  "Job j: spec.template.spec.containers[0].args[0]",
		job + "        args: [--hub-token, hunter2]\n":                                                 "Job j: spec.template.spec.containers[0].args[1]",
		job + "        args: [--hub-token, $TOKEN, --max-tokens=4096, --tokenizer, bert]\n":            "",
		job + "        command: [sh, -c, 'login --password hunter2 && run']\n":                         "Job j: spec.template.spec.containers[0].command[2]",
		job + "        env: [{name: HF_TOKEN, value: hunter2}]\n":                                      "Job j: spec.template.spec.containers[0].env[0].value",
		job + "        env: [{name: HF_TOKEN, value: $HF_TOKEN}, {name: MODE, value: x}]\n":            "",
		strings.Replace(job, "{name: j}", "{name: j, annotations: {example.com/api-key: hunter2}}", 1): "Job j: metadata.annotations",
		strings.Replace(job, "{name: j}", "{name: j, annotations: {example.com/owner: ann}}", 1):       "",
	} {
		tm, err := parse.Text("t", "t", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = refuseSecrets(tm)
		message := ""
		if err != nil {
			message = errs.Text(err, true)
		}
		if (err != nil) != (want != "") || !strings.Contains(message, want) || strings.Contains(message, "hunter2") || strings.Contains(message, "aHVu") {
			t.Errorf("%s\n%s\nwant %q", text, message, want)
		}
	}
}
