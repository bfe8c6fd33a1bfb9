// Reads URLs that a model gives. Only public hosts are allowed, to protect hosts behind the firewall.

import { lookup } from 'node:dns/promises'
import {
  type Connecting,
  isBlocked,
  type PublicRequest,
  parseSourceUrl,
  requestPublicHost,
  SourceError,
} from '@svc/service/outgoing/public-request'
import { Refusal } from '../errors.ts'

const TIMEOUT_MS = 60_000
const GET: PublicRequest = { method: 'GET', headers: {} }
const BY_SYSTEM: Connecting = { resolve: (hostname) => lookup(hostname, { all: true }) }

/** The body of an https answer; redirects are not followed. */
export async function readPublic(
  url: string,
  signal: AbortSignal,
  connecting: Connecting = BY_SYSTEM,
): Promise<AsyncIterable<Uint8Array>> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const response = await request(url, connecting, ended)
  if (response.statusCode === 200) return response
  response.destroy()
  throw new Refusal('bad_url', `${originOf(url)} answers with HTTP ${response.statusCode}`)
}

async function request(url: string, connecting: Connecting, signal: AbortSignal) {
  try {
    return await requestPublicHost(parseSourceUrl(url), GET, connecting, signal)
  } catch (error) {
    if (error instanceof SourceError && isBlocked(error))
      throw new Refusal('bad_url', `${originOf(url)} is not a public https address`, 'Download it, and give its `path`')
    throw new Refusal('bad_url', `${originOf(url)} cannot be read: ${(error as Error).message}`)
  }
}

/** The origin without the path, which may be secret. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'this'
}
