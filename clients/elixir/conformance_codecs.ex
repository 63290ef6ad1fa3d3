# Stand-ins for the JSON codecs that are not here: the functions of :json (OTP 27) and Jason that carabiner.ex calls, with
# their conventions, over jiffy. Where the real one is there, it is used.

unless Code.ensure_loaded?(:json) do
  defmodule :json do
    def decode(text), do: :jiffy.decode(text, [:return_maps])

    # Returns what follows the value, and does not look at it.
    def decode(text, acc, %{null: null}) do
      case :jiffy.decode(text, [:return_maps, :return_trailer, {:null_term, null}]) do
        {:has_trailer, value, rest} -> {value, acc, IO.iodata_to_binary(rest)}
        value -> {value, acc, ""}
      end
    end

    def encode(term, encoder), do: encoder.(term, encoder)

    def encode_value(%{} = map, encoder) do
      pairs =
        for {key, value} <- map, do: [:jiffy.encode(to_string(key)), ":", encoder.(value, encoder)]

      ["{", Enum.intersperse(pairs, ","), "}"]
    end

    def encode_value(list, encoder) when is_list(list),
      do: ["[", Enum.intersperse(Enum.map(list, &encoder.(&1, encoder)), ","), "]"]

    def encode_value(atom, _) when atom in [true, false, :null], do: Atom.to_string(atom)
    def encode_value(atom, _) when is_atom(atom), do: :jiffy.encode(Atom.to_string(atom))

    def encode_value(other, _) when is_binary(other) or is_number(other), do: :jiffy.encode(other)

    def encode_value(other, _), do: :erlang.error({:unsupported_type, other})
  end
end

unless Code.ensure_loaded?(Jason) do
  defmodule Jason do
    def encode_to_iodata!(term), do: :jiffy.encode(term, [:use_nil])
    def decode!(text), do: :jiffy.decode(text, [:return_maps, :use_nil])
  end
end
