import type { IncomingHttpHeaders } from 'node:http'

/** The signed part of a request: everything but its body, exactly as it was sent. */
export interface S3Head {
  method: string
  /** Path and query. */
  target: string
  headers: IncomingHttpHeaders
}
