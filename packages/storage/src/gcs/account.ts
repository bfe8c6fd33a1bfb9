// Who we are to Google: its library gets the tokens, from a key file or from the machine, and signs addresses.
//
// The bytes do not go through the library. As of 8.4.0 it has no time-out, a reader that lets go of one download
// breaks all others of the process, an upload that is given up keeps its connection, and sessions at an endpoint other
// than Google's are begun without credentials.

import { type GetSignedUrlConfig, Storage } from '@google-cloud/storage'
import { ProviderError } from '../provider.ts'
import type { Patience } from './patience.ts'
import type { GcsSettings } from './settings.ts'
import { SigningDenied } from './signing-denied.ts'

/** With it, whoever has an address for an upload cannot change what others have seen. */
export const ONLY_IF_NEW = { 'x-goog-if-generation-match': '0' }

export interface Account {
  /** The headers that let a request in. */
  headers(): Promise<Record<string, string>>
  /** Gets another token, unless the one in these headers is no longer in use. */
  renew(headers: Readonly<Record<string, string>>): Promise<void>
  /** An address with which anybody may do one thing with one object for a time. */
  sign(name: string, permission: Permission): Promise<string>
}

interface Permission {
  action: 'read' | 'write'
  contentType: string
  expiresInSeconds: number
}

export async function openAccount(settings: GcsSettings, { connectMs }: Patience): Promise<Account> {
  const { bucket, credentials, endpoint, iamEndpoint } = settings
  // Its own fetch ends the process when a request with a body times out.
  const clientOptions = { transporterOptions: { fetchImplementation: fetch, timeout: connectMs } }
  // Nothing here needs a project; without one the library starts `gcloud` to ask for it.
  const projectId = 'unused'
  const storage = new Storage({ projectId, apiEndpoint: endpoint, clientOptions })
  const auth = storage.authClient
  if (credentials) {
    // Not by the option of that name, which writes advice to the console.
    auth.jsonContent = credentials
    await askForTokensAt(credentials.token_uri, auth)
  }
  const signingEndpoint = `${iamEndpoint}/v1/projects/-/serviceAccounts/`

  return {
    async headers() {
      try {
        return Object.fromEntries(await auth.getRequestHeaders(endpoint))
      } catch (error) {
        throw new ProviderError(isRefusal(error) ? 'closed' : 'unavailable', withoutDetails(error))
      }
    },
    async renew({ authorization }) {
      const client = await auth.getClient()
      const { credentials: current } = client
      if (authorization === `Bearer ${current.access_token}`) client.setCredentials({ ...current, expiry_date: 1 })
    },
    async sign(name, { action, contentType, expiresInSeconds }) {
      const type = action === 'write' ? { contentType, extensionHeaders: ONLY_IF_NEW } : { responseType: contentType }
      const expires = Date.now() + expiresInSeconds * 1000
      const permission: GetSignedUrlConfig = { version: 'v4', action, expires, signingEndpoint, ...type }
      try {
        const [url] = await storage.bucket(bucket).file(name).getSignedUrl(permission)
        return url
      } catch (error) {
        throw signingTrouble(error)
      }
    },
  }
}

/** The library asks at Google's own address, whatever the key file says. */
async function askForTokensAt(address: string | undefined, auth: Storage['authClient']): Promise<void> {
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

/** A signature that IAM refuses comes without its status: only its words tell. */
function signingTrouble(error: unknown): ProviderError {
  const cause = withoutDetails(error)
  if (!(error instanceof Error && error.name === 'SigningError')) {
    return new ProviderError(isRefusal(error) ? 'closed' : 'unavailable', cause)
  }
  const denied = /iam\.serviceAccounts\.signBlob|IAM Service Account Credentials API|PERMISSION_DENIED/
  return denied.test(error.message) ? new SigningDenied(cause) : new ProviderError('unavailable', cause)
}

/** Ours to mend: a key that is good no longer, or none at all, so that nobody was even asked. */
function isRefusal(error: unknown): boolean {
  const { config, status = 0 } = error as { config?: object; status?: number }
  return !config || (status >= 400 && status < 500 && status !== 408 && status !== 429)
}

/** Errors of the library carry whole requests, and those carry secrets. */
function withoutDetails(error: unknown): Error {
  return new Error(error instanceof Error ? error.message : 'no credentials')
}
