// The admin's identity. The token stays in the memory of this page and is sent only to this gateway; on request, the tab
// stores it across reloads.

import { signal } from '@preact/signals'
import { fetchAnswer, RequestFailed, requestJson } from '../../gateway.ts'

const KEY = 'svc-operator-token'

let token: string | null = null

/** Aborts all requests with the previous token. */
let asking = new AbortController()

/** Changes with each sign-in, so that no data of the previous one stays on the page. */
export const signedIn = signal(0)

/** The reason why the sign-in is shown again. */
export const refusal = signal<RequestFailed | null>(null)

export class UnsendableToken extends Error {
  override name = 'UnsendableToken'
}

/** Trims and checks a token: headers allow only visible ASCII, and a file may end with a line break. */
export function readToken(text: string): string {
  const trimmed = text.trim().replace(/^bearer\s+/i, '')
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new UnsendableToken('not a token')
  return trimmed
}

/** Signs in; `null` means without a token, which a gateway in development may allow. */
export function signIn(as: string | null, isRemembered: boolean): void {
  forget()
  token = as
  refusal.value = null
  if (as !== null && isRemembered) store((tab) => tab.setItem(KEY, as))
  signedIn.value += 1
}

export function signOut(because: RequestFailed | null = null): void {
  forget()
  refusal.value = because
  signedIn.value = 0
}

function forget(): void {
  token = null
  asking.abort()
  asking = new AbortController()
  store((tab) => tab.removeItem(KEY))
}

export function storedToken(): string | null {
  return store((tab) => tab.getItem(KEY))
}

/** Sends a request with the token. A token that is no longer accepted ends the session. */
export function ask<T>(path: string, method = 'GET', body?: object): Promise<T> {
  return withToken((headers, ends) =>
    requestJson<T>(path, {
      ...SENT,
      method,
      signal: ends,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
}

/** Fetches an answer as text, to save it as a file. */
export function askText(path: string): Promise<string> {
  return withToken(async (headers, ends) => {
    const response = await fetchAnswer(path, { ...SENT, signal: ends, headers })
    return response.text()
  })
}

const SENT = { cache: 'no-store', redirect: 'error' } as const

async function withToken<T>(send: (headers: Record<string, string>, ends: AbortSignal) => Promise<T>): Promise<T> {
  const { signal: ends } = asking
  try {
    return await send(token === null ? {} : { authorization: `Bearer ${token}` }, ends)
  } catch (error) {
    ends.throwIfAborted()
    if (error instanceof RequestFailed && error.status === 401) signOut(token === null ? null : error)
    throw error
  }
}

/** Uses the tab's storage; without storage, the token lasts as long as the page. */
function store<T>(use: (tab: Storage) => T): T | null {
  try {
    return use(sessionStorage)
  } catch {
    return null
  }
}
