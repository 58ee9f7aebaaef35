package forward

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestParsePort(t *testing.T) {
	for text, want := range map[string]struct {
		port Port
		err  error
	}{
		"6006":       {Port{6006, 6006}, nil},
		"8080:6006":  {Port{8080, 6006}, nil},
		":6006":      {Port{0, 6006}, nil},
		"0:6006":     {Port{0, 6006}, nil},
		"":           {Port{}, ErrPortForm},
		":":          {Port{}, ErrPortForm},
		"http":       {Port{}, ErrPortForm},
		"1:2:3":      {Port{}, ErrPortForm},
		"-1":         {Port{}, ErrPortForm},
		"+1":         {Port{}, ErrPortForm},
		"8080:":      {Port{}, ErrPortForm},
		"0":          {Port{}, ErrPortRange},
		"8080:0":     {Port{}, ErrPortRange},
		"65536":      {Port{}, ErrPortRange},
		"65536:6006": {Port{}, ErrPortRange},
	} {
		got, err := ParsePort(text)
		if !errors.Is(err, want.err) || err == nil && got != want.port {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// pipe is a tunnel that sends bytes back, with a mark of its own before them.
type pipe struct {
	mark string
	lost chan bool
	once sync.Once
	fail error
}

func (p *pipe) Carry(_ context.Context, local io.ReadWriteCloser, _ uint16) error {
	defer local.Close()
	if p.fail != nil {
		return p.fail
	}
	_, _ = io.WriteString(local, p.mark)
	_, _ = io.Copy(local, local)
	return nil
}

func (p *pipe) Lost() <-chan bool { return p.lost }
func (p *pipe) Close() error      { p.once.Do(func() { close(p.lost) }); return nil }

// says connects to an address and returns what comes back for a byte.
func says(t *testing.T, address string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write([]byte("x"))
	_ = conn.(*net.TCPConn).CloseWrite()
	got, _ := io.ReadAll(conn)
	return string(got)
}

func TestALostTunnelIsOpenedAgain(t *testing.T) {
	busy := errors.New("node is not ready")
	tunnels := []*pipe{{mark: "1", lost: make(chan bool)}, nil, {mark: "2", lost: make(chan bool)}}
	opened := 0
	var waits []time.Duration
	address, reconnected := make(chan string, 1), make(chan bool, 1)
	ended, preempted := make(chan bool), errors.New("preempted")
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), Options{
			Addresses: []string{"127.0.0.1"}, Ports: []Port{{0, 6006}},
			Open: func(context.Context) (Tunnel, error) {
				p := tunnels[opened]
				opened++
				if p == nil {
					return nil, busy
				}
				return p, nil
			},
			Final: func(error) bool { return false },
			Ended: func(ctx context.Context) error {
				select {
				case <-ended:
					return preempted
				case <-ctx.Done():
					return nil
				}
			},
			Tell: func(e Event) {
				switch e.Kind {
				case Listening:
					address <- e.Address
				case Lost:
					waits = append(waits, e.Wait)
				case Reconnected:
					reconnected <- true
				}
			},
			After: func(time.Duration) <-chan time.Time {
				c := make(chan time.Time)
				close(c)
				return c
			},
		})
	}()
	at := <-address
	if got := says(t, at); got != "1x" {
		t.Errorf("got %q", got)
	}
	_ = tunnels[0].Close()
	<-reconnected
	if got := says(t, at); got != "2x" {
		t.Errorf("after the loss: got %q", got)
	}
	close(ended)
	if err := <-done; !errors.Is(err, preempted) {
		t.Errorf("%v", err)
	}
	if want := []time.Duration{time.Second, 2 * time.Second}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
}

func TestARefusalEndsTheForward(t *testing.T) {
	refused := errors.New("no permission")
	first := &pipe{lost: make(chan bool)}
	opened := 0
	err := Run(t.Context(), Options{
		Addresses: []string{"127.0.0.1"}, Ports: []Port{{0, 1}},
		Open: func(context.Context) (Tunnel, error) {
			if opened++; opened == 1 {
				return first, nil
			}
			return nil, refused
		},
		Final: func(err error) bool { return errors.Is(err, refused) },
		Ended: func(ctx context.Context) error { <-ctx.Done(); return nil },
		Tell: func(e Event) {
			if e.Kind == Listening {
				_ = first.Close()
			}
		},
		After: func(time.Duration) <-chan time.Time { c := make(chan time.Time); close(c); return c },
	})
	if !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}

func TestAPortInUseEndsItBeforeAnythingIsOpened(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	err = Run(t.Context(), Options{Addresses: []string{"127.0.0.1"}, Ports: []Port{{0, 1}, {port, 2}},
		Open: func(context.Context) (Tunnel, error) { t.Error("a tunnel was opened"); return nil, errors.New("") }})
	var listen *ListenError
	if !errors.As(err, &listen) || listen.Port.Remote != 2 {
		t.Errorf("%v", err)
	}
}
