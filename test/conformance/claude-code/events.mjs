// Events of which no case could be made, each with why.

/** @type {Readonly<Record<string, string>>} */
export const NOT_PROVOKED = {
  DirectoryAdded: '/add-dir is not available without a terminal',
  Notification: 'only the terminal notifies; a permission that a host is asked for does not',
  PermissionDenied: 'needs the classifier of auto mode; neither a deny rule nor dontAsk fires it',
  TeammateIdle: 'needs a team of agents',
}
