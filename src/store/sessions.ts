// What sessions remember between events, and what people always allow: the kernel's interface, with the contract of stores.

import type { SessionStore } from '../core/session/session-store.js'

/**
 * The sessions and grants of one project. The kernel declares the interface, because it must know it without knowing any
 * store; memory (core) and files (here) implement it.
 *
 * - Every method may answer at once or later. A method that answers at once is not awaited.
 * - `update` is atomic per key: no update of another process is lost, and `change` may run more than once.
 * - A key is a session's id, or the id, a NUL and an agent's id. Releasing one key leaves all others alone.
 * - A method that fails throws (or rejects); the kernel reports it and goes on without memory.
 * - `grants` are the project's, shared by its sessions; a grant with the id of another replaces it.
 */
export type Sessions = SessionStore
