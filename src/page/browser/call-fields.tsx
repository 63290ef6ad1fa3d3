// The fields of a call, each as it was sent.

export function CallFields({
  call,
}: {
  readonly call: readonly { readonly name: string; readonly value: string }[]
}) {
  return (
    <dl class="fields call">
      {call.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <pre>{value}</pre>
          </dd>
        </div>
      ))}
    </dl>
  )
}
