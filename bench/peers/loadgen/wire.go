package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// One token each in common vocabularies.
var words = strings.Fields(`time people way water words day part number sound place year work back
thing name sentence man line boy farm end men land home hand picture air animal house page letter
point mother answer study earth food city tree story night life list sea press side state book idea
river car wood fish area mark dog horse birds problem ship rock order fire south piece pass farmer
top space king hours product color heart table mountain ground form wind question`)

// promptOf has words that follow from the number, so that no two prompts begin alike.
func promptOf(number int64, length int) string {
	picked := make([]string, length)
	x := uint64(number)*0x9E3779B97F4A7C15 + 12345
	for i := range picked {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		picked[i] = words[x%uint64(len(words))]
	}
	return strings.Join(picked, " ")
}

// request is the bytes of a completion request.
func (l *load) request() []byte {
	fields := map[string]any{
		"model":      l.model,
		"prompt":     promptOf(l.numbers.Add(1), l.promptWords),
		"max_tokens": l.maxTokens,
		"stream":     l.streams,
		"ignore_eos": true,
	}
	if l.streams {
		fields["stream_options"] = map[string]bool{"include_usage": true}
	}
	body, _ := json.Marshal(fields)
	head := "POST /v1/completions HTTP/1.1\r\nHost: %s\r\n" +
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	return append([]byte(fmt.Sprintf(head, l.address, len(body))), body...)
}

// bringsText says whether an event has text of the answer.
func bringsText(line []byte) bool {
	key := []byte(`"text":`)
	at := bytes.Index(line, key)
	if at < 0 {
		return false
	}
	rest := bytes.TrimLeft(line[at+len(key):], " ")
	return len(rest) > 1 && rest[0] == '"' && rest[1] != '"'
}

// usageOf is the count of the answer's tokens, -1 where the text has none.
func usageOf(text []byte) int {
	key := []byte(`"completion_tokens":`)
	at := bytes.Index(text, key)
	if at < 0 {
		return -1
	}
	rest := bytes.TrimLeft(text[at+len(key):], " ")
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	count, err := strconv.Atoi(string(rest[:end]))
	if err != nil {
		return -1
	}
	return count
}
