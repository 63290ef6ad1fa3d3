// A picture of one line, 24 by 24.

/** The carabiner of the brand. */
export const BRAND = 'M20 9.5V8a5 5 0 0 0-5-5H9a5 5 0 0 0-5 5v8a5 5 0 0 0 5 5h6a5 5 0 0 0 5-5v-1.5'

export function Icon({ path }: { readonly path: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
