// Reads URLs that a model gives. Only public hosts are allowed, to protect hosts behind the firewall.

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { isPublicAddress, mayBePublicHost } from '@svc/protocol/public-address'
import { Refusal } from '../errors.ts'

const WITHIN_MS = 60_000

/** The body of an https answer; redirects are not followed. */
export async function readPublic(url: URL, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol !== 'https:' || url.username || url.password || !mayBePublicHost(host)) throw refused(url)
  const response = await answer(url, AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]))
  if (response.statusCode === 200) return response
  response.destroy()
  throw new Refusal('bad_url', `${url.origin} answers with HTTP ${response.statusCode}`)
}

function answer(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(
        error instanceof Refusal ? error : new Refusal('bad_url', `${url.origin} cannot be read: ${error.message}`),
      )
    get(url, { lookup: publicLookup(url), signal }, resolve).on('error', fail)
  })
}

/** Connects to the checked addresses, so that a changed DNS answer has no effect. */
function publicLookup(url: URL) {
  return (hostname: string, options: object, done: (error: Error | null, address: LookupAddress[]) => void): void => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      done(addresses.every(({ address }) => isPublicAddress(address)) ? null : refused(url), addresses)
    })
  }
}

function refused({ origin }: URL): Refusal {
  return new Refusal('bad_url', `${origin} is not a public https address`, 'Download it, and give its `path`')
}
