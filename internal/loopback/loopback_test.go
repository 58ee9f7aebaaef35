package loopback

import "testing"

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true,
		"": false, "localhost.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "::": false, "[::1]": false} {
		if Is(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}
