// Plays cases of clients/conformance: each line of standard input is the file of a case, and is answered with a line that
// says what each step came to.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"carabiner"
)

type object = map[string]any

type step struct {
	Do       string
	As, Of   string
	Name     string
	Input    any
	Request  any
	With     any
	Error    string
	Reply    any
	Returns  any
	Raises   string
	Event    string
	Data     any
	Agent    string
	Path     string
	Count    int
	Timeout  float64
	Deadline float64
	Step     json.RawMessage
}

type play struct {
	Folder, Home string
	Program      []string
	Deadline     float64
	Approver     *struct {
		Reply                    any
		Fails, Unanswered, Waits bool
	}
	Steps []json.RawMessage
}

// seen is what callbacks were told. A step may wait for a number of them.
type seen struct {
	sync.Mutex
	changed *sync.Cond
	lists   map[string][]string
}

func (s *seen) add(kind, text string) {
	s.Lock()
	defer s.Unlock()
	s.lists[kind] = append(s.lists[kind], text)
	s.changed.Broadcast()
}

func (s *seen) wait(kind string, count int) []string {
	s.Lock()
	defer s.Unlock()
	for len(s.lists[kind]) < count {
		s.changed.Wait()
	}
	return append([]string{}, s.lists[kind]...)
}

type running struct {
	cancel context.CancelFunc
	result chan any
}

type player struct {
	options carabiner.Options
	client  *carabiner.Client
	session *carabiner.Session
	seen    *seen
	calls   map[string]*carabiner.Call
	tasks   map[string]running
	mu      sync.Mutex
}

// read keeps numbers as they are written.
func read(raw []byte, into any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		panic(err)
	}
}

func replyOf(given any) carabiner.Reply {
	if option, ok := given.(string); ok {
		return carabiner.Reply{Option: option}
	}
	var reply carabiner.Reply
	raw, _ := json.Marshal(given)
	read(raw, &reply)
	return reply
}

func injectedIn(outcome *carabiner.Outcome) []string {
	var texts []string
	if outcome != nil {
		for _, one := range outcome.Injections {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

func shown(call *carabiner.Call) object {
	told := object{"status": call.Status}
	switch call.Status {
	case carabiner.Run:
		if call.Input != nil {
			told["name"], told["input"] = call.Name, call.Input
		} else {
			told["request"], told["held"] = call.Request, call.Held
		}
	case carabiner.NeedsApproval:
		told["reason"], told["prompt"], told["options"] = call.Reason, call.Question.Asks[0].Prompt, call.Question.Options
	case carabiner.Denied, carabiner.Failed:
		told["reason"] = call.Reason
	default:
		told["result"] = call.Result
		if texts := injectedIn(call.After); texts != nil {
			told["injected"] = texts
		}
	}
	return told
}

func seconds(given float64) time.Duration { return time.Duration(given * float64(time.Second)) }

func (p *player) play(ctx context.Context, raw json.RawMessage) any {
	var s step
	read(raw, &s)
	ran := []any{}
	if s.Deadline != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, seconds(s.Deadline))
		defer cancel()
	}
	told, err := p.do(ctx, s, &ran)
	if err != nil {
		told = object{"error": carabiner.Code(err)}
		if carabiner.Code(err) == "" {
			told = object{"raised": err.Error()}
		}
	}
	if strings.HasPrefix(s.Do, "call_") {
		told.(object)["ran"] = ran
	}
	return told
}

func (p *player) named(name string, call *carabiner.Call, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if call.Status == carabiner.Run || call.Status == carabiner.NeedsApproval {
		p.calls[name] = call
	}
	return shown(call), nil
}

func (p *player) do(ctx context.Context, s step, ran *[]any) (any, error) {
	tool := carabiner.ToolCall{Name: s.Name, Input: s.Input, Timeout: seconds(s.Timeout)}
	run := func(_ context.Context, call *carabiner.Call) (any, error) {
		var given any
		raw := call.Input
		if raw == nil {
			raw = call.Request
		}
		read(raw, &given)
		*ran = append(*ran, given)
		if s.Raises != "" {
			return nil, errors.New(s.Raises)
		}
		return s.Returns, nil
	}
	switch s.Do {
	case "hello":
		return object{"version": p.client.Hello.Version, "hooks": p.client.Hello.Hooks}, nil
	case "begin_tool":
		call, err := p.session.BeginTool(ctx, tool)
		return p.named(s.As, call, err)
	case "begin_model":
		call, err := p.session.BeginModel(ctx, s.Request)
		return p.named(s.As, call, err)
	case "call_tool":
		call, err := p.session.CallTool(ctx, tool, run)
		return p.named("", call, err)
	case "call_model":
		call, err := p.session.CallModel(ctx, s.Request, run)
		return p.named("", call, err)
	case "finish":
		call, err := p.calls[s.Of].Finish(ctx, s.With)
		return p.named(s.Of, call, err)
	case "fail":
		call, err := p.calls[s.Of].Fail(ctx, errors.New(s.Error))
		return p.named(s.Of, call, err)
	case "answer":
		call, err := p.calls[s.Of].Answer(ctx, replyOf(s.Reply))
		return p.named(s.Of, call, err)
	case "fire":
		outcome, err := p.session.Fire(ctx, s.Event, s.Data)
		if err != nil {
			return nil, err
		}
		told := object{"action": outcome.Action}
		if outcome.Reason != "" {
			told["reason"] = outcome.Reason
		}
		if texts := injectedIn(outcome); texts != nil {
			told["injected"] = texts
		}
		return told, nil
	case "end_turn":
		return object{}, p.session.EndTurn(ctx, "")
	case "child":
		child, err := p.session.Child(ctx, s.Agent, "")
		if err != nil {
			return nil, err
		}
		call, err := child.BeginTool(ctx, tool)
		return p.named("", call, err)
	case "messages", "wakes", "asked":
		return p.seen.wait(s.Do, s.Count), nil
	case "withdrawn":
		return len(p.seen.wait(s.Do, s.Count)), nil
	case "await_file":
		for {
			if _, err := os.Stat(s.Path); err == nil {
				return object{}, nil
			}
			time.Sleep(20 * time.Millisecond)
		}
	case "parallel":
		results := make([]any, s.Count)
		var all sync.WaitGroup
		for n := range results {
			n, raw := n, bytes.ReplaceAll(s.Step, []byte("$n"), []byte(fmt.Sprint(n)))
			all.Add(1)
			go func() {
				defer all.Done()
				results[n] = p.play(ctx, raw)
			}()
		}
		all.Wait()
		return results, nil
	case "repeat":
		var last any
		left := leftBy(s.Count, func() { last = p.play(ctx, s.Step) })
		return object{"left": left, "last": last}, nil
	case "reopen":
		return object{"left": leftBy(s.Count, func() {
			client, err := carabiner.Start(ctx, p.options)
			if err != nil {
				panic(err)
			}
			_ = client.Close()
		})}, nil
	case "start":
		own, cancel := context.WithCancel(context.Background())
		task := running{cancel, make(chan any, 1)}
		p.tasks[s.As] = task
		go func() { task.result <- p.play(own, s.Step) }()
		return object{"started": s.As}, nil
	case "cancel":
		p.tasks[s.Of].cancel()
		return object{"cancelled": s.Of}, nil
	case "join":
		return <-p.tasks[s.Of].result, nil
	case "close_session":
		return object{}, p.session.Close(ctx)
	case "close":
		return object{}, p.client.Close()
	}
	panic("there is no step " + s.Do)
}

func held() map[string]int {
	descriptors, _ := os.ReadDir("/proc/self/fd")
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return map[string]int{
		"descriptors": len(descriptors),
		"threads":     runtime.NumGoroutine(),
		"memory":      int(memory.HeapAlloc >> 23),
	}
}

// leftBy says what grew. A tenth of the rounds warms up; what ends soon after the last one counts as ended.
func leftBy(count int, once func()) []string {
	for i := 0; i < count/10; i++ {
		once()
	}
	before := held()
	for i := 0; i < count; i++ {
		once()
	}
	left := []string{}
	for i := 0; i < 500; i++ {
		left = left[:0]
		for name, value := range held() {
			if value > before[name]+map[string]int{"memory": 1}[name] {
				left = append(left, name)
			}
		}
		if len(left) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

func main() {
	files := bufio.NewScanner(os.Stdin)
	for files.Scan() {
		raw, err := os.ReadFile(files.Text())
		if err != nil {
			panic(err)
		}
		var game play
		read(raw, &game)
		if err := os.Chdir(game.Folder); err != nil {
			panic(err)
		}
		if err := os.Setenv("HOME", game.Home); err != nil {
			panic(err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(playAll(game)); err != nil {
			panic(err)
		}
	}
}

// playAll says what each step came to, or the error of opening.
func playAll(game play) any {
	all := &seen{lists: map[string][]string{}}
	all.changed = sync.NewCond(&all.Mutex)
	options := carabiner.Options{
		Program:   game.Program,
		Deadline:  seconds(game.Deadline),
		OnMessage: func(m carabiner.Message) { all.add("messages", m.Text) },
		OnWake:    func(w carabiner.Wake) { all.add("wakes", w.Message.Content) },
	}
	if how := game.Approver; how != nil {
		options.Approver = func(ctx context.Context, question carabiner.Question) (*carabiner.Reply, error) {
			all.add("asked", question.Prompt())
			switch {
			case how.Waits:
				<-ctx.Done()
				all.add("withdrawn", "")
				return nil, ctx.Err()
			case how.Fails:
				panic("no terminal")
			case how.Unanswered:
				return nil, nil
			}
			reply := replyOf(how.Reply)
			return &reply, nil
		}
	}
	ctx := context.Background()
	client, err := carabiner.Start(ctx, options)
	if err != nil {
		return object{"open": carabiner.Code(err)}
	}
	session, err := client.Session(ctx, carabiner.SessionOptions{})
	if err != nil {
		panic(err)
	}
	p := &player{options: options, client: client, session: session, seen: all, calls: map[string]*carabiner.Call{}, tasks: map[string]running{}}
	results := make([]any, len(game.Steps))
	for i, raw := range game.Steps {
		results[i] = p.play(ctx, raw)
	}
	_ = client.Close()
	return results
}
