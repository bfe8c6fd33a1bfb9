// Who we are to Google, where that is not said by the machine we run on.

import { createPrivateKey } from 'node:crypto'
import { readSecret, type SettingsReader } from '@svc/http-service/config'

/** Of a key file as Google gives it out; a secret. */
export interface ServiceAccount {
  client_email: string
  private_key: string
  token_uri?: string
}

/** Null where none is given. */
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

/** What is wrong with it is not told: the text is a secret. */
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

/** Tokens travel with every request: in the clear they may not leave this machine. */
export function isSafeAddress(url: string): boolean {
  return /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/.test(url)
}
