package mcpcmd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzCommandLine: whatever a model gives as arguments, a tool's command line has the flags of the tool alone; the rest stands
// behind "--", or is input.
func FuzzCommandLine(f *testing.F) {
	f.Add(0, `{"namespace":"--kubeconfig=/x","state":["-A","--token=a"]}`)
	f.Add(5, `{"manifest":"kind: Job","name":"-f","set":["a=b",1,true,[null]]}`)
	f.Add(9, `{"name":["a","--","b"],"unknown":"--yes"}`)
	all := commands()
	f.Fuzz(func(t *testing.T, n int, text string) {
		var arguments map[string]any
		if json.Unmarshal([]byte(text), &arguments) != nil {
			return
		}
		c := all[uint(n)%uint(len(all))]
		args, _, err := c.commandLine(arguments)
		if err != nil {
			return
		}
		allowed := append(strings.Fields(c.line), "-f", "-", "--tail=100")
		for _, a := range args[:len(args)-behindDashes(args)] {
			flag, _, value := strings.Cut(strings.TrimPrefix(a, "--"), "=")
			own := value && slices.ContainsFunc(c.args, func(x argument) bool { return x.flag == flag && x.flag != stdin })
			if !own && !slices.Contains(allowed, a) {
				t.Errorf("%s %s: %q", c.name, text, args)
			}
		}
	})
}

// behindDashes is the number of arguments from the first "--" on.
func behindDashes(args []string) int {
	if i := slices.Index(args, "--"); i >= 0 {
		return len(args) - i
	}
	return 0
}
