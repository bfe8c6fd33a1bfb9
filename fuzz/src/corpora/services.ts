// A gateway and an agent service, and requests to their operations that get past authentication.

import { startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { startTestAgent } from '@svc/devnet/services/agent'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, signCall } from '@svc/devnet/services/signing'
import { toBase58, toBase64, toBase64Url } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Operation, operationsOf } from './operations.ts'

export interface Answer {
  status: number
  text: string
}

/** Sends a text to one of its readers. */
export type Send = (text: Uint8Array) => Promise<Answer>

export interface Services {
  operations: Operation[]
  /** Sends a text as the body of the operation, each time with a new signature or token. */
  sender(operation: Operation): Promise<Send>
  /** Sends a text as the envelope of a request, signed by the owner of the locker in it. */
  sendEnvelope: Send
  /** By header name: sends a text in a header with base64 JSON. */
  inHeaders: Record<string, Send>
  close(): Promise<void>
}

const SECRET = 'secret-of-internal-callers'
const SEED = new Uint8Array(32).fill(9)
/** Only a hanging request takes this long. */
const HANGS_MS = 60_000

export async function startServices(): Promise<Services> {
  await using opened = new AsyncDisposableStack()
  const issuer = await startOidcIssuer()
  opened.defer(() => issuer.stop())
  const gateway = await startTestGateway({
    INTERNAL_SECRET: SECRET,
    SPONSOR_OIDC: `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl},subject=sponsor`,
  })
  opened.defer(() => gateway.stop())
  const agent = await startTestAgent({ GATEWAY_URL: gateway.url })
  opened.defer(() => agent.stop())
  const owner = ed25519Identity(SEED)
  const { sign } = ed25519Signer(SEED)

  async function openLocker() {
    const { locker_id: lockerId, receipt_id: receiptId } = await seedLocker(gateway.context, { owner: owner.identity })
    return { lockerId, receiptId }
  }

  async function openSession(locker: Awaited<ReturnType<typeof openLocker>>) {
    const path = `/v1/lockers/${locker.lockerId}/upload-sessions`
    const request = { method: 'POST', path, body: { files: [{ filename: 'a' }] }, ops: ['locker:write'], ...locker }
    const { headers, body } = signCall(owner, request, Date.now())
    const answer = await send('POST', gateway.url + path, body as Uint8Array, headers)
    return JSON.parse(answer.text) as { session_id: string; upload_token: string; files: { file_id: string }[] }
  }

  /** A locker for each operation: some of them end access. */
  async function sender({ url, method, path, security, ops, query }: Operation): Promise<Send> {
    const locker = await openLocker()
    const session = security === 'uploadToken' && path.includes('{session_id}') ? await openSession(locker) : null
    const values: Record<string, string | undefined> = {
      locker_id: locker.lockerId,
      session_id: session?.session_id,
      file_id: session?.files[0]?.file_id,
    }
    // A request about a wallet names no locker, and is for this gateway.
    const isOfWallet = 'wallet' in query
    const search = new URLSearchParams({ ...query, ...(isOfWallet && { wallet: owner.identity }) }).toString()
    const named = isOfWallet ? { lockerId: '', receiptId: '', envelope: { aud: url } } : locker
    const target = path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '1') + (search && `?${search}`)

    function credentials(body: Uint8Array): Record<string, string> {
      if (security === 'envelope') {
        return signCall(owner, { method, path: target, body, ops, ...named }, Date.now()).headers
      }
      if (security === 'uploadToken') return { 'x-upload-token': session?.upload_token ?? 'none' }
      if (security === 'identityToken') return { authorization: `Bearer ${issuer.token()}` }
      return security === 'adminToken' ? { authorization: `Bearer ${SECRET}` } : {}
    }
    return (body) => send(method, url + target, body, credentials(body))
  }

  const locker = await openLocker()
  const record = `${gateway.url}/v1/lockers/${locker.lockerId}/record`
  const post = (path: string, headers: (text: Uint8Array) => Record<string, string>) => (text: Uint8Array) =>
    send('POST', gateway.url + path, new TextEncoder().encode('{"units":1}'), headers(text))
  const operations = [...(await operationsOf(gateway.url)), ...(await operationsOf(agent.url))]
  const running = opened.move()
  return {
    operations,
    sender,
    sendEnvelope: (text) =>
      send('GET', record, null, { 'x-svc-envelope': toBase64Url(text), 'x-svc-signature': toBase58(sign(text)) }),
    inHeaders: {
      'PAYMENT-SIGNATURE': post('/v1/x402/storage', (text) => ({ 'payment-signature': toBase64(text) })),
      'SIGN-IN-WITH-X': post('/v1/x402/storage', (text) => ({ 'sign-in-with-x': toBase64(text) })),
      'Authorization: Payment': post('/v1/storage/request', (text) => ({
        authorization: `Payment ${toBase64Url(text)}`,
      })),
      'Authorization: Bearer': post('/v1/storage/sponsored-confirm', (text) => ({
        authorization: `Bearer ${toBase64Url(text)}.${toBase64Url(text)}.AA`,
      })),
    },
    close: () => running.disposeAsync(),
  }
}

async function send(
  method: string,
  url: string,
  body: Uint8Array | null,
  headers: Record<string, string>,
): Promise<Answer> {
  const type = body && { 'content-type': 'application/json' }
  const init = { method, headers: { ...type, ...headers }, body, signal: AbortSignal.timeout(HANGS_MS) }
  const response = await fetch(url, init as RequestInit)
  return { status: response.status, text: await response.text() }
}
