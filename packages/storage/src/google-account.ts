// The service account that we use at Google when the machine does not provide one.

import { createPrivateKey } from 'node:crypto'
import { readSecret, type SettingsReader } from '@svc/service/program/config'

/** From a key file as Google issues it; a secret. */
export interface ServiceAccount {
  client_email: string
  private_key: string
  token_uri?: string
}

/** Null when none is set. */
export function readServiceAccount(settings: SettingsReader, variable: string): ServiceAccount | null {
  const given = readSecret(settings, variable)
  if (!given || given.text === null) return null
  const account = parseAccount(given.text)
  if (!account)
    settings.problem(
      `${given.variable} does not hold the key of a service account: the JSON file that Google makes for one`,
    )
  return account
}

/** Does not say what is wrong: the text is a secret. */
function parseAccount(text: string): ServiceAccount | null {
  try {
    const { client_email, private_key, token_uri } = JSON.parse(text)
    createPrivateKey(private_key)
    if (typeof client_email !== 'string' || !client_email.includes('@')) return null
    if (token_uri !== undefined && !isSafeAddress(token_uri)) return null
    return { client_email, private_key, ...(token_uri && { token_uri }) }
  } catch {
    return null
  }
}

/** Tokens go with every request: they may not leave this machine unencrypted. */
export function isSafeAddress(url: string): boolean {
  return /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/.test(url)
}

/** Errors of Google's libraries contain whole requests, and those contain secrets. */
export function withoutDetails(error: unknown): Error {
  return new Error(error instanceof Error ? error.message : 'no credentials')
}
