// Explains why there was no answer. Node hides the reason in the causes of a "fetch failed".

/** The code of the root cause, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`. Null if there is none. */
export function networkErrorCode(error: unknown): string | null {
  for (let one = error as Cause | undefined; one; one = one.cause ?? one.errors?.[0]) {
    if (one.name === 'TimeoutError') return 'ETIMEDOUT'
    if (typeof one.code === 'string') return one.code
  }
  return null
}

interface Cause {
  name?: string
  code?: unknown
  cause?: Cause
  /** The errors of several addresses of a host. */
  errors?: Cause[]
}

const CONNECTION_LOST = 'the connection was cut'
const TIMED_OUT = 'it does not answer in time'
const NO_ROUTE = 'the network has no route to it'
const UNKNOWN_AUTHORITY = 'its certificate is not signed by an authority that this machine trusts'
const NOT_TLS = 'it does not speak TLS: check whether its address begins with http://'

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no host with this name',
  EAI_AGAIN: 'the name of the host cannot be resolved at the moment',
  ECONNREFUSED: 'nothing listens at this address',
  ECONNRESET: CONNECTION_LOST,
  EPIPE: CONNECTION_LOST,
  UND_ERR_SOCKET: CONNECTION_LOST,
  ETIMEDOUT: TIMED_OUT,
  UND_ERR_CONNECT_TIMEOUT: TIMED_OUT,
  UND_ERR_HEADERS_TIMEOUT: TIMED_OUT,
  UND_ERR_BODY_TIMEOUT: TIMED_OUT,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  EPROTO: NOT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  HPE_INVALID_CONSTANT: 'it does not speak HTTP',
}

/** The meaning of the error, or the message of its root cause. */
export function networkErrorReason(error: unknown): string {
  const code = networkErrorCode(error)
  let bottom = error as Error
  while (bottom.cause instanceof Error) bottom = bottom.cause
  return (code && REASONS[code]) || bottom.message
}

/** Whether a retry would fail in the same way, as for a wrong name or a bad certificate. */
export function isLastingError(error: unknown): boolean {
  const code = networkErrorCode(error)
  return code !== null && (code === 'ENOTFOUND' || code === 'EPROTO' || /CERT|_SSL_/.test(code))
}
