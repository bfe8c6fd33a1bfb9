import type { ErrorBody } from '@svc/api/errors'
import type { Step } from './messages.ts'

/** The verifier rejects larger bundles. */
const MAX_BYTES = 1024 ** 3

export class FetchFailed extends Error {
  override name = 'FetchFailed'
  /** Null without an answer. */
  readonly status: number | null
  readonly hint: string | null

  constructor(status: number | null, message: string, hint: string | null = null) {
    super(message)
    this.status = status
    this.hint = hint
  }
}

/** The complete bundle as received: it is checked again with each key or file that the visitor adds. */
export async function fetchBundle(url: string, signal: AbortSignal, report: (step: Step) => void): Promise<Blob> {
  const response = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer', signal }).catch((error) => {
    signal.throwIfAborted()
    throw new FetchFailed(null, (error as Error).message)
  })
  if (!response.ok) throw await refused(response)
  if (!response.body) return new Blob()
  // The Content-Length counts compressed bytes.
  const length = Number(response.headers.get('content-length'))
  const of = length > 0 && !response.headers.has('content-encoding') ? length : null
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let done = 0
  const reader = response.body.getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    done += piece.value.length
    if (done > MAX_BYTES) {
      await reader.cancel()
      throw new FetchFailed(null, `more than ${MAX_BYTES} bytes`)
    }
    pieces.push(piece.value)
    report({ done, of })
  }
  return new Blob(pieces, { type: 'application/json' })
}

/** The error of an answer, which may not come from a gateway. */
async function refused(response: Response): Promise<FetchFailed> {
  const body: unknown = await response.json().catch(() => null)
  const { message, hint } = (typeof body === 'object' ? (body ?? {}) : {}) as Partial<Record<keyof ErrorBody, unknown>>
  const text = typeof message === 'string' ? message : `HTTP ${response.status}`
  return new FetchFailed(response.status, text, typeof hint === 'string' ? hint : null)
}
