# Plays cases of clients/conformance: each line of standard input is the file of a case, and is answered with a line that
# says what each step came to. The argument names the codec of the client: json, jason or jiffy.

defmodule Player do
  alias Carabiner.{Call, Error}

  def main do
    # Standard output is for the results, and everything on it and on standard input is bytes.
    :logger.set_primary_config(:level, :none)
    :io.setopts(:standard_io, encoding: :latin1)
    # A process for each case, so that no case meets messages of another.
    for file <- IO.stream(:stdio, :line),
        do: Task.await(Task.async(fn -> file |> String.trim_trailing() |> play_case() end), :infinity)
  end

  defp play_case(file) do
    Process.flag(:trap_exit, true)
    game = :jiffy.decode(File.read!(file), [:return_maps, :use_nil])
    File.cd!(game["folder"])
    System.put_env("HOME", game["home"])
    {:ok, seen} = Agent.start_link(fn -> %{} end)
    [codec] = System.argv()

    options = [
      codec: %{"json" => :json, "jason" => Jason, "jiffy" => :jiffy}[codec],
      program: game["program"],
      deadline: milliseconds(game["deadline"]),
      on_message: &add(seen, "messages", &1["text"]),
      on_wake: &add(seen, "wakes", &1["message"]["content"])
    ]

    options =
      if game["approver"],
        do: [{:approver, approver(game["approver"], seen)} | options],
        else: options

    case Carabiner.start(options) do
      {:error, %Error{code: code}} ->
        print(%{open: code})

      {:ok, client} ->
        {:ok, session} = Carabiner.session(client)

        state = %{
          options: options,
          client: client,
          session: session,
          seen: seen,
          calls: %{},
          tasks: %{}
        }

        {results, _} = Enum.map_reduce(game["steps"], state, &play/2)
        Carabiner.close(client)
        print(results)
    end

    Agent.stop(seen)
  end

  defp print(term), do: IO.binwrite([:jiffy.encode(term, [:use_nil]), "\n"])

  defp approver(how, seen) do
    fn question ->
      add(seen, "asked", hd(question["asks"])["prompt"])

      cond do
        how["waits"] ->
          me = self()

          spawn(fn ->
            ref = Process.monitor(me)
            send(me, :watched)
            receive do: ({:DOWN, ^ref, _, _, _} -> add(seen, "withdrawn", 1))
          end)

          receive do: (:never -> nil)

        how["fails"] ->
          raise "no terminal"

        true ->
          how["reply"]
      end
    end
  end

  # What callbacks were told. A step may wait for a number of them.
  defp add(seen, kind, value),
    do: Agent.update(seen, &Map.update(&1, kind, [value], fn all -> all ++ [value] end))

  defp wait(seen, kind, count) do
    all = Agent.get(seen, &Map.get(&1, kind, []))
    if length(all) >= count, do: all, else: Process.sleep(10) && wait(seen, kind, count)
  end

  defp milliseconds(seconds), do: round(seconds * 1000)

  defp times(step) do
    Enum.flat_map([timeout: & &1, deadline: &milliseconds/1], fn {key, as} ->
      if value = step[to_string(key)], do: [{key, as.(value)}], else: []
    end)
  end

  defp play(step, state) do
    {:ok, ran} = Agent.start(fn -> [] end)

    {told, state} =
      try do
        do_step(step["do"], step, state, ran)
      rescue
        error in RuntimeError -> {%{raised: error.message}, state}
      end

    told =
      if String.starts_with?(step["do"], "call_"),
        do: Map.put(told, :ran, Agent.get(ran, & &1)),
        else: told

    Agent.stop(ran)
    {told, state}
  end

  defp held do
    :erlang.garbage_collect()

    %{
      descriptors: length(:erlang.ports()),
      threads: :erlang.system_info(:process_count),
      memory: div(:erlang.memory(:total), 8_000_000)
    }
  end

  # What grew. A tenth of the rounds warms up; what ends soon after the last one counts as ended.
  defp left_by(count, once) do
    for _ <- 1..div(count, 10), do: once.()
    before = held()
    for _ <- 1..count, do: once.()
    settled(before, 500)
  end

  defp settled(before, tries) do
    now = held()
    grown = for name <- [:descriptors, :threads], now[name] > before[name], do: name
    grown = if now.memory > before.memory + 1, do: [:memory | grown], else: grown
    if grown == [] or tries == 0, do: grown, else: Process.sleep(20) && settled(before, tries - 1)
  end

  defp shown({:error, %Error{code: code}}), do: %{error: code}

  defp shown({:ok, %Call{status: :run, input: nil} = call}),
    do: %{status: :run, request: call.request, held: call.held}

  defp shown({:ok, %Call{status: :run} = call}),
    do: %{status: :run, name: call.name, input: call.input}

  defp shown({:ok, %Call{status: :needs_approval, question: question} = call}) do
    prompt = hd(question["asks"])["prompt"]
    %{status: call.status, reason: call.reason, prompt: prompt, options: question["options"]}
  end

  defp shown({:ok, %Call{status: status} = call}) when status in [:denied, :failed] do
    %{status: status, reason: call.reason}
  end

  defp shown({:ok, %Call{} = call}),
    do: injected(%{status: call.status, result: call.result}, call.after)

  defp injected(told, outcome) do
    case Enum.map(outcome["injections"] || [], & &1["text"]) do
      [] -> told
      texts -> Map.put(told, :injected, texts)
    end
  end

  defp named({:ok, %Call{status: status} = call} = told, name, state)
       when status in [:run, :needs_approval] do
    {shown(told), put_in(state.calls[name], call)}
  end

  defp named(told, _, state), do: {shown(told), state}

  defp running(step, ran) do
    fn given ->
      Agent.update(ran, &(&1 ++ [given]))
      if step["raises"], do: raise(step["raises"]), else: step["returns"]
    end
  end

  defp do_step("hello", _, state, _) do
    {:ok, hello} = Carabiner.hello(state.client)
    {Map.take(hello, ["version", "hooks"]), state}
  end

  defp do_step("begin_tool", step, state, _) do
    named(
      Carabiner.begin_tool(state.session, step["name"], step["input"], times(step)),
      step["as"],
      state
    )
  end

  defp do_step("begin_model", step, state, _) do
    named(Carabiner.begin_model(state.session, step["request"], times(step)), step["as"], state)
  end

  defp do_step("call_tool", step, state, ran) do
    {shown(
       Carabiner.call_tool(
         state.session,
         step["name"],
         step["input"],
         running(step, ran),
         times(step)
       )
     ), state}
  end

  defp do_step("call_model", step, state, ran) do
    {shown(Carabiner.call_model(state.session, step["request"], running(step, ran), times(step))),
     state}
  end

  defp do_step("finish", step, state, _) do
    named(Carabiner.finish(state.calls[step["of"]], step["with"]), step["of"], state)
  end

  defp do_step("fail", step, state, _),
    do: {shown(Carabiner.fail(state.calls[step["of"]], step["error"])), state}

  defp do_step("answer", step, state, _) do
    named(Carabiner.answer(state.calls[step["of"]], step["reply"]), step["of"], state)
  end

  defp do_step("fire", step, state, _) do
    case Carabiner.fire(state.session, step["event"], step["data"]) do
      {:ok, outcome} -> {injected(Map.take(outcome, ["action", "reason"]), outcome), state}
      error -> {shown(error), state}
    end
  end

  defp do_step("end_turn", _, state, _), do: {plain(Carabiner.end_turn(state.session)), state}

  defp do_step("child", step, state, _) do
    {:ok, child} = Carabiner.child(state.session, step["agent"])
    {shown(Carabiner.begin_tool(child, step["name"], step["input"])), state}
  end

  defp do_step(kind, step, state, _) when kind in ["messages", "wakes", "asked"] do
    {wait(state.seen, kind, step["count"] || 0), state}
  end

  defp do_step("withdrawn", step, state, _),
    do: {length(wait(state.seen, "withdrawn", step["count"])), state}

  defp do_step("await_file", step, state, ran) do
    if File.exists?(step["path"]),
      do: {%{}, state},
      else: Process.sleep(20) && do_step("await_file", step, state, ran)
  end

  defp do_step("parallel", step, state, _) do
    text = IO.iodata_to_binary(:jiffy.encode(step["step"], [:use_nil]))

    0..(step["count"] - 1)
    |> Enum.map(
      &:jiffy.decode(String.replace(text, "$n", to_string(&1)), [:return_maps, :use_nil])
    )
    |> Enum.map(fn one -> Task.async(fn -> one |> play(state) |> elem(0) end) end)
    |> Task.await_many(:infinity)
    |> then(&{&1, state})
  end

  defp do_step("repeat", step, state, _) do
    left = left_by(step["count"], fn -> play(step["step"], state) end)
    {%{left: left, last: step["step"] |> play(state) |> elem(0)}, state}
  end

  defp do_step("reopen", step, state, _) do
    once = fn ->
      {:ok, client} = Carabiner.start(state.options)
      :ok = Carabiner.close(client)
    end

    {%{left: left_by(step["count"], once)}, state}
  end

  defp do_step("start", step, state, _) do
    task = Task.async(fn -> step["step"] |> play(state) |> elem(0) end)
    {%{started: step["as"]}, put_in(state.tasks[step["as"]], task)}
  end

  defp do_step("cancel", step, state, _) do
    Task.shutdown(state.tasks[step["of"]], :brutal_kill)
    {%{cancelled: step["of"]}, put_in(state.tasks[step["of"]], nil)}
  end

  defp do_step("join", step, state, _) do
    case state.tasks[step["of"]] do
      nil -> {%{error: "CANCELLED", ran: []}, state}
      task -> {Task.await(task, :infinity), state}
    end
  end

  defp do_step("close_session", _, state, _),
    do: {plain(Carabiner.close_session(state.session)), state}

  defp do_step("close", _, state, _), do: {plain(Carabiner.close(state.client)), state}

  defp plain(:ok), do: %{}
  defp plain(error), do: shown(error)
end

Player.main()
