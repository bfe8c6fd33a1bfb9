// A signer that speaks HTTP: a key management service, or a small program in front of a hardware key, over TCP or a
// socket. It receives `POST {"purpose", "public_key_hex", "message_hex"}` and answers `{"signature_hex"}`
// (docs/operations.md).

import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { readAtMost } from '@svc/protocol/read-at-most'
import type { ExternalKey } from '../settings.ts'

const MAX_ANSWER_BYTES = 64 * 1024

export async function signByHttp(key: ExternalKey, message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const { publicKeyHex, token } = key
  const body = JSON.stringify({
    purpose: 'statement',
    key_id: issuerKeyId(publicKeyHex),
    public_key_hex: publicKeyHex,
    message_hex: toHex(message),
  })
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  }
  const { status, text } = await send(open(key, { method: 'POST', headers, signal }), body)
  if (status !== 200) throw new Error(`the signer answered with status ${status}`)
  const { signature_hex } = JSON.parse(text) as { signature_hex?: unknown }
  const signature = typeof signature_hex === 'string' ? fromHex(signature_hex, 64) : null
  if (!signature) throw new Error('the answer of the signer contains no signature')
  return signature
}

function open({ signer }: ExternalKey, options: RequestOptions): ClientRequest {
  if (signer.startsWith('unix:')) {
    return httpRequest({ ...options, socketPath: signer.slice('unix:'.length), path: '/sign', host: 'localhost' })
  }
  return signer.startsWith('https:') ? httpsRequest(signer, options) : httpRequest(signer, options)
}

async function send(request: ClientRequest, body: string): Promise<{ status: number; text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).on('error', reject).end(body)
  })
  const text = new TextDecoder().decode(await readAtMost(MAX_ANSWER_BYTES, response))
  return { status: response.statusCode ?? 0, text }
}
