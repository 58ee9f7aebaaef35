package connlimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/connlimit"
)

// server serves up to three connections. A request for /wait has no answer before its client goes away.
func server(t *testing.T) (address string, waits <-chan struct{}) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{}, 10)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			begun <- struct{}{}
			<-r.Context().Done()
		}
	})}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(connlimit.Listen(s, ln, 3)) }()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	return ln.Addr().String(), begun
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// ask sends a request and reads its answer, whose connection stays open.
func ask(c net.Conn) error {
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	return err
}

// TestIdleConnectionsMakePlace: the connection that has been without a request for longest goes.
func TestIdleConnectionsMakePlace(t *testing.T) {
	address, _ := server(t)
	silent, used, newer := dial(t, address), dial(t, address), dial(t, address)
	for _, c := range []net.Conn{used, newer} {
		if err := ask(c); err != nil {
			t.Fatal(err)
		}
	}
	// Each takes the place of another one. A server under load may learn late that a request has ended, and refuse some.
	for deadline := time.Now().Add(15 * time.Second); ; {
		if err := ask(dial(t, address)); isTimeout(err) {
			t.Fatal(err)
		}
		switch {
		case closed(silent) && closed(used) && closed(newer):
			return
		case time.Now().After(deadline):
			t.Fatalf("closed: silent %v, used %v, newer %v", closed(silent), closed(used), closed(newer))
		}
	}
}

// closed reports whether the server has closed a connection.
func closed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return !isTimeout(err)
}

// TestRequestsKeepTheirPlace: connections with a request stay; the one beyond the limit is closed, until one of them ends.
func TestRequestsKeepTheirPlace(t *testing.T) {
	address, begun := server(t)
	var busy []net.Conn
	for range 3 {
		c := dial(t, address)
		fmt.Fprint(c, "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-begun
		busy = append(busy, c)
	}
	for range 3 {
		if err := ask(dial(t, address)); err == nil || isTimeout(err) {
			t.Errorf("a connection beyond the limit: %v", err)
		}
	}
	for i, c := range busy {
		if closed(c) {
			t.Errorf("request %d lost its connection", i)
		}
	}
	_ = busy[0].Close()
	for free := false; !free; { // until the server sees that it is closed
		c := dial(t, address)
		err := ask(c)
		if isTimeout(err) {
			t.Fatal(err)
		}
		free = err == nil
		_ = c.Close()
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// TestCloseWrite: a server can end its answer while the client still sends its request.
func TestCloseWrite(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client := dial(t, ln.Addr().String())
	c, err := connlimit.Listen(&http.Server{}, ln, 1).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("the server cannot end its answer")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(client); err != nil || len(rest) > 0 {
		t.Errorf("the client reads %q, %v", rest, err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		t.Errorf("the server reads %d bytes: %v", n, err)
	}
}
