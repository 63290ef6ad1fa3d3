#!/bin/sh
# Gives the model a tool that the agent does not have: word_count. Needs jq.
# A resident hook: one JSON-RPC request a line on stdin, one answer a line on stdout and nothing else there.
# It is started once, asked again and again, and ends with its stdin.

command -v jq > /dev/null || {
  echo 'tool-provider: jq is not installed' >&2
  exit 1
}

# The whole hook is one jq program: a request goes in; its answer, or for a notification nothing, comes out.
answer='
  def word_count: {
    type: "function",
    function: {
      name: "word_count",
      description: "Counts the words of a text",
      parameters: {
        type: "object",
        properties: {text: {type: "string", description: "The text"}},
        required: ["text"]
      }
    }
  };
  def respond($text; $is_error):
    {action: "respond", result: {for_llm: $text, for_user: "", silent: false, is_error: $is_error}};

  # The model can only call what is in tools.
  def before_llm:
    (.tools // []) as $tools
    | if any($tools[]; .function.name? == "word_count") then {action: "continue"}
      else {action: "modify", request: ({model, messages, options, tools: ($tools + [word_count])} | with_entries(select(.value != null)))}
      end;

  # respond is the result of the tool; no other tool runs.
  def before_tool:
    if .tool != "word_count" then {action: "continue"}
    elif (.arguments.text | type) != "string" then respond("text must be a string"; true)
    else respond("\([.arguments.text | scan("\\S+")] | length) words"; false)
    end;

  def result:
    if .method == "hook.hello" then {result: {ok: true, name: "tool-provider"}}
    elif .method == "hook.before_llm" then {result: (.params | before_llm)}
    elif .method == "hook.before_tool" then {result: (.params | before_tool)}
    else {error: {code: -32601, message: "tool-provider does not know \(.method)"}}
    end;

  fromjson | objects | select(.id and .id != 0)
  # Whatever goes wrong, the engine must hear of it: it applies onFailure.
  | {jsonrpc: "2.0", id} + (try result catch {error: {code: -32000, message: tostring}})'

while IFS= read -r line || [ -n "$line" ]; do
  printf '%s\n' "$line" | jq -cR "$answer" || echo 'tool-provider: skipped a line that is not JSON' >&2
done
