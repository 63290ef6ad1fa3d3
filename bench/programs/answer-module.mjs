// A module hook that lets everything pass.

export const PreToolUse = () => ({ action: 'continue' })
