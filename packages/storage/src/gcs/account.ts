// Our account at Google: its library gets the tokens, from a key file or from the machine, and signs addresses.
//
// The bytes do not go through the library. As of 8.4.0 it has no timeout, a reader that closes one download breaks all
// others of the process, an abandoned upload keeps its connection, and sessions at an endpoint other than Google's have
// no credentials.

import { type GetSignedUrlConfig, Storage } from '@google-cloud/storage'
import { withoutDetails } from '../google-account.ts'
import { ProviderError } from '../provider.ts'
import type { Timeouts } from '../timeouts.ts'
import type { GcsSettings } from './settings.ts'

/** Headers that prevent a client with an address from replacing an object or uploading more than allowed. */
export function uploadConditions(maxBytes: number | null): Record<string, string> {
  const limit = maxBytes !== null && { 'x-goog-content-length-range': `0,${maxBytes}` }
  return { 'x-goog-if-generation-match': '0', ...limit }
}

export interface Account {
  /** The headers that authorize a request. */
  headers(): Promise<Record<string, string>>
  /** Gets another token, unless the token in these headers has already been replaced. */
  renew(headers: Readonly<Record<string, string>>): Promise<void>
  /** An address with which anyone may do one thing with one object for a limited time. */
  sign(name: string, permission: Permission): Promise<string>
}

type Permission = { contentType: string; expiresInSeconds: number } & (
  | { action: 'read' }
  | { action: 'write'; conditions: Record<string, string> }
)

export async function openAccount(settings: GcsSettings, { connectMs }: Pick<Timeouts, 'connectMs'>): Promise<Account> {
  const { bucket, credentials, endpoint, iamEndpoint } = settings
  // Its own fetch ends the process when a request with a body times out.
  const clientOptions = { transporterOptions: { fetchImplementation: fetch, timeout: connectMs } }
  // Nothing here needs a project; without one the library starts `gcloud` to ask for it.
  const projectId = 'unused'
  const storage = new Storage({ projectId, apiEndpoint: endpoint, clientOptions })
  const auth = storage.authClient
  if (credentials) {
    // The option of that name writes advice to the console.
    auth.jsonContent = credentials
    await useTokenAddress(credentials.token_uri, auth)
  }
  const signingEndpoint = `${iamEndpoint}/v1/projects/-/serviceAccounts/`

  return {
    async headers() {
      try {
        return Object.fromEntries(await auth.getRequestHeaders(endpoint))
      } catch (error) {
        throw accountError(error)
      }
    },
    async renew({ authorization }) {
      const client = await auth.getClient()
      const { credentials: current } = client
      if (authorization === `Bearer ${current.access_token}`) client.setCredentials({ ...current, expiry_date: 1 })
    },
    async sign(name, terms) {
      const { action, contentType, expiresInSeconds } = terms
      const type =
        terms.action === 'write' ? { contentType, extensionHeaders: terms.conditions } : { responseType: contentType }
      const expires = Date.now() + expiresInSeconds * 1000
      const permission: GetSignedUrlConfig = { version: 'v4', action, expires, signingEndpoint, ...type }
      try {
        const [url] = await storage.bucket(bucket).file(name).getSignedUrl(permission)
        return url
      } catch (error) {
        throw signingError(error)
      }
    },
  }
}

/** The library requests tokens at Google's own address, whatever the key file contains. */
async function useTokenAddress(address: string | undefined, auth: Storage['authClient']): Promise<void> {
  if (!address) return
  const { transporter } = await auth.getClient()
  transporter.interceptors.request.add({
    async resolved(request) {
      return request.url.href === 'https://oauth2.googleapis.com/token'
        ? { ...request, url: new URL(address) }
        : request
    },
  })
}

function accountError(error: unknown): ProviderError {
  return new ProviderError(isRejection(error) ? 'closed' : 'unavailable', withoutDetails(error))
}

/** The error of a signature that IAM denies has no status, only a message. */
function signingError(error: unknown): ProviderError {
  if (!(error instanceof Error && error.name === 'SigningError')) return accountError(error)
  const denied = /iam\.serviceAccounts\.signBlob|IAM Service Account Credentials API|PERMISSION_DENIED/
  return new ProviderError(denied.test(error.message) ? 'signing-denied' : 'unavailable', withoutDetails(error))
}

/** The admin must act: the key is no longer valid, or there is none, so that no request was sent. */
function isRejection(error: unknown): boolean {
  const { config, status = 0 } = error as { config?: object; status?: number }
  return !config || (status >= 400 && status < 500 && status !== 408 && status !== 429)
}
