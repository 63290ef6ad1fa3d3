// An agent loop with hooks around every tool call and model call. It runs offline: the model is a script.
package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"runtime"
	"strings"

	"carabiner"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
}

type toolCall struct {
	Name  string            `json:"name"`
	Input map[string]string `json:"input"`
	args  string
}

var calls = []toolCall{
	{"Bash", map[string]string{"command": "git push --force"}, "git push --force"},
	{"Bash", map[string]string{"command": "npm install lodash"}, "npm install lodash"},
	{"Bash", map[string]string{"command": "deploy"}, "deploy"},
	{"Weather", map[string]string{"city": "Lima"}, "Lima"},
	{"Write", map[string]string{"file_path": "notes.py", "content": "import os"}, "notes.py import os"},
}

// model says what hooks have told it. The script says which tool it asks for.
func model(_ context.Context, call *carabiner.Call) (any, error) {
	var asked request
	if err := call.Decode(&asked); err != nil {
		return nil, err
	}
	for _, one := range asked.Messages {
		if one.Role == "system" {
			fmt.Println("  injected:", strings.Split(one.Content, "\n")[1])
		}
	}
	return message{"assistant", "done"}, nil
}

func tool(_ context.Context, call *carabiner.Call) (any, error) {
	var input map[string]string
	if err := call.Decode(&input); err != nil {
		return nil, err
	}
	return "ran " + input["command"] + input["file_path"], nil
}

func ask(_ context.Context, question carabiner.Question) (*carabiner.Reply, error) {
	fmt.Printf("  asked: %s (%s)\n", question.Prompt(), strings.Join(question.Options, ", "))
	return &carabiner.Reply{Option: "Allow", By: "ada"}, nil
}

func turn(ctx context.Context, session *carabiner.Session, prompt string) error {
	messages := []message{{"user", prompt}}
	for n := 0; ; n++ {
		answered, err := session.CallModel(ctx, request{"mock", messages}, model)
		if err != nil {
			return err
		}
		if answered.Status != carabiner.OK {
			return fmt.Errorf("the model was not asked: %s", answered.Reason)
		}
		if n == len(calls) {
			fmt.Println("done")
			return nil
		}
		next := calls[n]
		fmt.Println(next.Name, next.args)
		called, err := session.CallTool(ctx, carabiner.ToolCall{Name: next.Name, Input: next.Input}, tool)
		if err != nil {
			return err
		}
		fmt.Printf("  %s: %s\n", called.Status, called.ForModel())
		messages = append(messages, message{"tool", called.ForModel()})
	}
}

func run(ctx context.Context) error {
	_, file, _, _ := runtime.Caller(0)
	hooks := filepath.Join(filepath.Dir(file), "..", "..", "example-hooks")
	// --trust-all, because the example brings its own hooks. Your users review theirs.
	args := []string{"--plugin", hooks, "--trust-all"}
	client, err := carabiner.Start(ctx, carabiner.Options{Host: "example", Approver: ask, Args: args})
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := client.Session(ctx, carabiner.SessionOptions{})
	if err != nil {
		return err
	}
	return turn(ctx, session, "Ship it")
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
