// Package carabiner puts the hooks of this machine around the tool calls and model calls of an agent in Go.
//
// Copy this file into a folder of your module. It needs Go 1.19 and the carabiner program, and nothing else. It starts
// `carabiner serve --stdio` and speaks its protocol. Every method may be called from many goroutines.
//
// An error means that the call must not run. Nothing here turns an error into an allow: a call that may run is the only
// one with an Input or a Request.
package carabiner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Protocol is the version of the protocol that this file speaks.
const Protocol = 1

// DefaultDeadline ends every request that has no earlier deadline in its context. Hooks and questions have shorter limits.
const DefaultDeadline = 15 * time.Minute

// closing is how long the engine may take to end its hooks, before it is killed.
const closing = 15 * time.Second

// ending is how long may pass between the end of the engine and the end of its pipes.
const ending = time.Second

// ---- errors ---------------------------------------------------------------------------------------------------------

// Error says why a request failed. Code is a code of docs/reference/errors.md, or one of those below. A request whose
// context has ended fails with the error of the context instead.
type Error struct {
	Code    string
	Message string
	Hint    string
	Data    json.RawMessage
}

func (e *Error) Error() string { return e.Message }

// Is compares the codes, so that errors.Is(err, carabiner.ErrTurnAborted) works.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

var (
	// ErrEngineMissing: carabiner cannot be started.
	ErrEngineMissing = &Error{Code: "ENGINE_MISSING", Message: "carabiner cannot be started"}
	// ErrEngineEnded: carabiner has ended.
	ErrEngineEnded = &Error{Code: "ENGINE_ENDED", Message: "carabiner has ended"}
	// ErrEngineInvalid: carabiner does not speak this protocol.
	ErrEngineInvalid = &Error{Code: "ENGINE_INVALID", Message: "carabiner does not speak this protocol"}
	// ErrClosed: the client was closed.
	ErrClosed = &Error{Code: "CLOSED", Message: "The client is closed"}
	// ErrTurnAborted: a hook ends the turn. Stop the loop and show the message.
	ErrTurnAborted = &Error{Code: "TURN_ABORTED", Message: "A hook ended the turn"}
	// ErrAgentAborted: a hook ends the agent.
	ErrAgentAborted = &Error{Code: "AGENT_ABORTED", Message: "A hook ended the agent"}
)

// Code returns the code of an error of this package: DEADLINE and CANCELLED for those of a context.
func Code(err error) string {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known.Code
	case errors.Is(err, context.DeadlineExceeded):
		return "DEADLINE"
	case errors.Is(err, context.Canceled):
		return "CANCELLED"
	}
	return ""
}

func invalid(what string) *Error {
	text := "carabiner sent an answer that this client does not understand: " + what
	return &Error{Code: "ENGINE_INVALID", Message: text, Hint: "Use the carabiner.go that came with your carabiner."}
}

// ---- what the engine says -------------------------------------------------------------------------------------------

// Outcome is what the hooks decided. Only the action "continue" lets an operation go on.
type Outcome struct {
	Action     string          `json:"action"`
	Reason     string          `json:"reason"`
	Permission string          `json:"permission"`
	Data       json.RawMessage `json:"data"`
	Modified   bool            `json:"modified"`
	Injections []Injection     `json:"injections"`
	Messages   []Message       `json:"messages"`
	Response   json.RawMessage `json:"response"`
	Approval   *struct {
		Question Question `json:"question"`
	} `json:"approval"`
	Hooks       []json.RawMessage `json:"hooks"`
	Diagnostics []json.RawMessage `json:"diagnostics"`
}

// Injection is a text for the model.
type Injection struct {
	Text      string `json:"text"`
	Role      string `json:"role"`
	Ephemeral bool   `json:"ephemeral"`
	Source    string `json:"source"`
}

// Message is a message for the user. Level is info, warning or error.
type Message struct {
	Text   string `json:"text"`
	Level  string `json:"level"`
	Source string `json:"source"`
}

// Question is what to ask a person.
type Question struct {
	ID    string `json:"id"`
	Event string `json:"event"`
	Asks  []struct {
		Hook   string `json:"hook"`
		Prompt string `json:"prompt"`
		Reason string `json:"reason"`
	} `json:"asks"`
	Options []string        `json:"options"`
	Timeout float64         `json:"timeout"`
	Default string          `json:"default"`
	Expires string          `json:"expires"`
	Call    json.RawMessage `json:"call"`
}

// Prompt is the text of the question.
func (q Question) Prompt() string {
	prompts := make([]string, len(q.Asks))
	for i, ask := range q.Asks {
		prompts[i] = ask.Prompt
	}
	return strings.Join(prompts, "\n")
}

// Reply is what a person chose: one of the options of the question.
type Reply struct {
	Option  string `json:"option"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by,omitempty"`
	Data    any    `json:"data,omitempty"`
	Expires string `json:"expires,omitempty"`
}

// Wake is news of a background hook that cannot wait: begin a turn with the content.
type Wake struct {
	Session string `json:"session"`
	Message struct {
		Role     string          `json:"role"`
		Content  string          `json:"content"`
		Metadata json.RawMessage `json:"metadata"`
	} `json:"message"`
}

// Hello is the engine's answer to the greeting.
type Hello struct {
	Version     int               `json:"version"`
	Carabiner   string            `json:"carabiner"`
	ProjectDir  string            `json:"projectDir"`
	Hooks       int               `json:"hooks"`
	Untrusted   []json.RawMessage `json:"untrusted"`
	Diagnostics []json.RawMessage `json:"diagnostics"`
}

// ---- the client -----------------------------------------------------------------------------------------------------

// Options of Start. All of them may be left out.
type Options struct {
	// Host is the name of your program.
	Host string
	// Project is the folder of the project. Default: the one around the current folder.
	Project string
	// WorkFolders are other folders that the agent works in.
	WorkFolders []string
	// Settings tighten the user's settings. They cannot loosen them.
	Settings map[string]any
	// Approver asks a person, in a goroutine of its own. Its context ends when nobody waits for the answer any more. A
	// nil reply leaves the question open; an error does not allow anything.
	Approver func(ctx context.Context, question Question) (*Reply, error)
	// OnMessage shows a message to the user. Default: it is logged.
	OnMessage func(Message)
	// OnWake begins a turn.
	OnWake func(Wake)
	// Program starts Carabiner. Default: carabiner.
	Program []string
	// Args are for its command line, such as --plugin DIR.
	Args []string
	// Env is its environment. Default: that of this process.
	Env []string
	// Deadline ends every request. Default: DefaultDeadline.
	Deadline time.Duration
}

// Client is one carabiner serve --stdio.
type Client struct {
	// Hello says which hooks there are, and which of them a person has to review first.
	Hello Hello

	options Options
	command *exec.Cmd
	lines   chan []byte
	stop    chan struct{} // the writer closes standard input
	hasRead chan struct{} // standard output has ended
	exited  chan struct{}
	ended   chan struct{} // end is set

	mu      sync.Mutex
	last    int
	waiting map[int]*request
	asking  map[int]context.CancelFunc
	end     *Error
	news    []func()
	hasNews *sync.Cond
	closed  sync.Once
}

type request struct {
	method    string
	answer    chan answer
	abandoned bool
}

type answer struct {
	result json.RawMessage
	err    error
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Start starts carabiner and greets it. Close the client when the agent ends.
func Start(ctx context.Context, options Options) (*Client, error) {
	if options.Host == "" {
		options.Host = "go"
	}
	if len(options.Program) == 0 {
		options.Program = []string{"carabiner"}
	}
	if options.Deadline == 0 {
		options.Deadline = DefaultDeadline
	}
	if options.OnMessage == nil {
		options.OnMessage = func(m Message) { log.Printf("carabiner: %s: %s", m.Source, m.Text) }
	}
	c := &Client{
		options: options,
		lines:   make(chan []byte),
		stop:    make(chan struct{}),
		hasRead: make(chan struct{}),
		exited:  make(chan struct{}),
		ended:   make(chan struct{}),
		waiting: map[int]*request{},
		asking:  map[int]context.CancelFunc{},
	}
	c.hasNews = sync.NewCond(&c.mu)
	if err := c.start(); err != nil {
		hint := "Put it on the path with npm link in a clone of Carabiner, or name it in Options.Program."
		return nil, &Error{Code: ErrEngineMissing.Code, Message: "carabiner cannot be started: " + err.Error(), Hint: hint}
	}
	if err := c.greet(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) start() error {
	args := append(append(append([]string{}, c.options.Program[1:]...), "serve", "--stdio"), c.options.Args...)
	c.command = exec.Command(c.options.Program[0], args...)
	c.command.Env = c.options.Env
	c.command.Stderr = os.Stderr
	stdin, err := c.command.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.command.Start(); err != nil {
		return err
	}
	go func() {
		defer stdin.Close()
		for {
			select {
			case line := <-c.lines:
				if _, err := stdin.Write(line); err != nil {
					c.lost("standard input")
					return
				}
			case <-c.stop:
				return
			}
		}
	}()
	go c.read(bufio.NewReaderSize(stdout, 1<<16))
	go c.watch(stdout)
	go c.callBack()
	return nil
}

func (c *Client) greet(ctx context.Context) error {
	hello := map[string]any{"version": Protocol, "host": c.options.Host}
	if c.options.Project != "" {
		hello["projectDir"] = c.options.Project
	}
	if c.options.WorkFolders != nil {
		hello["workFolders"] = c.options.WorkFolders
	}
	if c.options.Settings != nil {
		hello["settings"] = c.options.Settings
	}
	if c.options.Approver != nil {
		hello["approves"] = true
	}
	if err := c.request(ctx, "hello", hello, &c.Hello); err != nil {
		return err
	}
	if c.Hello.Version != Protocol {
		return invalid("another version of the protocol")
	}
	return nil
}

// ListHooks lists every hook that could run, and what keeps the others from running.
func (c *Client) ListHooks(ctx context.Context) (json.RawMessage, error) {
	var list json.RawMessage
	err := c.request(ctx, "hooks.list", map[string]any{}, &list)
	return list, err
}

// Reload reads the hooks again at once.
func (c *Client) Reload(ctx context.Context) error {
	return c.request(ctx, "hooks.reload", map[string]any{}, nil)
}

// Close ends carabiner. Requests in progress fail with ErrClosed, sessions close, and hooks end.
func (c *Client) Close() error {
	c.finish(ErrClosed)
	c.closed.Do(func() { close(c.stop) })
	select {
	case <-c.exited:
	case <-time.After(closing):
		_ = c.command.Process.Kill()
		<-c.exited
	}
	return nil
}

// request sends a request and reads its answer into result.
func (c *Client) request(ctx context.Context, method string, params any, result any) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Deadline)
	defer cancel()
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	c.mu.Lock()
	if c.end != nil {
		defer c.mu.Unlock()
		return c.end
	}
	c.last++
	id := c.last
	sent := &request{method: method, answer: make(chan answer, 1)}
	c.waiting[id] = sent
	c.mu.Unlock()
	line := encode(map[string]any{"id": id, "method": method, "params": json.RawMessage(raw)})
	select {
	case c.lines <- line:
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id) // it was not sent
		c.mu.Unlock()
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case got := <-sent.answer:
		return got.err
	}
	select {
	case got := <-sent.answer:
		if got.err != nil {
			return got.err
		}
		return decode(got.result, result)
	case <-ctx.Done():
		c.abandon(id, sent)
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// abandon tells the engine that nobody waits any more.
func (c *Client) abandon(id int, sent *request) {
	c.mu.Lock()
	sent.abandoned = true
	_, isOpen := c.waiting[id]
	c.mu.Unlock()
	if isOpen {
		go c.send(map[string]any{"method": "cancel", "params": map[string]any{"id": id}})
		return
	}
	if got := <-sent.answer; got.err == nil {
		c.endLate(sent.method, got.result)
	}
}

func (c *Client) send(fields map[string]any) {
	select {
	case c.lines <- encode(fields):
	case <-c.ended:
	}
}

func encode(fields map[string]any) []byte {
	fields["jsonrpc"] = "2.0"
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // all of it was marshalled before
	}
	return append(line, '\n')
}

func decode(raw json.RawMessage, into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return invalid(err.Error())
	}
	return nil
}

// ---- reading --------------------------------------------------------------------------------------------------------

func (c *Client) read(stdout *bufio.Reader) {
	for {
		line, err := stdout.ReadBytes('\n')
		if err != nil {
			break // a line without its end is no answer
		}
		if problem := c.take(line); problem != nil {
			c.finish(problem)
			_ = c.command.Process.Kill()
			break
		}
	}
	close(c.hasRead)
	c.lost("standard output")
}

// watch finds the end of the engine. The reader cannot, while a child of the engine keeps the pipe open.
func (c *Client) watch(stdout io.Closer) {
	text := "carabiner has ended"
	// Wait of the command would close the pipe before all of it was read.
	if state, err := c.command.Process.Wait(); err == nil {
		text += ": " + state.String()
	}
	select {
	case <-c.hasRead:
	case <-time.After(ending):
	}
	c.finish(&Error{Code: ErrEngineEnded.Code, Message: text, Hint: "What it printed to standard error says why."})
	c.closed.Do(func() { close(c.stop) })
	close(c.exited)
	_ = stdout.Close()
}

// lost ends an engine that lives on without a pipe, and so answers nothing more. If it has ended, watch says how.
func (c *Client) lost(pipe string) {
	select {
	case <-c.exited:
	case <-time.After(ending):
		c.finish(&Error{Code: ErrEngineEnded.Code, Message: "carabiner has closed its " + pipe})
		_ = c.Close()
	}
}

func (c *Client) take(line []byte) *Error {
	var m message
	// The decoder would replace bytes that are not UTF-8, so the call would run with another input than hooks judged.
	if !utf8.Valid(line) || json.Unmarshal(line, &m) != nil {
		return invalid("a line that is not JSON")
	}
	var id int
	isOurs := json.Unmarshal(m.ID, &id) == nil && string(m.ID) != "null"
	switch {
	case m.Method == "approve" && isOurs && c.options.Approver != nil:
		c.approve(id, m.Params)
	case m.Method != "" && m.ID != nil:
		refusal := map[string]any{"code": -32601, "message": "There is no " + m.Method + " here"}
		go c.send(map[string]any{"id": m.ID, "error": refusal})
	case m.Method != "":
		return c.told(m)
	case isOurs:
		c.answered(id, m)
	default:
		return invalid("an answer without an id")
	}
	return nil
}

func (c *Client) answered(id int, m message) {
	c.mu.Lock()
	sent := c.waiting[id]
	delete(c.waiting, id)
	isLate := sent != nil && sent.abandoned
	c.mu.Unlock()
	switch {
	case sent == nil:
	case m.Error != nil:
		sent.answer <- answer{err: errorOf(m.Error)}
	case isLate:
		c.endLate(sent.method, m.Result)
	default:
		sent.answer <- answer{result: m.Result}
	}
}

// errorOf reads an error of any shape: what is missing or of the wrong type stays empty.
func errorOf(raw json.RawMessage) *Error {
	var told struct {
		Message string
		Data    json.RawMessage
	}
	var about struct{ Code, Hint string }
	_ = json.Unmarshal(raw, &told)
	_ = json.Unmarshal(told.Data, &about)
	if told.Message == "" {
		told.Message = "The request failed: " + string(raw)
	}
	if about.Code == "" {
		about.Code = ErrEngineInvalid.Code
	}
	return &Error{about.Code, told.Message, about.Hint, told.Data}
}

// endLate ends a call that began although nobody waits.
func (c *Client) endLate(method string, result json.RawMessage) {
	var begun struct{ Status, Call string }
	if json.Unmarshal(result, &begun) != nil || begun.Status != "run" {
		return
	}
	kind := strings.SplitN(method, ".", 2)[0]
	params := map[string]any{"call": begun.Call, "error": "The host no longer waits for it"}
	go func() { _ = c.request(context.Background(), kind+".fail", params, nil) }()
}

func (c *Client) told(m message) *Error {
	switch m.Method {
	case "message":
		var one Message
		if json.Unmarshal(m.Params, &one) != nil {
			return invalid("message")
		}
		c.tell(func() { c.options.OnMessage(one) })
	case "wake":
		var one Wake
		if json.Unmarshal(m.Params, &one) != nil {
			return invalid("wake")
		}
		if c.options.OnWake != nil {
			c.tell(func() { c.options.OnWake(one) })
		}
	case "cancel":
		var one struct{ ID int }
		if json.Unmarshal(m.Params, &one) != nil {
			return invalid("cancel")
		}
		c.mu.Lock()
		withdraw := c.asking[one.ID]
		delete(c.asking, one.ID)
		c.mu.Unlock()
		if withdraw != nil {
			withdraw()
		}
	}
	return nil
}

func (c *Client) approve(id int, params json.RawMessage) {
	ctx, withdraw := context.WithCancel(context.Background())
	c.mu.Lock()
	c.asking[id] = withdraw
	c.mu.Unlock()
	go func() {
		defer withdraw()
		reply, err := c.ask(ctx, params)
		c.mu.Lock()
		_, isAwaited := c.asking[id]
		delete(c.asking, id)
		c.mu.Unlock()
		switch {
		case !isAwaited:
		case err != nil:
			text := "The approver failed: " + err.Error()
			c.send(map[string]any{"id": id, "error": map[string]any{"code": -32000, "message": text}})
		case reply == nil:
			c.send(map[string]any{"id": id, "result": map[string]any{"unanswered": "The host has no answer"}})
		default:
			c.send(map[string]any{"id": id, "result": reply})
		}
	}()
}

// ask makes a panic of the approver an error: it must not allow anything, and must not end the agent.
func (c *Client) ask(ctx context.Context, params json.RawMessage) (reply *Reply, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("it panicked: %v", problem)
		}
	}()
	var asked struct{ Question Question }
	if err := json.Unmarshal(params, &asked); err != nil {
		return nil, err
	}
	reply, err = c.options.Approver(ctx, asked.Question)
	if err == nil && reply != nil {
		_, err = json.Marshal(reply)
	}
	return reply, err
}

// tell runs callbacks one after the other, so that none of them keeps the reader from reading.
func (c *Client) tell(callback func()) {
	c.mu.Lock()
	c.news = append(c.news, callback)
	c.mu.Unlock()
	c.hasNews.Signal()
}

func (c *Client) callBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.news) == 0 {
			if c.end != nil {
				return
			}
			c.hasNews.Wait()
		}
		next := c.news[0]
		c.news = c.news[1:]
		c.mu.Unlock()
		next()
		c.mu.Lock()
	}
}

func (c *Client) finish(err *Error) {
	c.mu.Lock()
	if c.end == nil {
		c.end = err
		close(c.ended)
	}
	waiting, asking := c.waiting, c.asking
	c.waiting, c.asking = map[int]*request{}, map[int]context.CancelFunc{}
	for _, sent := range waiting {
		if !sent.abandoned {
			sent.answer <- answer{err: c.end}
		}
	}
	c.mu.Unlock()
	for _, withdraw := range asking {
		withdraw()
	}
	c.hasNews.Broadcast()
}

// ---- sessions -------------------------------------------------------------------------------------------------------

// SessionOptions of a session. All of them may be left out.
type SessionOptions struct {
	// ID is the id that hooks see.
	ID             string `json:"id,omitempty"`
	Cwd            string `json:"cwd,omitempty"`
	TranscriptPath string `json:"transcriptPath,omitempty"`
	PermissionMode string `json:"permissionMode,omitempty"`
	Channel        string `json:"channel,omitempty"`
	ChatID         string `json:"chatId,omitempty"`
}

// Session is one conversation of one agent.
type Session struct {
	// ID is the id that hooks see.
	ID     string
	name   string
	client *Client
}

// Session opens a session.
func (c *Client) Session(ctx context.Context, options SessionOptions) (*Session, error) {
	return c.openSession(ctx, options)
}

func (c *Client) openSession(ctx context.Context, params any) (*Session, error) {
	var opened struct{ Session, ID string }
	if err := c.request(ctx, "session.open", params, &opened); err != nil {
		return nil, err
	}
	if opened.Session == "" {
		return nil, invalid("session is missing")
	}
	return &Session{ID: opened.ID, name: opened.Session, client: c}, nil
}

// Child opens the session of a subagent.
func (s *Session) Child(ctx context.Context, agentID, agentType string) (*Session, error) {
	params := map[string]any{"parent": s.name, "agentId": agentID}
	if agentType != "" {
		params["agentType"] = agentType
	}
	return s.client.openSession(ctx, params)
}

// Fire fires an event, such as UserPromptSubmit or Stop. Only the action "continue" lets it go on.
func (s *Session) Fire(ctx context.Context, event string, data any) (*Outcome, error) {
	var fired struct{ Outcome *Outcome }
	params := map[string]any{"session": s.name, "event": event}
	if data != nil {
		params["data"] = data
	}
	if err := s.client.request(ctx, "session.fire", params, &fired); err != nil {
		return nil, err
	}
	if fired.Outcome == nil || fired.Outcome.Action == "" {
		return nil, invalid("outcome has no action")
	}
	return fired.Outcome, nil
}

// StartTurn begins a turn. Without it, UserPromptSubmit begins one.
func (s *Session) StartTurn(ctx context.Context, prompt string) (string, error) {
	var turn struct{ TurnID string }
	err := s.client.request(ctx, "session.startTurn", map[string]any{"session": s.name, "prompt": prompt}, &turn)
	return turn.TurnID, err
}

// EndTurn ends a turn. The status is completed, error or aborted; empty means as hooks and models left it.
func (s *Session) EndTurn(ctx context.Context, status string) error {
	params := map[string]any{"session": s.name}
	if status != "" {
		params["status"] = status
	}
	return s.client.request(ctx, "session.endTurn", params, nil)
}

// Close closes the session. Calls that were not finished fail as interrupted.
func (s *Session) Close(ctx context.Context) error {
	return s.client.request(ctx, "session.close", map[string]any{"session": s.name}, nil)
}

// ---- calls ----------------------------------------------------------------------------------------------------------

// Status of a call.
type Status string

const (
	// Run: run the call with exactly this Input or Request, then call Finish or Fail.
	Run Status = "run"
	// Responded: a hook gave the Result. Do not run the call.
	Responded Status = "responded"
	// Denied: Reason is for the model.
	Denied Status = "denied"
	// NeedsApproval: ask a person, and call Answer. The hooks do not run again.
	NeedsApproval Status = "needs_approval"
	// OK: the call has ended, and Result is the result to use.
	OK Status = "ok"
	// Failed: the call has ended, and Reason says why it failed.
	Failed Status = "failed"
)

// Call is a tool call or a model call, as hooks left it.
type Call struct {
	Status Status `json:"status"`
	// Name of the tool to run.
	Name string `json:"name"`
	// Input of the tool. Only a call that may run has it.
	Input json.RawMessage `json:"input"`
	// Request to the model. Only a call that may run has it.
	Request json.RawMessage `json:"request"`
	// Held: a hook may still refuse the response, so show none of it before Finish returns.
	Held bool `json:"held"`
	// Result of the tool, or response of the model.
	Result   json.RawMessage `json:"result"`
	Reason   string          `json:"reason"`
	Question *Question       `json:"question"`
	Outcome  *Outcome        `json:"outcome"`
	// After is what the hooks of the event after the call decided.
	After *Outcome `json:"after"`

	kind   string
	id     string
	client *Client
	given  json.RawMessage
}

// ToolCall is what the model asked for.
type ToolCall struct {
	Name string
	// Input must become a JSON object.
	Input any
	// ID is the model's id of the call.
	ID string
	// Timeout is for the hooks of each event. Hooks that it cuts short count as failed.
	Timeout time.Duration
	// Renames: you can run the tool that a hook chose instead. Without it, a renamed call is denied.
	Renames bool
}

// BeginTool fires PreToolUse. Run the tool only if the status is Run.
func (s *Session) BeginTool(ctx context.Context, tool ToolCall) (*Call, error) {
	params := map[string]any{"session": s.name, "name": tool.Name, "input": tool.Input}
	if tool.ID != "" {
		params["id"] = tool.ID
	}
	if tool.Timeout != 0 {
		params["timeout"] = tool.Timeout.Seconds()
	}
	if tool.Renames {
		params["renames"] = true
	}
	return s.client.call(ctx, "tool", "begin", params, nil)
}

// BeginModel fires ModelRequest. Ask the model only if the status is Run.
func (s *Session) BeginModel(ctx context.Context, request any) (*Call, error) {
	return s.client.call(ctx, "model", "begin", map[string]any{"session": s.name, "request": request}, nil)
}

// CallTool runs the tool if hooks let it. Run gets a call with the Input that they judged; its error is returned as it is.
func (s *Session) CallTool(ctx context.Context, tool ToolCall, run Runner) (*Call, error) {
	call, err := s.BeginTool(ctx, tool)
	if err != nil {
		return nil, err
	}
	return call.Run(ctx, run)
}

// CallModel asks the model if hooks let it. Run gets a call with the Request that they judged.
func (s *Session) CallModel(ctx context.Context, request any, run Runner) (*Call, error) {
	call, err := s.BeginModel(ctx, request)
	if err != nil {
		return nil, err
	}
	return call.Run(ctx, run)
}

// Runner runs a call. What it returns must become JSON.
type Runner func(ctx context.Context, call *Call) (any, error)

// Run is the second half of CallTool and CallModel: after an answer, for instance. A call that may not run is returned.
func (c *Call) Run(ctx context.Context, run Runner) (*Call, error) {
	if c.Status != Run {
		return c, nil
	}
	hasEnded := false
	defer func() {
		if !hasEnded { // a panic
			_, _ = c.Fail(context.Background(), errors.New("the tool panicked"))
		}
	}()
	result, err := run(ctx, c)
	hasEnded = true
	if err != nil {
		// The end of the call is told even if the context was what ended it.
		if _, failure := c.Fail(context.Background(), err); errors.Is(failure, ErrTurnAborted) || errors.Is(failure, ErrAgentAborted) {
			return nil, failure
		}
		return nil, err
	}
	return c.Finish(ctx, result)
}

// Decode reads the Input or the Request of a call that may run, or the Result of one that has ended.
func (c *Call) Decode(into any) error {
	for _, raw := range []json.RawMessage{c.Input, c.Request, c.Result} {
		if raw != nil {
			return json.Unmarshal(raw, into)
		}
	}
	return fmt.Errorf("the call is %s, and has nothing to decode", c.Status)
}

// ForModel is what the model reads as the result of the call: the result, or the reason.
func (c *Call) ForModel() string {
	var text string
	if c.Result == nil {
		return c.Reason
	}
	if json.Unmarshal(c.Result, &text) == nil {
		return text
	}
	return string(c.Result)
}

// Finish says that the call has run.
func (c *Call) Finish(ctx context.Context, result any) (*Call, error) {
	given, err := json.Marshal(result)
	if err != nil {
		_, _ = c.Fail(ctx, err)
		return nil, err
	}
	key := map[string]string{"tool": "result", "model": "response"}[c.kind]
	return c.client.call(ctx, c.kind, "finish", map[string]any{"call": c.id, key: json.RawMessage(given)}, given)
}

// Fail says that the call has failed.
func (c *Call) Fail(ctx context.Context, failure error) (*Call, error) {
	return c.client.call(ctx, c.kind, "fail", map[string]any{"call": c.id, "error": failure.Error()}, nil)
}

// Answer answers the question of a call that needs approval.
func (c *Call) Answer(ctx context.Context, reply Reply) (*Call, error) {
	if c.Question == nil {
		return nil, fmt.Errorf("the call is %s, and asks nothing", c.Status)
	}
	params := map[string]any{"call": c.id, "question": c.Question.ID, "reply": reply}
	return c.client.call(ctx, c.kind, "answer", params, c.given)
}

func (c *Client) call(ctx context.Context, kind, verb string, params map[string]any, given json.RawMessage) (*Call, error) {
	var raw json.RawMessage
	if err := c.request(ctx, kind+"."+verb, params, &raw); err != nil {
		return nil, err
	}
	call := &Call{Held: true, kind: kind, client: c, given: given}
	told := struct {
		*Call
		ID       string          `json:"call"`
		Response json.RawMessage `json:"response"`
	}{Call: call}
	if err := decode(raw, &told); err != nil {
		return nil, err
	}
	call.id = told.ID
	if kind == "model" {
		call.Result = told.Response
	}
	if problem := call.check(verb); problem != "" {
		return nil, invalid(problem)
	}
	return call, nil
}

// check finds what is missing, so that it is an error and never an allow.
func (c *Call) check(verb string) string {
	isBegun := verb == "begin" || verb == "answer"
	switch {
	case c.Outcome == nil || c.Outcome.Action == "":
		return "outcome has no action"
	case c.Status == Run && isBegun:
		judged := map[string]json.RawMessage{"tool": c.Input, "model": c.Request}[c.kind]
		if len(judged) == 0 || judged[0] != '{' || c.id == "" {
			return "a call that may run, without its input"
		}
		return ""
	case c.Status == NeedsApproval && c.Question != nil && c.id != "", c.Status == Denied:
		return ""
	case c.Status == Responded && c.Result != nil:
		return ""
	case c.Status == OK && (verb == "finish" || verb == "answer"):
		if c.Result == nil {
			c.Result = c.given
		}
		return ""
	case c.Status == Failed && verb != "begin":
		return ""
	}
	return fmt.Sprintf("the status %q", c.Status)
}

// ---- PicoClaw -------------------------------------------------------------------------------------------------------

// HookAction is PicoClaw's action of a hook.
type HookAction string

// The actions of PicoClaw.
const (
	HookActionContinue  HookAction = "continue"
	HookActionModify    HookAction = "modify"
	HookActionRespond   HookAction = "respond"
	HookActionDenyTool  HookAction = "deny_tool"
	HookActionAbortTurn HookAction = "abort_turn"
	HookActionHardAbort HookAction = "hard_abort"
)

// HookDecision is what the hooks decided.
type HookDecision struct {
	Action HookAction `json:"action"`
	Reason string     `json:"reason,omitempty"`
}

// ApprovalDecision is the answer of ApproveTool.
type ApprovalDecision struct {
	Approved bool   `json:"approved"`
	Reason   string `json:"reason,omitempty"`
}

// ToolCallHookRequest is a tool call before it runs. Result is set if a hook responds.
type ToolCallHookRequest struct {
	Tool      string          `json:"tool"`
	Arguments map[string]any  `json:"arguments,omitempty"`
	Channel   string          `json:"channel,omitempty"`
	ChatID    string          `json:"chat_id,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
}

// ToolResultHookResponse is a tool call after it ran.
type ToolResultHookResponse struct {
	Tool      string          `json:"tool"`
	Arguments map[string]any  `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Duration  time.Duration   `json:"duration"`
	Channel   string          `json:"channel,omitempty"`
	ChatID    string          `json:"chat_id,omitempty"`
}

// LLMHookRequest is a model call before it is made.
type LLMHookRequest struct {
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools,omitempty"`
	Options  map[string]any    `json:"options,omitempty"`
	Channel  string            `json:"channel,omitempty"`
	ChatID   string            `json:"chat_id,omitempty"`
}

// LLMHookResponse is what the model answered.
type LLMHookResponse struct {
	Model    string          `json:"model"`
	Response json.RawMessage `json:"response,omitempty"`
	Channel  string          `json:"channel,omitempty"`
	ChatID   string          `json:"chat_id,omitempty"`
}

// Hooks has the methods of PicoClaw's HookManager. They have no errors: what cannot be judged is refused.
type Hooks struct{ session *Session }

// NewHooks puts the hooks of this machine behind PicoClaw's methods.
func NewHooks(session *Session) *Hooks { return &Hooks{session} }

// BeforeTool returns the call to run, and deny_tool if it must not run. A question that nobody answers is a deny: give
// the client an Approver.
func (h *Hooks) BeforeTool(ctx context.Context, call *ToolCallHookRequest) (*ToolCallHookRequest, HookDecision) {
	data := map[string]any{"tool_name": call.Tool, "tool_input": objectOf(call.Arguments)}
	outcome, decision := h.decide(ctx, "PreToolUse", withChat(data, call.Channel, call.ChatID), HookActionDenyTool)
	next := *call
	switch decision.Action {
	case HookActionRespond:
		next.Result = outcome.Response
	case HookActionModify:
		var changed struct {
			Tool  string         `json:"tool_name"`
			Input map[string]any `json:"tool_input"`
		}
		if err := json.Unmarshal(outcome.Data, &changed); err != nil || changed.Tool == "" {
			return call, HookDecision{HookActionDenyTool, "carabiner sent a change that cannot be read"}
		}
		next.Tool, next.Arguments = changed.Tool, changed.Input
	}
	return &next, decision
}

// AfterTool returns the result for the model.
func (h *Hooks) AfterTool(ctx context.Context, ran *ToolResultHookResponse) (*ToolResultHookResponse, HookDecision) {
	data := map[string]any{
		"tool_name": ran.Tool, "tool_input": objectOf(ran.Arguments), "duration_ms": ran.Duration.Milliseconds(),
	}
	if ran.Result != nil {
		data["tool_response"] = ran.Result
	}
	outcome, decision := h.decide(ctx, "PostToolUse", withChat(data, ran.Channel, ran.ChatID), HookActionAbortTurn)
	next := *ran
	if decision.Action == HookActionModify {
		var changed struct {
			Result json.RawMessage `json:"tool_response"`
		}
		if err := json.Unmarshal(outcome.Data, &changed); err != nil {
			return ran, HookDecision{HookActionAbortTurn, "carabiner sent a change that cannot be read"}
		}
		next.Result = changed.Result
	}
	return &next, decision
}

// ApproveTool asks the hooks that answer for a person.
func (h *Hooks) ApproveTool(ctx context.Context, call *ToolCallHookRequest) ApprovalDecision {
	data := map[string]any{"tool_name": call.Tool, "tool_input": objectOf(call.Arguments)}
	_, decision := h.decide(ctx, "PermissionRequest", withChat(data, call.Channel, call.ChatID), HookActionDenyTool)
	return ApprovalDecision{decision.Action == HookActionContinue, decision.Reason}
}

// BeforeLLM returns the request to send.
func (h *Hooks) BeforeLLM(ctx context.Context, request *LLMHookRequest) (*LLMHookRequest, HookDecision) {
	outcome, decision := h.decide(ctx, "ModelRequest", request, HookActionAbortTurn)
	if decision.Action != HookActionModify {
		return request, decision
	}
	next := LLMHookRequest{}
	if err := json.Unmarshal(outcome.Data, &next); err != nil {
		return request, HookDecision{HookActionAbortTurn, "carabiner sent a change that cannot be read"}
	}
	return &next, decision
}

// AfterLLM returns the response to use.
func (h *Hooks) AfterLLM(ctx context.Context, response *LLMHookResponse) (*LLMHookResponse, HookDecision) {
	outcome, decision := h.decide(ctx, "ModelResponse", response, HookActionAbortTurn)
	if decision.Action != HookActionModify {
		return response, decision
	}
	next := LLMHookResponse{}
	if err := json.Unmarshal(outcome.Data, &next); err != nil {
		return response, HookDecision{HookActionAbortTurn, "carabiner sent a change that cannot be read"}
	}
	return &next, decision
}

// decide turns an outcome into a decision. PicoClaw ignores deny_tool where no tool is about to run, so `refusal` says
// what a deny is there.
func (h *Hooks) decide(ctx context.Context, event string, data any, refusal HookAction) (*Outcome, HookDecision) {
	outcome, err := h.session.Fire(ctx, event, data)
	if err != nil {
		return nil, HookDecision{refusal, "Hooks could not judge this: " + err.Error()}
	}
	switch action := HookAction(outcome.Action); {
	case action == HookActionContinue && outcome.Modified:
		return outcome, HookDecision{HookActionModify, outcome.Reason}
	case action == HookActionContinue, action == HookActionAbortTurn, action == HookActionHardAbort:
		return outcome, HookDecision{action, outcome.Reason}
	case action == HookActionRespond && refusal == HookActionDenyTool && outcome.Response != nil:
		return outcome, HookDecision{HookActionRespond, outcome.Reason}
	}
	return outcome, HookDecision{refusal, outcome.Reason}
}

func objectOf(arguments map[string]any) map[string]any {
	if arguments == nil {
		return map[string]any{}
	}
	return arguments
}

func withChat(data map[string]any, channel, chatID string) map[string]any {
	if channel != "" {
		data["channel"] = channel
	}
	if chatID != "" {
		data["chat_id"] = chatID
	}
	return data
}
