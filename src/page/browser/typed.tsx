// A command that a person types in a terminal, with a button that copies it.

import { useState } from 'preact/hooks'

/** Whether a line of advice is a command, and not a sentence. */
export function isCommand(line: string): boolean {
  return /^(?:carabiner|chmod|echo|sudo|npm) /.test(line)
}

export function Typed({ label, command }: { readonly label: string; readonly command: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = () =>
    void navigator.clipboard.writeText(command).then(
      () => setIsCopied(true),
      () => undefined,
    )
  return (
    <p class="typed">
      {label !== '' && <span>{label}</span>} <code>{command}</code>
      <button type="button" class="quiet" onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </p>
  )
}
