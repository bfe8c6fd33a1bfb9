export type SourceFault =
  | 'not_https'
  | 'blocked_host'
  | 'blocked_address'
  | 'unresolvable'
  | 'unreachable'
  | 'tls_failed'
  | 'bad_status'
  | 'too_many_redirects'
  | 'bad_redirect'
  | 'encoded'
  | 'too_large'
  | 'timed_out'
  | 'broken_off'

/** Why a source is not fetched. The message may be told to the caller; the cause, which may name addresses, may not. */
export class SourceError extends Error {
  override name = 'SourceError'
  readonly reason: SourceFault

  constructor(reason: SourceFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}
