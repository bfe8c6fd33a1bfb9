/** Thrown by a handler: to try again would not help. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}
