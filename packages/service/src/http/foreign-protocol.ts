// Endpoints for clients of other protocols. All requests of such a protocol go to one route, whatever their path, and
// errors have the protocol's form, even if they occur before routing.

import type { IncomingMessage } from 'node:http'
import type { ServiceError } from '../service-error.ts'

/** The known parts of a request when it is rejected. */
export type RequestLine = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

export interface ForeignProtocol {
  /** The path of the protocol's route. */
  route: string
  /** Whether a request belongs to the protocol. The target is unchanged. */
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
