// A PicoClaw host replaces its hook manager with carabiner.Hooks: decisions before and after tools and models.

import { describe, expect, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { newcomer, typed } from '../docs/newcomer.js'
import { isInstalled, LANGUAGES, type Language } from './languages.js'

withProgram()

const language = LANGUAGES.find(({ name }) => name === 'go') as Language

const HOST = `package main

import (
	"context"
	"encoding/json"
	"fmt"

	"agent/carabiner"
)

func main() {
	ctx := context.Background()
	client, err := carabiner.Start(ctx, carabiner.Options{Host: "picoclaw"})
	if err != nil {
		panic(err)
	}
	session, err := client.Session(ctx, carabiner.SessionOptions{})
	if err != nil {
		panic(err)
	}
	hooks := carabiner.NewHooks(session)
	before := func(command string) {
		call := &carabiner.ToolCallHookRequest{Tool: "Bash", Arguments: map[string]any{"command": command}, Channel: "cli"}
		next, decision := hooks.BeforeTool(ctx, call)
		fmt.Println(command, decision.Action, decision.Reason, next.Arguments["command"], string(next.Result))
	}
	for _, command := range []string{"ls", "forbidden", "rewritten", "cached", "deploy", "enough", "disaster"} {
		before(command)
	}
	for _, command := range []string{"ls", "secret"} {
		ran := &carabiner.ToolResultHookResponse{Tool: "Bash", Arguments: map[string]any{"command": command}, Result: json.RawMessage("\\"x\\"")}
		next, decision := hooks.AfterTool(ctx, ran)
		fmt.Println("after", command, decision.Action, string(next.Result))
	}
	for _, text := range []string{"hi", "unsafe", "canned"} {
		request := &carabiner.LLMHookRequest{Model: "m", Messages: []json.RawMessage{json.RawMessage("\\"" + text + "\\"")}}
		_, decision := hooks.BeforeLLM(ctx, request)
		_, after := hooks.AfterLLM(ctx, &carabiner.LLMHookResponse{Model: "m", Response: json.RawMessage("\\"" + text + "\\"")})
		fmt.Println("llm", text, decision.Action, after.Action)
	}
	call := &carabiner.ToolCallHookRequest{Tool: "Bash"}
	fmt.Println("approve", hooks.ApproveTool(ctx, call).Approved)
	client.Close()
	before("ls")
	_, decision := hooks.BeforeLLM(ctx, &carabiner.LLMHookRequest{Model: "m"})
	fmt.Println("closed", decision.Action, hooks.ApproveTool(ctx, call).Approved)
}
`

describe.skipIf(!isInstalled(language))('a PicoClaw host', { timeout: 120_000 }, () => {
  it('gets its decisions, and a refusal for what cannot be judged', async () => {
    const someone = newcomer(language.env?.())
    const printed = await typed(
      `mkdir -p ~/.amplifier/hooks carabiner
cp node_modules/carabiner/clients/conformance/hooks/* ~/.amplifier/hooks/
cp node_modules/carabiner/clients/go/carabiner.go carabiner/
go mod init agent 2> /dev/null
cat > host.go <<'GO'
${HOST}GO
go run host.go
`,
      someone,
    )
    someone.remove()
    expect(
      printed
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual([
      'ls continue  ls',
      'forbidden deny_tool forbidden here forbidden',
      'rewritten modify  ls -l',
      'cached respond Answered by hook user:PreToolUse#1 cached {"stdout":"from the cache"}',
      'deploy deny_tool Deploy now? deploy',
      'enough abort_turn enough for today enough',
      'disaster hard_abort stop everything disaster',
      'after ls continue "x"',
      'after secret modify "redacted"',
      'llm hi continue continue',
      'llm unsafe abort_turn abort_turn',
      'llm canned abort_turn continue',
      'approve true',
      'ls deny_tool Hooks could not judge this: The client is closed ls',
      'closed abort_turn false',
    ])
  })
})
