package shell

import "testing"

func TestFind(t *testing.T) {
	f := &Files{Home: "pod", Mounts: []Mount{{At: "/data", Dir: "claim"}, {At: "/data/code/", Dir: "claim/x/y", ReadOnly: true}}}
	if at, _ := (&Files{}).Find("/"); at != "." {
		t.Errorf("the root is %q", at)
	}
	for name, want := range map[string]struct {
		at       string
		readOnly bool
	}{
		"/tmp/a": {"pod/tmp/a", false}, "tmp": {"pod/tmp", false}, "/": {"pod", false}, "../../etc": {"pod/etc", false},
		"/data": {"claim", false}, "/data/b": {"claim/b", false}, "/database": {"pod/database", false}, "/data/../data/b": {"claim/b", false},
		"/data/code": {"claim/x/y", true}, "/data/code/z": {"claim/x/y/z", true}, "/data/codes": {"claim/codes", false},
	} {
		if at, readOnly := f.Find(name); at != want.at || readOnly != want.readOnly {
			t.Errorf("%s: %s, %t, want %v", name, at, readOnly, want)
		}
	}
}
