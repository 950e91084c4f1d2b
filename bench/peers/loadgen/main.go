// loadgen is a closed-loop load generator for OpenAI-compatible servers that belongs to none of
// them: one connection per client over bare sockets. In a window of steady load it counts tokens,
// checked against `usage`, and the processor time of the server's processes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type load struct {
	address, model         string
	streams                bool
	maxTokens, promptWords int
	itlMs                  float64
	numbers                atomic.Int64
	measures, stopped      atomic.Bool
	mutex                  sync.Mutex
	open                   []net.Conn
}

// counts of one client, or of all, within the window.
type counts struct {
	firstMs, gapMs, driftMs  []float64
	events, requests, errors int
	usageTokens, usageEvents int
	lastError                string
}

func (l *load) closeAtStop(conn net.Conn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.open = append(l.open, conn)
}

func (l *load) stop() {
	l.stopped.Store(true)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, conn := range l.open {
		conn.Close()
	}
}

func (c *counts) add(other *counts) {
	c.firstMs = append(c.firstMs, other.firstMs...)
	c.gapMs = append(c.gapMs, other.gapMs...)
	c.driftMs = append(c.driftMs, other.driftMs...)
	c.events += other.events
	c.requests += other.requests
	c.errors += other.errors
	c.usageTokens += other.usageTokens
	c.usageEvents += other.usageEvents
	if other.lastError != "" {
		c.lastError = other.lastError
	}
}

func main() {
	l := &load{}
	flag.StringVar(&l.address, "address", "127.0.0.1:8000", "host:port of the server")
	flag.StringVar(&l.model, "model", "m", "model name in the requests")
	flag.BoolVar(&l.streams, "stream", true, "stream the answers")
	flag.IntVar(&l.maxTokens, "max-tokens", 200, "tokens asked for")
	flag.IntVar(&l.promptWords, "prompt-words", 100, "words of a prompt")
	flag.Float64Var(&l.itlMs, "itl", 0, "nominal time between two tokens, ms")
	ttftMs := flag.Float64("ttft", 0, "nominal time to the first token, ms")
	clients := flag.Int("clients", 200, "connections, each with one request at a time")
	ramp := flag.Float64("ramp", 4, "seconds within which the clients start")
	warm := flag.Float64("warm", 3, "further seconds before the window")
	window := flag.Float64("window", 10, "seconds of the window")
	roots := flag.String("pids", "", "processes of the server, by comma; their children count too")
	flag.Parse()
	l.numbers.Store(time.Now().UnixNano())
	started, done := startClients(l, *clients, *ramp)
	time.Sleep(seconds(*ramp + *warm))
	machine := measure(l, treeOf(numbersOf(*roots)), *window)
	l.stop()
	done.Wait()
	all := &counts{}
	for _, one := range started {
		all.add(&one.counts)
	}
	result, _ := json.Marshal(resultOf(l, all, machine, *ttftMs))
	fmt.Println(string(result))
}

func startClients(l *load, count int, ramp float64) ([]*client, *sync.WaitGroup) {
	started := make([]*client, count)
	done := &sync.WaitGroup{}
	done.Add(count)
	for i := range started {
		started[i] = &client{load: l}
		go func(i int) {
			defer done.Done()
			time.Sleep(seconds(ramp * float64(i) / float64(count)))
			started[i].run()
		}(i)
	}
	return started, done
}

// spent is what the window took.
type spent struct{ seconds, server, generator, machine, pssMiB float64 }

func measure(l *load, pids []int, window float64) spent {
	server, generator, machine := cpuSeconds(pids), ownSeconds(), machineSeconds()
	began := time.Now()
	l.measures.Store(true)
	time.Sleep(seconds(window))
	l.measures.Store(false)
	return spent{
		seconds:   time.Since(began).Seconds(),
		server:    cpuSeconds(pids) - server,
		generator: ownSeconds() - generator,
		machine:   machineSeconds() - machine,
		pssMiB:    pssMiB(pids),
	}
}

func resultOf(l *load, all *counts, s spent, ttftMs float64) map[string]any {
	tokens := float64(all.events)
	// Events that bring several tokens are counted by usage.
	if l.streams && all.usageEvents > 0 {
		tokens *= float64(all.usageTokens) / float64(all.usageEvents)
	}
	requests := float64(all.requests)
	result := map[string]any{
		"requests_per_s":      round(requests / s.seconds),
		"tokens_per_s":        round(tokens / s.seconds),
		"tokens_per_cpu_s":    round(tokens / s.server),
		"cpu_us_per_request":  round(s.server * 1e6 / requests),
		"server_cpu_cores":    round(s.server / s.seconds),
		"generator_cpu_cores": round(s.generator / s.seconds),
		"others_cpu_cores":    round((s.machine - s.server - s.generator) / s.seconds),
		"pss_mib":             round(s.pssMiB),
		"errors":              all.errors,
	}
	if all.lastError != "" {
		result["last_error"] = all.lastError
	}
	if !l.streams {
		return result
	}
	result["ttft_over_ms_p50"] = round(quantile(all.firstMs, 0.5) - ttftMs)
	result["ttft_over_ms_p99"] = round(quantile(all.firstMs, 0.99) - ttftMs)
	if len(all.gapMs) == 0 {
		return result
	}
	for i, gap := range all.gapMs {
		all.gapMs[i] = math.Abs(gap - l.itlMs)
	}
	result["gap_deviation_ms_p50"] = round(quantile(all.gapMs, 0.5))
	result["gap_deviation_ms_p99"] = round(quantile(all.gapMs, 0.99))
	result["drift_ms_p99"] = round(quantile(all.driftMs, 0.99))
	return result
}

func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sort.Float64s(values)
	return values[int(share*float64(len(values)-1))]
}

// round leaves four digits behind the point; what cannot be written becomes null.
func round(value float64) any {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return math.Round(value*1e4) / 1e4
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second))
}

func numbersOf(list string) []int {
	numbers := []int{}
	for _, text := range strings.Split(list, ",") {
		if number, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			numbers = append(numbers, number)
		}
	}
	if len(numbers) == 0 {
		fmt.Fprintln(os.Stderr, "loadgen: --pids names no process")
	}
	return numbers
}
