// The field for words to search for. The key / leads to it.

interface Props {
  readonly label: string
  readonly words: string
  readonly onWords: (words: string) => void
}

export function Search({ label, words, onWords }: Props) {
  return (
    <label class="search">
      <span class="unseen">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={words}
        onInput={({ currentTarget }) => onWords(currentTarget.value)}
      />
      <kbd>/</kbd>
    </label>
  )
}
