package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"
)

// socket knows when its last read returned, which is the arrival of its events.
type socket struct {
	net.Conn
	readAt time.Time
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.readAt = time.Now()
	return n, err
}

// client sends one request after the other over one connection until the run stops.
type client struct {
	load   *load
	socket *socket
	reader *bufio.Reader
	counts counts
}

func (c *client) run() {
	for !c.load.stopped.Load() {
		err := c.connect()
		if err == nil {
			err = c.ask()
		}
		if err == nil {
			continue
		}
		c.close()
		if c.load.stopped.Load() {
			return
		}
		c.counts.errors++
		c.counts.lastError = err.Error()
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *client) connect() error {
	if c.socket != nil {
		return nil
	}
	conn, err := net.DialTimeout("tcp", c.load.address, 10*time.Second)
	if err != nil {
		return err
	}
	c.socket = &socket{Conn: conn}
	c.reader = bufio.NewReaderSize(c.socket, 32768)
	c.load.closeAtStop(conn)
	return nil
}

func (c *client) close() {
	if c.socket != nil {
		c.socket.Close()
	}
	c.socket = nil
}

// ask sends one request and reads its whole answer.
func (c *client) ask() error {
	began := time.Now()
	if _, err := c.socket.Write(c.load.request()); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	answer := answer{client: c, began: began, usage: -1}
	if err := answer.read(response.Body); err != nil {
		return err
	}
	if response.Close {
		c.close()
	}
	if c.load.measures.Load() {
		answer.count()
	}
	return nil
}

// answer is one answer while it is read.
type answer struct {
	client    *client
	began     time.Time
	firstAt   time.Time
	lastAt    time.Time
	events    int
	usage     int
	worstMs   float64
	hasEnded  bool
	itsErrors []byte
}

func (a *answer) read(body io.Reader) error {
	if !a.client.load.streams {
		whole, err := io.ReadAll(body)
		a.usage = usageOf(whole)
		return err
	}
	lines := bufio.NewReaderSize(body, 8192)
	for {
		line, err := lines.ReadSlice('\n')
		a.line(line)
		if err == io.EOF {
			return a.verdict()
		}
		if err != nil {
			return err
		}
	}
}

func (a *answer) verdict() error {
	if a.itsErrors != nil {
		return fmt.Errorf("event: %.200s", a.itsErrors)
	}
	if !a.hasEnded {
		return fmt.Errorf("the stream ended without [DONE] after %d events", a.events)
	}
	return nil
}

func (a *answer) line(line []byte) {
	if !bytes.HasPrefix(line, []byte("data:")) {
		return
	}
	switch {
	case bringsText(line):
		a.event(a.client.socket.readAt)
	case bytes.Contains(line, []byte("[DONE]")):
		a.hasEnded = true
	case bytes.Contains(line, []byte(`"error"`)):
		a.itsErrors = bytes.Clone(line)
	}
	if usage := usageOf(line); usage >= 0 {
		a.usage = usage
	}
}

// event counts an event that brings a token.
func (a *answer) event(at time.Time) {
	c := &a.client.counts
	load := a.client.load
	a.events++
	if a.events == 1 {
		a.firstAt = at
		if load.measures.Load() {
			c.firstMs = append(c.firstMs, ms(at.Sub(a.began)))
			c.events++
		}
	} else {
		if load.measures.Load() {
			c.gapMs = append(c.gapMs, ms(at.Sub(a.lastAt)))
			c.events++
		}
		drift := ms(at.Sub(a.firstAt)) - float64(a.events-1)*load.itlMs
		a.worstMs = math.Max(a.worstMs, math.Abs(drift))
	}
	a.lastAt = at
}

// count adds a finished answer.
func (a *answer) count() {
	c := &a.client.counts
	c.requests++
	if !a.client.load.streams {
		c.events += a.usage
		return
	}
	c.driftMs = append(c.driftMs, a.worstMs)
	if a.usage > 0 {
		c.usageTokens += a.usage
		c.usageEvents += a.events
	}
}

func ms(d time.Duration) float64 {
	return d.Seconds() * 1e3
}
