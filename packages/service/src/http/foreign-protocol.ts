// EntryPoints for clients of other protocols. All requests of such a protocol go to one route, whatever their path, and errors
// have the protocol's form, also those that are found before there is a route.

import type { IncomingMessage } from 'node:http'
import type { ServiceError } from '../service-error.ts'

/** What is known of a request when it is refused. */
export type RequestLine = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

export interface ForeignProtocol {
  /** The path of the route that serves it. */
  route: string
  /** Whether a request belongs to it. The target is as sent. */
  owns(target: string, host: string | undefined): boolean
  answerOf(error: ServiceError, requestId: string, request: RequestLine): ErrorAnswer
}

export interface ErrorAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

export type FindForeignProtocol = (request: RequestLine) => ForeignProtocol | null

/** `protocols` may grow afterwards. */
export function protocolFinder(protocols: readonly ForeignProtocol[]): FindForeignProtocol {
  return ({ url = '', headers }) => protocols.find((protocol) => protocol.owns(url, headers.host)) ?? null
}
