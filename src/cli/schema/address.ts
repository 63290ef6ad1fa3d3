// Where editors find the JSON Schema of our files: the package as it is published, by any of its mirrors.

const PACKAGE = 'https://unpkg.com/carabiner/schema'

export const HOOKS_SCHEMA = `${PACKAGE}/hooks.json`
export const CASES_SCHEMA = `${PACKAGE}/hooks.test.json`
