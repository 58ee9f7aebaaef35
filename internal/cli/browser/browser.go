// Package browser opens web pages in the user's browser.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// Open opens an http or https address with the program in the variable BROWSER, or the
// system's own. It waits until the program ends, which can be when its user closes the browser.
func Open(ctx context.Context, env func(string) string, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("not a web address: %q", address)
	}
	argv := command(env, runtime.GOOS, u.String())
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // a browser that the program leaves behind has its output open
	out := bounded.NewHead(4096)
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // the program itself ended well
	}
	if err != nil && out.Len() > 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
		return fmt.Errorf("%s: %w: %s", argv[0], err, first)
	}
	return err
}

// command returns the program that opens an address, with its arguments. No shell reads
// the address.
func command(env func(string) string, system, address string) []string {
	if own := strings.Fields(env("BROWSER")); len(own) > 0 {
		return append(own, address)
	}
	switch system {
	case "darwin":
		return []string{"open", address}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	return []string{"xdg-open", address}
}
