// The service account that we use at Google when the machine does not provide one.

import { createPrivateKey } from 'node:crypto'
import { isSafeAddress, type ProviderUrl } from './provider-url.ts'

/** From a key file as Google issues it; a secret. */
export interface ServiceAccount {
  client_email: string
  private_key: string
  token_uri?: string
}

/** Null when none is given. */
export function readServiceAccount({ secret, problem }: ProviderUrl, word: string): ServiceAccount | null {
  const text = secret(word)
  if (text === null) return null
  const account = parseAccount(text)
  if (!account) problem(word, 'the key of a service account: the JSON file that Google issues')
  return account
}

/** Does not report what is wrong: the text is a secret. */
function parseAccount(text: string): ServiceAccount | null {
  try {
    const { client_email, private_key, token_uri } = JSON.parse(text)
    createPrivateKey(private_key)
    if (typeof client_email !== 'string' || !client_email.includes('@')) return null
    // Tokens go with every request: they must not leave this machine unencrypted.
    if (token_uri !== undefined && !isSafeAddress(new URL(token_uri))) return null
    return { client_email, private_key, ...(token_uri && { token_uri }) }
  } catch {
    return null
  }
}

/** Errors of Google's libraries contain whole requests, and those contain secrets. */
export function withoutDetails(error: unknown): Error {
  return new Error(error instanceof Error ? error.message : 'no credentials')
}
