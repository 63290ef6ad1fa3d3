// Files that are read at every start, and variables in them that would take the user's guard away.

/** What shells, sessions and other programs read when they start. */
export const STARTED =
  /(?:^|\/)\.[\w.-]*(?:rc|profile|login|env|zshenv|pam_environment)$|(?:^|\/)(?:environment|profile|config\.fish)$|(?:^|\/)(?:environment|profile|conf)\.d\/[^/]+$/

/** They switch hooks off, move what the user trusts elsewhere, or say what needs no review. */
export const UNGUARDING = /\bCARABINER_(?:OFF|HOME|PRE_TRUSTED)\b/

export const LEFT_TO_USER =
  'takes the guard away, or decides what it trusts, for whatever starts next. Let the user decide about that.'
