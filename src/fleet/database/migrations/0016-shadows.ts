// Migration 16: events with a hook of a policy in shadow mode are found by an index. Until it is there, records wait.

export const sql = `
-- Few records have such a hook. The text is what a search looks for, so no column can hide one.
create index if not exists record_shadow on fleet.record (org, at, chain, seq) where position('"fleet@' in line) > 0;
`
