// The service account that may use the store, and how it authenticates: OAuth tokens for its signed assertion, a
// metadata server as on Google's machines, and IAM's signBlob.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Exchange } from './exchange.ts'

export const EMAIL = 'gateway@svc-demo.iam.gserviceaccount.com'
const PROJECT = 'svc-demo'
const TOKEN_SECONDS = 3600

export interface Account {
  publicKey: KeyObject
  /** The key file that an admin would download. */
  keyFile(origin: string): string
  /** Whether the request carries a valid token. */
  isAuthorized(exchange: Exchange): boolean
  revokeTokens(): void
  /** Whether the account may sign without its key. */
  setMaySign(maySign: boolean): void
  serveToken(exchange: Exchange): Promise<void>
  serveMetadata(exchange: Exchange): void
  signBlob(exchange: Exchange): Promise<void>
}

/** The key is kept in the folder. */
export async function openAccount(folder: string): Promise<Account> {
  const privateKey = createPrivateKey(await readOrMakeKey(join(folder, 'account.pem')))
  const publicKey = createPublicKey(privateKey)
  const tokens = new Set<string>()
  let maySign = true

  function newToken() {
    const token = `ya29.${randomBytes(24).toString('base64url')}`
    tokens.add(token)
    return { access_token: token, expires_in: TOKEN_SECONDS, token_type: 'Bearer' }
  }

  const account: Account = {
    publicKey,
    keyFile: (origin) =>
      JSON.stringify({
        type: 'service_account',
        project_id: PROJECT,
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        client_email: EMAIL,
        token_uri: `${origin}/token`,
      }),
    isAuthorized: ({ headers }) => tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? ''),
    revokeTokens: () => tokens.clear(),
    setMaySign(may) {
      maySign = may
    },
    async serveToken(exchange) {
      const form = new URLSearchParams(await text(exchange.body))
      if (isValidAssertion(form.get('assertion') ?? '', publicKey)) return exchange.answer(200, newToken())
      exchange.answer(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
    },
    serveMetadata(exchange) {
      const flavor = { 'metadata-flavor': 'Google' }
      if (exchange.headers['metadata-flavor'] !== 'Google')
        return exchange.answer(403, 'Missing Metadata-Flavor header')
      const path = exchange.url.pathname.replace('/computeMetadata/v1/', '').replace(/\/$/, '')
      const answers: Record<string, object | string> = {
        'instance/service-accounts/default/token': newToken(),
        'instance/service-accounts/default/email': EMAIL,
        'instance/service-accounts': `default/\n${EMAIL}/\n`,
        'instance/service-accounts/default': { email: EMAIL, aliases: ['default'] },
        'project/project-id': PROJECT,
        'universe/universe-domain': 'googleapis.com',
        instance: '',
      }
      const found = answers[path]
      exchange.answer(found === undefined ? 404 : 200, found ?? 'not found', flavor)
    },
    async signBlob(exchange) {
      if (!account.isAuthorized(exchange)) return exchange.refuse(401, 'required', 'Request had invalid credentials.')
      const denied = "Permission 'iam.serviceAccounts.signBlob' denied on resource (or it may not exist)."
      if (!maySign) return exchange.refuse(403, 'forbidden', denied)
      const { payload } = JSON.parse(await text(exchange.body))
      const signature = sign('sha256', Buffer.from(payload, 'base64'), privateKey)
      exchange.answer(200, { keyId: '1', signedBlob: signature.toString('base64') })
    },
  }
  return account
}

async function readOrMakeKey(path: string): Promise<string> {
  const kept = await readFile(path, 'utf8').catch(() => null)
  if (kept) return kept
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string // the requested format
  await writeFile(path, pem, { mode: 0o600 })
  return pem
}

/** The audience is always Google's, because its libraries use no other. */
function isValidAssertion(assertion: string, publicKey: KeyObject): boolean {
  const [header = '', claims = '', signature = ''] = assertion.split('.')
  const signed = Buffer.from(`${header}.${claims}`)
  if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))) return false
  const { iss, aud, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const mayStore = /devstorage\.(?:read_write|full_control)|cloud-platform/.test(scope)
  return iss === EMAIL && aud === 'https://oauth2.googleapis.com/token' && exp * 1000 > Date.now() && mayStore
}
