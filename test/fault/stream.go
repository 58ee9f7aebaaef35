package fault

import (
	"bufio"
	"net"
	"net/http"
)

// badStream hands out a connection that goes wrong after some bytes: it ends, or every
// further byte is another one.
type badStream struct {
	http.ResponseWriter
	left    int
	corrupt bool
}

// Hijack implements http.Hijacker.
func (b *badStream) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(b.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	bad := &badConn{Conn: conn, b: b}
	return bad, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(bad)), nil
}

type badConn struct {
	net.Conn
	b *badStream
}

func (c *badConn) Write(p []byte) (int, error) {
	n := min(len(p), max(c.b.left, 0))
	c.b.left -= len(p)
	if n == len(p) {
		return c.Conn.Write(p)
	}
	if !c.b.corrupt {
		_, _ = c.Conn.Write(p[:n])
		_ = c.Close()
		return n, net.ErrClosed
	}
	changed := append([]byte(nil), p...)
	for i := n; i < len(changed); i++ {
		changed[i] ^= 0x15
	}
	return c.Conn.Write(changed)
}
