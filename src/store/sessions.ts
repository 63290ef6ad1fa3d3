// The interface of sessions, which remember state between events, and of grants, which people always allow. States the contract of stores.

import type { SessionStore } from '../core/session/session-store.js'

/**
 * The sessions and grants of one project. The kernel declares the interface, because it must not depend on a store. Memory
 * (core) and files (here) implement it.
 *
 * - Every method may return its result or a promise. A plain result is not awaited.
 * - `update` is atomic per key: no update of another process is lost, and `change` may run more than once.
 * - A key is a session's id, or the id, a NUL and an agent's id. Releasing one key leaves all others alone.
 * - A method that fails throws (or rejects); the kernel reports it and goes on without memory.
 * - `grants` are the project's, shared by its sessions; a grant with the id of another replaces it.
 */
export type Sessions = SessionStore
