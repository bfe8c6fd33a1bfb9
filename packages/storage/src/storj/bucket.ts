import { hash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isHex } from '@svc/protocol/bytes'
import { createAgent } from '../http/agent.ts'
import { exchange } from '../http/exchange.ts'
import { type Patience, retrying } from '../timeouts.ts'
import { readText } from '../http/read-text.ts'
import type { Body } from '../http/send-body.ts'
import { Refusal } from './errors.ts'
import type { StorjSettings } from './settings.ts'
import { createSigner } from './signer.ts'

interface Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Without one it is about the bucket. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Body
}

interface Answer {
  headers: IncomingHttpHeaders
  text: string
}

/** A bucket, spoken to in S3. Each call is made again where its trouble may pass; any other end is thrown. */
export interface Store {
  patience: Patience
  ask(call: Call): Promise<Answer>
  /** Leaves the body of the answer to be read. */
  open(call: Call): Promise<IncomingMessage>
  /** An address with which anybody may make this call, with these headers exactly. */
  presign(call: Call, expiresInSeconds: number): Promise<string>
  keyOf(id: string): string
  /** What the keys of all objects begin with whose ids begin as this one; listings of Storj go by whole folders. */
  folderOf(id: string): string
}

export function createStore(settings: StorjSettings, patience: Patience): Store {
  const { endpoint, bucket, prefix } = settings
  const signer = createSigner(settings)
  const agent = createAgent(endpoint, { keepAlive: true })

  function request({ method, key, query, headers = {} }: Call) {
    const url = new URL(key === undefined ? `${endpoint}/${bucket}` : `${endpoint}/${bucket}/${key}`)
    url.search = `${new URLSearchParams(query)}`
    return { method, url: url.href, headers }
  }

  async function openOnce(call: Call): Promise<IncomingMessage> {
    const { method, body = null } = call
    const signed = await signer.sign(request(call), body === null || Buffer.isBuffer(body) ? sha256(body) : null)
    const { answer, outgoing } = await exchange(signed, body, agent, patience)
    const { statusCode = 0 } = answer
    if (statusCode >= 200 && statusCode < 300 && outgoing.writableEnded) return answer
    const text = await readText(answer, patience.idleMs)
    if (!outgoing.writableEnded) outgoing.destroy()
    throw new Refusal(method, statusCode, text, answer.headers.date)
  }

  async function askOnce(call: Call): Promise<Answer> {
    const answer = await openOnce(call)
    const text = await readText(answer, patience.idleMs)
    // What takes long is begun to be answered before its outcome is known.
    if (/^\s*(?:<\?xml[^>]*>)?\s*<Error>/.test(text)) throw new Refusal(call.method, 500, text)
    return { headers: answer.headers, text }
  }

  function folderOf(id: string): string {
    if (!isHex(id, 16)) throw new RangeError('an object id is 32 lowercase hex characters')
    return `${prefix}${id.slice(0, 2)}/`
  }

  const again = <T>(call: Call, step: (call: Call) => Promise<T>) =>
    retrying(patience, step.bind(null, call), () => mayRepeat(call))

  return {
    patience,
    ask: (call) => again(call, askOnce),
    open: (call) => again(call, openOnce),
    presign: (call, expiresInSeconds) => signer.presign(request(call), expiresInSeconds),
    keyOf: (id) => folderOf(id) + id,
    folderOf,
  }
}

function mayRepeat({ body = null }: Call): boolean {
  return body === null || Buffer.isBuffer(body) || !body.hasBegun()
}

function sha256(body: Buffer | null): string {
  return hash('sha256', body ?? '', 'hex')
}
