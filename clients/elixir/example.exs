# An agent loop with hooks around every tool call and model call. It runs offline: the model is a script.
# Run it with `elixir -r carabiner.ex example.exs`.

defmodule Example do
  alias Carabiner.Call

  @hooks Path.expand("../example-hooks", __DIR__)

  @calls [
    {"Bash", %{"command" => "git push --force"}, "git push --force"},
    {"Bash", %{"command" => "npm install lodash"}, "npm install lodash"},
    {"Bash", %{"command" => "deploy"}, "deploy"},
    {"Weather", %{"city" => "Lima"}, "Lima"},
    {"Write", %{"file_path" => "notes.py", "content" => "import os"}, "notes.py import os"}
  ]

  def main do
    # --trust-all, because the example brings its own hooks. Your users review theirs.
    options = [host: "example", approver: &ask/1, args: ["--plugin", @hooks, "--trust-all"]]
    {:ok, client} = Carabiner.start_link(options)
    {:ok, session} = Carabiner.session(client)
    turn(session, @calls, [%{role: "user", content: "Ship it"}])
    Carabiner.close(client)
  end

  defp turn(session, calls, messages) do
    {:ok, %Call{status: :ok}} =
      Carabiner.call_model(session, %{model: "mock", messages: messages}, &model/1)

    case calls do
      [] ->
        IO.puts("done")

      [{name, input, shown} | rest] ->
        IO.puts("#{name} #{shown}")
        {:ok, call} = Carabiner.call_tool(session, name, input, &tool/1)
        IO.puts("  #{call.status}: #{Call.for_model(call)}")
        turn(session, rest, messages ++ [%{role: "tool", content: Call.for_model(call)}])
    end
  end

  # Says what hooks have told it. The script says which tool it asks for.
  defp model(%{"messages" => messages}) do
    for %{"role" => "system", "content" => text} <- messages do
      IO.puts("  injected: #{text |> String.split("\n") |> Enum.at(1)}")
    end

    %{role: "assistant", content: "done"}
  end

  defp tool(input), do: "ran #{input["command"]}#{input["file_path"]}"

  defp ask(question) do
    IO.puts(
      "  asked: #{hd(question["asks"])["prompt"]} (#{Enum.join(question["options"], ", ")})"
    )

    %{option: "Allow", by: "ada"}
  end
end

Example.main()
