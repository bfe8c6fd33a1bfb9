import type { IncomingHttpHeaders } from 'node:http'

/** What a signature is about: a request without its body, exactly as it was sent. */
export interface S3Head {
  method: string
  /** Path and query. */
  target: string
  headers: IncomingHttpHeaders
}
