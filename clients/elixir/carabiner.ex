# Carabiner for agents in Elixir: the hooks of this machine around the tool calls and model calls of your agent.
#
# Copy this file into lib/ of your project. It needs Elixir 1.14, a JSON codec (:json of OTP 27, Jason or :jiffy) and the
# `carabiner` program. `Carabiner` starts `carabiner serve --stdio` and speaks its protocol; `Carabiner.Hooks` has the form
# of BeamAgent.Hooks.
#
# An error is {:error, %Carabiner.Error{}}, and means that the call must not run. Nothing here turns an error into an
# allow: a call that may run is the only one with an input or a request.

defmodule Carabiner.Error do
  @moduledoc """
  Why a request failed. `code` is a code of docs/reference/errors.md, or one of these: ENGINE_MISSING, ENGINE_ENDED,
  ENGINE_INVALID, DEADLINE, CLOSED, CODEC_MISSING. TURN_ABORTED and AGENT_ABORTED mean that a hook ends the turn or the
  agent.
  """
  defexception code: "ENGINE_INVALID", message: "", hint: "", data: %{}

  @type t :: %__MODULE__{code: String.t(), message: String.t(), hint: String.t(), data: map()}

  @doc false
  def invalid(what) do
    text = "carabiner sent an answer that this client does not understand: #{what}"
    %__MODULE__{message: text, hint: "Use the carabiner.ex that came with your carabiner."}
  end
end

defmodule Carabiner.Session do
  @moduledoc "One conversation of one agent. Any process may use it. `id` is the id that hooks see."
  @enforce_keys [:client, :name, :id, :codec]
  defstruct [:client, :name, :id, :codec]

  @type t :: %__MODULE__{
          client: GenServer.server(),
          name: String.t(),
          id: String.t(),
          codec: term()
        }
end

defmodule Carabiner.Call do
  @moduledoc """
  A tool call or a model call, as hooks left it.

    * `:run` - run it with exactly this `input` or `request`, then call `Carabiner.finish/2` or `Carabiner.fail/2`
    * `:responded` - a hook gave the `result`; do not run it
    * `:denied` - `reason` is for the model
    * `:needs_approval` - ask a person, and call `Carabiner.answer/2`; the hooks do not run again
    * `:ok` - it has ended, and `result` is the result to use
    * `:failed` - it has ended, and `reason` says why it failed

  `held` means that a hook may still refuse the response: show none of it before `finish` returns. `outcome` and `after`
  are what the hooks of the events before and after the call decided.
  """
  defstruct [
              :status,
              :kind,
              :session,
              :id,
              :name,
              :input,
              :request,
              :result,
              :reason,
              :question,
              :outcome,
              :after
            ] ++
              [given: nil, held: true]

  @type status :: :run | :responded | :denied | :needs_approval | :ok | :failed
  @type t :: %__MODULE__{status: status()}

  @doc "What the model reads as the result of the call: the result, or the reason."
  def for_model(%__MODULE__{status: status, result: result}) when status in [:ok, :responded],
    do: result

  def for_model(%__MODULE__{reason: reason}), do: reason
end

defmodule Carabiner do
  @moduledoc """
  The hooks of this machine. Put it under a supervisor, `{Carabiner, host: "my-agent", name: MyApp.Carabiner}`, or start it
  with `start_link/1`. It stops when the engine ends; calls then return an error, until the supervisor has started it again.

    * `:host` - the name of your program
    * `:project` - the folder of the project; default: the one around the current folder
    * `:work_folders` - other folders that the agent works in
    * `:settings` - tighten the user's settings; they cannot loosen them
    * `:approver` - a function that gets a question and returns one of its options, or a map with `option`, `reason`, `by`.
      `nil` leaves the question open. It runs in a process of its own, which is killed when nobody waits any more.
    * `:on_message` - gets messages for the user; default: they are logged
    * `:on_wake` - gets news of background hooks that cannot wait: begin a turn with `wake["message"]["content"]`
    * `:program` - how to start Carabiner; default: `["carabiner"]`
    * `:args` - for its command line, such as `["--plugin", "policies"]`
    * `:deadline` - milliseconds that a request waits for its answer; default: 15 minutes
    * `:codec` - `:json`, `Jason`, `:jiffy`, or `{encode, decode}`; default: the first of them that is there
    * `:name` - the name of the process
  """
  use GenServer
  require Logger
  alias Carabiner.{Call, Error, Session}

  @protocol 1
  @deadline 900_000
  @retry 10
  @look 1_000
  @is_gone 3

  @type result(value) :: {:ok, value} | {:error, Error.t()}

  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(options \\ []),
    do: started(GenServer.start_link(__MODULE__, options, Keyword.take(options, [:name])))

  @doc "Without a link, so that the end of the engine does not end you."
  @spec start(keyword()) :: GenServer.on_start()
  def start(options \\ []),
    do: started(GenServer.start(__MODULE__, options, Keyword.take(options, [:name])))

  defp started({:error, {:shutdown, %Error{} = error}}), do: {:error, error}
  defp started(other), do: other

  @doc "Calls in progress return CLOSED. The engine closes its sessions and ends its hooks."
  @spec close(GenServer.server()) :: :ok
  def close(client) do
    GenServer.call(client, :close, :infinity)
  catch
    :exit, _ -> :ok
  end

  @doc "The engine's answer to the greeting: its version, the number of hooks, and what a person has to review first."
  @spec hello(GenServer.server()) :: result(map())
  def hello(client), do: ask_server(client, :hello)

  @doc "Opens a session. Options: `id`, `cwd`, `transcriptPath`, `permissionMode`, `channel`, `chatId`."
  @spec session(GenServer.server(), map()) :: result(Session.t())
  def session(client, options \\ %{}) do
    with {:ok, codec} <- ask_server(client, :codec), do: open_session(client, codec, options)
  end

  @doc "Opens the session of a subagent."
  @spec child(Session.t(), String.t(), map()) :: result(Session.t())
  def child(%Session{} = session, agent_id, options \\ %{}) do
    open_session(
      session.client,
      session.codec,
      Map.merge(options, %{parent: session.name, agentId: agent_id})
    )
  end

  @doc "Fires an event, such as UserPromptSubmit or Stop. Only the action `continue` lets it go on."
  @spec fire(Session.t(), String.t(), map(), keyword()) :: result(map())
  def fire(session, event, data \\ %{}, options \\ []) do
    params = Map.merge(%{session: session.name, event: event, data: data}, timeout(options))

    case request(session, "session.fire", params, options) do
      {:ok, %{"outcome" => %{"action" => action} = outcome}} when is_binary(action) ->
        {:ok, outcome}

      {:ok, _} ->
        {:error, Error.invalid("outcome has no action")}

      error ->
        error
    end
  end

  def start_turn(session, prompt),
    do: request(session, "session.startTurn", %{session: session.name, prompt: prompt})

  def end_turn(session), do: done(request(session, "session.endTurn", %{session: session.name}))

  @doc "Calls that were not finished fail as interrupted."
  def close_session(session),
    do: done(request(session, "session.close", %{session: session.name}))

  @doc """
  Fires PreToolUse. Run the tool only if the status is `:run`. Options: `:id` of the model, `:timeout` in seconds for the
  hooks of each event, `:deadline` in milliseconds, `:renames` if you can run the tool that a hook chose instead.
  """
  @spec begin_tool(Session.t(), String.t(), map(), keyword()) :: result(Call.t())
  def begin_tool(session, name, input, options \\ []) do
    named = options |> Keyword.take([:id, :renames]) |> Map.new()

    params =
      %{session: session.name, name: name, input: input}
      |> Map.merge(named)
      |> Map.merge(timeout(options))

    judged(session, "tool", "begin", params, nil, options)
  end

  @doc "Fires ModelRequest. Ask the model only if the status is `:run`."
  @spec begin_model(Session.t(), map(), keyword()) :: result(Call.t())
  def begin_model(session, request, options \\ []) do
    params = Map.merge(%{session: session.name, request: request}, timeout(options))
    judged(session, "model", "begin", params, nil, options)
  end

  @doc """
  Runs the tool if hooks let it. The function gets the input that they judged, and returns the result, `{:ok, result}` or
  `{:error, reason}`. What it raises is raised again.
  """
  @spec call_tool(Session.t(), String.t(), map(), (map() -> term()), keyword()) ::
          result(Call.t())
  def call_tool(session, name, input, function, options \\ []) do
    with {:ok, call} <- begin_tool(session, name, input, options), do: run(call, function)
  end

  @doc "Asks the model if hooks let it. The function gets the request that they judged."
  @spec call_model(Session.t(), map(), (map() -> term()), keyword()) :: result(Call.t())
  def call_model(session, request, function, options \\ []) do
    with {:ok, call} <- begin_model(session, request, options), do: run(call, function)
  end

  @doc "The second half of `call_tool/5`: after an answer, for instance. A call that may not run is returned."
  @spec run(Call.t(), (map() -> term())) :: result(Call.t())
  def run(%Call{status: :run} = call, function) do
    try do
      function.(call.input || call.request)
    catch
      kind, reason ->
        case fail(call, Exception.format_banner(kind, reason, __STACKTRACE__)) do
          {:error, %Error{code: code}} = error when code in ["TURN_ABORTED", "AGENT_ABORTED"] ->
            error

          _ ->
            :erlang.raise(kind, reason, __STACKTRACE__)
        end
    else
      {:ok, result} -> finish(call, result)
      {:error, reason} -> fail(call, reason)
      result -> finish(call, result)
    end
  end

  def run(%Call{} = call, _function), do: {:ok, call}

  @doc "The call has run."
  @spec finish(Call.t(), term()) :: result(Call.t())
  def finish(%Call{kind: kind} = call, result) do
    key = if kind == "tool", do: :result, else: :response

    case judged(call.session, kind, "finish", %{:call => call.id, key => result}, result, []) do
      {:error, %Error{code: "PAYLOAD_INVALID"}} = error ->
        fail(call, "The result cannot be sent")
        error

      told ->
        told
    end
  end

  @doc "The call has failed."
  @spec fail(Call.t(), term()) :: result(Call.t())
  def fail(%Call{} = call, reason) do
    text = if is_binary(reason), do: reason, else: inspect(reason)
    judged(call.session, call.kind, "fail", %{call: call.id, error: text}, nil, [])
  end

  @doc "Answers the question of a call that needs approval: one of its options, or a map with more."
  @spec answer(Call.t(), String.t() | map()) :: result(Call.t())
  def answer(%Call{status: :needs_approval} = call, reply) do
    params = %{call: call.id, question: call.question["id"], reply: reply}
    judged(call.session, call.kind, "answer", params, call.given, [])
  end

  # ---- answers ------------------------------------------------------------------------------------------------------

  defp judged(session, kind, verb, params, given, options) do
    with {:ok, answer} <- request(session, "#{kind}.#{verb}", params, options),
         do: read(answer, %Call{kind: kind, session: session, given: given}, verb)
  end

  # What is missing or of the wrong type is an error, and so never an allow.
  defp read(%{"status" => status, "outcome" => %{"action" => _} = outcome} = told, call, verb) do
    call = %{
      call
      | outcome: outcome,
        after: told["after"],
        id: told["call"],
        reason: told["reason"]
    }

    key = if call.kind == "tool", do: "result", else: "response"

    case {status, told} do
      {"run", %{"input" => %{} = input, "name" => name, "call" => id}}
      when verb in ["begin", "answer"] and call.kind == "tool" and is_binary(name) and
             is_binary(id) ->
        {:ok, %{call | status: :run, input: input, name: name}}

      {"run", %{"request" => %{} = request, "call" => id}}
      when verb in ["begin", "answer"] and call.kind == "model" and is_binary(id) ->
        {:ok, %{call | status: :run, request: request, held: told["held"] != false}}

      {"responded", %{^key => result}} ->
        {:ok, %{call | status: :responded, result: result}}

      {"denied", %{"reason" => reason}} when is_binary(reason) ->
        {:ok, %{call | status: :denied}}

      {"needs_approval", %{"question" => %{"id" => _} = question, "call" => id}}
      when is_binary(id) ->
        {:ok, %{call | status: :needs_approval, question: question}}

      {"ok", _} when verb in ["finish", "answer"] ->
        {:ok, %{call | status: :ok, result: Map.get(told, key, call.given)}}

      {"failed", %{"reason" => reason}} when verb != "begin" and is_binary(reason) ->
        {:ok, %{call | status: :failed}}

      _ ->
        {:error, Error.invalid("the status #{inspect(status)}, or what belongs to it")}
    end
  end

  defp read(_, _, _), do: {:error, Error.invalid("a status or an outcome is missing")}

  defp open_session(client, codec, options) do
    case request(%{client: client, codec: codec}, "session.open", Map.new(options)) do
      {:ok, %{"session" => name, "id" => id}} ->
        {:ok, %Session{client: client, name: name, id: id, codec: codec}}

      {:ok, _} ->
        {:error, Error.invalid("session is missing")}

      error ->
        error
    end
  end

  defp done({:ok, _}), do: :ok
  defp done(error), do: error

  defp timeout(options), do: options |> Keyword.take([:timeout]) |> Map.new()

  # The process that asks writes the JSON, so that many can do so at once.
  defp request(%{client: client, codec: codec}, method, params, options \\ []) do
    case encode(codec, params) do
      {:ok, json} -> ask_server(client, {:request, method, json, options[:deadline]})
      error -> error
    end
  end

  defp ask_server(client, message) do
    GenServer.call(client, message, :infinity)
  catch
    :exit, {{:shutdown, %Error{} = error}, _} ->
      {:error, error}

    :exit, _ ->
      {:error, %Error{code: "CLOSED", message: "The client is closed, or was not started"}}
  end

  # ---- JSON ---------------------------------------------------------------------------------------------------------

  defp codec(nil) do
    found =
      Enum.find([{:json, :decode}, {Jason, :decode!}, {:jiffy, :decode}], fn {module, function} ->
        Code.ensure_loaded?(module) and function_exported?(module, function, 1)
      end)

    case found do
      {module, _} ->
        {:ok, module}

      nil ->
        hint =
          "Use OTP 27, or add {:jason, \"~> 1.4\"} or {:jiffy, \"~> 1.1\"} to your dependencies."

        {:error, %Error{code: "CODEC_MISSING", message: "There is no JSON codec", hint: hint}}
    end
  end

  defp codec({encode, decode} = given) when is_function(encode, 1) and is_function(decode, 1),
    do: {:ok, given}

  defp codec(module) when module in [:json, Jason, :jiffy] do
    if Code.ensure_loaded?(module),
      do: {:ok, module},
      else:
        {:error,
         %Error{code: "CODEC_MISSING", message: "The JSON codec #{inspect(module)} is not there"}}
  end

  defp codec(other),
    do: {:error, %Error{code: "CODEC_MISSING", message: "#{inspect(other)} is not a JSON codec"}}

  defp encode(codec, term) do
    {:ok, IO.iodata_to_binary(written(codec, term))}
  rescue
    error -> unsendable(Exception.message(error))
  catch
    _, reason -> unsendable(inspect(reason))
  end

  defp unsendable(why),
    do: {:error, %Error{code: "PAYLOAD_INVALID", message: "It cannot be written as JSON: #{why}"}}

  defp written(:json, term) do
    # Otherwise nil would become a text.
    apply(:json, :encode, [term, fn value, encoder -> written_value(value, encoder) end])
  end

  defp written(Jason, term), do: apply(Jason, :encode_to_iodata!, [term])
  defp written(:jiffy, term), do: apply(:jiffy, :encode, [term, [:use_nil]])
  defp written({encode, _}, term), do: encode.(term)

  defp written_value(nil, _), do: "null"
  defp written_value(value, encoder), do: apply(:json, :encode_value, [value, encoder])

  defp decode(codec, line) do
    {:ok, parsed(codec, line)}
  rescue
    _ -> :error
  catch
    _, _ -> :error
  end

  defp parsed(:json, line) do
    {value, _, rest} = apply(:json, :decode, [line, :ok, %{null: nil}])
    "" = String.trim(rest)
    value
  end

  defp parsed(Jason, line), do: apply(Jason, :decode!, [line])
  defp parsed(:jiffy, line), do: apply(:jiffy, :decode, [line, [:return_maps, :use_nil]])
  defp parsed({_, decode}, line), do: decode.(line)

  # ---- the process --------------------------------------------------------------------------------------------------

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)

    with {:ok, codec} <- codec(options[:codec]),
         {:ok, port} <- open_port(options),
         state = first_state(port, codec, options),
         {:ok, state} <- greet(state, options) do
      {:ok, state}
    else
      {:error, error} -> {:stop, {:shutdown, error}}
    end
  end

  defp open_port(options) do
    [program | arguments] = options[:program] || ["carabiner"]

    case System.find_executable(program) do
      nil ->
        hint = "Put it on the path with `npm link` in a clone of Carabiner, or name it with `:program`."

        {:error,
         %Error{code: "ENGINE_MISSING", message: "There is no program #{program}", hint: hint}}

      path ->
        args = arguments ++ ["serve", "--stdio"] ++ (options[:args] || [])

        {:ok,
         Port.open({:spawn_executable, path}, [
           :binary,
           # With :exit_status, a port is silent about the end of its output while the program lives.
           :eof,
           :use_stdio,
           :hide,
           args: args
         ])}
    end
  end

  defp first_state(port, codec, options) do
    server = self()
    Process.send_after(server, :look, @look)

    %{
      port: port,
      codec: codec,
      deadline: options[:deadline] || @deadline,
      approver: options[:approver],
      teller:
        spawn_link(fn ->
          tell(Process.monitor(server), options[:on_message] || (&log/1), options[:on_wake])
        end),
      last: 0,
      waiting: %{},
      asking: %{},
      rest: [],
      unsent: :queue.new(),
      hello: nil
    }
  end

  # Nobody can use the client before the engine has answered.
  defp greet(state, options) do
    hello =
      %{version: @protocol, host: options[:host] || "elixir"}
      |> put(:projectDir, options[:project])
      |> put(:workFolders, options[:work_folders])
      |> put(:settings, options[:settings])
      |> put(:approves, options[:approver] && true)

    with {:ok, json} <- encode(state.codec, hello) do
      state |> send_request("hello", json, nil, state.deadline) |> await_hello()
    end
  end

  defp put(map, _key, nil), do: map
  defp put(map, key, value), do: Map.put(map, key, value)

  defp await_hello(%{port: port} = state) do
    receive do
      {^port, _} = message -> greeted(handle_info(message, state))
      {_look, {:exit_status, _}} = message -> greeted(handle_info(message, state))
      {:deadline, _} = message -> greeted(handle_info(message, state))
      timer when timer in [:flush, :look] -> greeted(handle_info(timer, state))
    end
  end

  defp greeted({:stop, {:shutdown, error}, _}), do: {:error, error}
  defp greeted({:noreply, %{hello: nil} = state}), do: await_hello(state)
  defp greeted({:noreply, %{hello: {:ok, %{"version" => @protocol}}} = state}), do: {:ok, state}
  defp greeted({:noreply, %{hello: {:error, error}}}), do: {:error, error}
  defp greeted({:noreply, _}), do: {:error, Error.invalid("another version of the protocol")}

  @impl true
  def handle_call({:request, method, json, deadline}, from, state) do
    {:noreply, send_request(state, method, json, from, deadline || state.deadline)}
  end

  def handle_call(:hello, _from, state), do: {:reply, state.hello, state}
  def handle_call(:codec, _from, state), do: {:reply, {:ok, state.codec}, state}

  def handle_call(:close, _from, state) do
    {:stop, :normal, :ok, ended(state, %Error{code: "CLOSED", message: "The client is closed"})}
  end

  @impl true
  def handle_info({port, {:data, data}}, %{port: port} = state) do
    [first | more] = :binary.split(data, "\n", [:global])

    case more do
      [] ->
        {:noreply, %{state | rest: [state.rest | first]}}

      _ ->
        {lines, [rest]} = Enum.split([IO.iodata_to_binary([state.rest | first]) | more], -1)

        Enum.reduce_while(lines, {:noreply, %{state | rest: [rest]}}, fn line,
                                                                         {:noreply, state} ->
          take(line, state)
        end)
    end
  end

  def handle_info({port, :eof}, %{port: port} = state), do: gone(state)
  def handle_info({:EXIT, port, _}, %{port: port} = state), do: gone(state)

  # A child of the engine may keep the pipe open when the engine has ended. So while somebody waits, look for the engine.
  def handle_info(:look, state) do
    Process.send_after(self(), :look, @look)
    shell = System.find_executable("sh")

    with true <- shell != nil and state.waiting != %{},
         {:os_pid, pid} <- Port.info(state.port, :os_pid) do
      # That of another user may not be signalled, and is there.
      script = "LC_ALL=C; case $(kill -0 #{pid} 2>&1) in *'No such'*) exit #{@is_gone}; esac"
      Port.open({:spawn_executable, shell}, [:exit_status, args: ["-c", script]])
    end

    {:noreply, state}
  rescue
    # No process can be started now.
    ErlangError -> {:noreply, state}
  end

  def handle_info({_look, {:exit_status, @is_gone}}, state), do: gone(state)

  def handle_info({:deadline, id}, state) do
    error = %Error{code: "DEADLINE", message: "There was no answer in time"}
    {:noreply, abandon(state, id, {:error, error})}
  end

  def handle_info({:DOWN, ref, :process, pid, reason}, state) do
    waiting = Enum.find(state.waiting, fn {_, one} -> one.ref == ref end)
    asking = Enum.find(state.asking, fn {_, one} -> one == {pid, ref} end)

    case {waiting, asking} do
      # The process that asked has ended.
      {{id, _}, _} -> {:noreply, abandon(state, id, nil)}
      {_, {id, _}} -> {:noreply, approved(state, id, {:failed, inspect(reason)})}
      _ -> {:noreply, state}
    end
  end

  def handle_info({:approved, id, reply}, state), do: {:noreply, approved(state, id, reply)}
  def handle_info(:flush, state), do: {:noreply, flush(state)}
  def handle_info({:EXIT, _pid, _reason}, state), do: {:noreply, state}
  def handle_info(_other, state), do: {:noreply, state}

  @impl true
  def terminate(_reason, state) do
    ended(state, %Error{code: "CLOSED", message: "The client is closed"})
  end

  defp gone(state) do
    hint = "What it printed to standard error says why."
    stop(state, %Error{code: "ENGINE_ENDED", message: "carabiner has ended", hint: hint})
  end

  defp stop(state, error), do: {:stop, {:shutdown, error}, ended(state, error)}

  # Everybody who waits gets the error.
  defp ended(state, error) do
    for {_, %{from: from}} when from != nil <- state.waiting,
        do: GenServer.reply(from, {:error, error})

    for {_, {pid, _}} <- state.asking, do: Process.exit(pid, :kill)
    if Port.info(state.port), do: Port.close(state.port)
    %{state | waiting: %{}, asking: %{}}
  end

  # ---- sending ------------------------------------------------------------------------------------------------------

  defp send_request(state, method, json, from, deadline) do
    id = state.last + 1
    timer = if is_integer(deadline), do: Process.send_after(self(), {:deadline, id}, deadline)
    ref = if from, do: Process.monitor(elem(from, 0))
    one = %{method: method, from: from, ref: ref, timer: timer, abandoned: false}

    line = [
      ~s({"jsonrpc":"2.0","id":),
      Integer.to_string(id),
      ~s(,"method":"),
      method,
      ~s(","params":),
      json,
      "}\n"
    ]

    write(%{state | last: id, waiting: Map.put(state.waiting, id, one)}, line)
  end

  # Nobody waits any more: its hooks end, and what it still begins is ended.
  defp abandon(state, id, reply) do
    case state.waiting do
      %{^id => %{abandoned: false} = one} ->
        release(one)
        state = told(state, one, reply)

        state =
          put_in(state.waiting[id], %{one | from: nil, ref: nil, timer: nil, abandoned: true})

        notify(state, "cancel", %{id: id})

      _ ->
        state
    end
  end

  defp release(%{ref: ref, timer: timer}) do
    if ref, do: Process.demonitor(ref, [:flush])
    if timer, do: Process.cancel_timer(timer)
  end

  defp told(state, _one, nil), do: state
  defp told(state, %{method: "hello"}, reply), do: %{state | hello: reply}

  defp told(state, %{from: from}, reply) do
    if from, do: GenServer.reply(from, reply)
    state
  end

  defp notify(state, method, params) do
    write_message(state, %{jsonrpc: "2.0", method: method, params: params})
  end

  defp write_message(state, message) do
    {:ok, json} = encode(state.codec, message)
    write(state, [json, "\n"])
  end

  # A port that is busy would suspend this process, and with it every deadline.
  defp write(state, line) do
    if :queue.is_empty(state.unsent) and sent?(state.port, line) do
      state
    else
      if :queue.is_empty(state.unsent), do: Process.send_after(self(), :flush, @retry)
      %{state | unsent: :queue.in(line, state.unsent)}
    end
  end

  defp flush(state) do
    case :queue.peek(state.unsent) do
      :empty ->
        state

      {:value, line} ->
        if sent?(state.port, line) do
          flush(%{state | unsent: :queue.drop(state.unsent)})
        else
          Process.send_after(self(), :flush, @retry)
          state
        end
    end
  end

  defp sent?(port, line) do
    :erlang.port_command(port, line, [:nosuspend])
  rescue
    # It is closed. The message about its end comes next.
    ArgumentError -> true
  end

  # ---- receiving ----------------------------------------------------------------------------------------------------

  defp take(line, state) do
    case decode(state.codec, line) do
      {:ok, %{"method" => method} = message} ->
        {:cont, {:noreply, asked(state, method, message)}}

      {:ok, %{"id" => id} = message} when is_integer(id) ->
        {:cont, {:noreply, answered(state, id, message)}}

      _ ->
        {:halt, stop(state, Error.invalid("a line that is not an answer"))}
    end
  end

  defp answered(state, id, message) do
    case Map.pop(state.waiting, id) do
      {nil, _} ->
        state

      {%{abandoned: true} = one, waiting} ->
        end_late(%{state | waiting: waiting}, one.method, message["result"])

      {one, waiting} ->
        release(one)
        told(%{state | waiting: waiting}, one, reply_of(message))
    end
  end

  defp reply_of(%{"error" => error}) do
    told = if is_map(error), do: error, else: %{}
    data = if is_map(told["data"]), do: told["data"], else: %{}
    code = text(data["code"], "ENGINE_INVALID")
    message = text(told["message"], "The request failed: #{inspect(error)}")
    {:error, %Error{code: code, message: message, hint: text(data["hint"], ""), data: data}}
  end

  defp reply_of(%{"result" => result}), do: {:ok, result}
  defp reply_of(_), do: {:error, Error.invalid("an answer without a result")}

  defp text(value, default), do: if(is_binary(value), do: value, else: default)

  # A call that began although nobody waits has to end, too.
  defp end_late(state, method, %{"status" => "run", "call" => call}) do
    [kind, _] = String.split(method, ".")
    {:ok, json} = encode(state.codec, %{call: call, error: "The host no longer waits for it"})
    send_request(state, "#{kind}.fail", json, nil, state.deadline)
  end

  defp end_late(state, _method, _result), do: state

  defp asked(%{approver: approver} = state, "approve", %{
         "id" => id,
         "params" => %{"question" => question}
       })
       when is_function(approver, 1) and is_integer(id) do
    server = self()

    {pid, ref} =
      spawn_monitor(fn -> send(server, {:approved, id, {:replied, approver.(question)}}) end)

    %{state | asking: Map.put(state.asking, id, {pid, ref})}
  end

  defp asked(state, method, %{"id" => id}) do
    error = %{code: -32_601, message: "There is no #{method} here"}
    write_message(state, %{jsonrpc: "2.0", id: id, error: error})
  end

  defp asked(state, "cancel", %{"params" => %{"id" => id}}) do
    case Map.pop(state.asking, id) do
      {{pid, ref}, asking} ->
        Process.demonitor(ref, [:flush])
        Process.exit(pid, :kill)
        %{state | asking: asking}

      _ ->
        state
    end
  end

  defp asked(state, method, message) do
    send(state.teller, {method, message["params"] || %{}})
    state
  end

  defp approved(state, id, reply) do
    case Map.pop(state.asking, id) do
      {nil, _} ->
        state

      {{_, ref}, asking} ->
        Process.demonitor(ref, [:flush])
        write_message(%{state | asking: asking}, approval(state, id, reply))
    end
  end

  defp approval(state, id, {:replied, reply}) do
    result = reply || %{unanswered: "The host has no answer"}

    case encode(state.codec, result) do
      {:ok, _} -> %{jsonrpc: "2.0", id: id, result: result}
      {:error, error} -> approval(state, id, {:failed, error.message})
    end
  end

  defp approval(_state, id, {:failed, why}) do
    %{jsonrpc: "2.0", id: id, error: %{code: -32_000, message: "The approver failed: #{why}"}}
  end

  # ---- callbacks, one after the other -------------------------------------------------------------------------------

  defp tell(server, on_message, on_wake) do
    receive do
      {:DOWN, ^server, _, _, _} -> exit(:normal)
      {"message", params} -> call_back(on_message, params)
      {"wake", params} -> call_back(on_wake, params)
      _ -> :ok
    end

    tell(server, on_message, on_wake)
  end

  defp call_back(nil, _), do: :ok

  defp call_back(function, params) do
    function.(params)
  catch
    kind, reason -> Logger.error(Exception.format(kind, reason, __STACKTRACE__))
  end

  defp log(%{"text" => text} = message) do
    level = %{"info" => :info, "warning" => :warning}[message["level"]] || :error
    Logger.log(level, "#{message["source"]}: #{text}")
  end
end

defmodule Carabiner.Hooks do
  @moduledoc """
  BeamAgent.Hooks, with the hooks of this machine behind the callbacks. `fire/3` takes a registry that
  `build_registry/2` made with a session.

  Callbacks run in the order in which they were registered, global ones first; the hooks of the machine run last, so they
  judge the final context. A deny wins over an ask. What crashes or cannot be judged is a deny for a blocking event, and
  is logged for the others.
  """
  require Logger

  @blocking [
    :pre_tool_use,
    :user_prompt_submit,
    :permission_request,
    :subagent_start,
    :pre_compact,
    :config_change
  ]
  @crashed "hook crashed (fail-safe deny)"

  @type context :: map()
  @type callback :: (context() -> {:ok, context()} | :ok | {:deny, binary()} | {:ask, binary()})
  @type hook :: %{
          required(:event) => atom(),
          required(:callback) => callback(),
          optional(:matcher) => map(),
          optional(:compiled_re) => Regex.t()
        }

  @spec hook(atom(), callback()) :: hook()
  def hook(event, callback), do: %{event: event, callback: callback}

  @doc "With a matcher: `%{tool_name: \"^(Write|Edit)$\"}`. A pattern that is not valid raises here."
  @spec hook(atom(), callback(), map()) :: hook()
  def hook(event, callback, matcher) do
    hook = %{event: event, callback: callback, matcher: matcher}

    if name = matcher[:tool_name],
      do: Map.put(hook, :compiled_re, Regex.compile!(name)),
      else: hook
  end

  def new_registry, do: %{}

  @doc "A registry with the hooks of the machine: those that the session sees."
  def build_registry(hooks, session \\ nil)
  def build_registry(hooks, nil) when hooks in [nil, [], :undefined], do: nil
  def build_registry(hooks, nil), do: register_hooks(hooks, new_registry())

  def build_registry(hooks, session),
    do: Map.put(build_registry(hooks, nil) || %{}, :session, session)

  def register_hook(hook, registry), do: Map.update(registry, hook.event, [hook], &[hook | &1])
  def register_hooks(hooks, registry), do: Enum.reduce(hooks, registry, &register_hook/2)

  @doc "Fires for every session."
  def register_global(hook), do: :persistent_term.put(__MODULE__, globals() ++ [hook])
  def unregister_global(hook), do: :persistent_term.put(__MODULE__, List.delete(globals(), hook))
  def global_registry, do: Enum.group_by(globals(), & &1.event)
  def ensure_global_table, do: :ok

  defp globals, do: :persistent_term.get(__MODULE__, [])

  @doc """
      case Carabiner.Hooks.fire(:pre_tool_use, %{event: :pre_tool_use, tool_name: "Bash", tool_input: input}, registry) do
        {:ok, context} -> run the tool with context.tool_input
        {:deny, reason} -> tell the model
        {:ask, reason} -> ask a person
      end
  """
  @spec fire(atom(), context(), map() | nil) ::
          {:ok, context()} | {:deny, binary()} | {:ask, binary()}
  def fire(event, context, registry) do
    registry = if registry in [nil, :undefined], do: %{}, else: registry
    own = registry |> Map.get(event, []) |> Enum.reverse()
    hooks = Enum.filter(globals(), &(&1.event == event)) ++ own

    hooks
    |> Enum.reduce_while({context, nil}, fn hook, so_far -> step(event, hook, so_far) end)
    |> judged(event, registry[:session])
  end

  defp step(event, hook, {context, ask} = so_far) do
    case matches?(hook, context) && called(hook.callback, context, event) do
      {:ok, %{} = changed} -> {:cont, {changed, ask}}
      passed when passed in [false, :ok] -> {:cont, so_far}
      {:deny, reason} when event in @blocking -> {:halt, {:deny, reason}}
      {:ask, reason} when event in @blocking -> {:cont, {context, ask || reason}}
      _ when event in @blocking -> {:halt, {:deny, @crashed}}
      _ -> {:cont, so_far}
    end
  end

  defp matches?(%{compiled_re: pattern}, context),
    do: Regex.match?(pattern, to_string(context[:tool_name]))

  defp matches?(_, _), do: true

  defp called(callback, context, event) do
    callback.(context)
  catch
    kind, reason ->
      Logger.error(
        "A hook of #{event} crashed: #{Exception.format(kind, reason, __STACKTRACE__)}"
      )

      if event in @blocking, do: {:deny, @crashed}, else: :ok
  end

  defp judged({:deny, reason}, _event, _session), do: {:deny, reason}
  defp judged({context, ask}, _event, nil), do: asked({:ok, context}, ask)

  defp judged({context, ask}, event, session) do
    case Carabiner.fire(session, Atom.to_string(event), Map.drop(context, [:event, :session_id])) do
      {:ok, outcome} ->
        decision(outcome, context, event) |> asked(ask) |> as_judged(outcome)

      {:error, error} when event in @blocking ->
        {:deny, "Hooks could not judge this: #{error.message}"}

      {:error, error} ->
        Logger.error("Hooks did not see #{event}: #{error.message}")
        {:ok, context}
    end
  end

  defp asked({:ok, _context}, ask) when ask != nil, do: {:ask, ask}
  defp asked(decision, _ask), do: decision

  # A question has no context, so a yes would run the call as it was before the change.
  defp as_judged({:ask, reason}, %{"modified" => true}),
    do: {:deny, "BeamAgent cannot ask about a call that a hook changed: #{reason}"}

  defp as_judged(decision, _outcome), do: decision

  defp decision(outcome, context, event) when event not in @blocking,
    do: {:ok, changed(outcome, context)}

  defp decision(%{"action" => "continue"} = outcome, context, _),
    do: {:ok, changed(outcome, context)}

  defp decision(%{"action" => "ask_user"} = outcome, _, _),
    do: {:ask, outcome["reason"] || "A hook asks"}

  # BeamAgent has no answer in place of a call, so the model reads it as the reason.
  defp decision(%{"action" => "respond", "response" => response}, _, _),
    do: {:deny, text(response)}

  defp decision(outcome, _, _), do: {:deny, outcome["reason"] || "A hook refused"}

  defp text(response), do: if(is_binary(response), do: response, else: inspect(response))

  # Keys that the context has, and those that BeamAgent knows. Others have no atom.
  defp changed(%{"modified" => true, "data" => %{} = data}, context) do
    keys =
      (Map.keys(context) -- [:event, :session_id]) ++
        [:tool_name, :tool_input, :prompt, :content, :params]

    for key <- keys,
        is_atom(key),
        Map.has_key?(data, to_string(key)),
        into: context,
        do: {key, data[to_string(key)]}
  end

  defp changed(_, context), do: context
end
