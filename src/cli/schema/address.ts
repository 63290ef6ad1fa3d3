// Where editors find our JSON Schemas: in the published package.

const PACKAGE = 'https://unpkg.com/carabiner/schema'

export const HOOKS_SCHEMA = `${PACKAGE}/hooks.json`
export const CASES_SCHEMA = `${PACKAGE}/hooks.test.json`
