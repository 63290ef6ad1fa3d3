// A BeamAgent host replaces BeamAgent.Hooks with Carabiner.Hooks: registries, matchers, three-way results, crashes.

import { describe, expect, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { newcomer, typed } from '../docs/newcomer.js'
import { isInstalled, LANGUAGES, type Language } from './languages.js'

withProgram()

const language = LANGUAGES.find(({ name }) => name === 'elixir') as Language

/** With the hooks of the conformance cases. */
async function elixir(code: string): Promise<readonly string[]> {
  const someone = newcomer(language.env?.())
  const printed = await typed(
    `mkdir -p ~/.amplifier/hooks
cp node_modules/carabiner/clients/conformance/hooks/* ~/.amplifier/hooks/
cat > host.exs <<'EX'
:logger.set_primary_config(:level, :none)
alias Carabiner.Hooks
{:ok, client} = Carabiner.start(host: "beam_agent")
{:ok, session} = Carabiner.session(client)
bash = fn command -> %{event: :pre_tool_use, session_id: "b", tool_name: "Bash", tool_input: %{"command" => command}} end
${code}
EX
elixir -r node_modules/carabiner/clients/elixir/carabiner.ex host.exs
`,
    someone,
  )
  someone.remove()
  return printed.trimEnd().split('\n')
}

describe.skipIf(!isInstalled(language))('a BeamAgent host', { timeout: 120_000 }, () => {
  it('gets the three-way result for the hooks of the machine', async () => {
    const lines = await elixir(`
registry = Hooks.build_registry([], session)
for command <- ["ls", "forbidden", "deploy", "doubted", "cached", "enough"] do
  case Hooks.fire(:pre_tool_use, bash.(command), registry) do
    {:ok, context} -> IO.inspect({:ok, context == bash.(command)})
    other -> IO.inspect(other)
  end
end
{:ok, changed} = Hooks.fire(:pre_tool_use, bash.("rewritten"), registry)
IO.inspect({changed.tool_input, changed.event, changed.session_id})
IO.inspect(Hooks.fire(:user_prompt_submit, %{event: :user_prompt_submit, prompt: "homework"}, registry))
IO.inspect(Hooks.fire(:post_tool_use, %{event: :post_tool_use, tool_name: "Bash"}, registry))
IO.inspect(Hooks.fire(:pre_tool_use, %{event: :pre_tool_use, tool_name: "Bash", tool_input: self()}, registry) |> elem(0))
Carabiner.close(client)
IO.inspect(Hooks.fire(:pre_tool_use, bash.("ls"), registry))
IO.inspect(Hooks.fire(:stop, %{event: :stop}, registry))
`)
    expect(lines).toEqual([
      '{:ok, true}',
      '{:deny, "forbidden here"}',
      '{:ask, "Deploy now?"}',
      '{:deny, "BeamAgent cannot ask about a call that a hook changed: Sure?"}',
      '{:deny, "%{\\"stdout\\" => \\"from the cache\\"}"}',
      '{:deny, "enough for today"}',
      '{%{"command" => "ls -l"}, :pre_tool_use, "b"}',
      '{:deny, "no homework"}',
      '{:ok, %{event: :post_tool_use, tool_name: "Bash"}}',
      ':deny',
      '{:deny, "Hooks could not judge this: The client is closed, or was not started"}',
      '{:ok, %{event: :stop}}',
    ])
  })

  it('keeps its callbacks: in order, global ones first, and a crash is a deny', async () => {
    const lines = await elixir(`
note = fn name -> fn context -> {:ok, Map.update(context, :params, [name], &(&1 ++ [name]))} end end
seen = fn hooks -> {:ok, context} = Hooks.fire(:pre_tool_use, bash.("ls"), Hooks.build_registry(hooks)); context[:params] end
one = Hooks.hook(:pre_tool_use, note.("one"))
two = Hooks.hook(:pre_tool_use, note.("two"), %{tool_name: "^B"})
three = Hooks.hook(:pre_tool_use, note.("three"), %{tool_name: "Write"})
:ok = Hooks.register_global(Hooks.hook(:pre_tool_use, note.("global")))
IO.inspect(seen.([one, two, three]))
for hook <- Hooks.global_registry()[:pre_tool_use], do: :ok = Hooks.unregister_global(hook)
IO.inspect(seen.([one]))
fire = fn callback, command ->
  Hooks.fire(:pre_tool_use, bash.(command), Hooks.build_registry([Hooks.hook(:pre_tool_use, callback)], session))
end
IO.inspect(fire.(fn _ -> raise "oops" end, "ls"))
IO.inspect(fire.(fn _ -> :nonsense end, "ls"))
IO.inspect(fire.(fn _ -> {:ask, "Sure?"} end, "ls"))
IO.inspect(fire.(fn _ -> {:ask, "Sure?"} end, "rewritten"))
IO.inspect(fire.(fn _ -> {:ask, "Sure?"} end, "forbidden"))
IO.inspect(fire.(fn context -> {:ok, put_in(context.tool_input["command"], "forbidden")} end, "ls"))
stop = Hooks.build_registry([Hooks.hook(:stop, fn _ -> raise "oops" end), Hooks.hook(:stop, fn _ -> {:deny, "no"} end)])
IO.inspect(Hooks.fire(:stop, %{event: :stop}, stop))
IO.inspect(Hooks.fire(:stop, %{event: :stop}, nil))
`)
    expect(lines).toEqual([
      '["global", "one", "two"]',
      '["one"]',
      '{:deny, "hook crashed (fail-safe deny)"}',
      '{:deny, "hook crashed (fail-safe deny)"}',
      '{:ask, "Sure?"}',
      '{:deny, "BeamAgent cannot ask about a call that a hook changed: Sure?"}',
      '{:deny, "forbidden here"}',
      '{:deny, "forbidden here"}',
      '{:ok, %{event: :stop}}',
      '{:ok, %{event: :stop}}',
    ])
  })

  it('is told what is missing: a codec, and a program', async () => {
    const lines = await elixir(`
for options <- [[codec: Jason], [codec: :yaml], [program: ["no-such-program"]]] do
  {:error, error} = Carabiner.start(options)
  IO.puts(error.code <> " " <> error.message)
end
Process.flag(:trap_exit, true)
{:error, error} = Carabiner.start_link(program: ["no-such-program"])
IO.puts(error.code)
{:ok, own} = Carabiner.start(codec: {&:jiffy.encode/1, &:jiffy.decode(&1, [:return_maps, :use_nil])})
{:ok, hello} = Carabiner.hello(own)
IO.inspect(hello["version"])
`)
    expect(lines).toEqual([
      'CODEC_MISSING The JSON codec Jason is not there',
      'CODEC_MISSING :yaml is not a JSON codec',
      'ENGINE_MISSING There is no program no-such-program',
      'ENGINE_MISSING',
      '1',
    ])
  })
})
