// Parts of a Markdown page, for pages that are made from the project's tables.

/** @param {readonly string[]} parts */
export function page(parts) {
  return `${parts.join('\n\n')}\n`
}

/** @param {string} source */
export function made(source) {
  return `<!-- Made from ${source} by npm run docs. Change the source, not this page. -->`
}

/** @param {readonly string[]} items */
export function list(items) {
  return items.map((item) => `- ${item}`).join('\n')
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** @param {string} text */
export function code(text) {
  return `\`${text}\``
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
